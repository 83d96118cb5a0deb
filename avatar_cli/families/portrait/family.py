"""The portrait family: its modules, and how they plug into the stages."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from avatar_cli.assets import asset_path
from avatar_cli.families.portrait.a2v_dit import MotionDiT, MotionDiTParams
from avatar_cli.families.portrait.audio_encoder import LOOK_AHEAD_FRAMES, AudioEncoder, AudioEncoderParams
from avatar_cli.families.portrait.checkpoints import module_of
from avatar_cli.families.portrait.clip_voice import find_voice
from avatar_cli.families.portrait.frames import PortraitDecoder
from avatar_cli.families.portrait.latents import CHANNELS, FPS
from avatar_cli.families.portrait.lift import MeshLifter
from avatar_cli.families.portrait.motion import MotionModel
from avatar_cli.families.portrait.nodding import Nods
from avatar_cli.families.portrait.person_mask import PersonMasker
from avatar_cli.families.portrait.reference import encode_reference, encode_video_reference
from avatar_cli.families.portrait.reference_video import watch_video
from avatar_cli.families.portrait.sound import SpeechConditioner
from avatar_cli.families.portrait.sr_dit import MeshDiT, MeshDiTParams
from avatar_cli.families.portrait.text_encoder import TextEncoder, TextEncoderParams, intensities
from avatar_cli.families.portrait.tracker import FaceTracker
from avatar_cli.families.portrait.video_findings import findings, video_warnings
from avatar_cli.families.portrait.voice_detector import VoiceDetector, VoiceDetectorParams
from avatar_cli.media.image_in import Photo
from avatar_cli.media.video_reference import ReferenceVideo
from avatar_cli.protocol.errors import UsageError
from avatar_cli.protocol.events import EventSink, ReferenceWatched
from avatar_cli.protocol.job import Cue, Generation, Picture, Prompted
from avatar_cli.runtime.chunks import ChunkPlan, Layout, Tail
from avatar_cli.runtime.mesh import current_rank
from avatar_cli.runtime.module import Module
from avatar_cli.runtime.pipeline import Graph
from avatar_cli.runtime.residency import Placement, Residency, Use, place
from avatar_cli.stages.audio_to_video import AudioToVideoStage
from avatar_cli.stages.context import ContextStage
from avatar_cli.stages.decode import DecodeStage
from avatar_cli.stages.family import Encoded, FamilyFacts
from avatar_cli.stages.super_resolution import SuperResolutionStage
from avatar_cli.stages.values import Conditioning, Frame, PromptTrack, SpeechTrack

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

CPU = torch.device("cpu")
MiB = 1 << 20
FACTS = FamilyFacts(
    name="portrait",
    fps=FPS,
    any_fps=True,
    layout=Layout.GAPPED,
    tail=Tail.SOFT,
    latent_shape=(len(CHANNELS),),
    look_ahead=LOOK_AHEAD_FRAMES / FPS,
    state_bytes=MiB,
    memory_bytes={"context": 16 * MiB, "a2v": 32 * MiB, "sr": 128 * MiB, "decode": 128 * MiB},
)
SHORTEST_BORDER = 2  # frames; a seam goes on with the speed of the two beside it


def load(ranks: int, emit: EventSink) -> "PortraitFamily":
    """Load the weights; with several ranks the two diffusion transformers are sharded over them."""
    return PortraitFamily(_networks(ranks, emit))


def prompt_track(cues: tuple[Cue, ...], text_encoder: nn.Module) -> PromptTrack:
    """The prompts of a job with their times; nothing is asked for until the first cue."""
    if not cues or cues[0].at > 0:
        cues = (Cue(Fraction(0), ()), *cues)
    tokens: dict[tuple[Prompted, ...], Tensor] = {}
    for cue in cues:
        if cue.words not in tokens:
            tokens[cue.words] = text_encoder(intensities(cue.words))
    return PromptTrack(tuple(cue.at for cue in cues), tuple(tokens[cue.words] for cue in cues))


@dataclass(frozen=True)
class Networks:
    """The family's networks, wherever their weights are."""

    audio_encoder: Residency
    voice_detector: Residency
    text_encoder: Residency
    motion_dit: Residency
    mesh_dit: Residency


class PortraitFamily:
    """One reference and one graph a job; see `stages.family.Family`."""

    facts = FACTS

    def __init__(self, networks: Networks) -> None:
        self._networks = networks
        self._tracker = FaceTracker()
        self._masker = PersonMasker()

    def encode(
        self, person: Photo | ReferenceVideo, scene: Frame, picture: Picture, prompt: tuple[Cue, ...]
    ) -> Encoded:
        """Find the face, measure it, make reference and prompt tokens. Raises InputError without a face."""
        found: ReferenceWatched | None = None
        if isinstance(person, Photo):
            reference = encode_reference(person, scene, picture, self._tracker, self._masker)
            warnings = reference.warnings
        else:
            hear = partial(find_voice, self._networks.voice_detector)
            watched = watch_video(person, picture.face, self._tracker, hear)
            reference = encode_video_reference(person.path, watched, scene, picture, self._masker)
            warnings = (*reference.warnings, *video_warnings(person, watched))
            found = findings(watched)
        conditioning = Conditioning(
            tokens=torch.from_numpy(reference.tokens)[None],
            prompt=prompt_track(prompt, self._networks.text_encoder.network),
            rest=torch.from_numpy(reference.rest),
            scene=scene,
            reference=reference,
        )
        return Encoded(conditioning, warnings, found)

    def plan(self, generation: Generation) -> ChunkPlan:
        """Chunk lengths of a job. Raises UsageError for lengths that no plan can have."""
        alone = generation.border_frames == generation.interpolated_frames == 0
        if generation.border_frames < SHORTEST_BORDER and not alone:
            raise UsageError(
                f"chunks.border={generation.border_frames} is too short to join chunks: make it "
                f"{SHORTEST_BORDER} or more, or both chunks.border and chunks.interpolated 0."
            )
        try:
            return ChunkPlan(
                generation.chunk_frames,
                generation.interpolated_frames,
                generation.border_frames,
                layout=FACTS.layout,
                tail=FACTS.tail,
            )
        except ValueError as error:
            raise UsageError(
                f"The chunk lengths cannot be: {error}; change the keys under chunks."
            ) from error

    def graph(
        self, conditioning: Conditioning, speech: SpeechTrack, generation: Generation, picture: Picture
    ) -> Graph:
        """The four stages that loop over chunks."""
        networks = self._networks
        nods = Nods(generation.prompt, generation.seed)
        motion = MotionModel(networks.motion_dit, generation.steps, nods)
        decoder = PortraitDecoder(conditioning.reference, conditioning.scene)
        return Graph(
            context=ContextStage(SpeechConditioner(networks.audio_encoder, networks.voice_detector), speech),
            audio_to_video=AudioToVideoStage(motion, generation.seed, generation.border_frames),
            super_resolution=SuperResolutionStage(MeshLifter(networks.mesh_dit)),
            decode=DecodeStage(decoder, Fraction(picture.fps)),
        )


def _networks(ranks: int, emit: EventSink) -> Networks:
    small = (
        _module("portrait/audio_encoder", AudioEncoder, AudioEncoderParams),
        _module("voice/silero_vad", VoiceDetector, VoiceDetectorParams),
        _module("portrait/text_encoder", TextEncoder, TextEncoderParams),
    )
    sharded = (
        _module("portrait/a2v_dit", MotionDiT, MotionDiTParams),
        _module("portrait/sr_dit", MeshDiT, MeshDiTParams),
    )
    uses = (*(Use(module, whole=True) for module in small), *(Use(module) for module in sharded))
    return Networks(*place(uses, Placement(CPU, current_rank(), _mesh(ranks)), emit))


def _mesh(ranks: int) -> "DeviceMesh | None":
    """This family computes on the CPU, also on a machine with GPUs."""
    if ranks == 1:
        return None
    from torch.distributed.device_mesh import init_device_mesh

    return init_device_mesh(CPU.type, (ranks,))


def _module(name: str, network: Callable[[Any], nn.Module], params: Callable[..., Any]) -> Module:
    return module_of(asset_path(f"{name}.safetensors"), network, params)
