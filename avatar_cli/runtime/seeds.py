"""One seed a chunk, so that a chunk's noise depends on nothing but the job's seed and its own name.

Renders can then resume at any chunk, start the same whatever their length, and run in any order of stages.
"""

import hashlib

from avatar_cli.runtime.chunks import ChunkKind


def chunk_seed(job_seed: int, kind: ChunkKind, index: int) -> int:
    """Seed in 0..2**63 - 1: the first 63 bits of BLAKE2b over the job's seed, the chunk's kind and its index.

    Neighbouring jobs and chunks share no noise, which a linear mix of the three numbers could not promise.
    """
    name = f"{job_seed}/{kind.value}{index}".encode()
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest(), "big") >> 1
