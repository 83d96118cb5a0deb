import numpy as np
import pytest

from avatar_cli.evaluation.quality import curves as module
from avatar_cli.evaluation.quality.curves import CurveRecorder, curves_of
from avatar_cli.evaluation.tracks import FaceTrack, remove_pose
from avatar_cli.families.portrait.geometry import rotation_matrix
from avatar_cli.families.portrait.tracker import FaceTracker


@pytest.fixture
def meshes(photo):
    """A head that nods and turns, 60 frames."""
    mesh = FaceTracker().track(photo).landmarks.astype(np.float64)
    centre = mesh.mean(axis=0)
    angles = [(0.2 * np.sin(t / 9), 0.1 * np.sin(t / 7), 0.05 * np.sin(t / 5)) for t in range(60)]
    return [((mesh - centre) @ rotation_matrix(*angle).T + centre).astype(np.float32) for angle in angles]


def record(meshes):
    recorder = CurveRecorder()
    for mesh in meshes:
        recorder.push(mesh, True)
    return recorder.finish()


def test_blocks_give_what_the_whole_gives(meshes, monkeypatch):
    whole = record(meshes)
    monkeypatch.setattr(module, "FRAMES_FOR_THE_MEAN", 20)
    monkeypatch.setattr(module, "_BLOCK", 7)

    pieces = record(meshes)

    assert len(pieces) == 60
    assert np.abs(pieces.mouth - whole.mouth).max() < 2e-3
    assert np.abs(pieces.angles - whole.angles).max() < 0.2


def test_angles_are_those_of_the_head_in_degrees(meshes):
    curves = record(meshes)

    assert np.degrees(0.2) * np.sin(np.arange(60) / 9) == pytest.approx(curves.angles[:, 0], abs=1.0)
    assert np.abs(np.diff(curves.mouth, axis=0)).max() < 1e-3


def test_curves_are_those_of_the_track(meshes):
    canonical, poses = remove_pose(np.stack(meshes))
    track = FaceTrack(np.stack(meshes), canonical, poses, np.ones(60, bool))

    curves = curves_of(track)

    assert np.array_equal(curves.opening, track.opening)
    assert np.array_equal(curves.width, track.width)
    assert np.array_equal(curves.lids, track.lid_opening)
    assert np.array_equal(curves.part(slice(10, 20)).opening, track.opening[10:20])
