"""The super-resolution DiT: one step of flow matching from a linear lift to the dense motion of a face mesh.

The flow starts at the linear lift of the motion latents (t = 0), the motion they mean on an average face,
and ends at the motion of this very face (t = 1). Its tokens are patches of the mesh; they attend to each
other within their frame and to the reference tokens. Frames never see each other, so a frame does not
depend on its chunk.

Two properties hold by construction: latents of zero move no vertex, and the dense motion has exactly the
nine mouth distances that the latents ask for, whoever the person is. Brows move by the lift alone: the
clips that teach the network hardly move theirs.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from avatar_cli.families.portrait.latents import (
    MESH_POINTS,
    MOUTH,
    MOUTH_SLICE,
    REFERENCE_TOKEN_FEATURES,
    REFERENCE_TOKENS,
)
from avatar_cli.families.portrait.motion_basis import BASIS_COLUMNS
from avatar_cli.families.portrait.tokens import OFFSETS

ASSET = "portrait/sr_dit.safetensors"
_COORDINATES = MESH_POINTS * 3
# Sizes of displacements, and of the corrections the network makes to the lift, e.
_DISPLACEMENT_SCALE = 0.05
_CORRECTION_SCALE = 0.01
_TIME_FREQUENCIES = 8
# Standard deviations of a mouth latent beyond which the correction grows no further.
_WIDEST_DRIVE = 4.0
# Typical sizes of the features of a reference token.
_OFFSET_SCALE = 0.03
_TOKEN_SCALE = (*(1.0,) * 6, *(_OFFSET_SCALE,) * 3, 1.0, 1.0, 0.1)


@dataclass(frozen=True)
class MeshDiTParams:
    """Sizes of the network."""

    width: int = 64
    heads: int = 4
    depth: int = 3
    mlp_ratio: int = 2
    patches: int = 32
    photo_features: int = 16

    @property
    def patch_points(self) -> int:
        """Mesh points of a patch; the last one of a smaller patch is repeated."""
        return math.ceil(MESH_POINTS / self.patches)

    def to_config(self) -> dict[str, Any]:
        """As stored with the weights."""
        return asdict(self)


class MeshDiT(nn.Module):
    """Motion latents and reference tokens to the dense displacement of the mesh."""

    lift_vectors: Tensor
    measure_rows: Tensor
    reach: Tensor
    latent_scale: Tensor
    patch_index: Tensor
    vertex_slot: Tensor

    def __init__(self, params: MeshDiTParams) -> None:
        super().__init__()
        width, points = params.width, params.patch_points
        self.params = params
        self.register_buffer("lift_vectors", torch.zeros(len(BASIS_COLUMNS), _COORDINATES))
        self.register_buffer("measure_rows", torch.zeros(len(MOUTH), _COORDINATES))
        self.register_buffer("reach", torch.zeros(MESH_POINTS, 1))
        self.register_buffer("latent_scale", torch.ones(len(MOUTH)))
        self.register_buffer("patch_index", torch.zeros(params.patches, points, dtype=torch.int64))
        self.register_buffer("vertex_slot", torch.zeros(MESH_POINTS, dtype=torch.int64))
        self.patch_embedding = nn.Parameter(torch.randn(params.patches, width) * 0.5)
        self.patch_input = nn.Linear(points * 3, width)
        self.photo_input = nn.Linear(REFERENCE_TOKENS * 3, params.patches * params.photo_features)
        self.photo_hidden = nn.Linear(params.photo_features, width)
        self.photo_factor = nn.Linear(params.photo_features, width)
        self.latent_input = _mlp(len(MOUTH), width)
        self.time_input = _mlp(2 * _TIME_FREQUENCIES, width)
        self.reference_input = _mlp(REFERENCE_TOKEN_FEATURES, width)
        self.blocks = nn.ModuleList(MeshBlock(params) for _ in range(params.depth))
        self.norm = nn.LayerNorm(width)
        self.factor = nn.Linear(width, width)
        self.latent_gate = nn.Linear(len(MOUTH), width, bias=False)
        self.patch_output = nn.Linear(width, points * 3, bias=False)
        nn.init.zeros_(self.patch_output.weight)

    def forward(self, latents: Tensor, tokens: Tensor) -> Tensor:
        """One Euler step from the lift.

        Args:
            latents: float32 [B, n, 21] of `latents.CHANNELS`, relative to the photo.
            tokens: float32 [B, 128, 12], reference tokens of the photo.

        Returns:
            Displacement [B, n, 478, 3] of the photo's mesh in the canonical frame, e.
        """
        start = self.lift(latents)
        time = latents.new_zeros(latents.shape[:2])
        return start + self.velocity(start, time, latents, tokens)

    def lift(self, latents: Tensor) -> Tensor:
        """Linear lift: latents [B, n, 21] to displacements [B, n, 478, 3] of the average face, e."""
        flat = latents[..., list(BASIS_COLUMNS)] @ self.lift_vectors
        return flat.unflatten(-1, (MESH_POINTS, 3))

    def velocity(self, state: Tensor, time: Tensor, latents: Tensor, tokens: Tensor) -> Tensor:
        """Velocity of the flow at `state` [B, n, 478, 3] and `time` [B, n] in 0..1, e per unit of time."""
        batch, frames = time.shape
        drive = (latents[..., MOUTH_SLICE] / self.latent_scale).clamp(-_WIDEST_DRIVE, _WIDEST_DRIVE)
        condition = self.time_input(_time_features(time)) + self.latent_input(drive)
        condition = condition.flatten(0, 1)
        reference = self.reference_input(tokens / tokens.new_tensor(_TOKEN_SCALE))
        patches = state[:, :, self.patch_index].flatten(-2) / _DISPLACEMENT_SCALE
        # What each patch reads off the whole photo's shape, such as how the lips gape beside the middle.
        offsets = (tokens[..., OFFSETS] / _OFFSET_SCALE).flatten(-2)
        photo = self.photo_input(offsets).unflatten(-1, (self.params.patches, -1))[:, None]
        hidden = (self.patch_input(patches) + self.photo_hidden(photo) + self.patch_embedding).flatten(0, 1)
        for block in self.blocks:
            hidden = block(hidden, condition, reference)
        # A product with a linear function of the latents: no motion asked for, none made.
        gate = self.latent_gate(drive).flatten(0, 1)[:, None]
        factor = self.factor(self.norm(hidden)).unflatten(0, (batch, frames)) + self.photo_factor(photo)
        change = self.patch_output(factor.flatten(0, 1) * gate)
        change = change.unflatten(-1, (self.params.patch_points, 3)).flatten(1, 2)[:, self.vertex_slot]
        change = (change * self.reach * _CORRECTION_SCALE).flatten(-2)
        # The lift has the distances asked for already: take those of the correction out again.
        change = change - (change @ self.measure_rows.T) @ self.lift_vectors[: len(MOUTH)]
        return change.reshape(batch, frames, MESH_POINTS, 3)


class MeshBlock(nn.Module):
    """Attention within a frame's mesh and to the reference, then an MLP, all modulated by the condition."""

    def __init__(self, params: MeshDiTParams) -> None:
        super().__init__()
        width = params.width
        self.heads = params.heads
        self.modulation = nn.Linear(width, 6 * width)
        self.self_norm = nn.LayerNorm(width, elementwise_affine=False)
        self.self_qkv = nn.Linear(width, 3 * width)
        self.self_out = nn.Linear(width, width)
        self.cross_norm = nn.LayerNorm(width)
        self.cross_query = nn.Linear(width, width)
        self.cross_key_value = nn.Linear(width, 2 * width)
        self.cross_out = nn.Linear(width, width)
        self.mlp_norm = nn.LayerNorm(width, elementwise_affine=False)
        self.mlp_in = nn.Linear(width, params.mlp_ratio * width)
        self.mlp_out = nn.Linear(params.mlp_ratio * width, width)

    def forward(self, hidden: Tensor, condition: Tensor, reference: Tensor) -> Tensor:
        """Hidden [B n, patches, width], condition [B n, width], reference [B, tokens, width]."""
        modulation = self.modulation(F.silu(condition))[:, None].chunk(6, dim=-1)
        shift, scale, gate, mlp_shift, mlp_scale, mlp_gate = modulation
        inner = self.self_norm(hidden) * (1 + scale) + shift
        query, key, value = self.self_qkv(inner).chunk(3, dim=-1)
        hidden = hidden + gate * self.self_out(_attend(query, key, value, self.heads))
        hidden = hidden + self.cross_out(self._read_reference(self.cross_norm(hidden), reference))
        inner = self.mlp_norm(hidden) * (1 + mlp_scale) + mlp_shift
        return hidden + mlp_gate * self.mlp_out(F.gelu(self.mlp_in(inner)))

    def _read_reference(self, hidden: Tensor, reference: Tensor) -> Tensor:
        # All patches of all frames are queries to the one set of keys that a person has.
        query = self.cross_query(hidden).reshape(len(reference), -1, hidden.shape[-1])
        key, value = self.cross_key_value(reference).chunk(2, dim=-1)
        return _attend(query, key, value, self.heads).reshape(hidden.shape)


def _attend(query: Tensor, key: Tensor, value: Tensor, heads: int) -> Tensor:
    query, key, value = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (query, key, value))
    return F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(-2)


def _mlp(inputs: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, width), nn.SiLU(), nn.Linear(width, width))


def _time_features(time: Tensor) -> Tensor:
    """Cosines and sines [..., 16] of flow time 0..1."""
    frequencies = math.pi / 2 * torch.arange(1, _TIME_FREQUENCIES + 1, device=time.device, dtype=time.dtype)
    angles = time[..., None] * frequencies
    return torch.cat([angles.cos(), angles.sin()], dim=-1)
