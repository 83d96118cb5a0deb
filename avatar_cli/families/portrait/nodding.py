"""Nod after nod, where a prompt asks for it.

A row of nods is a rhythm that goes on through chunks and pauses, and its phase follows from nothing that the
motion network is told. So it is not sampled: it is a function of time, added to the sampled head.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from avatar_cli.families.portrait.latents import CHANNELS, FPS
from avatar_cli.protocol.job import Cue
from avatar_cli.runtime.span import Span

WORD = "nodding"

_SIZE = 0.07  # radians from the middle of a nod to either end, at intensity 1
_SHIFT = 0.35  # e by which the head goes down per radian
_NODS_HZ = 1.1
_TRANSITION_SECONDS = 0.5
# People nod now quicker and further, now slower and less: frequency in Hz and size of slow swings that never
# fall together again, of the phase in radians and of the nods' size.
_PHASE_SWINGS = ((0.113, 0.8), (0.271, 0.3))
_SIZE_SWINGS = ((0.0719, 0.2), (0.191, 0.15))
_GOLDEN = (math.sqrt(5) - 1) / 2  # spreads seeds evenly over the phases
_PITCH, _SHIFT_Y = CHANNELS.index("pitch"), CHANNELS.index("shift_y_head")


@dataclass(frozen=True)
class Nods:
    """The nods of a video with these cues, in order of time; another seed nods at other moments."""

    cues: tuple[Cue, ...] = ()
    seed: int = 0

    def added(self, motion: Tensor, frames: Span) -> Tensor:
        """Motion latents [n, 21] of n frames with their nods."""
        seconds = torch.arange(frames.start, frames.stop, dtype=torch.float64) / float(FPS)
        nods = (self._asked(seconds) * self._rhythm(seconds)).to(motion.dtype)
        nodding = motion.clone()
        nodding[:, _PITCH] += nods
        nodding[:, _SHIFT_Y] += _SHIFT * nods
        return nodding

    def _asked(self, seconds: Tensor) -> Tensor:
        """Intensity of the word at each time; it follows a cue within half a second, slow at both ends."""
        asked = torch.zeros_like(seconds)
        before = 0.0
        for cue in self.cues:
            intensity = sum(prompted.intensity for prompted in cue.words if prompted.word == WORD)
            share = ((seconds - float(cue.at)) / _TRANSITION_SECONDS).clamp(0.0, 1.0)
            followed = share**2 * (3 - 2 * share) if cue.at > 0 else 1.0
            asked = asked + (intensity - before) * followed
            before = intensity
        return asked

    def _rhythm(self, seconds: Tensor) -> Tensor:
        """Pitch in radians at intensity 1."""
        start = 2 * math.pi * (_GOLDEN * self.seed % 1.0)
        phase = start + 2 * math.pi * _NODS_HZ * seconds + _swings(_PHASE_SWINGS, seconds, start)
        return _SIZE * (1 + _swings(_SIZE_SWINGS, seconds, 2 * start)) * phase.sin()


def _swings(swings: tuple[tuple[float, float], ...], seconds: Tensor, start: float) -> Tensor:
    return torch.stack(
        [size * torch.sin(start + 2 * math.pi * hertz * seconds) for hertz, size in swings]
    ).sum(dim=0)
