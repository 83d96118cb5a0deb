"""Every real file renders, warns or is refused as the table says.

Three seconds of each at 360p; `make media` renders all of it and keeps the videos.
"""

import math
import subprocess
import sys
import time
from fractions import Fraction

import cv2
import pytest

from avatar_cli.media.decoding import read_frames
from avatar_cli.media.probe_mp4 import decoding_fault, probe_mp4
from tests.real_media.catalogue import DEMO_PHOTO, FPS, SHOWN, Expectation, render, rows, true_length

LONGEST_REFUSAL = 20.0  # seconds
EVERY_ROW = [*rows("portraits"), *rows("speech"), *rows("video")]
RENDERED = [row for row in EVERY_ROW if row.refused is None]
REFUSED = [row for row in EVERY_ROW if row.refused is not None]


def name_of(row: Expectation) -> str:
    return row.name


@pytest.mark.parametrize("folder", ["portraits", "speech", "video"])
def test_the_table_names_every_file(media, folder):
    there = {path.name for path in (media / folder).iterdir()} - {"grid_alignments.json"}
    there = {name for name in there if not name.endswith(".align")}
    assert {row.name for row in rows(folder)} == there


@pytest.mark.parametrize("row", [row for row in RENDERED if row.folder == "portraits"], ids=name_of)
def test_a_portrait_renders(media, speech, videos, row):
    outcome = render(media / "portraits" / row.name, speech(SHOWN / FPS), videos, None)
    assert row.meets(outcome.warnings), outcome.warnings
    assert outcome.frames == SHOWN
    assert_plays(outcome.video, SHOWN)


@pytest.mark.parametrize("row", [row for row in RENDERED if row.folder != "portraits"], ids=name_of)
def test_a_recording_renders(media, videos, most_frames, row):
    path = media / row.folder / row.name
    samples, rate = true_length(path)
    frames = math.ceil(Fraction(samples, rate) * FPS)
    outcome = render(DEMO_PHOTO, path, videos, most_frames)
    assert row.meets(outcome.warnings), outcome.warnings
    if most_frames is None or frames < most_frames:
        assert outcome.frames == frames
    assert_plays(outcome.video, outcome.frames)


@pytest.mark.parametrize("row", REFUSED, ids=name_of)
def test_a_bad_file_is_refused_in_one_sentence(media, speech, tmp_path, row):
    path = media / row.folder / row.name
    inputs = (path, speech(1.0)) if row.folder == "portraits" else (DEMO_PHOTO, path)
    output = tmp_path / "out.mp4"
    output.write_bytes(b"an hour of work")
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "avatar_cli", "render", *inputs, "-o", output, "--overwrite", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert time.monotonic() - begin < LONGEST_REFUSAL
    assert done.returncode == 3, done.stderr
    assert row.refused in done.stderr
    assert row.name in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert output.read_bytes() == b"an hour of work"
    assert [file.name for file in tmp_path.glob("*.mp4")] == ["out.mp4"]


def assert_plays(video, frames):
    """It decodes without a complaint, both tracks end together, and there is a picture in motion."""
    assert decoding_fault(video) is None
    facts = probe_mp4(video)
    assert len(facts.video.times) == frames
    assert abs(facts.video.end - facts.sound.end) <= Fraction(1, FPS)
    shown = read_frames(video)
    first = next(shown)
    assert first.std() > 4
    if frames >= SHOWN:
        assert any(cv2.absdiff(frame, first).max() > 20 for frame in shown)
