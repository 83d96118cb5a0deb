"""Which arguments of the diffusion transformer belong to single tokens: how ranks share its sequence."""

import math
from typing import cast

from avatar_cli.families.synthetic.dit import Block, DiT
from avatar_cli.families.synthetic.sizes import PATCH, SyntheticSize
from avatar_cli.runtime.context_parallel import Gather, SequencePlan, Split
from avatar_cli.runtime.mesh import sequence_degree


def token_plan(network: DiT) -> SequencePlan:
    """The tokens are shared from the first block to the last layer; only self-attention joins them."""
    blocks = [cast(Block, block) for block in network.blocks]
    splits = [Split(block, argument, 0) for block in blocks for argument in ("frames", "rotary", "hears")]
    return SequencePlan(
        splits=(Split(blocks[0], "x", 1), *splits),
        gathers=(Gather(network.patch_out, 1),),
        cores=tuple(block.attention.core for block in blocks),
    )


def token_degree(size: SyntheticSize, ranks: int) -> int:
    """How many of `ranks` can share the tokens of every call of both diffusion transformers."""
    geometry, networks = size.geometry, size.networks
    low, high = (math.prod(cells) // PATCH**2 for cells in (geometry.low, geometry.high))
    made = {geometry.chunk_frames, geometry.interpolated_frames}
    seen = {geometry.chunk_frames, geometry.chunk_frames + geometry.border_frames}
    if geometry.interpolated_frames:
        seen.add(geometry.interpolated_frames + 2 * geometry.border_frames)
    return sequence_degree(
        ranks,
        networks.a2v.transformer.heads,
        networks.sr.transformer.heads,
        *(low * frames for frames in seen),
        *(high * frames for frames in made),
    )
