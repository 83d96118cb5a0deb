"""Loads the embedded TensorFlow Lite networks."""

from ai_edge_litert.interpreter import Interpreter

from avatar_cli.assets import asset_path
from avatar_cli.protocol.errors import EnvironmentProblem


def load_network(name: str) -> Interpreter:
    """The embedded network `name`, on one CPU thread. Raises EnvironmentProblem: missing or damaged."""
    path = asset_path(name)
    try:
        interpreter = Interpreter(str(path), num_threads=1)
        interpreter.allocate_tensors()
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise EnvironmentProblem(
            f"{path} is not a readable network ({reason}): install avatar again."
        ) from error
    return interpreter
