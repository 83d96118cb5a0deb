"""What is certain about motion and need not be left to chance: applied to a chunk's latents after sampling.

Mouths move as far as people's do, lips meet for p, b and m, the lower lip meets the teeth for f and v,
silence closes the mouth, lids that begin to blink do so, and a chunk goes on where its anchors stopped.
Everything is local in time: a frame depends on itself and the frames beside it, or on the anchors.
"""

import torch
from torch import Tensor
from torch.nn import functional

from avatar_cli.families.portrait.audio_encoder import MOUTH_SCALE, UNITS, AudioTokens
from avatar_cli.families.portrait.audio_features import MELS_PER_FRAME, SILENCE
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH, MOUTH_SLICE, POSE, POSE_SLICE, UPPER

CONTEXT_FRAMES = 1  # that `shape_mouth` needs on either side

# Sampled mouths keep to what is likely and move less than people do: these are one over the ratios of the
# ranges on the training clips (`training/ranges.py`). How lopsided a mouth is cannot be heard, and stays.
_LIVELINESS = {
    "jaw_drop": 1.35,
    "gap": 1.15,
    "width": 1.15,
    "upper_lip_y": 1.2,
    "corner_y": 1.3,
    "lower_roll": 1.3,
    "upper_roll": 1.4,
    "shift_x": 1.0,
    "protrude": 1.3,
}
_CLOSURE_GAIN = 3.0  # a unit needs only this part of the probability to have its way
_LIPS = tuple(UNITS.index(unit) for unit in ("P", "B", "M"))
_LIP_AND_TEETH = tuple(UNITS.index(unit) for unit in ("F", "V"))
_PAUSE = UNITS.index("SIL")
_CONTACT_GAP = -0.006  # e: the lips press on each other
_TEETH_GAP = 0.012
_TEETH_LOWER_ROLL = -0.016
_PAUSE_BEGINS, _PAUSE_CERTAIN = 0.75, 0.97  # probabilities between which a pause takes the opening back
_OPENING = tuple(MOUTH.index(name) for name in ("jaw_drop", "gap", "upper_lip_y"))
_SMOOTHING = (0.25, 0.5, 0.25)
_TREMBLING = 0.5  # of MOUTH_SCALE: what sampling leaves on a mouth at rest
_BLINK = CHANNELS.index("blink")
_GAP, _LOWER_ROLL = MOUTH.index("gap"), MOUTH.index("lower_roll")
# What a face can do, e.
_LIMITS = {
    "jaw_drop": (-0.03, 0.30),
    "gap": (-0.012, 0.36),
    "width": (-0.17, 0.17),
    "protrude": (-0.06, 0.06),
}

# Frames over which a jump at a seam is spread.
_SEAM_REACH = {
    **dict.fromkeys(MOUTH, 1.2),
    **dict.fromkeys(UPPER, 4.0),
    **dict.fromkeys(POSE, 4.0),
}
_STEPPING_CHANNELS = ("blink",)  # whose jumps are their nature
_SEAM_FRAMES = 14
_CARRIED_VELOCITY = 0.7
# Sampling leaves a trembling above the frequencies at which heads move, and a little of it on the lids.
_POSE_SMOOTHING = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)
_LID_TREMBLING = 0.02
# Lids may be wide or heavy for long; those that go down further are blinking, and then go all the way. Few
# steps of sampling leave a third of all blinks half way.
_WIDEST_LIDS, _HEAVY_LIDS, _BLINKING_LIDS = -0.25, 0.22, 0.72


def shape_mouth(latents: Tensor, audio: AudioTokens, mels: Tensor) -> Tensor:
    """Give the mouth the range of people's, and make sure of closures and silence.

    Args:
        latents: [n, 21] motion latents in their own units.
        audio: tokens [1, n + 2, ...] of these frames and one more on either side.
        mels: [1, 4 (n + 2), 48] of the same frames.

    Returns:
        [n, 21] with other mouth channels.
    """
    probability = audio.units[0].softmax(dim=-1)
    lively = latents[:, MOUTH_SLICE] * latents.new_tensor([_LIVELINESS[name] for name in MOUTH])
    mouth = _close_for_pauses(lively, probability)
    mouth = _lip_to_teeth(mouth, _insisting(probability, _LIP_AND_TEETH))
    mouth = _lips_together(mouth, _insisting(probability, _LIPS))
    sounding = _sounding(mels)
    mouth = _resting(_opened(mouth, sounding), 1.0 - sounding)
    return torch.cat([_within_limits(mouth), latents[:, MOUTH_SLICE.stop :]], dim=-1)


def relax_seams(latents: Tensor, before: Tensor | None, after: Tensor | None) -> Tensor:
    """Take the trembling out of a chunk [n, 21] and fit it to its neighbours in time.

    It then starts where the frames `before` lead and ends where the frames `after` come from.
    `before` and `after` [m, 21], m >= 2, are the anchors next to the chunk in time, None where there are
    none. The jump between a chunk's outermost frame and the continuation of its anchors fades out over the
    chunk as a Gaussian.
    """
    frames = len(latents)
    latents = _settled(latents)
    reach = torch.tensor([_SEAM_REACH[name] for name in CHANNELS])
    wanted = torch.tensor([0.0 if name in _STEPPING_CHANNELS else 1.0 for name in CHANNELS])
    distance = torch.arange(frames, dtype=latents.dtype)
    fade = torch.exp(-((distance[:, None] / reach) ** 2) / 2) * (distance[:, None] < _SEAM_FRAMES)
    nothing = latents.new_zeros(len(CHANNELS))
    start = nothing if before is None else _continued(before[-2], before[-1]) - latents[0]
    end = nothing if after is None else _continued(after[1], after[0]) - latents[-1]
    if before is not None and after is not None:  # each correction reaches the other's end: solve for both
        other = fade[-1]
        determinant = (1 - other**2).clamp_min(0.1)
        start, end = (start - other * end) / determinant, (end - other * start) / determinant
    return latents + wanted * (fade * start + fade.flip(0) * end)


def _settled(latents: Tensor) -> Tensor:
    """Latents [n, 21] with a head that does not tremble and lids that are shut, open or on their way."""
    settled = latents.clone()
    reach = len(_POSE_SMOOTHING) // 2
    pose = latents[:, POSE_SLICE].T[None]
    padded = functional.pad(pose, (reach, reach), mode="replicate")
    kernel = latents.new_tensor(_POSE_SMOOTHING).expand(len(POSE), 1, -1)
    settled[:, POSE_SLICE] = functional.conv1d(padded, kernel, groups=len(POSE))[0].T
    settled[:, _BLINK] = _settled_lids(latents[:, _BLINK])
    return settled


def _settled_lids(lids: Tensor) -> Tensor:
    resting = lids.sign() * (lids.abs() - _LID_TREMBLING).clamp_min(0.0)
    heaviest = _HEAVY_LIDS - _LID_TREMBLING
    blinking = heaviest + (1 - heaviest) * (lids - _HEAVY_LIDS) / (_BLINKING_LIDS - _HEAVY_LIDS)
    return torch.where(lids < _HEAVY_LIDS, resting, blinking).clamp(_WIDEST_LIDS, 1.0)


def _continued(earlier: Tensor, last: Tensor) -> Tensor:
    return last + _CARRIED_VELOCITY * (last - earlier)


def _insisting(probability: Tensor, units: tuple[int, ...]) -> Tensor:
    """How firmly units ask for their way: [n + 2, 36] to [n] in [0, 1]."""
    asked = (_CLOSURE_GAIN * probability[:, list(units)].sum(dim=-1)).clamp(0.0, 1.0)
    return torch.maximum(asked[1:-1], _smoothed(asked))


def _smoothed(values: Tensor) -> Tensor:
    """[n + 2] to the weighted mean [n] of every frame and its neighbours."""
    kernel = values.new_tensor(_SMOOTHING)[None, None]
    return functional.conv1d(values[None, None], kernel)[0, 0]


def _lips_together(mouth: Tensor, firmness: Tensor) -> Tensor:
    gap = mouth[:, _GAP]
    closed = gap + firmness * (_CONTACT_GAP - gap).clamp_max(0.0)
    return _replaced(mouth, _GAP, closed)


def _lip_to_teeth(mouth: Tensor, firmness: Tensor) -> Tensor:
    gap, roll = mouth[:, _GAP], mouth[:, _LOWER_ROLL]
    mouth = _replaced(mouth, _GAP, gap + firmness * (_TEETH_GAP - gap).clamp_max(0.0))
    return _replaced(mouth, _LOWER_ROLL, roll + firmness * (_TEETH_LOWER_ROLL - roll).clamp_max(0.0))


def _close_for_pauses(mouth: Tensor, probability: Tensor) -> Tensor:
    pause = _smoothed(probability[:, _PAUSE])
    certainty = ((pause - _PAUSE_BEGINS) / (_PAUSE_CERTAIN - _PAUSE_BEGINS)).clamp(0.0, 1.0)
    return _opened(mouth, 1.0 - certainty)


def _resting(mouth: Tensor, share: Tensor) -> Tensor:
    """The mouth with a share [n] of its trembling taken away: the person's own where it only trembles, and as
    it is where it differs from that by more than twice as much.
    """
    scale = mouth.new_tensor([MOUTH_SCALE[name] * _LIVELINESS[name] for name in MOUTH])
    trembling = share[:, None] * _TREMBLING * scale
    size = mouth.abs()
    return mouth.sign() * torch.minimum(size, 2 * (size - trembling).clamp_min(0.0))


def _opened(mouth: Tensor, share: Tensor) -> Tensor:
    """The mouth opened by a share [n] only; a smile is not of speech and stays."""
    factor = torch.ones_like(mouth)
    factor[:, list(_OPENING)] = share[:, None]
    return mouth * factor


def _sounding(mels: Tensor) -> Tensor:
    """0 where this frame and both neighbours are digital silence, 1 where all three sound; [n]."""
    sounds = (mels[0] > SILENCE).any(dim=-1).unflatten(0, (-1, MELS_PER_FRAME)).any(dim=-1)
    return _smoothed(sounds.to(mels.dtype))


def _within_limits(mouth: Tensor) -> Tensor:
    lowest = torch.tensor([_LIMITS.get(name, (-1.0, 1.0))[0] for name in MOUTH])
    highest = torch.tensor([_LIMITS.get(name, (-1.0, 1.0))[1] for name in MOUTH])
    return torch.minimum(torch.maximum(mouth, lowest), highest)


def _replaced(mouth: Tensor, channel: int, values: Tensor) -> Tensor:
    changed = mouth.clone()
    changed[:, channel] = values
    return changed
