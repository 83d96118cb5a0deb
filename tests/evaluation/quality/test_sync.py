import numpy as np
import pytest

from avatar_cli.evaluation.quality.sync import lag_against, sync


@pytest.mark.parametrize("late", [-7, 0, 3])
def test_sound_that_comes_late_is_late_by_so_many_frames(wander, late):
    mouth = wander(1, 300)

    found = sync(mouth, np.roll(mouth, late) + 0.3 * wander(2, 300))

    assert found.lag == late
    assert found.score > 0.9
    assert (found.in_step == found.score) == (late == 0)


def test_exchanged_sound_scores_like_chance(wander):
    mouth = wander(1, 600)

    found = sync(mouth, mouth)

    assert found.score == pytest.approx(1)
    assert abs(found.swapped) < 0.35


def test_a_mouth_that_follows_late_is_behind_in_all_channels_together(wander):
    real = np.stack([wander(seed, 200) for seed in range(3)], axis=1)
    rendered = np.roll(real, 4, axis=0)
    rendered[:, 0] = np.roll(real[:, 0], -3)  # one channel that says otherwise

    match = lag_against(rendered, real, np.ones(200, bool))

    assert match.lag == 4
    assert match.correlation > 0.5


def test_a_single_recording_of_a_real_person_is_nearly_in_time(media):
    from avatar_cli.evaluation.quality.sound import hear
    from avatar_cli.evaluation.tracks import track_video
    from avatar_cli.families.portrait.training.split import TRAINING_CLIPS
    from avatar_cli.media.decoding import read_sound

    path = media / "video" / f"{TRAINING_CLIPS[3]}.mpg"
    opening = track_video(path).opening

    found = sync(opening, hear(read_sound(path), len(opening)).vowels)

    assert found.lag in (-1, 0)
    assert found.score > found.swapped + 0.3
