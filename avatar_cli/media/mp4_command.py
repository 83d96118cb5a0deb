"""The ffmpeg command that turns raw frames and raw sound into an MP4."""

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import ffmpeg

from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.media.sound_layout import aac_rate, layout_in, layout_out
from avatar_cli.protocol.job import Encoding

KEYFRAME_SECONDS = 2
FRAGMENT_MICROSECONDS = 200_000
# x264 holds back one frame a thread; its own choice, 1.5 threads a core, would delay the first fragment of a
# 720p video by up to 22 frames on a large machine, and four threads encode far faster than real time.
MOST_ENCODER_THREADS = 4


@dataclass(frozen=True)
class VideoFormat:
    """Frames as they come in: RGB, 8 bits, even sides in pixels, a constant rate."""

    width: int
    height: int
    fps: Fraction


@dataclass(frozen=True)
class SoundFormat:
    """Sound as it comes in: float32, interleaved."""

    rate: int
    channels: int


class Pipes(NamedTuple):
    """File descriptors that the child inherits: frames and sound come in, a line a frame goes out."""

    video: int
    sound: int
    taken: int


def mp4_command(
    output: Path, video: VideoFormat, sound: SoundFormat, encoding: Encoding, pipes: Pipes
) -> list[str]:
    """Program and arguments.

    The file is fragmented while it grows, so that it plays at any moment, and becomes a plain MP4 at its end.
    Colours are converted to BT.709, limited range, and tagged so. Keyframes lie on multiples of two seconds.
    Both inputs are described in full: ffmpeg must not read ahead on one pipe while we fill the other.

    Args:
        output: File to write; an existing one is overwritten.
        video: What comes in on `pipes.video`.
        sound: What comes in on `pipes.sound`, after `sound_layout.with_positions`.
        encoding: Options of the encoders.
        pipes: What the child inherits; on `pipes.taken` it writes a line for each frame as it
            reaches the encoder.
    """
    at_once = {"probesize": 32, "analyzeduration": 0}
    frames = ffmpeg.input(
        f"pipe:{pipes.video}",
        format="rawvideo",
        pix_fmt="rgb24",
        video_size=(video.width, video.height),
        framerate=str(video.fps),
        **at_once,
    ).video
    frames = frames.filter("scale", out_color_matrix="bt709", out_range="tv").filter("format", "yuv420p")
    frames = frames.filter(
        "setparams", colorspace="bt709", color_primaries="bt709", color_trc="bt709", range="tv"
    )
    samples = ffmpeg.input(
        f"pipe:{pipes.sound}", format="f32le", ar=sound.rate, ch_layout=layout_in(sound.channels), **at_once
    ).audio
    samples = samples.filter("aformat", channel_layouts=layout_out(sound.channels))
    keyframe_distance = round(KEYFRAME_SECONDS * video.fps)
    options = {
        "c:v": "libx264",
        "preset": encoding.preset,
        "crf": encoding.crf,
        "threads:v": min(MOST_ENCODER_THREADS, len(os.sched_getaffinity(0))),
        "g": keyframe_distance,
        "keyint_min": keyframe_distance,
        "sc_threshold": 0,
        "flags:v": "+cgop",
        "fps_mode": "passthrough",
        "stats_enc_pre:v": f"pipe:{pipes.taken}",
        "stats_enc_pre_fmt:v": "{fidx}",
        "c:a": "aac",
        "b:a": f"{encoding.audio_bitrate_kbps}k",
        "ar": aac_rate(sound.rate),
        "movflags": "+hybrid_fragmented+delay_moov",
        "frag_duration": FRAGMENT_MICROSECONDS,
        "flush_packets": 1,
    }
    talk = ("-hide_banner", "-nostats", "-nostdin", "-loglevel", "level+error")
    stream = ffmpeg.output(frames, samples, f"file:{output}", format="mp4", **options)
    stream = stream.global_args(*talk)
    command: list[str] = ffmpeg.compile(stream, cmd=str(ffmpeg_path()), overwrite_output=True)
    return command
