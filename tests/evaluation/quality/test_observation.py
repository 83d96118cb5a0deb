import cv2
import numpy as np
import pytest

from avatar_cli.evaluation.quality.observation import observe, watch
from avatar_cli.families.portrait.latents import POSE
from avatar_cli.protocol.errors import InputError


def test_a_still_picture_does_nothing(photo):
    told = []
    sight = watch([photo] * 30, None, told.append)

    assert told == list(range(30))
    assert np.ptp(sight.curves.mouth, axis=0).max() == 0
    assert np.ptp(sight.skin, axis=0).max() == 0
    assert sight.identity is None
    assert sight.snapshots[0].frame == 0


def test_a_head_that_moves_is_followed(photo):
    moved = np.roll(photo, 8, axis=1)

    sight = watch([photo, photo, moved], None)

    shift = sight.curves.pose[:, POSE.index("shift_x_head")]
    assert abs(shift[1]) < 1e-6
    assert shift[2] > 0.02


def test_frames_without_a_face_keep_every_curve_in_time(photo):
    black = np.zeros_like(photo)

    sight = watch([black, black, photo, black, photo], None)

    assert sight.curves.seen.tolist() == [False, False, True, False, True]
    assert len(sight.skin) == 5
    assert np.array_equal(sight.curves.mouth[0], sight.curves.mouth[2])
    assert np.array_equal(sight.curves.mouth[3], sight.curves.mouth[2])


def test_without_any_face_there_is_nothing_to_see(photo):
    with pytest.raises(ValueError, match="no face was found in any of 3 frames"):
        watch([np.zeros_like(photo)] * 3, None)


def test_a_video_of_less_than_a_second_cannot_be_judged(tmp_path, photo):
    path = tmp_path / "me.png"
    cv2.imwrite(str(path), photo[..., ::-1])

    with pytest.raises(InputError, match="is a single picture"):
        observe(path, None)


def test_a_file_that_is_no_video_is_bad_input(tmp_path):
    path = tmp_path / "me.mp4"
    path.write_text("text")

    with pytest.raises(InputError, match=r"me\.mp4 is no video, or one that was cut off"):
        observe(path, None)
