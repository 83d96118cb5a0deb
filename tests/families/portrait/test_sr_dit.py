import numpy as np
import pytest
import torch

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.checkpoints import load_network
from avatar_cli.families.portrait.geometry import personal_pose
from avatar_cli.families.portrait.landmarks import INNER_LOWER_LIP, INNER_UPPER_LIP, LEFT_EYE, LIPS, RIGHT_EYE
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH_SLICE
from avatar_cli.families.portrait.measures import measure_mouth
from avatar_cli.families.portrait.motion_basis import load_motion_basis
from avatar_cli.families.portrait.reference import resting_latents
from avatar_cli.families.portrait.sr_dit import ASSET, MeshDiT, MeshDiTParams
from avatar_cli.families.portrait.tokens import assemble_tokens, reference_tokens
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.families.portrait.training.mesh_pairs import PairSampler, Person, whole_closure
from avatar_cli.families.portrait.training.super_resolution import flow_loss, install_basis, mesh_patches
from avatar_cli.media.image_in import load_photo

BASIS = load_motion_basis()
E = 100  # to percent of the eye distance


@pytest.fixture(scope="module")
def network():
    return load_network(asset_path(ASSET), MeshDiT, MeshDiTParams)


@pytest.fixture(scope="module")
def smile():
    """Mesh and tokens of the demo portrait, who shows her teeth."""
    picture = load_photo(asset_path("demo/reference.png")).pixels
    landmarks = FaceTracker().track(picture).landmarks
    mesh = personal_pose(landmarks, BASIS.shape)[1].astype(np.float32)
    return mesh, torch.from_numpy(reference_tokens(picture, landmarks, BASIS.shape))[None]


@pytest.fixture(scope="module")
def average():
    return torch.from_numpy(assemble_tokens(BASIS.shape, np.full((128, 3), 0.6), BASIS.shape))[None]


@pytest.fixture
def speech():
    """Sixty frames of mouth and brow motion of everyday size, [1, 60, 21]."""
    generator = torch.Generator().manual_seed(0)
    deviation = torch.tensor([0.036, 0.054, 0.046, 0.024, 0.023, 0.012, 0.010, 0.004, 0.016, 0, 0.005, 0.005])
    latents = torch.zeros(1, 60, len(CHANNELS))
    latents[..., : len(deviation)] = torch.randn(1, 60, len(deviation), generator=generator) * deviation
    return latents


def run(network, latents, tokens):
    with torch.no_grad():
        return network(latents, tokens)


def test_latents_of_zero_move_no_vertex(network, smile):
    assert not run(network, torch.zeros(1, 5, len(CHANNELS)), smile[1]).any()


@pytest.mark.parametrize("name", ["blink", "gaze_x", "squint", "yaw", "shift_y_head", "log_scale"])
def test_lids_gaze_and_pose_alone_move_no_vertex(network, smile, name):
    latents = torch.zeros(1, 3, len(CHANNELS))
    latents[..., CHANNELS.index(name)] = 0.7
    assert not run(network, latents, smile[1]).any()


def test_the_mouth_gets_exactly_the_distances_asked_for(network, smile, average, speech):
    for tokens in (smile[1], average):
        measured = measure_mouth(run(network, speech, tokens)[0].numpy())
        assert np.abs(measured - speech[0, :, MOUTH_SLICE].numpy()).max() < 5e-4


def test_the_result_is_near_the_linear_lift_and_not_equal_to_it(network, smile, speech):
    correction = run(network, speech, smile[1]) - network.lift(speech)
    lips = correction[:, :, list(LIPS)].square().sum(-1).mean().sqrt().item() * E
    assert 0.1 < lips < 1.5


def test_lids_and_irises_are_left_to_the_decoder(network, smile, speech):
    change = run(network, speech, smile[1]) - network.lift(speech)
    eyes = [point for eye in (LEFT_EYE, RIGHT_EYE) for point in (*eye.upper_lid, *eye.lower_lid, *eye.iris)]
    assert change[:, :, eyes].abs().max() < 1e-6


def test_another_persons_tokens_visibly_change_the_result(network, smile, average, speech):
    own, other = run(network, speech, smile[1]), run(network, speech, average)
    change = (own - other)[:, :, list(LIPS)].square().sum(-1).sqrt() * E
    assert change.square().mean().sqrt() > 0.1  # percent of the eye distance, over all frames
    assert change.max() > 0.5


def test_a_frame_does_not_depend_on_the_chunk_around_it(network, smile, speech):
    whole = run(network, speech, smile[1])
    part = run(network, speech[:, 23:31], smile[1])
    assert torch.allclose(part, whole[:, 23:31], atol=1e-6)


def test_several_people_in_a_batch_do_not_mix(network, smile, average, speech):
    both = run(network, speech.expand(2, -1, -1), torch.cat([smile[1], average]))
    assert torch.allclose(both[0], run(network, speech, smile[1])[0], atol=1e-6)
    assert torch.allclose(both[1], run(network, speech, average)[0], atol=1e-6)


def inner_gaps(mesh):
    lower, upper = np.array(INNER_LOWER_LIP)[1:-1], np.array(INNER_UPPER_LIP)[1:-1]
    return mesh[..., lower, 1] - mesh[..., upper, 1]


def crooked_smile(mesh):
    """The mesh with its lower lip bent: the left half of the mouth is open wider than the right."""
    bent = mesh.copy()
    bent[np.array(INNER_LOWER_LIP), 1] += 0.015 * np.sin(np.linspace(0, 2 * np.pi, len(INNER_LOWER_LIP)))
    return bent


@pytest.mark.parametrize(
    "name",
    [
        "p30_flux_man_closed.png",
        "p32_flux_woman_closed.png",
        "p43_woman_street_720p.png",
    ],
)
def test_parted_lips_close_along_their_whole_length(network, media, name):
    picture = load_photo(media / "portraits" / name).pixels
    landmarks = FaceTracker().track(picture).landmarks
    mesh = personal_pose(landmarks, BASIS.shape)[1].astype(np.float32)
    tokens = torch.from_numpy(reference_tokens(picture, landmarks, BASIS.shape))[None]
    closing = -torch.from_numpy(resting_latents(mesh, smile=0.0))[None, None]
    lift = np.abs(inner_gaps(mesh + network.lift(closing)[0, 0].numpy())).mean() * E
    dense = np.abs(inner_gaps(mesh + run(network, closing, tokens)[0, 0].numpy())).mean() * E
    assert lift > 0.3
    assert dense < 0.5 * lift


def test_the_correction_taught_for_open_mouths_closes_them_completely(smile):
    mesh = crooked_smile(smile[0])
    closing = -resting_latents(mesh, smile=0.0)[None]
    lift = BASIS.displacement(closing)
    correction = whole_closure(mesh, closing, lift, BASIS)
    assert np.abs(inner_gaps(mesh + lift)).max() * E > 1.0
    assert np.abs(inner_gaps(mesh + lift + correction)).max() * E < 0.3
    assert np.abs(measure_mouth(correction)).max() < 1e-4


def test_the_weights_are_small(network):
    assert asset_path(ASSET).stat().st_size < 4_000_000


def test_patches_share_out_the_whole_mesh():
    patches = mesh_patches(BASIS.shape, 32)
    assert sorted(point for patch in patches for point in patch) == list(range(478))
    assert {len(patch) for patch in patches} == {14, 15}


def test_training_lowers_the_loss_and_starts_from_the_lift(smile):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    mouth = rng.normal(0, 0.03, (40, 9)).astype(np.float32)
    latents = np.zeros((40, len(CHANNELS)), np.float32)
    latents[:, MOUTH_SLICE] = mouth
    frames = smile[0] + BASIS.displacement(latents)
    person = Person(
        frames, mouth, np.zeros(40, np.float32), np.zeros(40, bool), np.full((128, 3), 0.5, np.float32)
    )
    sampler = PairSampler([person], [smile[0]], BASIS, rng)
    network = MeshDiT(MeshDiTParams(width=32, depth=1))
    install_basis(network, BASIS, sampler.latent_scale())
    batch = sampler.batch()
    assert torch.equal(run(network, batch.latents, batch.tokens), network.lift(batch.latents))
    optimiser = torch.optim.Adam(network.parameters(), 2e-3)
    losses = []
    for _ in range(30):
        loss = flow_loss(network, batch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])
