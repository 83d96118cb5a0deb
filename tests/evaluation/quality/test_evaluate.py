from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from avatar_cli.evaluation.quality.borders import ChunkLengths
from avatar_cli.evaluation.quality.catalogue import BY_KEY, DEFINITIONS
from avatar_cli.evaluation.quality.evaluate import as_json, judge, miss
from avatar_cli.evaluation.quality.figures import Figure, Measured
from avatar_cli.evaluation.quality.measures import Facts
from avatar_cli.evaluation.quality.observation import Observation, Sight
from avatar_cli.evaluation.quality.page import page
from avatar_cli.evaluation.quality.phones import Phone
from avatar_cli.evaluation.quality.sound import Sound
from avatar_cli.evaluation.quality.strips import Snapshot


def watched(curves, wander, name):
    frames = len(curves)
    bands = np.repeat(curves.opening[:, None], 48, axis=1)
    sound = Sound(bands, np.full(frames, -20, np.float32), np.ones(frames, bool))
    picture = np.full((8, 8, 3), 90, np.uint8)
    skin = 100 + wander(9, frames)[:, None] * np.ones(3, np.float32)
    sight = Sight(curves, skin, None, None, (None, None), [Snapshot(0, picture, picture)])
    return Observation(Path(name), sight, sound)


@pytest.fixture
def evaluation(face_curves, wander):
    motion = {"gap": np.abs(wander(1, 400)), "jaw_drop": wander(3, 400), "yaw": 0.05 * wander(4, 400)}
    width = 0.6 + 0.1 * wander(2, 400)
    video = face_curves(400, width=width, **motion)
    real = face_curves(400, width=width[::-1], **motion)
    facts = Facts(phones=[Phone("B", 1.0, 1.1)], chunks=ChunkLengths(48, 10))
    return judge(watched(video, wander, "me <1>.mp4"), watched(real, wander, "real.mp4"), facts)


def value(evaluation, key):
    return as_json(evaluation)["figures"][key]["value"]


def test_a_render_that_moves_like_the_person_reaches_the_goals(evaluation):
    found = as_json(evaluation)

    assert value(evaluation, "opening_correlation") == pytest.approx(1)
    assert value(evaluation, "opening_range") == pytest.approx(1)
    assert value(evaluation, "spectrum_difference") == pytest.approx(0, abs=1e-6)
    assert value(evaluation, "av_lag") == value(evaluation, "lag_against_real") == 0
    assert found["figures"]["opening_correlation"]["verdict"] == "goal"
    assert found["frames"] == 400


def test_a_width_that_does_not_match_is_missed(evaluation):
    figure = as_json(evaluation)["figures"]["width_correlation"]

    assert figure["value"] < 0.45
    assert figure["verdict"] == "missed"
    assert figure["at_least"] == ">= 0.45"


def test_what_cannot_be_measured_says_why(evaluation):
    figure = as_json(evaluation)["figures"]["opening_in_silence"]

    assert figure["value"] is None
    assert "silence" in figure["note"]


def test_the_person_is_measured_like_the_render(evaluation):
    figures = as_json(evaluation)["figures"]

    assert figures["yaw_deviation"]["real"] == figures["yaw_deviation"]["value"]
    assert figures["mouth_border_position"]["real"] is None  # recordings have no chunks


def test_the_lag_of_a_recording_is_taken_out_of_what_is_said_of_it(face_curves, wander):
    opening = np.abs(wander(1, 400))
    real = watched(face_curves(400, gap=opening, jaw_drop=opening, width=opening), wander, "real.mp4")
    late = replace(real, sound=replace(real.sound, bands=np.roll(real.sound.bands, 6, axis=0)))
    moved = np.roll(opening, 6)  # rendered from that sound
    video = watched(face_curves(400, gap=moved, jaw_drop=moved, width=moved), wander, "me.mp4")

    figures = as_json(judge(video, late, Facts(lag=6)))["figures"]

    assert figures["av_lag"]["value"] == figures["av_lag"]["real"] == 0
    assert figures["lag_against_real"]["value"] == 0
    assert figures["opening_correlation_in_step"]["value"] == pytest.approx(1)


def test_a_few_words_are_not_judged_for_their_lag(face_curves, wander):
    videos = [
        watched(face_curves(frames, gap=np.abs(wander(1, frames))), wander, "me.mp4") for frames in (199, 200)
    ]

    verdicts = [as_json(judge(video, None, Facts()))["figures"]["av_lag"]["verdict"] for video in videos]

    assert verdicts == ["none", "goal"]


def test_seconds_of_motion_are_not_judged_for_drift(evaluation):
    figure = as_json(evaluation)["figures"]["motion_drift"]

    assert figure["value"] is not None
    assert figure["verdict"] == "none"


def test_a_few_borders_are_not_judged_for_their_share(face_curves, wander):
    curves = face_curves(582, gap=np.abs(wander(1, 582)), yaw=wander(2, 582))
    lengths = Facts(chunks=ChunkLengths(48, 10))
    few, enough = (
        as_json(judge(watched(curves.part(slice(frames)), wander, "me.mp4"), None, lengths))["figures"]
        for frames in (581, 582)
    )

    for key in ("pose_border_velocity", "mouth_border_position"):
        assert few[key]["value"] is not None
        assert few[key]["verdict"] == "none"
        assert few[key]["at_least"] == ""
        assert few[key]["note"].startswith("19 borders, too few to judge; ")
        assert enough[key]["verdict"] != "none"
        assert enough[key]["note"].startswith("20 borders; ")


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("pose_border_velocity", 17.3, "pose, velocity at chunk borders 17 % (at most 15 %)"),
        ("mouth_range_change", 2.0, "spread of the mouth, p95 - p5 of end over beginning 2.00 (0.7 to 1.4)"),
        ("opening_range", 0.5, "mouth opening, range over the real person's 0.50 (0.7 to 1.4)"),
        ("identity_lowest", 0.5, "identity, lowest cosine 0.500 (at least 0.8)"),
    ],
)
def test_a_miss_is_told_with_its_whole_name_and_what_is_asked(key, value, words):
    assert miss(Figure(BY_KEY[key], Measured(value))) == words


def test_every_figure_that_can_miss_has_a_name_of_its_own():
    names = [definition.name for definition in DEFINITIONS if definition.at_least]

    assert len(set(names)) == len(names)
    assert not any(name.startswith("...") for name in names)


def test_the_page_needs_no_other_file_and_shows_everything(evaluation):
    text = page(evaluation)

    assert "<title>me &lt;1&gt;.mp4</title>" in text
    assert "http" not in text
    assert "<script" not in text
    assert text.count("data:image/jpeg;base64,") == 4
    assert '<td class="value missed">' in text
    assert text.count("<svg") == 2 * 4  # two rows of 12 s, four plots each
    for figure in evaluation.figures:
        assert figure.definition.title in text.replace("&gt;", ">").replace("&#x27;", "'")


def test_where_nobody_speaks_there_is_no_lag(face_curves, wander):
    video = watched(face_curves(100, gap=np.abs(wander(1, 100))), wander, "me.mp4")
    silent = replace(video, sound=replace(video.sound, speech=np.zeros(100, bool)))

    found = as_json(judge(silent, None, Facts(phones=[Phone("F", 1.0, 1.1)])))["figures"]

    assert found["av_lag"]["value"] is None
    assert found["av_lag"]["note"] == "nobody speaks"
    assert found["labiodental_contact"]["value"] is None
