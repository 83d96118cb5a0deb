import pytest
import torch

from avatar_cli.families.portrait.audio_encoder import UNITS, AudioTokens
from avatar_cli.families.portrait.audio_features import SILENCE
from avatar_cli.families.portrait.latents import CHANNELS, MOUTH, MOUTH_SLICE, POSE, POSE_SLICE, UPPER
from avatar_cli.families.portrait.mouth import CONTEXT_FRAMES, relax_seams, shape_mouth

FRAMES = 12
GAP = MOUTH.index("gap")
BLINK = len(MOUTH) + UPPER.index("blink")


def spoken(units, frames=FRAMES):
    """Tokens sure of `units` {frame: unit}, elsewhere of an open vowel; frame 0 is the first of the chunk."""
    logits = torch.zeros(1, frames + 2 * CONTEXT_FRAMES, len(UNITS))
    logits[..., UNITS.index("AA")] = 12.0
    for frame, unit in units.items():
        logits[0, frame + CONTEXT_FRAMES] = 0.0
        logits[0, frame + CONTEXT_FRAMES, UNITS.index(unit)] = 12.0
    count = frames + 2 * CONTEXT_FRAMES
    return AudioTokens(torch.zeros(1, count, 8), torch.zeros(1, count, len(MOUTH)), logits)


def sounding(frames=FRAMES):
    return torch.full((1, 4 * (frames + 2 * CONTEXT_FRAMES), 48), 0.5)


def open_mouth(frames=FRAMES, gap=0.1):
    latents = torch.zeros(frames, len(CHANNELS))
    latents[:, GAP] = gap
    return latents


@pytest.mark.parametrize("unit", ["P", "B", "M"])
def test_lips_meet_for_a_bilabial(unit):
    gap = shape_mouth(open_mouth(), spoken({5: unit}), sounding())[:, GAP]
    assert gap[5] <= 0
    assert gap[3].item() == pytest.approx(0.115, abs=1e-3)
    assert gap[7].item() == pytest.approx(0.115, abs=1e-3)


def test_every_distance_but_the_lopsided_one_moves_further_than_sampled():
    latents = torch.full((FRAMES, len(CHANNELS)), 0.02)
    factor = (shape_mouth(latents, spoken({}), sounding()) / latents)[5]
    assert factor[MOUTH.index("shift_x")] == 1
    assert all(1.1 < factor[index] < 1.5 for index, name in enumerate(MOUTH) if name != "shift_x")
    assert torch.all(factor[MOUTH_SLICE.stop :] == 1)


@pytest.mark.parametrize("unit", ["F", "V"])
def test_lower_lip_comes_near_the_teeth(unit):
    mouth = shape_mouth(open_mouth(), spoken({5: unit}), sounding())
    assert 0 < mouth[5, GAP] < 0.02
    assert mouth[5, MOUTH.index("lower_roll")] < -0.01


def test_unsure_bilabial_already_closes():
    audio = spoken({})
    audio.units[0, 5 + CONTEXT_FRAMES, UNITS.index("M")] = 11.5
    assert shape_mouth(open_mouth(), audio, sounding())[5, GAP] <= 0


def test_digital_silence_closes_the_mouth_exactly():
    latents = torch.randn(FRAMES, len(CHANNELS))
    shaped = shape_mouth(latents, spoken({}), torch.full_like(sounding(), SILENCE))
    assert torch.all(shaped[:, [MOUTH.index("gap"), MOUTH.index("jaw_drop")]] == 0)
    assert torch.equal(shaped[:, MOUTH_SLICE.stop :], latents[:, MOUTH_SLICE.stop :])


def test_a_smile_stays_in_digital_silence():
    latents = torch.zeros(FRAMES, len(CHANNELS))
    latents[:, MOUTH.index("width")] = 0.05
    while_speaking = shape_mouth(latents, spoken({}), sounding())[:, MOUTH.index("width")]
    latents[:, MOUTH.index("corner_y")] = 0.003  # trembles
    shaped = shape_mouth(latents, spoken({}), torch.full_like(sounding(), SILENCE))
    assert torch.allclose(shaped[:, MOUTH.index("width")], while_speaking)
    assert torch.all(while_speaking >= 0.05)
    assert torch.all(shaped[:, MOUTH.index("corner_y")] == 0)


def test_silence_fades_in_over_a_frame_on_either_side():
    mels = sounding()
    mels[:, 4 * (6 + CONTEXT_FRAMES) :] = SILENCE
    gap = shape_mouth(open_mouth(), spoken({}), mels)[:, GAP]
    assert torch.all(gap[7:] == 0)
    assert 0 < gap[6] < gap[5] < gap[4]


def test_a_sure_pause_takes_the_opening_back():
    shaped = shape_mouth(open_mouth(), spoken(dict.fromkeys(range(-1, FRAMES + 1), "SIL")), sounding())
    assert shaped[:, GAP].abs().max() < 1e-5


def test_a_frame_depends_on_its_neighbours_only():
    changed = spoken({8: "M"})
    first = shape_mouth(open_mouth(), spoken({}), sounding())
    second = shape_mouth(open_mouth(), changed, sounding())
    assert torch.equal(first[:7], second[:7]) and torch.equal(first[10:], second[10:])
    assert not torch.equal(first[8], second[8])


def test_mouth_stays_within_what_a_face_can_do():
    latents = torch.full((FRAMES, len(CHANNELS)), -5.0)
    shaped = shape_mouth(latents, spoken({}), sounding())
    assert shaped[:, GAP].min() > -0.02
    assert shaped[:, MOUTH.index("width")].abs().max() < 0.2


def anchors(value):
    return torch.full((6, len(CHANNELS)), value)


def test_seam_meets_both_anchors():
    relaxed = relax_seams(torch.zeros(10, len(CHANNELS)), anchors(1.0), anchors(-2.0))
    assert torch.allclose(relaxed[0, POSE_SLICE], torch.ones(len(POSE)), atol=1e-5)
    assert torch.allclose(relaxed[-1, POSE_SLICE], torch.full((len(POSE),), -2.0), atol=1e-5)


def test_seam_goes_on_with_the_speed_of_its_anchor():
    ramp = torch.arange(6.0)[:, None].expand(-1, len(CHANNELS))
    relaxed = relax_seams(torch.zeros(20, len(CHANNELS)), ramp, None)
    assert torch.allclose(relaxed[0, POSE_SLICE], torch.full((len(POSE),), 5.7))


def test_seam_is_local():
    relaxed = relax_seams(torch.zeros(48, len(CHANNELS)), anchors(1.0), None)
    assert torch.all(relaxed[14:] == 0)


def test_no_anchors_no_change_of_mouth_and_brows():
    latents = torch.randn(10, len(CHANNELS))
    relaxed = relax_seams(latents, None, None)
    assert torch.equal(relaxed[:, :BLINK], latents[:, :BLINK])
    assert torch.equal(relaxed[:, BLINK + 1 : POSE_SLICE.start], latents[:, BLINK + 1 : POSE_SLICE.start])


def test_head_does_not_tremble_but_turns():
    trembling = torch.zeros(20, len(CHANNELS))
    trembling[::2] = 0.1
    turning = torch.sin(torch.arange(20.0) / 6)[:, None].expand(-1, len(CHANNELS))
    assert relax_seams(trembling, None, None)[3:-3, POSE_SLICE].std() < 0.01
    assert torch.allclose(
        relax_seams(turning, None, None)[3:-3, POSE_SLICE], turning[3:-3, POSE_SLICE], atol=0.03
    )


def test_lids_rest_heavy_or_wide_and_close_all_the_way_once_they_begin():
    latents = torch.zeros(6, len(CHANNELS))
    latents[:, BLINK] = torch.tensor([0.01, 0.12, -0.12, 0.47, 0.8, 1.2])
    lids = relax_seams(latents, None, None)[:, BLINK]
    assert lids.tolist() == pytest.approx([0.0, 0.10, -0.10, 0.6, 1.0, 1.0])


def test_lids_close_without_a_jump():
    latents = torch.zeros(200, len(CHANNELS))
    latents[:, BLINK] = torch.linspace(-0.3, 1.1, 200)
    lids = relax_seams(latents, None, None)[:, BLINK]
    assert torch.all(lids.diff() >= 0) and lids.diff().max() < 0.02


def test_blinks_are_not_smeared_over_a_seam():
    relaxed = relax_seams(torch.zeros(10, len(CHANNELS)), anchors(1.0), anchors(1.0))
    assert torch.all(relaxed[:, BLINK] == 0)


def test_a_seam_moves_the_mouth_for_a_few_frames_only():
    relaxed = relax_seams(torch.zeros(48, len(CHANNELS)), anchors(0.1), None)
    assert torch.all(relaxed[4:, MOUTH_SLICE].abs() < 1e-3)
