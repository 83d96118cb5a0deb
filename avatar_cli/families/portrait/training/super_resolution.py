"""Trains the SR DiT on pairs of frames of tracked clips: one is the photo, the other what it should become."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from avatar_cli.families.portrait.geometry import fit_pose, mirrored, personal_pose, rotation_matrix
from avatar_cli.families.portrait.landmarks import LEFT_EYE, LIPS, RIGHT_EYE
from avatar_cli.families.portrait.latents import CHANNELS, MESH_POINTS, MOUTH, MOUTH_SLICE
from avatar_cli.families.portrait.measures import measure_mouth, mouth_matrix
from avatar_cli.families.portrait.motion_basis import BASIS_COLUMNS, MotionBasis
from avatar_cli.families.portrait.sr_dit import MeshDiT, MeshDiTParams
from avatar_cli.families.portrait.tokens import TOKEN_POINTS, assemble_tokens, sample_colours
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.families.portrait.training.basis import region_windows, train_basis
from avatar_cli.families.portrait.training.clips import TrackedClip
from avatar_cli.families.portrait.training.optimisation import Schedule, Trainer
from avatar_cli.families.portrait.training.split import TRAINING_CLIPS
from avatar_cli.runtime.weights import save_checkpoint

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
SEED = 20
SCHEDULE = Schedule(steps=3500, rate=1e-3, weight_decay=0.05)
PHOTOS, FRAMES_OF_A_PHOTO = 8, 16
PORTRAIT_SHARE = 0.2
BLINK = 0.15  # lids further down than this drag the skin around the eye along
LIP_WEIGHT = 3.0
RESIDUAL_SCALE = 0.01  # e
_BROW_RAISE, _BROW_LOWER = CHANNELS.index("brow_raise"), CHANNELS.index("brow_lower")


@dataclass(frozen=True)
class Person:
    """Frames of one clip, or of its mirror image.

    Attributes:
        canonical: float32 [T, 478, 3], e.
        brow: float32 [T], upward movement of the brows, e.
        blinking: bool [T].
        colours: float32 [128, 3], colours at the token points, 0..1.
    """

    canonical: Floats
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
    linear: Tensor  # bool [B]: the dense motion of these is the lift itself


def train_face(media: Path, out: Path, cache: Path) -> None:
    """Trains the linear basis and the SR DiT and writes both.

    Args:
        media: Folder with the folders `video` and `portraits`.
        out: Folder that gets `motion_basis.safetensors` and `sr_dit.safetensors`.
        cache: Folder for tracks.
    """
    basis, clips = train_basis(media, TRAINING_CLIPS, cache)
    basis.save(out / "motion_basis.safetensors")
    network = train_super_resolution(clips, portrait_meshes(media, basis), basis, SCHEDULE)
    save_checkpoint(out / "sr_dit.safetensors", network.state_dict(), network.params.to_config())


def train_super_resolution(
    clips: Sequence[TrackedClip], portraits: Sequence[Floats], basis: MotionBasis, schedule: Schedule
) -> MeshDiT:
    """The trained network; `portraits` are canonical meshes [478, 3] of further people."""
    torch.manual_seed(SEED)
    sampler = PairSampler(people_of(clips, basis), portraits, basis, np.random.default_rng(SEED))
    network = MeshDiT(MeshDiTParams())
    install_basis(network, basis, sampler.latent_scale())
    trainer = Trainer(network, schedule)
    for _ in trainer.steps():
        trainer.descend(flow_loss(network, sampler.batch()))
    network.load_state_dict(trainer.averaged_state())
    return network.eval()


def flow_loss(network: MeshDiT, batch: Batch) -> Tensor:
    """Flow-matching loss on the straight path from lift to dense motion; half of the times are its start."""
    start = network.lift(batch.latents)
    target = torch.where(batch.linear[:, None, None, None], 0.0, batch.dense - start)
    time = torch.rand(batch.latents.shape[:2])
    time = torch.where(torch.rand_like(time) < 0.5, 0.0, time)
    velocity = network.velocity(start + time[..., None, None] * target, time, batch.latents, batch.tokens)
    error = ((velocity - target) / RESIDUAL_SCALE).square().sum(dim=-1)
    return (error * batch.weights).sum() / batch.weights.sum()


def install_basis(network: MeshDiT, basis: MotionBasis, latent_scale: Floats) -> None:
    """Fills the network's constants: the lift, the measures, the patches of the mesh and what it may move."""
    patches = mesh_patches(basis.shape, network.params.patches)
    points = network.params.patch_points
    padded = np.array([[*patch, *[patch[-1]] * (points - len(patch))] for patch in patches])
    slot = np.zeros(MESH_POINTS, np.int64)
    for number, patch in enumerate(patches):
        slot[patch] = number * points + np.arange(len(patch))
    constants = {
        "lift_vectors": basis.vectors.reshape(len(BASIS_COLUMNS), -1),
        "measure_rows": mouth_matrix().reshape(len(MOUTH), -1),
        "reach": 1.0 - _lids_and_irises()[:, None],
        "latent_scale": latent_scale,
        "patch_index": padded,
        "vertex_slot": slot,
    }
    for name, value in constants.items():
        getattr(network, name).copy_(torch.from_numpy(np.ascontiguousarray(value)))


def mesh_patches(shape: NDArray, count: int) -> list[list[int]]:
    """Splits the mesh into `count` (a power of two) patches of nearly equal size, by halving the longer side."""
    patches = [np.arange(MESH_POINTS)]
    while len(patches) < count:
        halves = []
        for patch in patches:
            axis = int(np.ptp(shape[patch], axis=0).argmax())
            ordered = patch[np.argsort(shape[patch, axis], kind="stable")]
            halves += np.array_split(ordered, 2)
        patches = halves
    return [patch.tolist() for patch in patches]


def portrait_meshes(media: Path, basis: MotionBasis) -> list[Floats]:
    """Canonical meshes [478, 3] of all faces of the portraits."""
    tracker = FaceTracker()
    meshes = []
    for name in PORTRAITS:
        image = np.asarray(Image.open(media / "portraits" / name).convert("RGB"))
        for face in tracker.faces(image):
            meshes.append(personal_pose(face.landmarks, basis.shape)[1].astype(np.float32))
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
        people.append(Person(clip.canonical, brow, blinking, colours))
        people.append(Person(mirrored(clip.canonical, basis.mirror), brow, blinking, colours[partner]))
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
        self._shape = basis.shape
        self._rng = rng
        self._lower_window, _ = region_windows(basis.shape)
        self._weights = 1.0 - _lids_and_irises()
        self._weights[list(LIPS)] = LIP_WEIGHT

    def latent_scale(self) -> Floats:
        """Standard deviation [11] of the used channels over drawn pairs."""
        used = np.concatenate([self._draw()[1][:, list(BASIS_COLUMNS)] for _ in range(100)])
        return used.std(axis=0).astype(np.float32)

    def batch(self) -> Batch:
        """A random batch of `PHOTOS` photos with `FRAMES_OF_A_PHOTO` frames each."""
        tokens, latents, dense, weights, linear = zip(*(self._draw() for _ in range(PHOTOS)), strict=True)
        return Batch(
            tokens=torch.from_numpy(np.stack(tokens)),
            latents=torch.from_numpy(np.stack(latents)),
            dense=torch.from_numpy(np.stack(dense)),
            weights=torch.from_numpy(np.stack(weights)),
            linear=torch.tensor(linear),
        )

    def _draw(self) -> tuple[Floats, Floats, Floats, Floats, bool]:
        person = self._people[int(self._rng.integers(len(self._people)))]
        photo = int(self._rng.integers(len(person.canonical)))
        frames = self._rng.integers(len(person.canonical), size=FRAMES_OF_A_PHOTO)
        stretch = self._stretch()
        mesh = person.canonical[photo] * stretch
        dense = (person.canonical[frames] * stretch - mesh).astype(np.float32)
        latents = np.zeros((FRAMES_OF_A_PHOTO, len(CHANNELS)), np.float32)
        latents[:, MOUTH_SLICE] = measure_mouth(dense)
        raised = person.brow[frames] - person.brow[photo]
        latents[:, _BROW_RAISE], latents[:, _BROW_LOWER] = np.maximum(raised, 0), np.maximum(-raised, 0)
        weights = np.repeat(self._weights[None], FRAMES_OF_A_PHOTO, axis=0)
        weights[person.blinking[frames] | person.blinking[photo]] *= self._lower_window
        linear = bool(self._rng.random() < PORTRAIT_SHARE)
        if linear:
            mesh = self._portraits[int(self._rng.integers(len(self._portraits)))] * stretch
        return self._tokens(mesh), latents, dense, weights.astype(np.float32), linear

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
        noisy = turned + self._rng.normal(0, 0.004, mesh.shape)
        colours = self._people[int(self._rng.integers(len(self._people)))].colours
        tinted = colours * self._rng.uniform(0.6, 1.3) * self._rng.uniform(0.9, 1.1, 3)
        return assemble_tokens(noisy, tinted.clip(0, 1), self._shape)


def _lids_and_irises() -> Floats:
    """1 at the points that the decoder moves by itself, [478]."""
    mask = np.zeros(MESH_POINTS, np.float32)
    for eye in (LEFT_EYE, RIGHT_EYE):
        mask[[*eye.upper_lid, *eye.lower_lid, *eye.crease, *eye.iris]] = 1
    return mask
