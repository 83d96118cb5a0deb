import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.decoder.expression import ExpressionLimits
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.head_field import HeadField
from avatar_cli.families.portrait.decoder.head_mask import moving_box
from avatar_cli.families.portrait.decoder.layers import layers_of
from avatar_cli.families.portrait.decoder.renderer import PortraitRenderer
from avatar_cli.families.portrait.geometry import euler_angles
from avatar_cli.families.portrait.landmarks import LEFT_EYE, RIGHT_EYE

TALKING = {
    "gap": 0.15,
    "jaw_drop": 0.1,
    "width": 0.03,
    "blink": 0.4,
    "gaze_x": 0.2,
    "yaw": 0.08,
    "roll": -0.03,
}


def test_zero_motion_is_the_photo_bit_for_bit(portrait):
    assert np.array_equal(portrait.render(), portrait.reference.image)


def test_zero_motion_stays_the_photo_after_other_frames(portrait):
    portrait.render(**TALKING)
    assert np.array_equal(portrait.render(), portrait.reference.image)


def test_a_frame_depends_on_its_own_inputs_alone(portrait):
    first = portrait.render(**TALKING)
    portrait.render(blink=1.0, yaw=-0.1)
    again = portrait.render(**TALKING)
    fresh = PortraitRenderer(portrait.reference, portrait.scene).render(*portrait.inputs(**TALKING))
    assert np.array_equal(first, again)
    assert np.array_equal(first, fresh)


def test_each_frame_is_an_array_of_its_own(portrait):
    first = portrait.render(**TALKING)
    kept = first.copy()
    portrait.render()
    assert np.array_equal(first, kept)


def test_pixels_outside_the_head_field_never_change(portrait):
    frame = portrait.render(**TALKING)
    box = portrait.renderer.head_box
    outside = np.ones(frame.shape[:2], bool)
    outside[box.top : box.bottom, box.left : box.right] = False
    assert outside.any()
    assert np.array_equal(frame[outside], portrait.reference.image[outside])


def test_a_shift_carries_the_face_whole_and_dies_far_from_the_person(portrait):
    face, person = FaceFrame.of(portrait.reference), portrait.reference.person
    box = moving_box(face, person)
    layers = layers_of(portrait.reference, portrait.scene, face, box)
    field = HeadField(face, box, layers)
    shift = np.array([6.0, -4.0], np.float32)
    moved = field.displacement(np.tile(shift, (478, 1)), np.tile(shift, (len(field.anchors), 1)))
    nose = np.round(field.grid.index_of(face.points[4])).astype(int)
    assert moved[nose[1], nose[0]] == pytest.approx(shift, abs=0.05)
    to_person = cv2.distanceTransform((~layers.person).astype(np.uint8), cv2.DIST_L2, 5)
    x, y = field.grid.nodes.round().astype(int).T
    inside = (x >= 0) & (y >= 0) & (x < person.shape[1]) & (y < person.shape[0])
    far = np.zeros(len(x), bool)
    far[inside] = to_person[y[inside], x[inside]] > 0.5 * face.width
    assert far.any()
    assert not moved.reshape(-1, 2)[far].any()


@pytest.mark.parametrize("rolls", [(0.0, 0.0), (-0.012, -0.01)])
def test_closed_lips_meet_when_tracked_again(portrait, rolls):
    frame = portrait.render(gap=0.0, jaw_drop=-0.01, lower_roll=rolls[0], upper_roll=rolls[1])
    assert abs(portrait.gap(frame)) < 0.02


def test_the_mouth_opens_in_proportion(portrait):
    gaps = np.array([0.05, 0.10, 0.15, 0.20, 0.25])
    tracked = np.array([portrait.gap(portrait.render(gap=gap, jaw_drop=0.75 * gap)) for gap in gaps])
    assert (np.diff(tracked) > 0).all()
    slope = np.polyfit(gaps, tracked, 1)[0]
    assert 0.6 < slope < 1.3
    assert np.abs(tracked - gaps).max() < 0.06


def test_crossed_lips_are_separated_at_any_gap(portrait):
    mesh, latents = portrait.inputs(gap=0.2)
    mesh[[14, 87, 317, 178, 402, 88, 318], 1] -= 0.5
    limits = ExpressionLimits(FaceFrame.of(portrait.reference), portrait.reference.rest)
    moved = limits.apply(mesh, latents).mesh
    assert (moved[[14, 87, 317], 1] - moved[[13, 82, 312], 1] > -0.01).all()


@pytest.mark.parametrize(("blink", "most_open"), [(0.5, 0.85), (1.0, 0.3)])
def test_a_blink_closes_both_eyes(open_portrait, blink, most_open):
    _, resting = open_portrait.canonical(open_portrait.reference.image)
    _, blinking = open_portrait.canonical(open_portrait.render(blink=blink))

    def opening(mesh, eye):
        return (mesh[list(eye.lower_lid[3:6]), 1] - mesh[list(eye.upper_lid[3:6]), 1]).mean()

    # One eye's patch reaches over the other's: drawn as whole boxes, the second would undo the first's blink.
    for eye in (LEFT_EYE, RIGHT_EYE):
        assert opening(blinking, eye) / opening(resting, eye) < most_open


def test_gaze_moves_the_irises_and_nothing_but_the_eyes(open_portrait):
    portrait = open_portrait
    right = portrait.render(gaze_x=0.4)
    left = portrait.render(gaze_x=-0.4)
    turn = portrait.upper_face(right).gaze_x - portrait.upper_face(left).gaze_x
    assert turn > 0.15
    rows = np.flatnonzero((right != left).any(axis=(1, 2)))
    lids = portrait.reference.landmarks[list(LEFT_EYE.upper_lid + RIGHT_EYE.lower_lid), 1]
    margin = 0.1 * portrait.reference.eye_distance
    assert rows.min() > lids.min() - margin
    assert rows.max() < lids.max() + margin


@pytest.mark.parametrize(("channel", "index"), [("yaw", 0), ("pitch", 1), ("roll", 2)])
def test_the_head_turns_as_asked(open_portrait, channel, index):
    portrait = open_portrait
    before = np.array(euler_angles(portrait.pose(portrait.reference.image).rotation))
    after = np.array(euler_angles(portrait.pose(portrait.render(**{channel: 0.06})).rotation))
    turned = after - before
    assert turned[index] == pytest.approx(0.06, abs=0.03)
    assert np.abs(np.delete(turned, index)).max() < 0.03


def test_the_head_travels_and_grows_as_asked(open_portrait):
    portrait = open_portrait
    unit = portrait.reference.eye_distance
    before = portrait.pose(portrait.reference.image)
    moved = portrait.pose(portrait.render(shift_x_head=0.1, shift_y_head=-0.06))
    grown = portrait.pose(portrait.render(log_scale=0.04))
    shift = (moved.translation - before.translation)[:2] / unit
    assert shift == pytest.approx([0.1, -0.06], abs=0.03)
    assert np.log(grown.scale / before.scale) == pytest.approx(0.04, abs=0.02)


def test_lips_close_where_the_mesh_leaves_them_apart(open_portrait):
    still, latents = open_portrait.inputs()[0], open_portrait.inputs(gap=0.0)[1]
    frame = open_portrait.renderer.render(still, latents)
    assert open_portrait.gap(frame) < 0.05
