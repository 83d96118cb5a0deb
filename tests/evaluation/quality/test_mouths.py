from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from avatar_cli.evaluation.held_out import CLIPS, Clip
from avatar_cli.evaluation.quality import summary
from avatar_cli.evaluation.quality.mouths import closed_share, lags, mouth_curves, score_mouth
from avatar_cli.evaluation.quality.observation import Observation, Sight
from avatar_cli.evaluation.quality.pairing import Pairing
from avatar_cli.evaluation.quality.people import Person, known_phones
from avatar_cli.evaluation.quality.phones import Phone
from avatar_cli.evaluation.quality.sound import Sound
from avatar_cli.evaluation.tracks import TRACK_FPS
from avatar_cli.protocol.job import Fit, Picture


@pytest.fixture
def person(face_curves, wander):
    frames = 300
    opening = np.abs(wander(1, frames))
    opening[50:54] = 0
    real = face_curves(frames, gap=opening, width=0.6 + 0.05 * wander(2, frames), jaw_drop=wander(3, frames))
    rendered = face_curves(
        frames, gap=np.roll(real.opening, 1), width=np.roll(real.width, 1), jaw_drop=np.roll(real.jaw, 1)
    )
    speech = np.ones(frames, bool)
    sound = Sound(np.zeros((frames, 48), np.float32), np.full(frames, -20, np.float32), speech)

    def observed(curves, name):
        return Observation(
            Path(name), Sight(curves, np.zeros((frames, 3)), None, None, (None, None), []), sound
        )

    return Person(
        clip=CLIPS[0],
        still=Path("still.png"),
        picture=Picture(640, 360, TRACK_FPS, Fit.CROP, "black", None),
        samples=np.zeros(frames * 640, np.float32),
        phones=[Phone("B", 2.04, 2.12), Phone("M", 8.0, 8.05), Phone("F", 4.0, 4.1)],
        video=observed(rendered, "rendered.mp4"),
        real=observed(real, "real.mp4"),
        pairing=Pairing(rendered, real, speech),
    )


def test_a_render_is_scored_on_lips_lag_and_closures(person):
    score = score_mouth(mouth_curves(person.pairing.rendered), person)

    assert score.lag == 1
    assert score.likenesses["width"].best == pytest.approx(1)
    assert score.closed[0] >= 1
    assert score.closed[1] == 2
    assert len(score.contacts) == 1


def test_a_still_photo_has_no_lag_no_likeness_and_no_range(person):
    score = score_mouth(np.zeros((300, 3)), person)

    assert score.lag is None
    assert score.likenesses["opening"].best == 0
    assert score.likenesses["opening"].range_ratio == 0
    assert score.closed == (2, 2)
    assert lags([score]) == []


def test_people_are_summed_in_one_table(person):
    scores = {
        summary.RENDERED: [score_mouth(mouth_curves(person.pairing.rendered), person)],
        "loudness": [score_mouth(0.5 * mouth_curves(person.pairing.real)[::-1], person)],
        "regressor, rendered": [score_mouth(0.9 * mouth_curves(person.pairing.real)[::-1] ** 2, person)],
        "still photo": [score_mouth(np.zeros((300, 3)), person)],
    }

    rows = {row.definition.key: row.values for row in summary.mouth_rows(scores, [person])}

    assert rows["lag"][summary.RENDERED] == 1
    assert "still photo" not in rows["lag"]
    assert rows["opening_correlation"][summary.RENDERED] == pytest.approx(1)
    others = [value for name, value in rows["opening_correlation"].items() if name != summary.RENDERED]
    assert rows["lead"][summary.RENDERED] == pytest.approx(1 - max(others))
    alike = rows["opening_correlation"]["regressor, rendered"]
    assert rows["lead_alike"][summary.RENDERED] == pytest.approx(1 - alike)
    assert rows["closures"][summary.REAL] is not None


def test_closures_count_over_all_people(person):
    closed = score_mouth(np.zeros((300, 3)), person)
    open_wide = score_mouth(np.full((300, 3), 0.1), person)

    assert closed_share([closed, open_wide]) == 0.5


def test_without_phone_times_nothing_is_said_about_closures(person):
    unknown = replace(person, phones=None)

    assert closed_share([score_mouth(np.zeros((300, 3)), unknown)]) is None


def test_the_table_by_recording_names_each(person):
    score = score_mouth(mouth_curves(person.pairing.rendered), person)

    lines = summary.people_table([person], [score]).splitlines()

    assert len(lines) == 3
    assert lines[2].startswith(f"| {person.clip.name} | 300 | +1 |")
    assert lines[0].count("|") == lines[2].count("|")


def test_phone_times_are_those_of_the_picture(media):
    by_name = {clip.name: known_phones(clip, media) for clip in CLIPS}
    man = Clip("h_man_address_450_20s.mp4", lag=6)

    assert any(phone.unit == "W" for phone in by_name["g_swiz3n_grid_360x288"])  # "set white in z three now"
    assert [phone.unit for phone in known_phones(man, media)[:4]] == ["S", "P", "IY", "K"]  # "speak"
    earlier = known_phones(replace(man, lag=0), media)[1].start - known_phones(man, media)[1].start
    assert earlier == pytest.approx(6 / 25)
    assert by_name["l_woman_garden_1080x1920"] is None
