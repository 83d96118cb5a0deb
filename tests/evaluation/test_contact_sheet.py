import cv2
import numpy as np

from avatar_cli.assets import asset_path
from avatar_cli.evaluation import contact_sheet


def test_portraits_stand_in_rows_and_refused_photos_are_named(tmp_path, capsys):
    photo, refused, output = asset_path("demo/reference.png"), tmp_path / "plain.png", tmp_path / "sheet.png"
    cv2.imwrite(str(refused), np.full((256, 256, 3), 200, np.uint8))

    status = contact_sheet.main(
        [str(refused), str(photo), "-o", str(output), "--seconds", "0.6", "--pictures", "3", "--width", "80"]
    )

    assert status == 0
    sheet = cv2.imread(str(output))
    assert sheet.shape == (80 + 16, 2 * 3 * 80, 3)  # room for two portraits in a line
    assert sheet[:, :240].std() > 20
    assert not sheet[:, 240:].any()
    assert "No face was found" in capsys.readouterr().err


def test_without_any_portrait_there_is_no_sheet(tmp_path):
    refused, output = tmp_path / "text.png", tmp_path / "sheet.png"
    refused.write_text("no picture")

    assert contact_sheet.main([str(refused), "-o", str(output)]) == 1
    assert not output.exists()
