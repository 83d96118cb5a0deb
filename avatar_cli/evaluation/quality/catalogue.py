"""All figures in the order of the table, with what each must reach."""

from avatar_cli.evaluation.quality.figures import Definition, Range

_FRAMES = " frames"
# How far something moves at the end over the beginning: as the mouth's range over the real person's.
_SPREAD = (Range(0.7, 1.4), Range(0.85, 1.15))
_LAG = (Range(-1, 1), Range(-0.5, 0.5))


def _border(part: str) -> list[Definition]:
    title = f"{part}, jumps at chunk borders above p95: position"
    position, velocity = (f"{part}, {kind} at chunk borders" for kind in ("position", "velocity"))
    return [
        Definition(f"{part}_border_position", title, " %", 0, Range(high=10), Range(high=5), position),
        Definition(
            f"{part}_border_velocity", "... velocity", " %", 0, Range(high=15), Range(high=5), velocity
        ),
    ]


def _spread(part: str) -> list[Definition]:
    title = f"spread of the {part}, end over beginning, worst channel: s.d."
    deviation, width = (
        f"spread of the {part}, {kind} of end over beginning" for kind in ("s.d.", "p95 - p5")
    )
    return [
        Definition(f"{part}_deviation_change", title, "", 2, *_SPREAD, deviation),
        Definition(f"{part}_range_change", "... p95 - p5", "", 2, *_SPREAD, width),
    ]


DEFINITIONS = (
    Definition("av_lag", "sound behind the mouth", _FRAMES, 0, *_LAG),
    Definition("av_score", "... score"),
    Definition("av_score_swapped", "... score with swapped sound"),
    Definition("lag_against_real", "mouth behind the real person's", _FRAMES, 0, *_LAG),
    Definition("opening_correlation", "mouth opening, correlation", "", 3, Range(low=0.42), Range(low=0.55)),
    Definition("opening_correlation_in_step", "... at lag 0", "", 3),
    Definition(
        "opening_range",
        "... range over the real person's",
        "",
        2,
        Range(0.7, 1.4),
        Range(0.85, 1.15),
        "mouth opening, range over the real person's",
    ),
    Definition("width_correlation", "mouth width, correlation", "", 3, Range(low=0.45), Range(low=0.55)),
    Definition("width_correlation_in_step", "... at lag 0", "", 3),
    Definition("width_range", "... range over the real person's"),
    Definition("jaw_correlation", "jaw, correlation", "", 3),
    Definition("jaw_correlation_in_step", "... at lag 0", "", 3),
    Definition("jaw_range", "... range over the real person's"),
    Definition("closures", "lips closed at p, b, m", "", 2, Range(low=0.75), Range(low=0.9)),
    Definition("labiodental_contact", "opening at f, v, from the mean in speech", " s.d."),
    Definition(
        "opening_in_silence", "opening in silence, p95 - median", " %", 2, Range(high=1), Range(high=0.3)
    ),
    *_border("mouth"),
    *_border("brows"),
    *_border("pose"),
    Definition("yaw_deviation", "head yaw, s.d.", "°", 2, Range(0.8, 4)),
    Definition("pitch_deviation", "head pitch, s.d.", "°", 2, Range(0.8, 4)),
    Definition("roll_deviation", "head roll, s.d.", "°", 2, Range(0.8, 4)),
    Definition("spectrum_difference", "head spectrum, worst octave to 4 Hz", " dB", 1, goal=Range(high=3)),
    Definition("blinks", "blinks a minute", "", 0, Range(8, 30)),
    Definition("blink_duration", "... duration, median", " s"),
    Definition("identity_lowest", "identity, lowest cosine", "", 3, Range(low=0.8), Range(low=0.9)),
    Definition("identity_mean", "... mean", "", 3),
    Definition(
        "motion_drift", "drift of the motion, worst channel", " s.d.", 2, Range(high=0.2), Range(high=0.1)
    ),
    *_spread("mouth"),
    *_spread("pose"),
    Definition(
        "repeat", "best match of any 4 s of head, gaze and brows", "", 2, Range(high=0.8), Range(high=0.7)
    ),
    Definition("repeat_chance", "... in motion of the same spectra"),
    Definition("identity_end", "identity, end like beginning", "", 3, Range(low=0.95), Range(low=0.98)),
    Definition("identity_within", "... within the beginning", "", 3),
    Definition("skin_change", "change of skin colour", " ΔE"),
    Definition("background_change", "change of background colour", " ΔE"),
    Definition("teeth_similarity", "inside of the mouth, end like beginning"),
    Definition("teeth_similarity_within", "... within the beginning"),
    Definition("flicker", "flicker of the skin", " levels"),
)
BY_KEY = {definition.key: definition for definition in DEFINITIONS}
