import dataclasses

import numpy as np
import pytest
import torch

from avatar_cli.evaluation.held_out import still_frame
from avatar_cli.evaluation.quality.dense import (
    LINEAR,
    OTHER,
    OWN,
    REGIONS,
    DenseTruth,
    dense_residuals,
    dense_rows,
    dense_truth,
    lifted,
    load_mesh_dit,
    mean_residual,
    region_points,
    region_residuals,
)
from avatar_cli.evaluation.tracks import FaceTrack, remove_pose
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH_SLICE
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.tokens import assemble_tokens

BASIS = load_motion_basis()
POINTS = region_points(BASIS.shape)


@pytest.fixture(scope="module")
def network():
    return load_mesh_dit()


def tokens_of(width):
    """Of the mean face with a mouth region this much wider."""
    return assemble_tokens(
        BASIS.shape * np.array([width, 1, 1], np.float32), np.full((128, 3), 0.6), BASIS.shape
    )


def speech(seed):
    latents = np.zeros((40, len(CHANNELS)), np.float32)
    latents[:, MOUTH_SLICE] = np.random.default_rng(seed).normal(0, 0.03, (40, 9))
    return latents


def lifted_person(network, name, seed, width):
    """Somebody who moves exactly as the network says."""
    latents, tokens = speech(seed), tokens_of(width)
    return DenseTruth(name, latents, lifted(network, latents, tokens), tokens)


def test_regions_share_no_point_and_lie_in_the_face():
    parts = [POINTS[name] for name in ("lips", "chin and jaw", "cheeks")]
    together = np.concatenate(parts)
    assert len(np.unique(together)) == len(together)
    assert np.isin(together, POINTS["whole face"]).all()
    assert min(len(part) for part in parts) > 20
    assert 152 in POINTS["chin and jaw"] and 50 in POINTS["cheeks"] and 468 not in POINTS["whole face"]


def test_residuals_are_percent_of_the_eye_distance():
    off = np.zeros((5, 478, 3), np.float32)
    off[:, POINTS["cheeks"], 1] = 0.02
    found = region_residuals(off, POINTS, BASIS.mirror)
    assert found["cheeks"] == pytest.approx(2.0, rel=1e-4)
    assert found["lips"] == found["chin and jaw"] == 0
    assert found["asymmetry"] < 0.3  # both cheeks alike


def test_one_cheek_alone_is_uneven():
    off = np.zeros((5, 478, 3), np.float32)
    left = POINTS["cheeks"][BASIS.shape[POINTS["cheeks"], 0] < 0]
    off[:, left, 1] = 0.02
    assert region_residuals(off, POINTS, BASIS.mirror)["asymmetry"] > 0.3


def test_who_moves_as_the_network_says_leaves_nothing_with_the_own_tokens_and_more_with_others(network):
    people = [lifted_person(network, "a", 0, 0.95), lifted_person(network, "b", 1, 1.05)]
    residuals = dense_residuals(people, network, BASIS)
    for residual in residuals:
        assert residual.by_method[OWN]["whole face"] < 1e-3
        assert residual.by_method[OTHER]["whole face"] > 0.02
        assert residual.by_method[LINEAR]["whole face"] > 0.02
        assert residual.motion["whole face"] > residual.by_method[LINEAR]["whole face"]
    mean = mean_residual(residuals)
    assert mean.motion["lips"] == pytest.approx(np.mean([one.motion["lips"] for one in residuals]))
    table = dense_rows(residuals)
    assert all(name in table for name in (*REGIONS, OTHER))


def test_who_moves_linearly_leaves_nothing_to_the_linear_basis(network):
    person = lifted_person(network, "a", 0, 1.0)
    linear = dataclasses.replace(person, mesh=BASIS.displacement(person.latents))
    residual = dense_residuals([linear, person], network, BASIS)[0]
    assert residual.by_method[LINEAR]["whole face"] < 1e-3
    assert residual.by_method[OWN]["whole face"] > 0.02


def test_motion_is_measured_against_the_frame_with_the_closed_mouth(photo):
    """A drawn track: the mean face in the middle of the picture, its mouth opening frame by frame."""
    latents = np.zeros((30, len(CHANNELS)), np.float32)
    latents[:, CHANNELS.index("gap")] = np.linspace(0, 0.2, 30)
    moved = BASIS.shape + BASIS.displacement(latents)
    landmarks = (100 * moved + np.array([256, 256, 0])).astype(np.float32)
    canonical, poses = remove_pose(landmarks)
    track = FaceTrack(landmarks, canonical, poses, np.ones(30, bool))
    truth = dense_truth("drawn", track, photo, basis=BASIS)
    asked = latents - latents[still_frame(track)]
    assert truth.tokens.shape == (128, 12)
    assert np.abs(truth.latents[:, MOUTH_SLICE] - asked[:, MOUTH_SLICE]).max() < 0.02
    assert np.abs(truth.mesh - BASIS.displacement(truth.latents)).max() < 0.02


def test_random_weights_move_the_face_worse_than_the_linear_basis_does(network):
    """The judge tells a network of random numbers from the trained one."""
    person = lifted_person(network, "a", 0, 0.95)
    other = lifted_person(network, "b", 1, 1.05)
    noisy = load_mesh_dit()
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in noisy.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) * weight.std().nan_to_num(0.1))
    residual = dense_residuals([person, other], noisy, BASIS)[0]
    assert residual.by_method[OWN]["whole face"] > residual.by_method[LINEAR]["whole face"]
