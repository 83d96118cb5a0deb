"""What the encoder alone manages: the product's own publisher and settings, fed frames from memory."""

import itertools
from contextlib import ExitStack, closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from avatar_cli.media.decoding import read_frames
from avatar_cli.media.mp4_out import Mp4Writer, SoundFormat, VideoFormat
from avatar_cli.media.speech_source import SpeechSource
from avatar_cli.protocol.events import now
from avatar_cli.protocol.job import Encoding
from avatar_cli.runtime.span import Span
from avatar_cli.runtime.stage import Piece
from avatar_cli.worker.publisher import Publisher

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
    height, width = pictures[0].shape[:2]
    with ExitStack() as resources:
        speech = resources.enter_context(closing(SpeechSource(run.speech, run.fps)))
        sound = SoundFormat(speech.info.rate, speech.info.channels)
        writer = Mp4Writer(output, VideoFormat(width, height, run.fps), sound, run.encoding)
        publisher = Publisher(writer, speech, None, lambda event: None)
        resources.callback(publisher.abandon)
        warm = now()
        for frame in range(run.frames):
            if frame == run.warm_up_frames:
                warm = now()
            publisher(Piece(Span(frame, frame + 1), there_and_back[frame % len(there_and_back)]))
        publisher.finish()
        return (publisher.frames - run.warm_up_frames) / (now() - warm)
