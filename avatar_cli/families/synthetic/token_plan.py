"""Which arguments of the diffusion transformer belong to single tokens: how ranks share its sequence."""

from typing import cast

from avatar_cli.families.synthetic.dit import Block, DiT
from avatar_cli.runtime.context_parallel import Gather, SequencePlan, Split


def token_plan(network: DiT) -> SequencePlan:
    """The tokens are shared from the first block to the last layer; only self-attention joins them."""
    blocks = [cast(Block, block) for block in network.blocks]
    splits = [Split(block, argument, 0) for block in blocks for argument in ("frames", "rotary", "hears")]
    return SequencePlan(
        splits=(Split(blocks[0], "x", 1), *splits),
        gathers=(Gather(network.patch_out, 1),),
        cores=tuple(block.attention.core for block in blocks),
    )
