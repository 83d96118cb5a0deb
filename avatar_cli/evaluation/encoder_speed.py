"""What the encoder alone manages: the product's own writer and settings, fed frames from memory."""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from avatar_cli.media.decoding import read_frames
from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.events import now
from avatar_cli.protocol.job import Encoding

# 10 s at 25 frames/s: 0.7 GB at 1280x720. Played forwards and backwards, so that no cut burdens the encoder.
MOST_FRAMES_IN_MEMORY = 250


@dataclass(frozen=True)
class EncoderRun:
    """What to encode again."""

    video: Path  # a rendered video, whose frames are used
    speech: Path
    fps: Fraction
    encoding: Encoding
    frames: int  # to write
    warm_up_frames: int  # at the start, not counted, as in the report of a render


def encoder_fps(run: EncoderRun, output: Path) -> float:
    """Frames a second from the end of the warm-up until the file was complete."""
    pictures = list(itertools.islice(read_frames(run.video), MOST_FRAMES_IN_MEMORY))
    there_and_back = pictures + pictures[-2:0:-1]
    source = SpeechSource(run.speech, run.fps)
    try:
        sounds = [source.sound_for_frame(frame) for frame in range(run.frames) if source.has_frame(frame)]
        sound_format = SoundFormat(source.info.rate, source.info.channels)
    finally:
        source.close()
    height, width = pictures[0].shape[:2]
    writer = Mp4Writer(output, VideoFormat(width, height, run.fps), sound_format, run.encoding)
    try:
        warm = now()
        for frame, sound in enumerate(sounds):
            if frame == run.warm_up_frames:
                warm = now()
            writer.write_sound(sound)
            writer.write_frame(there_and_back[frame % len(there_and_back)])
        writer.finish()
    except BaseException:
        writer.abandon()
        raise
    return (len(sounds) - run.warm_up_frames) / (now() - warm)
