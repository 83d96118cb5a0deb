"""One rank of the tests of meetings. Usage: peers_job.py CASE PORT, with RANK in the environment.

Prints how the meeting ended. Answers are due within a second, so that waiting in vain is short.
"""

import os
import sys
import time
from datetime import timedelta

import torch

from avatar_cli.protocol.outer import Outer
from avatar_cli.runtime import mesh
from avatar_cli.runtime.context_parallel.ulysses import exchange_heads_for_tokens
from avatar_cli.worker import peers

RANKS = 2
LATE = 2.0  # seconds


def main(case: str, port: str) -> None:
    peers.ANSWER_TIME = mesh.ANSWER_TIME = timedelta(seconds=1)
    peers.JOIN_TIME = timedelta(seconds=60 if case != "alone" else 2)
    rank = int(os.environ["RANK"])
    outer = Outer(rank, rank, RANKS, f"127.0.0.1:{port}", hosts_store=True, one_machine=True)
    peers.join_peers(rank, RANKS, outer)
    meeting = peers.Meeting(rank, RANKS)
    sharing = mesh.open_sequence_group(RANKS, RANKS)
    meeting.wait_for_everybody()
    try:
        if case == "late loader":
            time.sleep(LATE * (1 - rank))
            meeting.wait_for_everybody()
            time.sleep(LATE * rank)
            meeting.wait_for_everybody()
        elif case == "late publisher":
            time.sleep(LATE * (1 - rank))
            meeting.wait_for_publisher()
        elif case == "late other":
            time.sleep(LATE * rank)
            meeting.wait_for_publisher()
        elif case == "late in attention":
            time.sleep(LATE * rank)
            exchange_heads_for_tokens(torch.ones(1, 2, 2, 1), sharing)
    except RuntimeError as error:
        print("about peers" if peers.is_about_peers(error) else repr(error))
    else:
        print("met")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
