"""The other ranks of a job: joining them, waiting for them where that is allowed, telling when they are lost.

A collective on CPUs is answered within ANSWER_TIME, or the job fails. A rank may be late for a good reason
only at meetings between them: while it loads and, if it publishes, where a slow reader holds it up. On GPUs,
where NCCL counts from the moment in which a collective is queued behind the work of a whole chunk, its own
limit is QUEUE_TIME; a rank that does not come is noticed at the next meeting.
"""

import gc
from datetime import timedelta

import torch
import torch.distributed as dist

from avatar_cli.protocol.errors import AvatarError, EnvironmentProblem, RenderFailure
from avatar_cli.protocol.outer import Outer
from avatar_cli.runtime.mesh import ANSWER_TIME, collective_time

PUBLISHING_RANK = 0
JOIN_TIME = timedelta(minutes=3)  # importing torch from a cold network disk takes its time
_PATIENCE = timedelta(days=30)


def join_peers(rank: int, ranks: int, outer: Outer | None) -> None:
    """Open the process group of a job of several ranks. Raises EnvironmentProblem where some do not come."""
    if ranks == 1:
        return
    store = _open_store(outer) if outer else next(dist.rendezvous("env://", timeout=JOIN_TIME))[0]
    _wait_for_all(store, rank, ranks)
    on_gpu = torch.cuda.is_available()
    dist.init_process_group(
        "cpu:gloo,cuda:nccl" if on_gpu else "gloo",
        store=dist.PrefixStore("work", store),
        rank=rank,
        world_size=ranks,
        timeout=collective_time(),
        device_id=torch.device("cuda", torch.cuda.current_device()) if on_gpu else None,
    )


def leave_peers() -> None:
    """Close the process group, when nothing refers to its networks and meshes any more.

    Those are in cycles and hold groups of their own. A group whose threads are still there when the
    interpreter has ended makes the process abort.
    """
    if dist.is_initialized():
        dist.destroy_process_group()
        gc.collect()


def is_about_peers(error: BaseException | None) -> bool:
    """Whether this error, or one it came from, says that another rank is gone or does not answer."""
    if isinstance(error, AvatarError) and not isinstance(error, RenderFailure):
        return False  # it has a sentence of its own
    seen: set[int] = set()
    while error is not None and id(error) not in seen:  # an error that was raised again may be its own cause
        seen.add(id(error))
        # gloo's errors have no type of their own, but begin with the place in its source
        if isinstance(error, dist.DistError) or "gloo/transport" in str(error):
            return True
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return False


class Meeting:
    """Where ranks wait for one another outside of collectives. All ranks call the same methods in order."""

    def __init__(self, rank: int, ranks: int) -> None:
        self.rank = rank
        self._ranks = ranks
        self._group = dist.new_group(backend="gloo", timeout=_PATIENCE) if ranks > 1 else None

    def wait_for_everybody(self) -> None:
        """Until all ranks are here, however long it takes them: loading may."""
        self._wait(_PATIENCE)

    def wait_for_publisher(self) -> None:
        """Until all ranks are here: however long it takes the publishing one, ANSWER_TIME for the others."""
        self._wait(ANSWER_TIME)

    def _wait(self, for_others: timedelta) -> None:
        if self._group is None:
            return
        sign = torch.zeros(1, dtype=torch.uint8)
        if self.rank != PUBLISHING_RANK:
            dist.send(sign, PUBLISHING_RANK, group=self._group)
            dist.recv(sign, PUBLISHING_RANK, group=self._group)
            return
        others = [rank for rank in range(self._ranks) if rank != PUBLISHING_RANK]
        signs = [torch.empty_like(sign) for _ in others]  # alive until the last one has come
        arrivals = [
            dist.irecv(other_sign, rank, group=self._group)
            for other_sign, rank in zip(signs, others, strict=True)
        ]
        for arrival in filter(None, arrivals):
            arrival.wait(for_others)
        for rank in others:
            dist.send(sign, rank, group=self._group)


def _open_store(outer: Outer) -> dist.Store:
    host, colon, port = outer.store.rpartition(":")
    if not colon:
        return dist.FileStore(outer.store, outer.ranks)
    try:
        server = dist.TCPStore(
            host,
            int(port),
            outer.ranks,
            is_master=outer.hosts_store and outer.rank == 0,
            timeout=JOIN_TIME,
            wait_for_workers=False,
        )
    except dist.DistError as error:
        raise EnvironmentProblem(
            f"The ranks cannot meet at {outer.store}, as MASTER_ADDR and MASTER_PORT say: correct these, or "
            "unset RANK and WORLD_SIZE to let avatar start all processes."
        ) from error
    return dist.PrefixStore(f"avatar/{outer.attempt}", server)


def _wait_for_all(store: dist.Store, rank: int, ranks: int) -> None:
    store.set(f"here/{rank}", "")
    try:
        store.wait([f"here/{other}" for other in range(ranks)], JOIN_TIME)
    except dist.DistStoreError as error:
        raise EnvironmentProblem(
            f"Not all of the {ranks} processes came together within {JOIN_TIME.seconds} s: start all of "
            "them, or unset RANK and WORLD_SIZE to let avatar do it."
        ) from error
