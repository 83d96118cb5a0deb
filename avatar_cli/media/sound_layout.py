"""Which sound an AAC track can carry: sample rates and channels."""

import numpy as np
import numpy.typing as npt

# Rates of ffmpeg's AAC encoder (`ffmpeg -h encoder=aac`); ISO/IEC 14496-3, table 1.18.
AAC_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)
FALLBACK_RATE = 48000
MOST_AAC_CHANNELS = 6

# AAC's own positions for 1 to 6 channels, and the usual ones for 7 and 8.
_LAYOUTS = {1: "mono", 2: "stereo", 3: "3.0", 4: "4.0", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1"}


def aac_rate(rate: int) -> int:
    """The source's rate in Hz where AAC has it, else 48000."""
    return rate if rate in AAC_RATES else FALLBACK_RATE


def with_positions(pcm: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Samples [n, channels] as they are up to 8 channels.

    More have no positions that everybody agrees on: of those, the mean, [n, 1].
    """
    return pcm if pcm.shape[1] in _LAYOUTS else pcm.mean(axis=1, keepdims=True)


def layout_in(channels: int) -> str:
    """The ffmpeg name of the layout of what `with_positions` returns."""
    return _LAYOUTS.get(channels, "mono")


def layout_out(channels: int) -> str:
    """The ffmpeg name of the layout of the AAC track: that of the source up to 5.1, else 5.1."""
    return layout_in(channels) if channels not in (7, 8) else _LAYOUTS[MOST_AAC_CHANNELS]


def mixdown_note(channels: int) -> str | None:
    """One sentence for the user where the AAC track has fewer channels than the source."""
    if channels <= MOST_AAC_CHANNELS:
        return None
    return f"The speech has {channels} channels; the video's sound is mixed down to {layout_out(channels)}."
