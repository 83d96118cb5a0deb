"""A person cut out of its picture, moving over a scene that stays still."""

import dataclasses

import cv2
import numpy as np
import pytest

from avatar_cli.families.portrait.compositing import premultiplied
from avatar_cli.families.portrait.decoder.face_frame import FaceFrame
from avatar_cli.families.portrait.decoder.renderer import PortraitRenderer
from avatar_cli.families.portrait.landmarks import FACE_OVAL
from avatar_cli.protocol.job import Fit
from tests.families.portrait.decoder.portraits import HEIGHT, OPEN_PORTRAIT, WIDTH, Portrait, read_portrait

TALKING = {
    "gap": 0.2,
    "jaw_drop": 0.15,
    "width": -0.05,
    "blink": 0.5,
    "gaze_x": 0.2,
    "yaw": 0.1,
    "roll": -0.05,
    "shift_x_head": 0.1,
}
FAR = {"yaw": -0.08, "roll": 0.09, "shift_x_head": -0.2, "shift_y_head": 0.113}
GRAY = 128


def stripes(step=8):
    scene = np.full((HEIGHT, WIDTH, 3), (20, 60, 200), np.uint8)
    scene[:, (np.arange(WIDTH) // step) % 2 == 0] = (240, 230, 40)
    scene[(np.arange(HEIGHT) // step) % 2 == 0] //= 2
    return scene


def plain(value):
    return np.full((HEIGHT, WIDTH, 3), value, np.uint8)


def head_distance(pixels, tracker):
    """Distance from the middle of the face over its size, [H, W]: 0.5 at its outline, 0.9 around the hair."""
    outline = tracker.track(pixels).landmarks[list(FACE_OVAL), :2]
    centre, size = outline.mean(axis=0), np.ptp(outline, axis=0)
    y, x = np.mgrid[0 : pixels.shape[0], 0 : pixels.shape[1]]
    return np.hypot((x - centre[0]) / size[0], (y - centre[1]) / size[1])


@pytest.fixture(scope="module")
def cutout(networks) -> Portrait:
    """Cut around the head with a soft edge; the hair is gray all around, and the file hides magenta."""
    pixels = read_portrait(OPEN_PORTRAIT)
    distance = head_distance(pixels, networks[0])
    opacity = np.uint8(255 * np.clip((0.8 - distance) / 0.05, 0, 1))
    pixels[distance > 0.65] = GRAY
    pixels[opacity == 0] = (255, 0, 255)
    return Portrait(pixels, *networks, opacity, stripes())


@pytest.fixture(scope="module")
def half(networks) -> Portrait:
    pixels = read_portrait(OPEN_PORTRAIT)
    return Portrait(pixels, *networks, np.full(pixels.shape[:2], 128, np.uint8), stripes())


class Layers:
    """What a frame is made of, told from its look on black and on white."""

    def __init__(self, portrait):
        self._portrait = portrait
        self._renderers = [PortraitRenderer(portrait.reference, plain(value)) for value in (0, 255)]

    def __call__(self, **motion):
        """Opacity [h, w] and premultiplied colours [h, w, 3] of the redrawn part."""
        inputs = self._portrait.inputs(**motion)
        inside = self._portrait.renderer.head_box.inside
        black, white = (renderer.render(*inputs)[inside].astype(int) for renderer in self._renderers)
        opacity = 255 - (white - black)
        assert (np.ptp(opacity, axis=2) <= 1).all()
        return opacity[..., 0], black


@pytest.fixture(scope="module")
def layers(cutout):
    return Layers(cutout)


def test_zero_motion_is_the_person_over_the_scene_bit_for_bit(cutout):
    assert np.array_equal(cutout.render(), cutout.reference.image)
    cutout.render(**TALKING)
    assert np.array_equal(cutout.render(), cutout.reference.image)


@pytest.mark.parametrize("motion", [TALKING, FAR])
def test_the_scene_stands_still_far_from_the_moving_head_and_close_to_it(cutout, layers, motion):
    box = cutout.renderer.head_box
    opacity, _ = layers(**motion)
    frame = cutout.render(**motion)
    seen = opacity == 0
    assert np.array_equal(frame[box.inside][seen], cutout.scene[box.inside][seen])
    outside = np.ones(frame.shape[:2], bool)
    outside[box.inside] = False
    far = outside & (cutout.reference.cutout[..., 3] == 0)
    assert np.array_equal(frame[far], cutout.scene[far])
    uncovered = seen & (cutout.reference.cutout[box.inside][..., 3] > 200)
    assert uncovered.any()


def test_a_frame_is_the_person_and_what_its_opacity_leaves_of_the_scene(cutout, layers):
    box = cutout.renderer.head_box
    opacity, colours = layers(**TALKING)
    expected = colours + cutout.scene[box.inside] * (1 - opacity[..., None] / 255)
    assert np.count_nonzero((opacity > 30) & (opacity < 225)) > 500
    assert np.abs(cutout.render(**TALKING)[box.inside] - expected).max() <= 1.01


def test_soft_edges_show_neither_the_scene_nor_what_the_file_hides(layers):
    for motion in ({}, TALKING, FAR):
        opacity, colours = layers(**motion)
        edge = (opacity > 50) & (opacity < 250)
        assert np.count_nonzero(edge) > 500
        shown = colours[edge] * (255 / opacity[edge][:, None])
        assert np.abs(shown - GRAY).max() < 10  # two levels of a colour at a fifth of its opacity


def test_the_face_stays_opaque_whatever_eyes_and_mouth_do(cutout, layers):
    for motion in (TALKING, {"gap": 0.25, "jaw_drop": 0.2, "gaze_y": 0.3}, {"blink": 0.8, "gap": 0.0}):
        opacity, _ = layers(**motion)
        points = cutout.reference.landmarks[list(FACE_OVAL), :2] - cutout.renderer.head_box.origin
        middle = points.mean(axis=0)
        face = np.zeros(opacity.shape, np.uint8)
        cv2.fillPoly(face, [np.int32(middle + 0.9 * (points - middle))], 1)
        assert (opacity[face == 1] == 255).all()


def test_a_half_transparent_person_is_so_all_over(half):
    opacity, _ = Layers(half)(**TALKING)
    assert np.abs(opacity - 128).max() <= 1


def test_a_half_transparent_person_moves_as_an_opaque_one_does(networks):
    opaque = Portrait(read_portrait(OPEN_PORTRAIT), *networks)
    scene = stripes()
    thin = premultiplied(opaque.reference.image, np.full((HEIGHT, WIDTH), 128, np.uint8))
    reference = dataclasses.replace(opaque.reference, cutout=thin)
    mesh, latents = opaque.inputs(**TALKING)
    frame = PortraitRenderer(reference, scene).render(mesh, latents)
    share = 128 / 255
    full = premultiplied(opaque.reference.image, np.full((HEIGHT, WIDTH), 255, np.uint8))
    whole = PortraitRenderer(dataclasses.replace(opaque.reference, cutout=full), scene)
    expected = share * whole.render(mesh, latents) + (1 - share) * scene
    difference = np.abs(frame - expected)[whole.head_box.inside]
    assert difference.mean() < 0.6
    assert difference.max() < 8


def test_bars_show_the_scene_and_the_head_keeps_out_of_them(networks):
    scene = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)
    portrait = Portrait(read_portrait(OPEN_PORTRAIT), *networks, scene=scene, fit=Fit.PAD)
    picture = portrait.reference.picture
    assert 0 < picture.left < picture.right < WIDTH
    assert FaceFrame.of(portrait.reference).picture == picture
    frame = portrait.render(**TALKING)
    for bar in (slice(0, picture.left), slice(picture.right, WIDTH)):
        assert np.array_equal(frame[:, bar], scene[:, bar])


def test_a_cutout_may_move_into_bars_beside_its_transparent_edges(networks):
    pixels = read_portrait(OPEN_PORTRAIT)
    opacity = np.full(pixels.shape[:2], 255, np.uint8)
    opacity[:, : pixels.shape[1] // 50] = 0
    portrait = Portrait(pixels, *networks, opacity, stripes(), Fit.PAD)
    moving, picture = FaceFrame.of(portrait.reference).picture, portrait.reference.picture
    assert (moving.left, moving.right) == (0, picture.right)
