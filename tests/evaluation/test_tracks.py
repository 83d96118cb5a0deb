import cv2
import numpy as np
import pytest

from avatar_cli.evaluation.correlation import best_match
from avatar_cli.evaluation.held_out import CLIPS, still_frame
from avatar_cli.evaluation.silence import restlessness
from avatar_cli.evaluation.tracks import remove_pose, track_frames, track_video
from avatar_cli.families.portrait.geometry import rotation_matrix
from avatar_cli.families.portrait.measures import measure_mouth


def test_identical_frames_give_identical_openings(photo):
    track = track_frames([photo] * 4)

    assert track.seen.all()
    assert restlessness(track.opening) == 0
    assert restlessness(track.image_opening) == 0


def test_a_frame_without_a_face_takes_that_of_its_neighbour_and_says_so(photo):
    track = track_frames([photo, photo[:, 20:], np.zeros_like(photo)])

    assert track.seen.tolist() == [True, True, False]
    assert np.array_equal(track.landmarks[2], track.landmarks[1])
    assert not np.array_equal(track.landmarks[2], track.landmarks[0])


def test_a_video_without_a_face_is_refused(photo):
    with pytest.raises(ValueError, match="no face"):
        track_frames([np.zeros_like(photo)] * 2)


def test_head_motion_does_not_open_the_mouth(photo):
    mesh = track_frames([photo]).landmarks[0].astype(np.float64)
    centre = mesh.mean(axis=0)
    angles = [(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.4), (-0.3, -0.2, 0.1)]
    moved = [(mesh - centre) @ rotation_matrix(*angle).T * (1 + 0.1 * angle[0]) + centre for angle in angles]

    canonical, poses = remove_pose(np.stack(moved).astype(np.float32))

    mouths = measure_mouth(canonical)
    assert np.abs(mouths - mouths[0]).max() < 1e-3
    turned = [poses[0].rotation.T @ pose.rotation for pose in poses]
    assert np.degrees(np.arccos((np.trace(turned[3]) - 1) / 2)) == pytest.approx(np.degrees(0.4), abs=0.2)


def test_the_opening_does_not_depend_on_the_size_of_the_picture(photo):
    large = cv2.resize(photo, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)

    small_opening, large_opening = (track_frames([image]).opening[0] for image in (photo, large))

    assert large_opening == pytest.approx(small_opening, abs=0.01)


def test_a_real_mouth_agrees_with_itself_at_the_lag_it_is_shifted_by(media):
    track = track_video(media / "video" / CLIPS[0].file)

    match = best_match(np.roll(track.opening, 2), track.opening, np.ones(len(track.seen), bool))

    assert len(track.seen) == 75
    assert match.lag == 2
    assert match.correlation > 0.9


def test_a_still_shows_a_closed_mouth(media):
    track = track_video(media / "video" / CLIPS[1].file)

    assert track.opening[still_frame(track)] < 0.2 * np.quantile(track.opening, 0.95)
