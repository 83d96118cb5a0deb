"""The synthetic family: its networks, placed, and how they plug into the stages."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import torch

from avatar_cli.families.synthetic.conditioning import SoundConditioner, prompt_track, reference_tokens
from avatar_cli.families.synthetic.example_calls import meta_runs, state_bytes
from avatar_cli.families.synthetic.models import BaseModel, LatentDecoder, OneStepUpscaler
from avatar_cli.families.synthetic.modules import WHOLE, modules
from avatar_cli.families.synthetic.sizes import LATENT_CHANNELS, LATENT_FPS, SyntheticSize
from avatar_cli.families.synthetic.token_plan import token_plan
from avatar_cli.media.image_in import Photo
from avatar_cli.media.video_reference import ReferenceVideo
from avatar_cli.protocol.errors import UsageError
from avatar_cli.protocol.events import EventSink
from avatar_cli.protocol.job import Cue, Generation, Picture
from avatar_cli.runtime.chunks import ChunkPlan, Layout, Tail
from avatar_cli.runtime.context_parallel import context_parallel
from avatar_cli.runtime.mesh import SequenceGroup
from avatar_cli.runtime.pipeline import Graph
from avatar_cli.runtime.residency import Residency
from avatar_cli.runtime.residency.choice import Placement, Use, place
from avatar_cli.stages.audio_to_video import AudioToVideoStage
from avatar_cli.stages.causal_decode import CausalDecodeStage
from avatar_cli.stages.context import ContextStage
from avatar_cli.stages.family import Encoded, FamilyFacts
from avatar_cli.stages.super_resolution import SuperResolutionStage
from avatar_cli.stages.values import Conditioning, Frame, SpeechTrack

ALONE = SequenceGroup()


@dataclass(frozen=True)
class Networks:
    """The family's networks, wherever their weights are."""

    text_encoder: Residency
    audio_encoder: Residency
    a2v: Residency
    sr: Residency
    vae: Residency

    def all(self) -> tuple[Residency, ...]:
        """Every one of them, in the order in which a job first runs them."""
        return (self.text_encoder, *self.of_chunks())

    def of_chunks(self) -> tuple[Residency, ...]:
        """Those that run for every chunk."""
        return (self.audio_encoder, self.a2v, self.sr, self.vae)


def load(
    size: SyntheticSize, placement: Placement, emit: EventSink, folder: Path | None = None
) -> "SyntheticFamily":
    """The family with its networks placed; see `load_networks`."""
    return SyntheticFamily(size, load_networks(size, placement, emit, folder), placement.device)


def load_networks(
    size: SyntheticSize,
    placement: Placement,
    emit: EventSink,
    folder: Path | None = None,
    sharing: SequenceGroup = ALONE,
) -> Networks:
    """Make the weights in place, or read them from what `write_modules` wrote.

    The ranks of `sharing` share the tokens of both diffusion transformers. Raises EnvironmentProblem.
    """
    parts = modules(size, folder)
    shared = {module.name: context_parallel(module, token_plan, sharing) for module in (parts.a2v, parts.sr)}
    # Nothing is planned for the memory of a CPU, and a meta run costs seconds.
    runs = {} if placement.device.type == "cpu" else meta_runs(size, parts.all())
    working = {name: run.peak_bytes for name, run in runs.items()}
    calls = {parts.a2v.name: size.geometry.steps}
    uses = [
        Use(
            module=shared.get(module.name, module),
            calls=calls.get(module.name, 1),
            working_bytes=working.get(module.name, 0) // (sharing.size if module.name in shared else 1),
            whole=module.name in WHOLE,
        )
        for module in parts.all()
    ]
    return Networks(*place(uses, placement, emit))


class SyntheticFamily:
    """One reference and one graph a job; see `stages.family.Family`. The plan counts latent frames."""

    def __init__(self, size: SyntheticSize, networks: Networks, device: torch.device) -> None:
        self._size = size
        self._networks = networks
        self._device = device
        self._memory_like = torch.empty(0, dtype=size.dtype, device=device)
        self.facts = FamilyFacts(
            name=f"synthetic-{size.name}",
            fps=LATENT_FPS,
            any_fps=False,
            layout=Layout.GAPPED,
            tail=Tail.EXACT,
            latent_shape=(LATENT_CHANNELS, *size.geometry.low),
            look_ahead=Fraction(1) / LATENT_FPS,
            state_bytes=state_bytes(size, modules(size).vae),
            memory_bytes={},
        )

    def encode(
        self, person: Photo | ReferenceVideo, scene: Frame, picture: Picture, prompt: tuple[Cue, ...]
    ) -> Encoded:
        """Tokens of the picture, and of the prompts, after which the text encoder is gone for good.

        Raises UsageError for a video as the reference.
        """
        if not isinstance(person, Photo):
            raise UsageError(
                f"Synthetic models take a picture as the reference, not the video {person.path}."
            )
        text = self._size.networks.text_encoder
        conditioning = Conditioning(
            tokens=reference_tokens(person.pixels).to(self._device),
            prompt=prompt_track(prompt, self._networks.text_encoder, text, self._device),
            rest=torch.zeros(LATENT_CHANNELS),
            scene=scene,
            reference=None,
        )
        return Encoded(conditioning, ())

    def plan(self, generation: Generation) -> ChunkPlan:
        """Chunk lengths of a job, in latent frames. Raises UsageError for lengths that no plan can have."""
        try:
            return ChunkPlan(
                generation.chunk_frames,
                generation.interpolated_frames,
                generation.border_frames,
                layout=self.facts.layout,
                tail=self.facts.tail,
            )
        except ValueError as error:
            raise UsageError(f"The chunk lengths cannot be: {error}.") from error

    def graph(
        self, conditioning: Conditioning, speech: SpeechTrack, generation: Generation, picture: Picture
    ) -> Graph:
        """The four stages that loop over chunks."""
        networks, geometry = self._networks, self._size.geometry
        sound = SoundConditioner(networks.audio_encoder, self._device)
        base = BaseModel(networks.a2v, geometry, self._device)
        decoder = LatentDecoder(networks.vae, geometry, self._memory_like)
        return Graph(
            context=ContextStage(sound, speech),
            audio_to_video=AudioToVideoStage(base, generation.seed, generation.border_frames),
            super_resolution=SuperResolutionStage(OneStepUpscaler(networks.sr)),
            decode=CausalDecodeStage(decoder),
        )
