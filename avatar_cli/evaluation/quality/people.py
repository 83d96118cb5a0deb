"""People never trained on: the sound of each recording rendered onto a still of it, both watched whole."""

import json
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from avatar_cli.evaluation.command import Render, render
from avatar_cli.evaluation.held_out import Clip, track_clip
from avatar_cli.evaluation.quality.identity import FaceEmbedder
from avatar_cli.evaluation.quality.observation import Observation, observe
from avatar_cli.evaluation.quality.pairing import Pairing, pair
from avatar_cli.evaluation.quality.phones import Phone, phones_from
from avatar_cli.evaluation.tracks import TRACK_FPS
from avatar_cli.media.decoding import extract_wav, read_sound
from avatar_cli.protocol.job import Picture, RenderJob

RENDER_SIZE = "360p"
_ALIGNMENTS = "grid_alignments.json"  # phone times of the GRID recordings, by take
# Of other recordings: words by a recogniser (Whisper, read through), their sounds by pocketsphinx; seconds.
_PHONES = Path(__file__).with_name("held_out_phones.json")


@dataclass(frozen=True)
class Person:
    """One recording and its render.

    Attributes:
        clip: What is known of the recording.
        still: The file of the frame that was rendered from.
        picture: The frames of the render.
        samples: The sound that was rendered, float32 [S] at 16 kHz, in time with the mouth.
        phones: Its speech sounds, None where they are not known.
        video: The render.
        real: The recording.
        pairing: Both, frame beside frame.
    """

    clip: Clip
    still: Path
    picture: Picture
    samples: NDArray[np.float32]
    phones: list[Phone] | None
    video: Observation
    real: Observation
    pairing: Pairing


def film(clip: Clip, media: Path, folder: Path, embedder: FaceEmbedder | None) -> Person:
    """Renders a recording's sound onto a still of it and watches both.

    Args:
        clip: What is known of the recording.
        media: Folder with a `video` folder that holds it.
        folder: For the still, the sound and the video.
        embedder: For the identity.
    """
    recording = media / "video" / clip.file
    real = observe(recording, embedder)
    wav, still = folder / f"{clip.name}.wav", write_still(clip, media, folder)
    # The sound is moved to where the mouth is, so that rendered frame t belongs to real frame t.
    seconds = len(real.sight.curves) / float(TRACK_FPS)
    extract_wav(recording, wav, start=float(clip.lag / TRACK_FPS), seconds=seconds)
    options = ("--size", RENDER_SIZE, "--fps", str(TRACK_FPS))
    done = render(Render(still, wav, folder / f"{clip.name}.mp4", options))
    video = observe(done.output, embedder)
    return Person(
        clip=clip,
        still=still,
        picture=RenderJob.from_json(json.dumps(done.report["job"])).picture,
        samples=read_sound(wav),
        phones=known_phones(clip, media),
        video=video,
        real=real,
        pairing=pair(video, real, lag=0),
    )


def write_still(clip: Clip, media: Path, folder: Path) -> Path:
    """A picture of the person with closed mouth and open eyes (`held_out.still_frame`)."""
    path = folder / f"{clip.name}.png"
    _, image = track_clip(media / "video" / clip.file)
    cv2.imwrite(str(path), cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    return path


def known_phones(clip: Clip, media: Path) -> list[Phone] | None:
    """Times of the speech sounds of a recording against its picture; None where nobody knows what is said."""
    corpus, take, *_ = clip.name.split("_")
    if corpus == "g":
        alignments = json.loads((media / "video" / _ALIGNMENTS).read_text(encoding="utf-8"))
        return phones_from(alignments[take])
    aligned = json.loads(_PHONES.read_text(encoding="utf-8"))
    earlier = float(clip.lag / TRACK_FPS)
    if clip.name not in aligned:
        return None
    phones = phones_from(aligned[clip.name])
    return [Phone(phone.name, phone.start - earlier, phone.end - earlier) for phone in phones]
