"""When somebody speaks in a short recording that is there as a whole."""

import numpy as np
import torch
from numpy.typing import NDArray

from avatar_cli.families.portrait.audio_encoder import LOOK_AHEAD_FRAMES
from avatar_cli.families.portrait.voice_gate import BLOCK, BLOCK_FRAMES, VoiceGate
from avatar_cli.runtime.residency import Residency


@torch.no_grad()
def find_voice(detector: Residency, sound: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether somebody speaks, 25 times a second: mono float32 [n] at 16 kHz to bool [m], m frames in n."""
    gate = VoiceGate(detector)
    blocks = -(-len(sound) // BLOCK)
    behind = -(-LOOK_AHEAD_FRAMES // BLOCK_FRAMES)  # blocks that the gate's values come late by
    padded = np.zeros((blocks + behind) * BLOCK, np.float32)
    padded[: len(sound)] = sound
    values = [gate.push(block) for block in padded.reshape(-1, BLOCK)]
    return np.concatenate(values)[: len(sound) * BLOCK_FRAMES // BLOCK] > 0
