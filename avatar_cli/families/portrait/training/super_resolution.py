"""Trains the SR DiT by flow matching from the linear lift of a photo's motion latents to its dense motion."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from avatar_cli.families.portrait.latents import MESH_POINTS, MOUTH
from avatar_cli.families.portrait.measures import mouth_matrix
from avatar_cli.families.portrait.motion_basis import BASIS_COLUMNS, MotionBasis
from avatar_cli.families.portrait.sr_dit import MeshDiT, MeshDiTParams
from avatar_cli.families.portrait.training.basis import train_basis
from avatar_cli.families.portrait.training.clips import TrackedClip
from avatar_cli.families.portrait.training.mesh_pairs import (
    Batch,
    PairSampler,
    lids_and_irises,
    people_of,
    portrait_meshes,
)
from avatar_cli.families.portrait.training.optimisation import Schedule, Trainer
from avatar_cli.families.portrait.training.split import TRAINING_CLIPS
from avatar_cli.runtime.weights import save_checkpoint

Floats = NDArray[np.float32]

SEED = 20
SCHEDULE = Schedule(steps=1500, rate=1.5e-3, weight_decay=0.05)
RESIDUAL_SCALE = 0.01  # e


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
    target = batch.dense - start
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
        "reach": 1.0 - lids_and_irises()[:, None],
        "latent_scale": latent_scale,
        "patch_index": padded,
        "vertex_slot": slot,
    }
    for name, value in constants.items():
        getattr(network, name).copy_(torch.from_numpy(np.ascontiguousarray(value)))


def mesh_patches(shape: NDArray, count: int) -> list[list[int]]:
    """Splits the mesh into `count` (a power of two) patches of nearly equal size, halving the longer side."""
    patches = [np.arange(MESH_POINTS)]
    while len(patches) < count:
        halves = []
        for patch in patches:
            axis = int(np.ptp(shape[patch], axis=0).argmax())
            ordered = patch[np.argsort(shape[patch, axis], kind="stable")]
            halves += np.array_split(ordered, 2)
        patches = halves
    return [patch.tolist() for patch in patches]
