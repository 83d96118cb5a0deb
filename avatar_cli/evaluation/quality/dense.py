"""The face as a whole, as the second network moves it: against the real face of people never trained on.

The nine distances of the mouth, the brows and the head's pose are those of the recording itself, so that
only what they leave open is judged: cheeks, chin, lips beside the middle, and what one side does more than
the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from avatar_cli.assets import asset_path
from avatar_cli.evaluation.benchmark.figures import markdown_table
from avatar_cli.evaluation.held_out import CLIPS, still_frame, track_clip
from avatar_cli.evaluation.tracks import FaceTrack
from avatar_cli.families.portrait.checkpoints import load_network
from avatar_cli.families.portrait.geometry import mirrored
from avatar_cli.families.portrait.landmarks import LEFT_EYE, LIPS, RIGHT_EYE
from avatar_cli.families.portrait.latents import CHANNELS, MESH_POINTS, MOUTH_SLICE
from avatar_cli.families.portrait.measures import measure_mouth, measure_upper_face
from avatar_cli.families.portrait.motion_basis import MotionBasis, load_motion_basis
from avatar_cli.families.portrait.sr_dit import ASSET, MeshDiT, MeshDiTParams
from avatar_cli.families.portrait.tokens import reference_tokens
from avatar_cli.families.portrait.training.clips import remove_pose
from avatar_cli.media.decoding import Image

Floats = NDArray[np.float32]

LINEAR, OWN, OTHER = "linear basis", "SR DiT", "SR DiT, another person's tokens"
REGIONS = ("lips", "chin and jaw", "cheeks", "whole face", "asymmetry")
# Lids that are further down than this share of the photo's opening drag their surroundings along.
_BLINK = 0.15
_OUTER_LOWER_LIP, _NOSE_BASE = 17, 2


@dataclass(frozen=True)
class DenseTruth:
    """What the face of one recording does, against one of its frames that stands for the photo.

    Attributes:
        name: Of the recording.
        latents: float32 [T, 21], mouth and brows relative to the photo, the rest 0.
        mesh: float32 [T, 478, 3], displacement against the photo, canonical frame, e.
        tokens: float32 [128, 12], reference tokens of the photo.
    """

    name: str
    latents: Floats
    mesh: Floats
    tokens: Floats


@dataclass(frozen=True)
class DenseResidual:
    """Root mean square distances in three dimensions, percent of e, by region of `REGIONS`.

    Attributes:
        name: Of the recording.
        motion: What a face that keeps still leaves.
        by_method: What is left by `LINEAR`, `OWN` and `OTHER`, the last the mean over all other people.
    """

    name: str
    motion: Mapping[str, float]
    by_method: Mapping[str, Mapping[str, float]]


def judge_dense(media: Path) -> list[DenseResidual]:
    """Judges the embedded weights on every recording of `held_out.CLIPS`.

    Args:
        media: Folder with a `video` folder that holds them.
    """
    torch.set_num_threads(1)
    basis = load_motion_basis()
    truths = [dense_truth(clip.name, *track_clip(media / "video" / clip.file), basis=basis) for clip in CLIPS]
    return dense_residuals(truths, load_mesh_dit(), basis)


def dense_rows(residuals: Sequence[DenseResidual]) -> str:
    """Markdown table: means over people, one line a region."""
    header = ("percent of the eye distance, rms", "motion", LINEAR, OWN, OTHER)
    means = mean_residual(residuals)
    rows = []
    for region in REGIONS:
        left = (f"{means.by_method[name][region]:.3f}" for name in (LINEAR, OWN, OTHER))
        rows.append((region, f"{means.motion[region]:.2f}", *left))
    return markdown_table(header, rows)


def mean_residual(residuals: Sequence[DenseResidual]) -> DenseResidual:
    """The means over people."""

    def mean(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
        return {region: float(np.mean([part[region] for part in parts])) for region in REGIONS}

    methods = residuals[0].by_method
    return DenseResidual(
        "mean",
        mean([residual.motion for residual in residuals]),
        {name: mean([residual.by_method[name] for residual in residuals]) for name in methods},
    )


def dense_truth(name: str, track: FaceTrack, still: Image, *, basis: MotionBasis) -> DenseTruth:
    """The motion of a track against its frame with a closed mouth, `still` (`held_out.still_frame`).

    Frames with a blink are left out: neither method moves what lids drag along.
    """
    canonical, _ = remove_pose(track.landmarks, basis.shape)
    photo = still_frame(track)
    upper = measure_upper_face(canonical)
    awake = track.seen & (upper.lid_opening > (1 - _BLINK) * upper.lid_opening[photo])
    mesh = (canonical - canonical[photo])[awake]
    raised = (upper.brow_y[photo] - upper.brow_y)[awake]
    latents = np.zeros((len(mesh), len(CHANNELS)), np.float32)
    latents[:, MOUTH_SLICE] = measure_mouth(mesh)
    latents[:, CHANNELS.index("brow_raise")] = np.maximum(raised, 0)
    latents[:, CHANNELS.index("brow_lower")] = np.maximum(-raised, 0)
    tokens = reference_tokens(still, track.landmarks[photo], basis.shape)
    return DenseTruth(name, latents, mesh.astype(np.float32), tokens)


def dense_residuals(
    truths: Sequence[DenseTruth], network: MeshDiT, basis: MotionBasis
) -> list[DenseResidual]:
    """Of at least two people: every one with the own photo's tokens and with those of all others."""
    points = region_points(basis.shape)
    residuals = []
    for truth in truths:
        others = [other.tokens for other in truths if other is not truth]

        def left(motion: Floats, truth: DenseTruth = truth) -> dict[str, float]:
            return region_residuals(truth.mesh - motion, points, basis.mirror)

        every = [left(lifted(network, truth.latents, tokens)) for tokens in others]
        methods = {
            LINEAR: left(basis.displacement(truth.latents)),
            OWN: left(lifted(network, truth.latents, truth.tokens)),
            OTHER: {region: float(np.mean([one[region] for one in every])) for region in REGIONS},
        }
        residuals.append(DenseResidual(truth.name, left(np.zeros_like(truth.mesh)), methods))
    return residuals


def region_residuals(
    difference: Floats, points: Mapping[str, NDArray[np.intp]], mirror: NDArray[np.int64]
) -> dict[str, float]:
    """By `REGIONS`, percent of e, for differences [T, 478, 3]; asymmetry is half of what a mirror changes."""
    uneven = (difference - mirrored(difference, mirror)) / 2
    found = {region: _rms(difference[:, chosen]) for region, chosen in points.items()}
    return found | {"asymmetry": _rms(uneven[:, points["whole face"]])}


def region_points(shape: NDArray) -> dict[str, NDArray[np.intp]]:
    """Points of the mean face [478, 3] by region; cheeks lie beside nose and lips, chin and jaw below."""
    height = shape[:, 1]
    eyes = [
        point
        for eye in (LEFT_EYE, RIGHT_EYE)
        for point in (*eye.upper_lid, *eye.lower_lid, *eye.crease, *eye.iris)
    ]
    face = np.setdiff1d(np.arange(MESH_POINTS), eyes)
    skin = np.setdiff1d(face, LIPS)
    below = height[skin] > height[_OUTER_LOWER_LIP]
    beside = ~below & (height[skin] > 0.5 * height[_NOSE_BASE])
    return {
        "lips": np.array(LIPS),
        "chin and jaw": skin[below],
        "cheeks": skin[beside],
        "whole face": face,
    }


def lifted(network: MeshDiT, latents: Floats, tokens: Floats) -> Floats:
    """Dense motion [T, 478, 3] for latents [T, 21] relative to the photo of `tokens` [128, 12]."""
    with torch.no_grad():
        moved = network(torch.from_numpy(latents)[None], torch.from_numpy(tokens)[None])[0]
    return np.asarray(moved.numpy(), np.float32)


def load_mesh_dit() -> MeshDiT:
    """The embedded SR DiT on the CPU."""
    return load_network(asset_path(ASSET), MeshDiT, MeshDiTParams)


def _rms(vectors: NDArray) -> float:
    return 100 * float(np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=-1).mean()))
