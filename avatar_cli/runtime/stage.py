"""The stage: a typed unit of execution with one state per job."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.span import Span
from avatar_cli.runtime.state import Checkpointable

Reference_contra = TypeVar("Reference_contra", contravariant=True)
Input = TypeVar("Input")
Output = TypeVar("Output")
State = TypeVar("State", bound=Checkpointable)


BeforeLastCall = Callable[[], None]


def nothing_follows() -> None:
    """For a push that no other network follows."""


@dataclass(frozen=True)
class Piece(Generic[Output]):
    """A value and the frames it stands for."""

    span: Span
    value: Output


class Stage(Protocol[Reference_contra, Input, Output, State]):
    """`open` once a job, `push` once a piece, `finish` at the end.

    Every output names its own span. A stage may lag: `push` may return nothing, or pieces that end before the
    input's end, and hand out the rest in later calls or in `finish`. All memory between two calls is in the
    state, so that a saved state can go on in another process.
    """

    name: str

    @property
    def residencies(self) -> tuple[Residency, ...]:
        """The networks it runs, in that order, to be entered before `push`."""

    def open(self, reference: Reference_contra) -> State:
        """State before the first piece."""

    def push(
        self, state: State, piece: Piece[Input], before_last_call: BeforeLastCall = nothing_follows
    ) -> Iterable[Piece[Output]]:
        """Work on one piece; outputs may be made lazily, one frame at a time, while they are consumed.

        `before_last_call` is called before the last call of the last of `residencies`: the network that
        follows is brought in under that call.
        """

    def finish(self, state: State) -> Iterable[Piece[Output]]:
        """What the stage still holds back after the last piece."""
