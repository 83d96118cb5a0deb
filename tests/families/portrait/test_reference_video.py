import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.best_frames import CLOSED_LIDS, OPEN_GAP
from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.measures import measure_mouth, measure_upper_face
from avatar_cli.families.portrait.mesh_follower import MeshFollower
from avatar_cli.families.portrait.person_mask import PersonMasker
from avatar_cli.families.portrait.reference import encode_reference, encode_video_reference
from avatar_cli.families.portrait.reference_video import watch_video
from avatar_cli.families.portrait.scene_cuts import CutFinder
from avatar_cli.families.portrait.speaker import middle_of_the_eyes
from avatar_cli.families.portrait.video_findings import findings, video_warnings
from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.media.image_in import Photo
from avatar_cli.media.video_reference import ReferenceVideo
from avatar_cli.protocol.errors import InputError, UsageError
from avatar_cli.protocol.job import Fit, Picture

CLIP = "g_bbaf2n_grid_360x288.mpg"
OTHER_CLIP = "g_pwij3p_grid_360x288.mpg"
GAP = MOUTH.index("gap")
PICTURE = Picture(360, 288, Fraction(25), Fit.CROP, "black", face=None)
SCENE = np.zeros((288, 360, 3), np.uint8)


def always(sound):
    return np.ones(len(sound) // 640, bool)


def film(path: Path, images, rate=12.5) -> ReferenceVideo:
    """A video of these RGB images."""
    height, width = images[0].shape[:2]
    command = [str(ffmpeg_path()), "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{width}x{height}", "-r", str(rate), "-i", "pipe:0", "-crf", "12", str(path)]
    subprocess.run(command, input=b"".join(image.tobytes() for image in images), check=True)
    return ReferenceVideo(path)


def moved(image, across):
    return cv2.warpAffine(image, np.array([[1.0, 0, across], [0, 1, 0]]), image.shape[1::-1])


@pytest.fixture(scope="module")
def clip(media):
    return ReferenceVideo(media / "video" / CLIP)


@pytest.fixture(scope="module")
def watched(clip, tracker):
    return watch_video(clip, None, tracker, always)


@pytest.fixture(scope="module")
def two_faces(tmp_path_factory, picture):
    """The demo face twice, each moving to the right, the second one smaller."""
    small = cv2.resize(picture, (400, 400), interpolation=cv2.INTER_AREA)
    images = []
    for shift in range(6):
        scene = np.full((512, 960, 3), 90, np.uint8)
        scene[:, :512] = moved(picture, 3 * shift)
        scene[60:460, 540:940] = moved(small, 3 * shift)
        images.append(scene)
    return film(tmp_path_factory.mktemp("film") / "two.mp4", images)


def test_the_chosen_frame_has_closed_lips_and_open_eyes(watched):
    chosen = watched.neutral.facts
    assert chosen.gap < 0.03
    assert chosen.shut < 0.2
    assert watched.usable == watched.frames == 38


def test_views_show_an_open_mouth_and_closed_lids(watched):
    open_mouth, closed = watched.open_mouth, watched.closed_eyes
    assert measure_mouth(open_mouth.canonical)[GAP] > OPEN_GAP
    usual = measure_upper_face(watched.neutral.facts.canonical).lid_opening
    assert measure_upper_face(closed.canonical).lid_opening < 1.2 * CLOSED_LIDS * usual


def test_views_are_cut_out_with_mesh_and_pose_in_their_own_pixels(watched):
    for view in (watched.open_mouth, watched.closed_eyes):
        height, width = view.image.shape[:2]
        assert height < 288
        assert view.landmarks[:, 0].min() > 0
        assert view.landmarks[:, 0].max() < width
        assert view.landmarks[:, 1].max() < height
        assert np.allclose(view.pose.to_canonical(view.landmarks), view.canonical, atol=1e-4)


def test_tokens_of_a_video_are_those_of_its_photo_with_less_noise(watched, tracker, clip):
    masker = PersonMasker()
    photo = Photo(clip.path, watched.neutral.pixels, None)
    still = encode_reference(photo, SCENE, PICTURE, tracker, masker)
    encoded = encode_video_reference(clip.path, watched, SCENE, PICTURE, masker)
    assert np.abs(encoded.tokens - still.tokens)[:, :3].max() < 0.08
    assert not np.array_equal(encoded.tokens, still.tokens)
    assert encoded.habits == watched.habits
    assert encoded.open_mouth is watched.open_mouth
    assert np.array_equal(encoded.canonical, encoded.pose.to_canonical(encoded.landmarks).astype(np.float32))


def test_what_was_found_is_told(watched, clip):
    found = findings(watched)
    assert (found.frames, found.usable, found.open_mouth, found.closed_eyes) == (38, 38, True, True)
    assert 0 <= found.seconds < 3
    assert all(1 / 2.8 < ratio < 2.8 for ratio in found.habits.values())
    assert video_warnings(clip, watched) == []


def test_a_filmed_photo_shows_no_further_view_and_says_so(tmp_path, picture, tracker):
    closed_mouth = film(tmp_path / "still.mp4", [moved(picture, n) for n in range(4)])
    watched = watch_video(closed_mouth, None, tracker, always)
    assert watched.closed_eyes is None
    assert watched.speaks is None
    warnings = video_warnings(closed_mouth, watched)
    assert f"{closed_mouth.path} has 4 frames to watch: a longer video tells more of the person." in warnings
    some = video_warnings(closed_mouth, replace(watched, usable=3))
    assert any(f"Only 3 of 4 frames of {closed_mouth.path} show" in warning for warning in some)
    assert ("the teeth are drawn" in " ".join(warnings)) == (watched.open_mouth is None)


@pytest.mark.parametrize(("chosen", "left"), [(None, True), (1, True), (2, False)])
def test_one_of_several_faces_is_followed(two_faces, tracker, chosen, left):
    watched = watch_video(two_faces, chosen, tracker, always)
    assert watched.faces == 2
    assert (middle_of_the_eyes(watched.neutral.face)[0] < 512) == left
    assert watched.usable == 6


@pytest.mark.parametrize("chosen", [1, 2])
def test_after_it_was_lost_the_face_nearest_to_its_place_is_taken_up(two_faces, tracker, chosen):
    follower = MeshFollower(two_faces.path, chosen, tracker)
    frames = list(two_faces.frames())
    gone = replace(frames[1], pixels=np.full_like(frames[1].pixels, 90))
    seen = [follower.see(frame) for frame in (frames[0], gone, frames[2], replace(frames[3], run=1))]
    assert seen[1] is None
    assert [middle_of_the_eyes(face)[0] < 512 for face in seen if face] == [chosen == 1] * 3


def test_more_faces_than_there_are_cannot_be_chosen_from(two_faces, tracker):
    with pytest.raises(UsageError, match="shows 2 faces, so there is no --face 3"):
        watch_video(two_faces, 3, tracker, always)


def test_a_blurred_frame_is_neither_chosen_nor_measured(tmp_path, picture, tracker):
    blurred = cv2.GaussianBlur(picture, (0, 0), 6)
    video = film(tmp_path / "blurred.mp4", [moved(blurred, 0), *(moved(picture, n) for n in (1, 2, 3))])
    watched = watch_video(video, None, tracker, always)
    assert watched.usable == 3
    assert watched.neutral.facts.seconds > 0.01


def test_the_face_is_found_again_after_it_was_gone(tmp_path, picture, tracker):
    away = np.full_like(picture, 90)
    video = film(tmp_path / "gone.mp4", [away, picture, moved(picture, 2), away, moved(picture, 4), away])
    watched = watch_video(video, None, tracker, always)
    assert watched.frames == 6
    assert watched.usable == 3


def test_a_video_upside_down_is_refused(tmp_path, picture, tracker):
    video = film(tmp_path / "turned.mp4", [np.ascontiguousarray(picture[::-1, ::-1])] * 3)
    with pytest.raises(InputError, match=r"The person in .*turned.mp4 is upside down: turn the video by 180"):
        watch_video(video, None, tracker, always)


def test_a_video_without_a_face_is_refused(tmp_path, tracker, picture):
    video = film(tmp_path / "wall.mp4", [np.full_like(picture, 90)] * 3)
    with pytest.raises(InputError, match=r"No face was found in .*wall.mp4: use a video"):
        watch_video(video, None, tracker, always)


@pytest.fixture(scope="module")
def other_person(media):
    return [frame.pixels for frame in ReferenceVideo(media / "video" / OTHER_CLIP).frames()][:12]


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory, clip, other_person):
    """The person, then somebody else for a second, then the person again."""
    images = [frame.pixels for frame in clip.frames()]
    path = tmp_path_factory.mktemp("film") / "interrupted.mp4"
    return film(path, [*images[:12], *other_person, *images[12:36]])


def test_frames_after_a_cut_to_somebody_else_are_left_out_and_told(interrupted, watched, tracker):
    found = watch_video(interrupted, None, tracker, always)
    assert (found.frames, found.left_out, found.left_out_from) == (48, 12, pytest.approx(0.96))
    assert found.usable == 36
    assert not 0.9 < found.neutral.facts.seconds < 1.9
    assert np.abs(found.tokens - watched.tokens).max() < 0.1
    assert found.habits.head == pytest.approx(watched.habits.head, abs=0.1)
    assert findings(found).left_out == 12
    assert video_warnings(interrupted, found) == [
        f"At 1.0 s {interrupted.path} cuts to somebody else, or to quite another light: "
        "12 of its frames are left out."
    ]


def test_who_is_seen_first_is_the_person(tmp_path, clip, other_person, watched, tracker):
    images = [frame.pixels for frame in clip.frames()]
    found = watch_video(film(tmp_path / "b.mp4", [*other_person, *images]), None, tracker, always)
    assert (found.usable, found.left_out) == (12, 38)
    assert found.neutral.facts.seconds < 1


def test_a_cut_between_shots_of_one_person_leaves_nothing_out(tmp_path, clip, tracker):
    images = [frame.pixels for frame in clip.frames()]
    nearer = [cv2.resize(image, None, fx=1.2, fy=1.2)[50:338, 20:380] for image in images[20:]]
    brighter = [cv2.convertScaleAbs(image, alpha=1.2, beta=10) for image in nearer]
    cuts = CutFinder()
    assert [cuts.is_cut(image) for image in (images[0], images[17], brighter[0])] == [False, False, True]
    found = watch_video(film(tmp_path / "two.mp4", [*images[:18], *brighter]), None, tracker, always)
    assert (found.usable, found.left_out) == (36, 0)
    one_shot = watch_video(film(tmp_path / "one.mp4", images[:36]), None, tracker, always)
    assert found.habits.head == pytest.approx(one_shot.habits.head, abs=0.15)
