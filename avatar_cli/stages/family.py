"""What a model family states about itself and provides to the stages."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from avatar_cli.media.image_in import Photo
from avatar_cli.media.video_reference import ReferenceVideo
from avatar_cli.protocol.events import ReferenceWatched
from avatar_cli.protocol.job import Cue, Generation, Picture
from avatar_cli.runtime.chunks import ChunkPlan, Layout, Tail
from avatar_cli.runtime.pipeline import Graph
from avatar_cli.stages.values import Conditioning, Frame, SpeechTrack


@dataclass(frozen=True)
class FamilyFacts:
    """Figures a job is planned with.

    `state_bytes` bounds what survives a chunk, beside the reference. `memory_bytes` is the peak of each stage
    for one chunk of the default length, weights included.
    """

    name: str
    fps: Fraction
    any_fps: bool  # the decoder can show motion at another frame rate
    layout: Layout
    tail: Tail
    latent_shape: tuple[int, ...]
    look_ahead: Fraction  # seconds of sound after a frame that may change it
    state_bytes: int
    memory_bytes: dict[str, int]


@dataclass(frozen=True)
class Encoded:
    """The reference, encoded once a job; `found` is what was seen in a video."""

    conditioning: Conditioning
    warnings: tuple[str, ...]
    found: ReferenceWatched | None = None


class Family(Protocol):
    """Loads its weights when made; then one reference, and one graph of stages a job."""

    facts: FamilyFacts

    def encode(
        self, person: Photo | ReferenceVideo, scene: Frame, picture: Picture, prompt: tuple[Cue, ...]
    ) -> Encoded:
        """Encode reference, scene and prompt. Raises InputError where `person` shows no usable face.

        `scene` is what lies behind the person, uint8 [picture.height, picture.width, 3], RGB.
        """

    def plan(self, generation: Generation) -> ChunkPlan:
        """Chunk lengths of a job. Raises UsageError for lengths that the family cannot make."""

    def graph(
        self, conditioning: Conditioning, speech: SpeechTrack, generation: Generation, picture: Picture
    ) -> Graph:
        """The four stages that loop over chunks."""
