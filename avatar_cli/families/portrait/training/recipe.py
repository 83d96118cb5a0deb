"""The whole training from nothing to three files of weights, step by step."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch

from avatar_cli.families.portrait.a2v_dit import MotionDiT
from avatar_cli.families.portrait.audio_encoder import AudioEncoder
from avatar_cli.families.portrait.motion_basis import MotionBasis, load_motion_basis
from avatar_cli.families.portrait.text_encoder import TextEncoder
from avatar_cli.families.portrait.training.calibration import calibrated
from avatar_cli.families.portrait.training.clips import TrackedClip, load_clips
from avatar_cli.families.portrait.training.corpus import Example, build_corpus
from avatar_cli.families.portrait.training.encoder_data import EncoderData, concatenate, from_examples
from avatar_cli.families.portrait.training.encoder_training import EncoderStage, train_encoder
from avatar_cli.families.portrait.training.identities import (
    face_of,
    identity_of,
    invent,
    training_faces,
)
from avatar_cli.families.portrait.training.motion_data import (
    filmed_recording,
    synthetic_recording,
)
from avatar_cli.families.portrait.training.motion_training import MotionData, PromptedMotion, train_motion
from avatar_cli.families.portrait.training.optimisation import Schedule
from avatar_cli.families.portrait.training.phones import frame_labels
from avatar_cli.families.portrait.training.speech import SYNTHESISERS, utterances_of
from avatar_cli.families.portrait.training.speech_recorded import recorded_utterances
from avatar_cli.families.portrait.training.split import TRAINING_CLIPS
from avatar_cli.families.portrait.training.spoken_clips import SpokenClip, clip_examples, spoken_clips
from avatar_cli.families.portrait.training.super_resolution import train_face
from avatar_cli.families.portrait.training.visemes import VisemeTable, phonetic_table
from avatar_cli.runtime.weights import save_checkpoint

COPIES = {"flite": 1, "espeak": 1, "kokoro": 3, "kokoro-far": 2, "recorded": 4}
CLIP_COPIES = 10
IDENTITIES = 400
MOTION_RECORDINGS = 2400
FILMED_SHARE = 0.08
SEED = 1
# First what is plentiful and exact, then with the voices that sound like people. Shares of the batches.
ENCODER_FIRST = Schedule(steps=1500, rate=2e-3)
FIRST_SHARES = {"robotic": 0.70, "recorded": 0.25, "filmed": 0.05}
ENCODER_SECOND = Schedule(steps=2200, rate=1.2e-3, weight_decay=0.02)
SECOND_SHARES = {"generated": 0.62, "recorded": 0.32, "filmed": 0.06}
MOTION_SCHEDULE = Schedule(steps=7100, rate=1.5e-3)


@dataclass
class Clock:
    """Minutes that each step of the recipe took."""

    minutes: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        """Measure the body and say so."""
        print(f"== {name}", flush=True)
        started = time.monotonic()
        yield
        self.minutes[name] = round((time.monotonic() - started) / 60, 2)


@dataclass(frozen=True)
class Speech:
    """Examples by kind: of the formant and diphone synthesisers, of Kokoro, and of people.

    `further` are Kokoro's languages that only the motion network learns from: given to the audio encoder too,
    they took steps from the voices it is judged by and it read mouths no better.
    """

    robotic: list[Example]
    natural: list[Example]
    further: list[Example]
    recorded: list[Example]

    @property
    def generated(self) -> list[Example]:
        """The synthesised examples that every network learns from."""
        return [*self.robotic, *self.natural]


def train(media: Path, cache: Path, output: Path) -> None:
    """Train all networks of the family and write them to `output`.

    Args:
        media: Folder with speech, video and portraits; see the model card for what must be there.
        cache: Folder for generated speech, features and tracks, reused by the next run; training.json,
            the minutes that each step took, is written there too.
        output: Folder for the weights.
    """
    cache.mkdir(parents=True, exist_ok=True)
    output.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    clock = Clock()
    with clock.timing("mesh motion and super-resolution"):
        train_face(media, output, cache / "tracks")
    with clock.timing("tracked clips"):
        basis = load_motion_basis(output / "motion_basis.safetensors")
        clips = load_clips(media, TRAINING_CLIPS, cache / "tracks", basis.shape)
        spoken = spoken_clips(clips, media)
    with clock.timing("speech"):
        speech = load_speech(media, cache)
    table = calibrated(phonetic_table(), spoken)
    filmed = clip_examples(spoken, CLIP_COPIES, rng)
    with clock.timing("audio encoder"):
        encoder = train_audio_encoder(speech, filmed, table, rng)
        save(encoder, output / "audio_encoder.safetensors")
    with clock.timing("motion recordings"):
        recordings = MotionRecordings(speech, filmed, table, encoder)
        data = motion_data(recordings, clips, basis, media, rng)
    with clock.timing("motion network"):
        networks = train_motion(PromptedMotion(MotionDiT(), TextEncoder()), data, MOTION_SCHEDULE, SEED)
        save(networks.motion, output / "a2v_dit.safetensors")
        save(networks.text, output / "text_encoder.safetensors")
    (cache / "training.json").write_text(json.dumps({"seed": SEED, "minutes": clock.minutes}, indent=1))


def load_speech(media: Path, cache: Path) -> Speech:
    """Generate, align and disturb all speech, or read what an earlier run left in `cache`."""
    examples: dict[str, list[Example]] = {}
    for synthesiser in SYNTHESISERS:
        utterances = utterances_of(synthesiser, cache)
        copies = COPIES[synthesiser.name]
        corpus = cache / f"{synthesiser.name}-examples-{copies}.pickle"
        examples[synthesiser.name] = build_corpus(corpus, utterances, copies, media, synthesiser.seed)
    copies = COPIES["recorded"]
    corpus = cache / f"recorded-examples-{copies}.pickle"
    recorded = build_corpus(corpus, recorded_utterances(media, cache), copies, media, SEED)
    robotic = [*examples["flite"], *examples["espeak"]]
    return Speech(robotic, examples["kokoro"], examples["kokoro-far"], recorded)


def train_audio_encoder(
    speech: Speech, filmed: list[tuple[SpokenClip, Example]], table: VisemeTable, rng: np.random.Generator
) -> AudioEncoder:
    """The encoder, trained in two stages on all speech but the further languages."""
    data = {
        "robotic": from_examples(_shuffled(speech.robotic, rng), table),
        "generated": from_examples(_shuffled(speech.generated, rng), table),
        "recorded": from_examples(_shuffled(speech.recorded, rng), table),
        "filmed": _filmed_data(filmed),
    }
    print(", ".join(f"{name} {part.minutes:.1f} min" for name, part in data.items()), flush=True)
    stages = [
        EncoderStage(schedule, [(data[name], share) for name, share in shares.items()])
        for schedule, shares in ((ENCODER_FIRST, FIRST_SHARES), (ENCODER_SECOND, SECOND_SHARES))
    ]
    return train_encoder(AudioEncoder(), stages, SEED)


@dataclass(frozen=True)
class MotionRecordings:
    """What the recordings for the motion network are made from."""

    speech: Speech
    filmed: list[tuple[SpokenClip, Example]]
    table: VisemeTable
    encoder: AudioEncoder


def motion_data(
    made_from: MotionRecordings,
    clips: list[TrackedClip],
    basis: MotionBasis,
    media: Path,
    rng: np.random.Generator,
) -> MotionData:
    """Recordings and people for the motion network."""
    faces = training_faces(clips, media, basis)
    identities = [identity_of(face, basis) for face in faces]
    identities += [invent(faces, basis, rng) for _ in range(IDENTITIES)]
    own = {clip.name: identity_of(face_of(clip.still, clip.still_landmarks, basis), basis) for clip in clips}
    speech, films, encoder = made_from.speech, made_from.filmed, made_from.encoder
    spoken = [*speech.generated, *speech.further, *speech.recorded]
    chosen = _shuffled(spoken, rng)[:MOTION_RECORDINGS]
    synthetic = [synthetic_recording(example, made_from.table, encoder, rng) for example in chosen]
    filmed = [filmed_recording(clip, example, own[clip.clip.name], encoder) for clip, example in films]
    return MotionData(synthetic, filmed, identities, FILMED_SHARE)


def save(network: AudioEncoder | TextEncoder | MotionDiT, path: Path) -> None:
    """Write a network's weights with the parameters that build it."""
    save_checkpoint(path, network.state_dict(), asdict(network.params))


def _filmed_data(filmed: list[tuple[SpokenClip, Example]]) -> EncoderData:
    parts = []
    for clip, example in filmed:
        frames = min(len(clip.mouth), example.frames)
        parts.append((example.mels[: 4 * frames], clip.mouth[:frames], frame_labels(example.units, frames)))
    return concatenate(parts)


def _shuffled(examples: list[Example], rng: np.random.Generator) -> list[Example]:
    return [examples[index] for index in rng.permutation(len(examples))]
