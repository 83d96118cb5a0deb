"""Loads and runs the embedded TensorFlow Lite networks."""

import numpy as np
from ai_edge_litert.interpreter import Interpreter
from numpy.typing import NDArray

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


def run_network(network: Interpreter, value: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """All outputs of a network with one input."""
    network.set_tensor(network.get_input_details()[0]["index"], value)
    network.invoke()
    return [network.get_tensor(output["index"]) for output in network.get_output_details()]


def sigmoid(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    """Probabilities of logits of any shape."""
    return 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -100, 100)))
