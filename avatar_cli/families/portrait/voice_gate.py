"""The voice gate: frame by frame, whether what is heard is somebody's voice or only sound.

Music and noise must not move a mouth. The gate opens where the detector is sure for a moment, holds through
the pauses of speech, and closes gently. It looks LOOK_AHEAD_FRAMES ahead, as far as the audio encoder does,
so that it is open before the first word begins.
"""

import numpy as np
import torch
from numpy.typing import NDArray

from avatar_cli.families.portrait.audio_encoder import LOOK_AHEAD_FRAMES
from avatar_cli.families.portrait.voice_detector import CONTEXT, WINDOW
from avatar_cli.runtime.residency import Residency

BLOCK_FRAMES = 4
WINDOWS_PER_BLOCK = 5
BLOCK = WINDOWS_PER_BLOCK * WINDOW  # samples: the shortest time in which whole frames and windows fit

# Mean probability of three windows that opens the gate: in half an hour of music by computers and bands the
# highest was 0.63; speech is at 1 within a tenth of a second.
_CERTAIN = 0.65
_STILL_LIKELY = 0.3  # a single window of this keeps an open gate open
_AHEAD_WINDOWS = LOOK_AHEAD_FRAMES * WINDOWS_PER_BLOCK // BLOCK_FRAMES
_HOLD_WINDOWS = 13  # 0.42 s: pauses between words
_NEVER = 1 << 30  # windows since the last voice, where there was none
_OPENING_STEP, _CLOSING_STEP = 1 / 3, 1 / 8  # of the gate a frame

# The detector knows speech of common levels: what is quieter is raised.
_RAISED_TO_DB, _MOST_RAISED_DB = -30.0, 30.0
_FIRST_LEVEL_DB = -45.0
_FALL_WHILE_SOUNDING_DB, _FALL_IN_PAUSES_DB = 0.096, 0.0128  # per window
_SOUNDING_RANGE_DB = 25.0
_POWER_FLOOR = 1e-12


class VoiceGate:
    """Turns blocks of 2560 samples at 16 kHz into gate values of four frames.

    A value is 0 where nobody speaks, 1 where somebody does. The first block's samples belong to frames 0 to
    3, but values come LOOK_AHEAD_FRAMES later.
    """

    def __init__(self, detector: Residency) -> None:
        self._detector = detector
        self._context = np.zeros(CONTEXT, np.float32)
        width = detector.network.width
        self._recurrent = (torch.zeros(1, 1, width), torch.zeros(1, 1, width))
        self._level_db = _FIRST_LEVEL_DB
        self._blocks = 0
        self._recent = (0.0, 0.0)  # probabilities of the last two windows
        self._since_voice = _NEVER  # windows
        self._gate = 0.0

    def push(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Take a block [2560] in [-1, 1]; give the values [4] of the frames 8 frames earlier, or [0]."""
        probabilities, self._recurrent = self._detector.network(self._windows(samples), self._recurrent)
        silent_for = [self._silent_for(probability) for probability in probabilities.tolist()]
        # Samples of a window that has not ended with the frame are later than the frame may hear.
        ended = [(frame + 1) * WINDOWS_PER_BLOCK // BLOCK_FRAMES for frame in range(BLOCK_FRAMES)]
        frames = [silent_for[windows - 1] for windows in ended]
        first = self._blocks * BLOCK_FRAMES - LOOK_AHEAD_FRAMES
        self._blocks += 1
        if first < 0:
            return np.empty(0, np.float32)
        return np.array([self._move(windows, first + n == 0) for n, windows in enumerate(frames)], np.float32)

    def state(self) -> dict[str, NDArray[np.generic]]:
        """All that the coming values depend on."""
        hidden, cell = self._recurrent
        return {
            "context": self._context.copy(),
            "hidden": hidden.numpy().copy(),
            "cell": cell.numpy().copy(),
            "counts": np.array([self._blocks, self._since_voice], np.int64),
            "values": np.array([self._level_db, self._gate, *self._recent], np.float64),
        }

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Go on from what `state` gave."""
        self._context = state["context"].astype(np.float32)
        hidden, cell = (torch.from_numpy(state[name].copy()) for name in ("hidden", "cell"))
        self._recurrent = (hidden, cell)
        self._blocks, self._since_voice = (int(count) for count in state["counts"])
        self._level_db, self._gate, *recent = (float(value) for value in state["values"])
        self._recent = (recent[0], recent[1])

    def _windows(self, samples: NDArray[np.float32]) -> torch.Tensor:
        """[2560] to [5, 576], raised where the sound is quiet."""
        heard = np.concatenate([self._context, samples])
        self._context = heard[-CONTEXT:].copy()
        starts = np.arange(WINDOWS_PER_BLOCK)[:, None] * WINDOW
        windows = heard[starts + np.arange(CONTEXT + WINDOW)]
        power = np.mean(windows[:, CONTEXT:] ** 2, axis=1)
        levels = [self._follow(float(level)) for level in 10.0 * np.log10(power + _POWER_FLOOR)]
        raised_db = np.clip(_RAISED_TO_DB - np.array(levels), 0.0, _MOST_RAISED_DB)
        gain = (10.0 ** (raised_db / 20.0)).astype(np.float32)
        return torch.from_numpy(windows * gain[:, None])

    def _follow(self, level_db: float) -> float:
        """Move the reference level to a louder window at once, down slowly, in pauses hardly."""
        sounding = level_db > self._level_db - _SOUNDING_RANGE_DB
        fall = _FALL_WHILE_SOUNDING_DB if sounding else _FALL_IN_PAUSES_DB
        self._level_db = max(level_db, self._level_db - fall)
        return self._level_db

    def _silent_for(self, probability: float) -> int:
        """Windows since the last one with a voice."""
        mean = (sum(self._recent) + probability) / 3
        self._recent = (self._recent[1], probability)
        is_open = self._since_voice <= _AHEAD_WINDOWS + _HOLD_WINDOWS
        voice = mean >= _CERTAIN or (is_open and probability >= _STILL_LIKELY)
        self._since_voice = 0 if voice else min(self._since_voice + 1, _NEVER)
        return self._since_voice

    def _move(self, silent_for: int, at_the_start: bool) -> float:
        """The next frame's value; `silent_for` windows back from the end of its look-ahead was a voice."""
        wanted = 1.0 if silent_for <= _AHEAD_WINDOWS + _HOLD_WINDOWS else 0.0
        step = np.clip(wanted - self._gate, -_CLOSING_STEP, _OPENING_STEP)
        self._gate = wanted if at_the_start else float(self._gate + step)
        return self._gate
