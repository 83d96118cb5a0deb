"""A rendezvous of one launcher with itself, for jobs that live on one machine."""

from collections.abc import Callable
from datetime import timedelta

from torch.distributed import PrefixStore, TCPStore
from torch.distributed.elastic.rendezvous import (
    RendezvousHandler,
    RendezvousInfo,
    RendezvousParameters,
    RendezvousStoreInfo,
)

BACKEND = "one-machine"
HOST = "127.0.0.1"


class OneMachineRendezvous(RendezvousHandler):
    """Opens a TCP store on a port that the system chooses and is done.

    torchrun's own back end for standalone jobs waits a random time of up to 0.3 s before it meets nobody;
    that time would be a part of every job's time to first frame.
    """

    def __init__(self, run_id: str, timeout: timedelta, heartbeat: Callable[[], None]) -> None:
        """Prepare.

        Args:
            run_id: Name of the job, prefix of its keys.
            timeout: For the operations of the store.
            heartbeat: Called on the launcher's main thread at every monitor interval while all ranks are
                healthy; may raise to end the job.
        """
        self._run_id = run_id
        self._timeout = timeout
        self._heartbeat = heartbeat
        self._server: TCPStore | None = None

    def get_backend(self) -> str:
        """Name of this back end in torchrun's registry."""
        return BACKEND

    @property
    def use_agent_store(self) -> bool:
        """Ranks connect to the launcher's store instead of opening one themselves."""
        return True

    def next_rendezvous(self) -> RendezvousInfo:
        """One launcher of one: complete at once."""
        self._server = TCPStore(HOST, 0, is_master=True, timeout=self._timeout, wait_for_workers=False)
        address = RendezvousStoreInfo(HOST, self._server.port)
        return RendezvousInfo(PrefixStore(self._run_id, self._server), 0, 1, address)

    def num_nodes_waiting(self) -> int:
        """Nobody else can come. torchrun asks at every monitor interval, which makes it the heartbeat."""
        self._heartbeat()
        return 0

    def is_closed(self) -> bool:
        """A rendezvous with oneself stays open."""
        return False

    def set_closed(self) -> None:
        """Nothing to tell anybody."""

    def get_run_id(self) -> str:
        """Name of the job."""
        return self._run_id

    def shutdown(self) -> bool:
        """Close the store."""
        self._server = None
        return True


def creator(heartbeat: Callable[[], None]) -> Callable[[RendezvousParameters], RendezvousHandler]:
    """What torchrun's registry wants: a function from parameters to a handler."""

    def create(parameters: RendezvousParameters) -> RendezvousHandler:
        timeout = timedelta(seconds=parameters.get_as_int("timeout", 300) or 300)
        return OneMachineRendezvous(parameters.run_id, timeout, heartbeat)

    return create
