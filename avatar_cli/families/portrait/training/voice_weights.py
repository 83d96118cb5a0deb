"""`python -m avatar_cli.families.portrait.training.voice_weights GRAPH -o FILE`: the published voice detector
as safetensors.

GRAPH is silero_vad_op18_ifless.onnx of the Python package silero-vad 6.2.3. Its half for 16 kHz is taken,
tensor by tensor, unchanged. OpenCV can not stand in for it: OpenCV 4 does not read the graph, and 5.0.0 gives
other values than onnxruntime on noise. Needs the package onnx.
"""

import argparse
from pathlib import Path

import torch
from torch import Tensor

from avatar_cli.runtime.weights import save_checkpoint

_RECURRENT = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
_CONVOLUTIONS = 4


def converted(published: dict[str, Tensor]) -> dict[str, Tensor]:
    """Tensors of the graph to those of VoiceDetector."""
    names = {"stft.weight": "stft.forward_basis_buffer"}
    for part in ("weight", "bias"):
        for index in range(_CONVOLUTIONS):
            names[f"convolutions.{index}.{part}"] = f"encoder.{index}.reparam_conv.{part}"
        names[f"out.{part}"] = f"decoder.decoder.2.{part}"
    for part in _RECURRENT:
        names[f"recurrent.{part}_l0"] = f"decoder.rnn.{part}"
    tensors = {ours: published[f"model.{theirs}"] for ours, theirs in names.items()}
    tensors["out.weight"] = tensors["out.weight"][..., 0]  # a convolution of one tap
    return tensors


def main() -> None:
    """Read the graph, write the checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    import onnx
    from onnx import numpy_helper

    stored = onnx.load(str(arguments.graph)).graph.initializer
    published = {tensor.name: torch.from_numpy(numpy_helper.to_array(tensor).copy()) for tensor in stored}
    save_checkpoint(arguments.output, converted(published), {})


if __name__ == "__main__":
    main()
