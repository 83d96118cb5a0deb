"""The shipped weights move the mouths of real people's recordings; random numbers in their place do not."""

import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from avatar_cli.assets import asset_path
from avatar_cli.evaluation.correlation import best_match
from avatar_cli.evaluation.held_out import CLIPS, track_clip
from avatar_cli.evaluation.quality.sound import hear
from avatar_cli.families.portrait.checkpoints import load_network
from avatar_cli.families.portrait.latents import MOUTH
from avatar_cli.families.portrait.measures import measure_mouth
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.sr_dit import MeshDiT, MeshDiTParams
from avatar_cli.families.portrait.tokens import reference_tokens
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.families.portrait.training.generation import Performance, asked, load_networks, perform
from avatar_cli.media.decoding import read_sound
from avatar_cli.runtime.weights import Checkpoint, save_checkpoint

GAP, WIDTH = MOUTH.index("gap"), MOUTH.index("width")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # these networks are small: a second thread waits more than it works
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def people(media):
    """Reference tokens, sound, real opening and frames with speech of two people."""
    tracker, shape = FaceTracker(), load_motion_basis().shape
    found = []
    for clip in CLIPS[3:5]:
        track, still = track_clip(media / "video" / clip.file)
        tokens = torch.from_numpy(reference_tokens(still, tracker.track(still).landmarks, shape))[None]
        sound = read_sound(media / "video" / clip.file)
        found.append((tokens, sound, track.opening, hear(sound, len(track.seen)).speech))
    return found


def what_fails(folder, people):
    """Names of what these weights do not do."""
    networks = load_networks(folder)
    mesh_dit = load_network(folder / "sr_dit.safetensors", MeshDiT, MeshDiTParams)
    takes = [perform(networks, sound, Performance(tokens)) for tokens, sound, *_ in people]
    with torch.no_grad():
        meshes = [
            mesh_dit(torch.from_numpy(take)[None], who[0])[0].numpy()
            for take, who in zip(takes, people, strict=True)
        ]
    gaps = [measure_mouth(mesh)[:, GAP] for mesh in meshes]
    likeness = [
        best_match(gap[: len(opening)], opening, speech).correlation
        for gap, (*_, opening, speech) in zip(gaps, people, strict=True)
    ]
    tokens, sound, *_ = people[0]
    smile = perform(networks, sound, Performance(tokens, (asked("smiling"),)))[:, WIDTH] - takes[0][:, WIDTH]
    checks = {
        "mouths open as the real ones": np.mean(likeness) > 0.6,
        "the mesh opens as the latents say": np.abs(gaps[0] - takes[0][:, GAP]).mean()
        < 0.2 * takes[0][:, GAP].std(),
        "a smile is wider": smile.mean() > 0.01,
    }
    return [name for name, holds in checks.items() if not holds]


def test_the_shipped_weights_do_all(people):
    assert what_fails(asset_path("portrait"), people) == []


@pytest.mark.parametrize("name", ["audio_encoder", "a2v_dit", "text_encoder", "sr_dit"])
def test_random_numbers_in_a_weight_file_are_noticed(people, tmp_path, name):
    folder = shutil.copytree(asset_path("portrait"), tmp_path / "portrait")
    path = folder / f"{name}.safetensors"
    generator = torch.Generator().manual_seed(0)
    stored = {
        key: torch.randn(value.shape, generator=generator) * value.std(correction=0) + value.mean()
        for key, value in load_file(path).items()
        if value.is_floating_point()
    }
    save_checkpoint(path, load_file(path) | stored, Checkpoint(path).config())

    assert what_fails(folder, people) != []
