"""One channel for the models out of many, so that nothing said in any of them is lost.

The mix is the mean of all channels that carry sound, as it is for ordinary stereo. Two things are different:
a channel that has been silent from the start does not count, so speech on the left alone keeps its level, and
a channel that is the others upside down is turned round, so that it does not cancel them. Low-frequency
effects do not count. The mix knows the past alone, and works in hops counted from the first sample: it does
not depend on how the recording is read, and its beginning not on what follows.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]
Signs = npt.NDArray[np.float64]  # +1 or -1 a channel

HOP_SECONDS = 0.04  # also the length of a cross-fade
MEMORY_SECONDS = 0.25  # in which what was heard fades to 1/e
HEARD = 1e-4  # of full scale; 80 dB below it, above the dither of 16-bit silence
# Likeness of a channel to the others, -1..1, below which it is turned round, and above which it no longer is.
OPPOSED = -0.75
NOT_OPPOSED = -0.4

_LOW_FREQUENCY_EFFECTS = 0x8  # bit of a WAVE channel mask


@dataclass(frozen=True)
class MixState:
    """What the mix remembers of the past, for n channels.

    Attributes:
        products: Fading sums of products of any two channels, [n, n].
        signs: Which channels are turned round.
        heard: Which channels have not been silent all the time, bool [n].
        weights: The mix at the end of the last hop, [n].
    """

    products: npt.NDArray[np.float64]
    signs: Signs
    heard: npt.NDArray[np.bool_]
    weights: Samples

    @classmethod
    def initial(cls, channels: int) -> "MixState":
        """Before the first sample: the mean."""
        signs, heard = np.ones(channels), np.zeros(channels, bool)
        return cls(np.zeros((channels, channels)), signs, heard, target_weights(heard, signs))


def counted_channels(channels: int, mask: int) -> list[int]:
    """Indices of the channels that count.

    Args:
        channels: How many there are.
        mask: Their positions, a bit each from the lowest on, as in WAVEFORMATEXTENSIBLE; 0 where unknown.
    """
    positions = [1 << bit for bit in range(32) if mask & 1 << bit]
    effects = [index for index, position in enumerate(positions) if position == _LOW_FREQUENCY_EFFECTS]
    counted = [index for index in range(channels) if index not in effects]
    return counted or list(range(channels))


def polarities(products: npt.NDArray[np.float64], before: Signs) -> Signs:
    """Which channels to turn round, the last one first, so that the first one stays as it is.

    Args:
        products: Sums of products of any two channels.
        before: The signs so far; they stay between the two thresholds, and in silence.
    """
    signs = before.copy()
    for channel in reversed(range(len(signs))):
        others = signs.copy()
        others[channel] = 0
        power = products[channel, channel] * (others @ products @ others)
        if power > 0:
            likeness = (products[channel] @ others) / np.sqrt(power)
            if likeness < OPPOSED:
                signs[channel] = -1
            elif likeness > NOT_OPPOSED:
                signs[channel] = 1
    return signs


def target_weights(heard: npt.NDArray[np.bool_], signs: Signs) -> Samples:
    """The mean of the channels that were heard, or of all while none was."""
    counted = heard if heard.any() else np.ones_like(heard)
    return (counted * signs / counted.sum()).astype(np.float32)


def mix_hop(state: MixState, samples: Samples, fade: float) -> tuple[MixState, Samples]:
    """Mix [m, n] samples to [m], moving evenly from the weights so far to the new ones.

    Args:
        state: Before the hop.
        samples: One hop.
        fade: What remains of the past's products after a hop, 0..1.
    """
    doubles = samples.astype(np.float64)
    # einsum, not BLAS: the same sum on any number of threads
    products = state.products * fade + np.einsum("ic,id->cd", doubles, doubles)
    heard = state.heard | (np.abs(samples).max(axis=0) >= HEARD)
    signs = polarities(products, state.signs)
    after = target_weights(heard, signs)
    before = state.weights if state.heard.any() else after  # nothing can click where nothing was heard
    weights = after[None]
    if not np.array_equal(before, after):
        progress = np.arange(1, len(samples) + 1, dtype=np.float32)[:, None] / np.float32(len(samples))
        weights = before + (after - before) * progress
    return MixState(products, signs, heard, after), (samples * weights).sum(axis=1)


class MonoMix:
    """Mixes a recording as it is decoded. One channel passes bit by bit.

    Args:
        rate: Samples a second.
        channels: Of the recording.
        mask: Positions of the channels, as for `counted_channels`.
    """

    def __init__(self, rate: int, channels: int, mask: int) -> None:
        self._counted = counted_channels(channels, mask)
        self._hop = round(rate * HOP_SECONDS)
        self._fade = float(np.exp(-HOP_SECONDS / MEMORY_SECONDS))
        self._state = MixState.initial(len(self._counted))
        self._rest = np.zeros((0, len(self._counted)), np.float32)

    def push(self, block: Samples) -> Samples:
        """Mix [m, channels] samples; up to a hop of them waits for the next block."""
        if len(self._counted) == 1:
            return block[:, self._counted[0]]
        samples = np.concatenate([self._rest, block[:, self._counted]])
        whole = len(samples) - len(samples) % self._hop
        self._rest = samples[whole:]
        return self._mix([samples[start : start + self._hop] for start in range(0, whole, self._hop)])

    def finish(self) -> Samples:
        """Mix what waits."""
        return self._mix([self._rest] if len(self._rest) else [])

    def _mix(self, hops: list[Samples]) -> Samples:
        mixed = [np.zeros(0, np.float32)]
        for hop in hops:
            self._state, mono = mix_hop(self._state, hop, self._fade)
            mixed.append(mono)
        return np.concatenate(mixed)
