"""What a part of `make quality` is given, and what it gives back."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from avatar_cli.evaluation.quality import summary
from avatar_cli.evaluation.quality.identity import FaceEmbedder

_FACE_MODEL = "models/MobileFaceNet.tflite"


@dataclass(frozen=True)
class Work:
    """Where to work.

    Attributes:
        media: Folder of recordings.
        folder: For what is rendered.
    """

    media: Path
    folder: Path

    def embedder(self) -> FaceEmbedder | None:
        """For the identity, where the media hold a face-recognition network."""
        model = self.media / _FACE_MODEL
        return FaceEmbedder(model) if model.exists() else None


@dataclass(frozen=True)
class Found:
    """What a part measured.

    Attributes:
        rows: Of the main table.
        columns: Of the main table; those of all parts stand beside each other, `summary.REAL` last.
        section: A further section of Markdown, with its heading (`### ...`); empty for none.
        drawings: SVG by file name, written beside the document.
        documents: Markdown by the name of another document in the same folder, whose measured part it is.
    """

    rows: list[summary.Row]
    columns: tuple[str, ...] = ()
    section: str = ""
    drawings: Mapping[str, str] = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)


Part = Callable[[Work], Found]  # renders, watches and measures by itself, in a process of its own


def say(words: str) -> None:
    """Progress, for a person who watches."""
    print(words, file=sys.stderr, flush=True)
