"""The figures that take both: the rendered video and the recording of the real person."""

import numpy as np

from avatar_cli.evaluation.quality.figures import Measured
from avatar_cli.evaluation.quality.head_motion import BANDS, BANDS_OF_MOTION, band_rms, difference_db
from avatar_cli.evaluation.quality.likeness import likeness
from avatar_cli.evaluation.quality.pairing import Pairing
from avatar_cli.evaluation.quality.sync import lag_against

LIKENESSES = ("opening", "width", "jaw")  # curves of a face, see `FaceCurves`


def compare(pairing: Pairing) -> dict[str, Measured]:
    """Lag, likeness of the mouth and of the head's rhythm, by the keys of the catalogue."""
    rendered, real = (
        np.stack([getattr(curves, name) for name in LIKENESSES], axis=1)
        for curves in (pairing.rendered, pairing.real)
    )
    match = lag_against(rendered, real, pairing.speech)
    note = "where opening, width and jaw together fit best"
    measures = {"lag_against_real": Measured(float(match.lag), note)}
    for channel, name in enumerate(LIKENESSES):
        found = likeness(rendered[:, channel], real[:, channel], pairing.speech)
        lag = f"best lag within 2 frames: {found.lag:+d}"
        measures[f"{name}_correlation"] = Measured(found.best, lag)
        measures[f"{name}_correlation_in_step"] = Measured(found.in_step)
        measures[f"{name}_range"] = Measured(found.range_ratio, "p95 - p5, in speech")
    measures["spectrum_difference"] = spectrum_measure(
        band_rms(pairing.rendered.angles), band_rms(pairing.real.angles)
    )
    return measures


def spectrum_measure(rendered: np.ndarray, real: np.ndarray) -> Measured:
    """Worst difference of two `band_rms`, dB, over the octaves in which heads move."""
    levels = difference_db(rendered, real)[:BANDS_OF_MOTION]
    shown = ", ".join(
        f"{low:g}-{high:g} Hz {level:+.1f}" for (low, high), level in zip(BANDS, levels, strict=False)
    )
    return Measured(float(np.abs(levels).max()), f"against the real person's: {shown}")
