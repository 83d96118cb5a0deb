import pytest

from avatar_cli import assets
from avatar_cli.families.portrait import tflite
from avatar_cli.protocol.errors import EnvironmentProblem


@pytest.mark.parametrize("length", [0, 5000])
def test_a_damaged_network_is_told_with_its_file(tmp_path, monkeypatch, length):
    whole = assets.asset_path("landmarks/face_detector.tflite").read_bytes()
    cut = tmp_path / "cut.tflite"
    cut.write_bytes(whole[:length])
    monkeypatch.setattr(tflite, "asset_path", lambda name: cut)
    with pytest.raises(EnvironmentProblem, match=r"cut\.tflite is not a readable network \(.*install avatar"):
        tflite.load_network("any")
