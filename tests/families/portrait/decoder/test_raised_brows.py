"""How far brows rise, and what rises with them."""

import pytest

from avatar_cli.families.portrait.decoder.expression import ExpressionLimits
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.landmarks import LEFT_EYE, RIGHT_EYE

_BROWS = [*LEFT_EYE.brow, *RIGHT_EYE.brow]
_NASION, _BRIDGE = 168, 6


def raised(portrait, brow_raise: float):
    """Displacement of the mesh [478, 3], e."""
    face = FaceFrame.of(portrait.reference)
    limits = ExpressionLimits(face, portrait.reference.rest)
    inputs = (portrait.inputs(brow_raise=size) for size in (brow_raise, 0.0))
    asked, resting = (limits.apply(*one).mesh for one in inputs)
    return asked - resting


def test_brows_rise_as_asked_and_no_further_than_a_photo_can_show(closed_portrait):
    rises = [-raised(closed_portrait, size)[_BROWS, 1].mean() for size in (0.02, 0.06, 0.2)]
    little, much, far_too_much = rises
    assert little == pytest.approx(0.02, abs=0.002)
    assert little < much < far_too_much < 0.037


def test_brows_rise_without_the_nose(closed_portrait):
    moved = raised(closed_portrait, 0.03)
    assert abs(moved[[_NASION, _BRIDGE]]).max() == 0
