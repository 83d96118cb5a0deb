"""Pairs of a photo and what it should become, to teach the SR DiT.

Half of the pairs are two frames of a tracked clip. In the other half the photo is a portrait with its lips
opened and bent at random, and what it should become is the linear lift with one correction: as the gap
closes, the lips meet along their whole length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from avatar_cli.families.portrait.geometry import fit_pose, mirrored, personal_pose, rotation_matrix
from avatar_cli.families.portrait.landmarks import (
    INNER_LOWER_LIP,
    INNER_UPPER_LIP,
    LEFT_EYE,
    LIPS,
    LOWER_LIP_RINGS,
    RIGHT_EYE,
    UPPER_LIP_RINGS,
)
from avatar_cli.families.portrait.latents import CHANNELS, MESH_POINTS, MOUTH, MOUTH_SLICE
from avatar_cli.families.portrait.measures import measure_mouth
from avatar_cli.families.portrait.motion_basis import MotionBasis
from avatar_cli.families.portrait.reference import resting_latents
from avatar_cli.families.portrait.tokens import TOKEN_POINTS, assemble_tokens, sample_colours
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.families.portrait.training.basis import region_windows
from avatar_cli.families.portrait.training.clips import TrackedClip

Floats = NDArray[np.float32]

# Public-domain and permissively licensed portraits that lend their faces, never a motion.
PORTRAITS = (
    "p01_astronaut_smile_teeth.png",
    "p02_grace_hopper_glasses_closed.jpg",
    "p03_man_official_dark_skin_teeth.jpg",
    "p07_woman_black_glasses.jpg",
    "p08_man_darkskin_smile.jpg",
    "p11_family_three_faces.jpg",
    "p14_six_faces.jpg",
    "p15_asian_woman_senior.jpg",
    "p21_mona_lisa.jpg",
    "p24_gogol_painting.png",
)
PHOTOS, FRAMES_OF_A_PHOTO = 8, 16
PORTRAIT_SHARE = 0.5
BLINK = 0.15  # lids further down than this drag the skin around the eye along
LIP_WEIGHT = 3.0
# The taught correction moves little else than the lips and is small beside the motion of clips.
PORTRAIT_LIP_WEIGHT = 30.0
LIP_BEND = 0.012  # e, random bends of a portrait's lips
OPEN_GAP = 0.03  # e, the photo's gap above which the full correction applies
# How the rings of a lip follow its inner edge, from the inner ring to the outer one, and the lips' shares.
RING_FOLLOWING = (1.0, 0.9, 0.82, 0.62)
UPPER_SHARE, LOWER_SHARE = 0.4, 0.6
_CENTRE = slice(1, -1)  # lip points between the corners
_BROW_RAISE, _BROW_LOWER = CHANNELS.index("brow_raise"), CHANNELS.index("brow_lower")


@dataclass(frozen=True)
class Person:
    """Frames of one clip, or of its mirror image.

    Attributes:
        canonical: float32 [T, 478, 3], e.
        brow: float32 [T], upward movement of the brows, e.
        blinking: bool [T].
        mouth: float32 [T, 9], mouth latents against the closed neutral face, e.
        colours: float32 [128, 3], colours at the token points, 0..1.
    """

    canonical: Floats
    mouth: Floats
    brow: Floats
    blinking: NDArray[np.bool_]
    colours: Floats


@dataclass(frozen=True)
class Batch:
    """B photos and n frames of each: tokens, relative latents, dense motion and weights of the vertices."""

    tokens: Tensor  # [B, 128, 12]
    latents: Tensor  # [B, n, 21]
    dense: Tensor  # [B, n, 478, 3]
    weights: Tensor  # [B, n, 478]


def portrait_meshes(media: Path, basis: MotionBasis) -> list[Floats]:
    """Canonical meshes [478, 3] of all faces of the portraits, as they are and mirrored."""
    tracker = FaceTracker()
    meshes = []
    for name in PORTRAITS:
        image = np.asarray(Image.open(media / "portraits" / name).convert("RGB"))
        for face in tracker.faces(image):
            mesh = personal_pose(face.landmarks, basis.shape)[1].astype(np.float32)
            meshes += [mesh, mirrored(mesh, basis.mirror)]
    return meshes


def people_of(clips: Sequence[TrackedClip], basis: MotionBasis) -> list[Person]:
    """Every clip as it is and mirrored."""
    order = {point: index for index, point in enumerate(TOKEN_POINTS)}
    partner = [order[int(basis.mirror[point])] for point in TOKEN_POINTS]
    people = []
    for clip in clips:
        brow = clip.latents[:, _BROW_RAISE] - clip.latents[:, _BROW_LOWER]
        blinking = clip.latents[:, CHANNELS.index("blink")] > BLINK
        scale = fit_pose(clip.still_landmarks, basis.shape).scale
        colours = sample_colours(clip.still, clip.still_landmarks, scale)
        reflected = mirrored(clip.canonical, basis.mirror)
        neutral = measure_mouth(mirrored(clip.neutral, basis.mirror))
        people.append(Person(clip.canonical, clip.latents[:, MOUTH_SLICE], brow, blinking, colours))
        people.append(Person(reflected, measure_mouth(reflected) - neutral, brow, blinking, colours[partner]))
    return people


class PairSampler:
    """Draws photos and target frames, and varies the identity of what it draws."""

    def __init__(
        self,
        people: Sequence[Person],
        portraits: Sequence[Floats],
        basis: MotionBasis,
        rng: np.random.Generator,
    ) -> None:
        self._people = people
        self._portraits = portraits
        self._basis = basis
        self._rng = rng
        self._lower_window, _ = region_windows(basis.shape)
        self._weights = 1.0 - lids_and_irises()
        self._weights[list(LIPS)] = LIP_WEIGHT

    def latent_scale(self) -> Floats:
        """Standard deviation [9] of the mouth latents over drawn pairs."""
        mouth = np.concatenate([self._draw()[1][:, MOUTH_SLICE] for _ in range(100)])
        return mouth.std(axis=0).astype(np.float32)

    def batch(self) -> Batch:
        """A random batch of `PHOTOS` photos with `FRAMES_OF_A_PHOTO` frames each."""
        tokens, latents, dense, weights = zip(*(self._draw() for _ in range(PHOTOS)), strict=True)
        return Batch(
            tokens=torch.from_numpy(np.stack(tokens)),
            latents=torch.from_numpy(np.stack(latents)),
            dense=torch.from_numpy(np.stack(dense)),
            weights=torch.from_numpy(np.stack(weights)),
        )

    def _draw(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Tokens [128, 12], latents [n, 21], dense motion [n, 478, 3] and weights [n, 478] of one photo."""
        person = self._people[int(self._rng.integers(len(self._people)))]
        frames = self._rng.integers(len(person.canonical), size=FRAMES_OF_A_PHOTO)
        if self._rng.random() < PORTRAIT_SHARE:
            return self._portrait_pairs(person, frames)
        return self._clip_pairs(person, frames)

    def _clip_pairs(self, person: Person, frames: NDArray) -> tuple[Floats, Floats, Floats, Floats]:
        photo = int(self._rng.integers(len(person.canonical)))
        stretch = self._stretch()
        mesh = person.canonical[photo] * stretch
        dense = (person.canonical[frames] * stretch - mesh).astype(np.float32)
        latents = _latents(measure_mouth(dense), person.brow[frames] - person.brow[photo])
        weights = np.repeat(self._weights[None], len(frames), axis=0)
        weights[person.blinking[frames] | person.blinking[photo]] *= self._lower_window
        return self._tokens(mesh), latents, dense, weights

    def _portrait_pairs(self, person: Person, frames: NDArray) -> tuple[Floats, Floats, Floats, Floats]:
        mesh = self._portraits[int(self._rng.integers(len(self._portraits)))] * self._stretch()
        spoken = person.mouth[int(self._rng.integers(len(person.mouth)))]
        opening = spoken - resting_latents(mesh, smile=0.0)[MOUTH_SLICE]
        mesh = mesh + self._basis.displacement(_latents(opening[None], np.zeros(1)))[0]
        mesh = parted_lips(mesh + self._bent_lips())
        latents = _latents(person.mouth[frames], person.brow[frames]) - resting_latents(mesh, smile=0.0)
        lift = self._basis.displacement(latents)
        dense = lift + whole_closure(mesh, latents, lift, self._basis)
        weights = np.repeat(self._weights[None], len(frames), axis=0)
        weights[:, list(LIPS)] = PORTRAIT_LIP_WEIGHT
        return self._tokens(mesh), latents, dense, weights

    def _bent_lips(self) -> Floats:
        """Random smooth displacement [478, 3] of both lips, up and down."""
        bend = np.zeros((MESH_POINTS, 3), np.float32)
        along = np.linspace(0, np.pi, len(INNER_UPPER_LIP))
        for rings in (UPPER_LIP_RINGS, LOWER_LIP_RINGS):
            waves = np.sum(
                [self._rng.normal(0, LIP_BEND / k) * np.sin(k * along) for k in (1, 2, 3, 4)], axis=0
            )
            for ring, following in zip(rings, RING_FOLLOWING, strict=True):
                bend[np.array(ring), 1] = following * waves
        return bend

    def _stretch(self) -> Floats:
        """Factors [478, 3] that give a face another height, depth and width of the lower half."""
        tall, deep = self._rng.uniform(0.92, 1.08), self._rng.uniform(0.88, 1.12)
        wide = 1 + self._rng.uniform(-0.08, 0.08) * self._lower_window
        return np.stack([wide, np.full(MESH_POINTS, tall), np.full(MESH_POINTS, deep)], axis=1).astype(
            np.float32
        )

    def _tokens(self, mesh: NDArray) -> Floats:
        """Tokens of a mesh as a single picture would give them: a slightly wrong pose, noise, any colours."""
        angles = np.radians(self._rng.normal(0, (2.0, 2.0, 0.5)))
        turned = mesh @ rotation_matrix(*angles).T * self._rng.normal(1, 0.01)
        noisy = turned + self._rng.normal(0, 0.002, mesh.shape)
        colours = self._people[int(self._rng.integers(len(self._people)))].colours
        tinted = colours * self._rng.uniform(0.6, 1.3) * self._rng.uniform(0.9, 1.1, 3)
        return assemble_tokens(noisy, tinted.clip(0, 1), self._basis.shape)


def whole_closure(mesh: Floats, latents: Floats, lift: Floats, basis: MotionBasis) -> Floats:
    """Correction [n, 478, 3] to a lift [n, 478, 3] that lets the lips of an open mouth meet everywhere.

    The lift closes the middle of the mouth exactly and its sides as an average mouth does. With a share of 1
    where the wanted gap is 0 and 0 where it is that of the photo, the gap beside the middle is replaced by
    the wanted gap times the basis' own profile. The nine distances stay as they are.
    """
    upper, lower = np.array(INNER_UPPER_LIP)[_CENTRE], np.array(INNER_LOWER_LIP)[_CENTRE]
    gap = MOUTH.index("gap")
    photo_gap = float(measure_mouth(mesh)[gap])
    wanted = np.maximum(photo_gap + latents[:, gap], 0)
    share = np.clip(1 - wanted / max(photo_gap, OPEN_GAP), 0, 1) * min(1.0, max(0.0, photo_gap / OPEN_GAP))
    gaps = (mesh + lift)[:, lower, 1] - (mesh + lift)[:, upper, 1]
    profile = basis.vectors[gap][lower, 1] - basis.vectors[gap][upper, 1]
    change = share[:, None] * (gaps - wanted[:, None] * profile)
    correction = np.zeros_like(lift)
    for rings, part in ((UPPER_LIP_RINGS, UPPER_SHARE), (LOWER_LIP_RINGS, -LOWER_SHARE)):
        for ring, following in zip(rings, RING_FOLLOWING, strict=True):
            correction[:, np.array(ring)[_CENTRE], 1] = part * following * change
    measured = measure_mouth(correction)
    return (correction - np.tensordot(measured, basis.vectors[MOUTH_SLICE], axes=1)).astype(np.float32)


def parted_lips(mesh: Floats) -> Floats:
    """The mesh with inner lips that touch where they crossed."""
    parted = mesh.copy()
    upper, lower = list(INNER_UPPER_LIP), list(INNER_LOWER_LIP)
    crossing = np.minimum(mesh[lower, 1] - mesh[upper, 1], 0)
    parted[upper, 1] += crossing / 2
    parted[lower, 1] -= crossing / 2
    return parted


def _latents(mouth: Floats, raised: NDArray) -> Floats:
    """Latents [n, 21] of mouth distances [n, 9] and upward brow movement [n]."""
    latents = np.zeros((len(mouth), len(CHANNELS)), np.float32)
    latents[:, MOUTH_SLICE] = mouth
    latents[:, _BROW_RAISE] = np.maximum(raised, 0)
    latents[:, _BROW_LOWER] = np.maximum(-raised, 0)
    return latents


def lids_and_irises() -> Floats:
    """1 at the points that the decoder moves by itself, [478]."""
    mask = np.zeros(MESH_POINTS, np.float32)
    for eye in (LEFT_EYE, RIGHT_EYE):
        mask[[*eye.upper_lid, *eye.lower_lid, *eye.crease, *eye.iris]] = 1
    return mask
