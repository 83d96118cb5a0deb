"""All measures of one video, by the keys of the catalogue; rendered and real videos are treated alike."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.quality.blinks import blinks
from avatar_cli.evaluation.quality.borders import FEWEST_BORDERS, ChunkLengths, border_figures
from avatar_cli.evaluation.quality.closures import closures, labiodental_contact
from avatar_cli.evaluation.quality.colour import colour_change
from avatar_cli.evaluation.quality.drift import ends, motion_drift, spread_change
from avatar_cli.evaluation.quality.figures import Measured
from avatar_cli.evaluation.quality.flicker import flicker
from avatar_cli.evaluation.quality.head_motion import rotation_deviation
from avatar_cli.evaluation.quality.observation import Observation, Sight
from avatar_cli.evaluation.quality.phones import Phone
from avatar_cli.evaluation.quality.repeats import (
    FEWEST_FRAMES,
    FPS,
    best_repeat,
    chance_repeat,
    motion_that_shows,
)
from avatar_cli.evaluation.quality.sound import Sound
from avatar_cli.evaluation.quality.stillness import opening_in_silence
from avatar_cli.evaluation.quality.sync import sync
from avatar_cli.evaluation.tracks import TRACK_FPS

Measures = dict[str, Measured]

_NO_SOUND, _NO_SPEECH = "the video has no sound", "nobody speaks"


@dataclass(frozen=True)
class Facts:
    """What is known of a video beside itself.

    Attributes:
        lag: Frames by which its sound lies behind its picture.
        phones: Times of the speech sounds in its sound, None where they are not known.
        chunks: Lengths of its chunks, None for a real recording.
    """

    lag: int = 0
    phones: Sequence[Phone] | None = None
    chunks: ChunkLengths | None = None


def measure(video: Observation, facts: Facts) -> Measures:
    """Every figure that one video gives by itself."""
    sight = video.sight
    measures = (
        sound_measures(sight, video.sound, facts) if video.sound else {"av_lag": Measured(None, _NO_SOUND)}
    )
    return {
        **measures,
        **(border_measures(sight, facts.chunks) if facts.chunks else {}),
        **head_measures(sight),
        **constancy_measures(sight),
        **repeat_measures(motion_that_shows(sight.curves)),
    }


def sound_measures(sight: Sight, sound: Sound, facts: Facts) -> Measures:
    """Sync, closures, and stillness in silence."""
    opening = sight.curves.opening
    restless = opening_in_silence(opening, sound.silent)
    silence = Measured(None, "no digital silence of a second")
    if restless is not None:
        silence = Measured(100 * restless, "of the eyes' distance")
    return {
        **(
            sync_measures(sight, sound, facts.lag)
            if sound.speech.any()
            else {"av_lag": Measured(None, _NO_SPEECH)}
        ),
        "opening_in_silence": silence,
        **(phone_measures(sight, sound, facts.phones, facts.lag) if facts.phones is not None else {}),
    }


def sync_measures(sight: Sight, sound: Sound, lag: int) -> Measures:
    """Lag of the sound from the video alone; `lag` of it are the file's own."""
    found = sync(sight.curves.opening, sound.vowels)
    return {
        "av_lag": Measured(found.lag - lag, "where opening and loudness of vowels fit best"),
        "av_score": Measured(found.score, f"correlation at that lag; at lag 0: {found.in_step:.2f}"),
        "av_score_swapped": Measured(found.swapped, "its parts exchanged, best lag: what chance gives"),
    }


def phone_measures(sight: Sight, sound: Sound, phones: Sequence[Phone], lag: int) -> Measures:
    """Closures at p, b, m and contact at f, v; the mouth moves `lag` frames before its sound."""
    earlier = float(lag / TRACK_FPS)
    seen = [Phone(phone.name, phone.start - earlier, phone.end - earlier) for phone in phones]
    shut, bilabials = closures(sight.curves.opening, seen)
    contacts = labiodental_contact(sight.curves.opening, seen, sound.speech) if sound.speech.any() else []
    return {
        "closures": Measured(shut / bilabials if bilabials else None, f"{shut} of {bilabials}"),
        "labiodental_contact": Measured(
            statistics.mean(contacts) if contacts else None, f"{len(contacts)} sounds"
        ),
    }


def border_measures(sight: Sight, chunks: ChunkLengths) -> Measures:
    """Jumps where chunks meet."""
    measures = {}
    for part, figures in border_figures(sight.curves, chunks).items():
        judged = figures.borders >= FEWEST_BORDERS
        jumps = f"{figures.borders} borders{'' if judged else ', too few to judge'}; median jump"
        position, velocity = (
            f"{jumps} {jump:.2f} of that p95" for jump in (figures.position, figures.velocity)
        )
        measures[f"{part}_border_position"] = Measured(100 * figures.position_above, position, judged)
        measures[f"{part}_border_velocity"] = Measured(100 * figures.velocity_above, velocity, judged)
    return measures


def head_measures(sight: Sight) -> Measures:
    """How lively head and lids are."""
    deviations = rotation_deviation(sight.curves.angles)
    found = blinks(sight.curves.lids)
    duration = statistics.median(found.durations) if found.durations else None
    return {
        **{
            f"{name}_deviation": Measured(float(value))
            for name, value in zip(("yaw", "pitch", "roll"), deviations, strict=True)
        },
        "blinks": Measured(found.per_minute, f"{len(found.durations)} in {60 * found.minutes:.0f} s"),
        "blink_duration": Measured(duration, "shut by more than half"),
    }


def repeat_measures(motion: NDArray[np.float32]) -> Measures:
    """Whether motion comes again, of `repeats.motion_that_shows` [T, C]; nothing for a video of seconds."""
    if len(motion) < FEWEST_FRAMES:
        return {}
    found = best_repeat(motion, FPS)
    where = " and ".join(f"{frame / FPS:.0f} s" for frame in (found.first, found.second))
    return {
        "repeat": Measured(found.match, f"1 is the same again; at {where}"),
        "repeat_chance": Measured(chance_repeat(motion, FPS), "as good as it gets"),
    }


def constancy_measures(sight: Sight) -> Measures:
    """What should be the same at the end as at the beginning."""
    first, _ = ends(len(sight.curves))
    compared = f"last {first.stop / float(TRACK_FPS):.0f} s against the first"
    background, likenesses = sight.background, sight.identity
    measures = {
        "motion_drift": Measured(float(np.abs(motion_drift(sight.curves)).max()), compared),
        "skin_change": Measured(colour_change(sight.skin), compared),
        "background_change": Measured(None, "no room beside the face"),
        "teeth_similarity": Measured(sight.teeth[0], f"{compared}, at equal opening and width"),
        "teeth_similarity_within": Measured(sight.teeth[1], "as good as it gets"),
        "flicker": Measured(
            flicker(sight.skin, sight.curves.pose), "from frame to frame, of 255, head still"
        ),
    }
    for part, curves in (("mouth", sight.curves.mouth), ("pose", sight.curves.pose)):
        spread = spread_change(curves)
        measures[f"{part}_deviation_change"] = Measured(spread.deviation, compared)
        measures[f"{part}_range_change"] = Measured(spread.range, compared)
    if background is not None:
        measures["background_change"] = Measured(colour_change(background), compared)
    if likenesses is not None:
        measures["identity_lowest"] = Measured(likenesses.lowest, "every fifth frame against the first")
        measures["identity_mean"] = Measured(likenesses.mean)
        measures["identity_end"] = Measured(likenesses.end, f"mean faces, {compared}")
        measures["identity_within"] = Measured(likenesses.within, "halves of the beginning")
    return measures
