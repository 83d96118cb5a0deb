"""Does each word of a prompt move what it says? One person says the same words under every prompt."""

from collections.abc import Mapping
from pathlib import Path

from avatar_cli.evaluation.benchmark.figures import markdown_table
from avatar_cli.evaluation.command import Render, render
from avatar_cli.evaluation.held_out import Clip
from avatar_cli.evaluation.quality.found import Found, Work, say
from avatar_cli.evaluation.quality.people import RENDER_SIZE, known_phones, write_still
from avatar_cli.evaluation.quality.prompt_effects import (
    FACTORS,
    Lips,
    Look,
    changes,
    curves_beside,
    lips,
    look,
)
from avatar_cli.evaluation.quality.sound import hear
from avatar_cli.evaluation.tracks import TRACK_FPS, track_video
from avatar_cli.media.decoding import extract_wav, read_sound

DOCUMENT = "prompts.md"
_PERSON = Clip("h_man_address_450_20s.mp4", lag=6)
_SECONDS = 8.0
_OTHER_SEED = 1
# What each word must change, and which way: attributes of `Look`.
CLAIMS: dict[str, dict[str, int]] = {
    "calm": {"head": -1, "mouth": -1},
    "lively": {"head": 1, "mouth": 1},
    "happy": {"width": 1, "corners_up": 1},
    "serious": {"head": -1, "width": -1},
    "sad": {"corners_up": -1, "turn_down": 1},
    "surprised": {"brows_up": 1, "lids": 1},
    "smiling": {"width": 1, "corners_up": 1},
    "still head": {"head": -1},
    "nodding": {"nods": 1},
    "looking left": {"gaze_right": -1, "turn_right": -1},
    "looking right": {"gaze_right": 1, "turn_right": 1},
    "looking up": {"gaze_down": -1, "turn_down": -1},
    "looking down": {"gaze_down": 1, "turn_down": 1},
}
GRADED = ("smiling", "looking left")  # also slightly and very
_HEADER = {
    "width": "mouth width",
    "corners_up": "corners up",
    "brows_up": "brows up",
    "lids": "lids",
    "gaze_right": "gaze right",
    "gaze_down": "gaze down",
    "turn_right": "head right",
    "turn_down": "head down",
    "head": "head s.d.",
    "nods": "nods/min",
    "mouth": "opening",
}
_UNITS = {"turn_right": "°", "turn_down": "°", "nods": ""}  # of all others: %


def measure_prompts(work: Work) -> Found:
    """Renders every word, tracks the videos, and says for each what moved."""
    still, speech = write_still(_PERSON, work.media, work.folder), work.folder / "prompts.wav"
    recording = work.media / "video" / _PERSON.file
    extract_wav(recording, speech, start=float(_PERSON.lag / TRACK_FPS), seconds=_SECONDS)
    phones = known_phones(_PERSON, work.media) or []
    without = track_video(_rendered(still, speech, work.folder / "prompt-none.mp4"))
    usual = curves_beside(without, without)
    spoken = hear(read_sound(speech), len(usual)).speech

    def judged(name: str, *options: str) -> tuple[Look, Lips]:
        track = track_video(_rendered(still, speech, work.folder / f"prompt-{name}.mp4", *options))
        curves = curves_beside(track, without)
        return look(curves), lips(curves, usual, spoken, phones)

    found = {"no prompt": (look(usual), lips(usual, usual, spoken, phones))}
    found["no prompt, another seed"] = judged("seed", "--seed", str(_OTHER_SEED))
    for prompt in prompts():
        found[prompt] = judged(prompt.replace(" ", "-"), "--prompt", prompt)
        say(f"{prompt}: rendered and tracked")
    return Found([], documents={DOCUMENT: prompt_table(found)})


def prompts() -> list[str]:
    """Every word, and some with each intensity."""
    graded = {word: (f"slightly {word}", word, f"very {word}") for word in GRADED}
    return [prompt for word in CLAIMS for prompt in graded.get(word, (word,))]


def prompt_table(found: Mapping[str, tuple[Look, Lips]]) -> str:
    """Markdown, from what was measured without a prompt, with another seed, and with each prompt."""
    names = list(found)
    usual = found[names[0]][0]
    chance = changes(found[names[1]][0], usual)
    header = ("prompt", *_HEADER.values(), "p, b, m", "lag", "moves what it says")
    rows = []
    for name in names[1:]:
        moved, (_, spoken) = changes(found[name][0], usual), found[name]
        cells = (_cell(attribute, moved[attribute]) for attribute in _HEADER)
        rows.append((name, *cells, _closed(spoken), f"{spoken.lag:+d}", _verdict(name, moved, chance)))
    nothing = (names[0], *[""] * len(_HEADER), _closed(found[names[0]][1]), "", "")
    return markdown_table(header, [nothing, *rows])


def holds(word: str, moved: Mapping[str, float], chance: Mapping[str, float]) -> bool:
    """Whether all that a word claims moved its way, and further than another seed moves it either way."""
    return all(
        way * (moved[attribute] - _still(attribute)) > abs(chance[attribute] - _still(attribute))
        for attribute, way in CLAIMS[word].items()
    )


def _verdict(name: str, moved: Mapping[str, float], chance: Mapping[str, float]) -> str:
    word = name.removeprefix("slightly ").removeprefix("very ")
    if word not in CLAIMS:
        return ""
    return "yes" if holds(word, moved, chance) else "**no**"


def _still(attribute: str) -> float:
    """The change that is none."""
    return 1.0 if attribute in FACTORS else 0.0


def _cell(attribute: str, change: float) -> str:
    if attribute in FACTORS:
        return f"x {change:.2f}"
    return f"{change:+.1f}{_UNITS.get(attribute, ' %')}"


def _closed(spoken: Lips) -> str:
    shut, count = spoken.closed
    return f"{shut} of {count}"


def _rendered(still: Path, speech: Path, output: Path, *options: str) -> Path:
    shape = ("--size", RENDER_SIZE, "--fps", str(TRACK_FPS))
    return render(Render(still, speech, output, (*shape, *options))).output
