import subprocess
import sys

import cv2
import numpy as np
import pytest

from avatar_cli.assets import asset_path
from avatar_cli.evaluation.strip import contact_sheet, crop_around, strip_beside, video_strip
from avatar_cli.media.ffmpeg import ffmpeg_path


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    """Twelve frames of the bundled photo."""
    path = tmp_path_factory.mktemp("video") / "video.mp4"
    source = ["-loop", "1", "-i", str(asset_path("demo/reference.png")), "-frames:v", "12"]
    subprocess.run([str(ffmpeg_path()), "-v", "error", *source, "-pix_fmt", "yuv420p", str(path)], check=True)
    return path


def test_a_sheet_has_rows_of_equal_length():
    images = [np.full((40, 80, 3), 10 * index, np.uint8) for index in range(5)]

    sheet = contact_sheet(images, [str(index) for index in range(5)], columns=3, width=160)

    assert sheet.shape == (2 * (80 + 16), 3 * 160, 3)
    assert sheet[16 + 40, 160 + 80].tolist() == [10, 10, 10]
    assert not sheet[-1, -1].any()


def test_a_crop_outside_the_picture_repeats_its_edge():
    image = np.zeros((50, 50, 3), np.uint8)
    image[:, 0] = 200

    crop = crop_around(image, np.array([[-10.0, 20.0], [9.0, 29.0]]), 1.0)

    assert crop.shape == (19, 19, 3)
    assert (crop[:, :11] == 200).all()
    assert not crop[:, 11:].any()


@pytest.mark.parametrize("crop", ["frame", "face", "mouth"])
def test_every_crop_gives_a_picture_of_each_wanted_frame(video, crop):
    sheet = video_strip(video, range(0, 20, 4), crop, columns=3, width=100)

    assert sheet.shape == (116, 300, 3)
    assert sheet[16:].std() > 10


def test_a_mouth_is_closer_than_a_face(video):
    face, mouth = (video_strip(video, range(1), crop, 1, 200)[16:] for crop in ("face", "mouth"))

    scores = []
    for side in range(60, 120, 4):
        small = cv2.resize(mouth, (side, side), interpolation=cv2.INTER_AREA)
        _, score, _, place = cv2.minMaxLoc(cv2.matchTemplate(face, small, cv2.TM_CCOEFF_NORMED))
        scores.append((score, place[1] + side / 2))
    best_score, row = max(scores)
    assert best_score > 0.9
    assert row > 100  # below the middle


def test_frames_past_the_end_are_an_error(video):
    with pytest.raises(ValueError, match="no frame 50"):
        video_strip(video, range(50, 60), "frame", 3, 100)


def test_it_runs_as_a_command(video, tmp_path):
    output = tmp_path / "sheet.png"

    command = [sys.executable, "-m", "avatar_cli.evaluation.strip", str(video), "-o", str(output)]
    subprocess.run([*command, "--every", "6", "--crop", "frame"], check=True)

    assert cv2.imread(str(output)).shape == (216, 400 * 4, 3)


def test_the_real_person_stands_below_at_the_frame_that_was_said(video, tmp_path):
    darker = tmp_path / "real.mp4"
    fade = [
        "-i",
        str(video),
        "-vf",
        "fade=out:start_frame=0:nb_frames=24",
        "-pix_fmt",
        "yuv420p",
        str(darker),
    ]
    subprocess.run([str(ffmpeg_path()), "-v", "error", *fade], check=True)

    sheet = strip_beside(video, darker, range(0, 12, 3), 2, "face", columns=2, width=100)

    assert sheet.shape == (4 * 116, 200, 3)  # frames 3, 6 and 9: of the first there is no real one
    cells = [sheet[row * 116 + 16 : row * 116 + 116, :100].mean() for row in range(4)]
    assert cells[0] == pytest.approx(cells[2], rel=0.05)
    assert cells[1] > 1.15 * cells[3]
    assert not sheet[2 * 116 + 16 :, 100:].any()
