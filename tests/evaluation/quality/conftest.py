import numpy as np
import pytest

from avatar_cli.evaluation.quality.curves import UPPER_MEASURES, FaceCurves
from avatar_cli.families.portrait.latents import MOUTH, POSE


@pytest.fixture
def wander():
    """A smooth random curve of some frames."""

    def make(seed, frames):
        noise = np.random.default_rng(seed).normal(size=frames + 8)
        return np.convolve(noise, np.hanning(9), "valid").astype(np.float32)

    return make


@pytest.fixture
def face_curves():
    """A face at rest with open eyes; named channels can be given, others are zero."""

    def make(frames, **channels):
        def columns(names, rest):
            values = [np.broadcast_to(channels.get(name, rest.get(name, 0.0)), frames) for name in names]
            return np.stack(values, axis=1).astype(np.float32)

        mouth = columns(MOUTH, {"width": 0.6})
        return FaceCurves(
            mouth=mouth,
            upper=columns(UPPER_MEASURES, {"lid_opening": 0.12}),
            pose=columns(POSE, {}),
            image_opening=mouth[:, MOUTH.index("gap")],
            seen=np.ones(frames, bool),
        )

    return make
