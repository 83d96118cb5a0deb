"""The inside of the mouth: its light, its own teeth, and another view of the person."""

import dataclasses

import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.box import Box
from avatar_cli.families.portrait.decoder.expression import ExpressionLimits
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.interior_layers import Sight, interior_layers, shown_upper_teeth
from avatar_cli.families.portrait.decoder.light import skin_colour, tooth_colour
from avatar_cli.families.portrait.decoder.renderer import PortraitRenderer
from avatar_cli.families.portrait.decoder.teeth import upper_row
from avatar_cli.families.portrait.decoder.tongue import tongue
from avatar_cli.families.portrait.face_view import FaceView
from avatar_cli.families.portrait.geometry import personal_pose
from avatar_cli.families.portrait.landmarks import INNER_LOWER_LIP, INNER_UPPER_LIP
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from tests.families.portrait.decoder.portraits import Portrait, has_test_media, read_portrait

needs_media = pytest.mark.skipif(not has_test_media(), reason="AVATAR_TEST_MEDIA is not set")
GREEN = np.array([20, 250, 20], np.uint8)
OPEN = {"gap": 0.2, "jaw_drop": 0.15}


def between_lips(canonical, pose, shape):
    """Mask [H, W] of the middle of the opening of a mesh."""
    points = pose.to_pixels(canonical)[:, :2]
    outline = np.concatenate([points[list(INNER_UPPER_LIP)], points[list(INNER_LOWER_LIP)][::-1]])
    mask = np.zeros(shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.round(outline).astype(np.int32)], 1)
    return cv2.erode(mask, np.ones((5, 5), np.uint8)) > 0


def moved_mouth(portrait, **motion):
    mesh, _ = portrait.inputs(**motion)
    reference = portrait.reference
    return between_lips(reference.canonical + mesh, reference.pose, reference.image.shape)


def view_with_green_mouth(portrait, networks, **motion):
    """A frame of the person with an open mouth that is painted green inside."""
    frame = portrait.render(**motion)
    landmarks = networks[0].track(frame).landmarks
    pose, canonical = personal_pose(landmarks, load_motion_basis().shape)
    frame[between_lips(canonical, pose, frame.shape)] = GREEN
    return FaceView(frame, landmarks, pose, canonical.astype(np.float32))


@needs_media
@pytest.mark.parametrize(
    "name",
    [
        "p01_astronaut_smile_teeth.png",
        "p03_man_official_dark_skin_teeth.jpg",
        "p07_woman_black_glasses.jpg",
        "p15_asian_woman_senior.jpg",
        "p19_man_open_mouth.jpg",
    ],
)
def test_the_colour_expected_of_teeth_is_that_of_the_teeth_that_smiling_people_show(name, networks):
    face = FaceFrame.of(Portrait(read_portrait(name), *networks).reference)
    expected = tooth_colour(face.image, face.points, face.eye_distance)
    shown = face.image[between_lips(face.canonical, face.pose, face.image.shape)].astype(float)
    teeth = np.median(shown[shown[:, 1] >= np.percentile(shown[:, 1], 75)], axis=0)
    assert np.abs(expected / teeth - 1).max() < 0.25
    # Hue: the shares of green and blue to red.
    assert np.abs((expected / expected[0]) / (teeth / teeth[0]) - 1).max() < 0.17


@needs_media
@pytest.mark.parametrize(
    "name", ["p02_grace_hopper_glasses_closed.jpg", "p21_mona_lisa.jpg", "p50_illustration_girl_green.png"]
)
def test_teeth_are_paler_than_skin_but_never_blue_in_its_light(name, networks):
    face = FaceFrame.of(Portrait(read_portrait(name), *networks).reference)
    skin = skin_colour(face.image, face.points)
    tooth = tooth_colour(face.image, face.points, face.eye_distance)
    assert tooth[0] >= tooth[1] >= tooth[2]
    assert tooth[2] / tooth[0] > skin[2] / skin[0]
    # Painted under a yellow varnish, white is yellow too.
    if "mona" in name:
        assert tooth[2] / tooth[0] < 0.75


def test_a_photo_without_colour_gets_teeth_without_colour(open_portrait):
    face = FaceFrame.of(open_portrait.reference)
    grey = cv2.cvtColor(cv2.cvtColor(face.image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    tooth = tooth_colour(grey, face.points, face.eye_distance)
    assert np.ptp(tooth) / tooth.max() < 0.08


def painted_sight(edge_row, tongue=(150, 60, 60)):
    """An upright mouth of 0.5 e by 0.15 e at 200 px a e: teeth down to `edge_row`, tongue below."""
    image = np.full((200, 200, 3), (190, 90, 90), np.uint8)
    image[80:110, 50:150] = tongue
    image[80:edge_row, 60:140] = (240, 235, 225)
    noise = np.random.default_rng(0).normal(0, 8, image.shape)
    image = np.clip(image + noise, 0, 255).astype(np.uint8)
    points = np.zeros((478, 2))
    across = np.linspace(50.0, 150.0, 11)
    points[list(INNER_UPPER_LIP)] = np.stack([across, np.full(11, 80.0)], axis=1)
    points[list(INNER_LOWER_LIP)] = np.stack([across, np.full(11, 110.0)], axis=1)
    points[list(INNER_LOWER_LIP[:1] + INNER_LOWER_LIP[-1:]), 1] = 95.0
    pose = dataclasses.replace(
        personal_pose(load_motion_basis().shape * 200.0, load_motion_basis().shape)[0], scale=200.0
    )
    lip, tooth = np.array([190.0, 90.0, 90.0]), np.array([235.0, 225.0, 210.0])
    return Sight(image, points, pose, np.zeros(3), 1.0, lip, tooth)


def test_upper_teeth_end_in_one_smooth_edge_where_tongue_begins():
    layers = interior_layers(painted_sight(96), Box(0, 0, 200, 200))
    cover = layers.upper.picture[..., 3]
    columns = np.arange(70, 130) - int(layers.upper.origin[0])
    ends = (cover[:, columns] > 127).sum(axis=0) + layers.upper.origin[1]
    assert np.abs(ends - 96).max() <= 2.5
    assert np.abs(np.diff(ends)).max() <= 1


def test_tongue_and_lower_teeth_go_with_the_jaw_and_are_no_part_of_the_upper_teeth():
    layers = interior_layers(painted_sight(92), Box(0, 0, 200, 200))
    lower = layers.lower.picture
    row = 102 - int(layers.lower.origin[1])
    assert lower[row, lower.shape[1] // 2, 3] == 255
    # Continued up to where the upper teeth were, it shows none of them.
    top = lower[88 - int(layers.lower.origin[1]), lower.shape[1] // 2, :3]
    assert top[1] < 120


def test_a_mouth_that_shows_tongue_alone_has_no_upper_teeth():
    layers = interior_layers(painted_sight(80), Box(0, 0, 200, 200))
    assert layers.upper is None


def test_teeth_are_measured_from_the_lip_to_their_edge_where_there_are_any():
    assert shown_upper_teeth(painted_sight(96)) == pytest.approx(16 / 200, abs=0.012)
    assert shown_upper_teeth(painted_sight(90)) == pytest.approx(10 / 200, abs=0.012)
    assert shown_upper_teeth(painted_sight(80)) is None


@pytest.mark.parametrize("apart", [2, 3])
def test_no_teeth_are_measured_in_a_slit(apart):
    sight = painted_sight(80 + apart // 2)
    points = sight.points.copy()
    points[list(INNER_LOWER_LIP), 1] = 80 + apart
    pose = dataclasses.replace(sight.pose, scale=80.0)
    assert shown_upper_teeth(dataclasses.replace(sight, points=points, pose=pose)) is None


def test_drawn_front_teeth_end_in_one_line_and_are_no_beads():
    density = 320.0
    texture = upper_row(np.array([230.0, 225.0, 215.0]), 0.52, density).texture
    middle, reach = texture.shape[1] // 2, int(0.078 * density)
    ends = (texture[:, middle - reach : middle + reach, 3] > 127).sum(axis=0)
    assert np.ptp(ends) / density < 0.005


def test_a_drawn_tongue_is_no_flat_spot():
    texture = tongue(np.array([150.0, 70.0, 75.0]), 0.52).texture.astype(float)
    rows, columns = texture.shape[:2]
    green = texture[..., 1]
    back, front = green[rows // 4, columns // 3], green[2 * rows // 3, columns // 3]
    assert back < 0.8 * front
    assert green[rows // 2, columns // 2] < green[rows // 2, columns // 3] - 5  # the groove
    assert np.abs(green - green[:, ::-1]).max() <= 1


def test_the_inside_of_the_mouth_does_not_change_while_the_face_does_other_things(open_portrait):
    first = open_portrait.render(**OPEN)
    for motion in ({"gap": 0.3, "jaw_drop": 0.24}, {"gap": 0.0}, {"yaw": 0.1}):
        open_portrait.render(**motion)
    again = open_portrait.render(blink=0.8, gaze_x=0.3, **OPEN)
    inside = moved_mouth(open_portrait, **OPEN)
    assert np.count_nonzero(inside) > 200
    assert np.array_equal(first[inside], again[inside])


def test_own_upper_teeth_stay_with_the_skull_while_the_jaw_drops(open_portrait):
    first, wider = open_portrait.render(**OPEN), open_portrait.render(gap=0.25, jaw_drop=0.2)
    reference = open_portrait.reference
    x, y = reference.landmarks[13, :2]
    unit = reference.eye_distance
    teeth = (
        slice(int(y + 0.02 * unit), int(y + 0.06 * unit)),
        slice(int(x - 0.06 * unit), int(x + 0.06 * unit)),
    )
    # Shaded otherwise, but in the same place.
    assert np.corrcoef(first[teeth].ravel(), wider[teeth].ravel())[0, 1] > 0.97


@needs_media
def test_an_open_mouth_shows_what_the_view_of_the_person_shows(closed_portrait, networks):
    view = view_with_green_mouth(closed_portrait, networks, **OPEN)
    reference = dataclasses.replace(closed_portrait.reference, open_mouth=view)
    renderer = PortraitRenderer(reference, closed_portrait.scene)
    inputs = closed_portrait.inputs(**OPEN)
    inside = moved_mouth(closed_portrait, **OPEN)

    def green(frame):
        colours = frame[inside].astype(int)
        return np.mean(colours[:, 1] > colours[:, 0] + 40)

    assert green(renderer.render(*inputs)) > 0.6
    assert green(closed_portrait.render(**OPEN)) == 0
    assert np.array_equal(renderer.render(*closed_portrait.inputs()), closed_portrait.reference.image)


def test_a_view_in_other_light_is_brought_to_the_light_of_the_photo(closed_portrait, networks):
    def inside_with(factor):
        view = view_with_green_mouth(closed_portrait, networks, **OPEN)
        dimmed = dataclasses.replace(view, image=(view.image * factor).astype(np.uint8))
        reference = dataclasses.replace(closed_portrait.reference, open_mouth=dimmed)
        frame = PortraitRenderer(reference, closed_portrait.scene).render(*closed_portrait.inputs(**OPEN))
        return frame[moved_mouth(closed_portrait, **OPEN)].mean(axis=0)

    assert np.abs(inside_with(0.6) - inside_with(1.0)).max() < 12


def test_a_wide_open_mouth_closes_but_not_one_whose_tongue_is_taken_for_its_lip(closed_portrait, networks):
    wide = Portrait(closed_portrait.render(gap=0.36, jaw_drop=0.28), *networks)
    face = FaceFrame.of(wide.reference)
    assert face.widest_gap > 0.3
    mesh, latents = wide.inputs(gap=0.0, jaw_drop=0.0)

    def gap_of(face):
        moved = ExpressionLimits(face, wide.reference.rest).apply(mesh, latents).mesh
        return moved[14, 1] - moved[13, 1]

    assert gap_of(face) < 0.01
    on_tongue = face.canonical.copy()
    on_tongue[17, 1] += 0.1
    assert gap_of(dataclasses.replace(face, canonical=on_tongue)) > 0.1
