"""Renders that no recording of anybody belongs to: silence, music, and ten minutes of speech."""

import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.benchmark.silence import PHOTOS
from avatar_cli.evaluation.command import Render, render
from avatar_cli.evaluation.held_out import Clip
from avatar_cli.evaluation.quality.borders import ChunkLengths
from avatar_cli.evaluation.quality.curves import FaceCurves, curves_of
from avatar_cli.evaluation.quality.drift import WINDOW, ends
from avatar_cli.evaluation.quality.identity import FaceEmbedder
from avatar_cli.evaluation.quality.observation import Sight, watch
from avatar_cli.evaluation.quality.people import RENDER_SIZE, write_still
from avatar_cli.evaluation.quality.repeats import EVERY, motion_that_shows
from avatar_cli.evaluation.silence import restlessness, write_silence
from avatar_cli.evaluation.tracks import TRACK_FPS, track_video
from avatar_cli.families.portrait.training.corpus import heldout_tunes
from avatar_cli.media.decoding import read_frames, read_sound
from avatar_cli.protocol.timing import MODEL_RATE

_OPTIONS = ("--size", RENDER_SIZE, "--fps", str(TRACK_FPS))
_SILENCE_SECONDS = 10
# Ten minutes of a recording in two languages that training never heard, on a person that it never saw.
LONG_MINUTES = 10
_LONG_SPEECH = "s11_bilingual_en_es_88s.mp3"
_LONG_PERSON = Clip("h_man_address_450_20s.mp4")
# The first and the last minute whole, since they are compared, and between them every fifth frame, by which
# motion is looked for that comes again.
_WATCHED = f"select='lt(t,60)+gte(t,540)+not(mod(n,{EVERY}))'"


@dataclass(frozen=True)
class Stillness:
    """95th percentile of (opening - median), % of the eyes' distance, by photo."""

    silence: dict[str, float]
    music: dict[str, float]


@dataclass(frozen=True)
class Schedule:
    """The first minute of a scene.

    Attributes:
        curves: Motion of the face.
        lengths: Of its chunks.
    """

    curves: FaceCurves
    lengths: ChunkLengths


@dataclass(frozen=True)
class LongScene:
    """Ten minutes.

    Attributes:
        sight: The first minute, every fifth frame of the others, and the last minute.
        motion: `repeats.motion_that_shows` of all of it.
        schedules: By name: with I chunks between N chunks as rendered, and with N chunks only.
    """

    sight: Sight
    motion: NDArray[np.float32]
    schedules: dict[str, Schedule]


def stillness(media: Path, folder: Path) -> Stillness:
    """Photos with closed mouths in digital silence and with music that training never heard."""
    silence, music = folder / "silence.wav", folder / "music.wav"
    write_silence(silence, _SILENCE_SECONDS)
    write_wav(music, np.concatenate(heldout_tunes(media)))
    photos = [media / "portraits" / name for name in PHOTOS]
    return Stillness(
        *({photo.stem: _restless(photo, sound, folder) for photo in photos} for sound in (silence, music))
    )


def _restless(photo: Path, sound: Path, folder: Path) -> float:
    output = folder / f"{photo.stem}-{sound.stem}.mp4"
    return 100 * restlessness(track_video(render(Render(photo, sound, output, _OPTIONS)).output).opening)


def long_scene(media: Path, folder: Path, embedder: FaceEmbedder | None) -> LongScene:
    """Renders ten minutes, and the first of them once more with N chunks only."""
    samples = read_sound(media / "speech" / _LONG_SPEECH)
    speech, short = folder / "long.wav", folder / "minute.wav"
    write_wav(speech, np.resize(samples, LONG_MINUTES * 60 * MODEL_RATE))
    write_wav(short, np.resize(samples, 60 * MODEL_RATE))
    still = write_still(_LONG_PERSON, media, folder)
    done = render(Render(still, speech, folder / "long.mp4", _OPTIONS))
    sight = watch(read_frames(done.output, filters=_WATCHED), embedder)
    only_main = (*_OPTIONS, "--set", "chunks.interpolated=0")
    alone = render(Render(still, short, folder / "minute.mp4", only_main))
    return LongScene(
        sight,
        _whole_motion(sight.curves),
        {
            "N and I": _schedule(sight.curves, done.report),
            "N only": _schedule(curves_of(track_video(alone.output)), alone.report),
        },
    )


def _schedule(curves: FaceCurves, report: dict) -> Schedule:
    plan = report["job"]["generation"]
    lengths = ChunkLengths(plan["chunk_frames"], plan["interpolated_frames"])
    return Schedule(curves.part(slice(0, WINDOW)), lengths)


def _whole_motion(watched: FaceCurves) -> NDArray[np.float32]:
    """Every fifth frame of a scene of which those between the first and the last minute are that already."""
    first, last = ends(len(watched))
    between = watched.part(slice(first.stop, last.start))
    parts = (watched.part(first), watched.part(last))
    early, late = (motion_that_shows(part) for part in parts)
    return np.concatenate([early, motion_that_shows(between, every=1), late])


def write_wav(path: Path, samples: NDArray[np.floating]) -> None:
    """Mono float samples at 16 kHz as a 16-bit WAV."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(MODEL_RATE)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
