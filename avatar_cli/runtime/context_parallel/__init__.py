"""Context parallel: the ranks share the tokens of a network's call, applied from outside of the network."""

from avatar_cli.runtime.context_parallel.apply import context_parallel
from avatar_cli.runtime.context_parallel.plan import Gather, SequencePlan, Split

__all__ = ["Gather", "SequencePlan", "Split", "context_parallel"]
