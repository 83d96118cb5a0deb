"""Tells what a sound file is by its first bytes."""

from pathlib import Path

from avatar_cli.media.input_path import check_is_file
from avatar_cli.protocol.errors import InputError

# ffmpeg's demuxer for each kind that is accepted.
ACCEPTED = {"WAV": "wav", "FLAC": "flac", "MP3": "mp3"}

_HEAD = 4096
_RIFF_FLAVOURS = (b"RIFF", b"RIFX", b"RF64", b"BW64")
_OTHERS = (
    (b"OggS", 0, "Ogg"),
    (b"ftyp", 4, "MP4 or M4A"),
    (b"FORM", 0, "AIFF"),
    (b"\x1aE\xdf\xa3", 0, "Matroska or WebM"),
    (b"caff", 0, "CAF"),
    (b"#!AMR", 0, "AMR"),
    (b".snd", 0, "AU"),
    (b"\x30\x26\xb2\x75", 0, "WMA"),
)


def sniff_sound(path: Path) -> str:
    """The ffmpeg demuxer for the file.

    Raises:
        InputError: it cannot be read, is empty, or is none of ACCEPTED.
    """
    try:
        check_is_file(path)
        head = _after_id3(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): check the name.") from error
    if head.startswith(_RIFF_FLAVOURS) and head[8:12] == b"WAVE":
        return ACCEPTED["WAV"]
    if head.startswith(b"fLaC"):
        return ACCEPTED["FLAC"]
    if _is_mp3_frame(head.lstrip(b"\0")):
        return ACCEPTED["MP3"]
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty: give a recording as WAV, FLAC or MP3.")
    for magic, offset, name in _OTHERS:
        if head[offset : offset + len(magic)] == magic:
            raise InputError(f"{path} is {name}, which avatar does not read: convert it to WAV, FLAC or MP3.")
    raise InputError(f"{path} is not a sound file that avatar can read: give WAV, FLAC or MP3.")


def _after_id3(path: Path) -> bytes:
    """The first bytes after any ID3v2 tags: ten bytes, four of them seven bits of size, maybe a footer."""
    with path.open("rb") as file:
        while True:
            start = file.tell()
            header = file.read(10)
            if len(header) < 10 or not header.startswith(b"ID3"):
                file.seek(start)
                return file.read(_HEAD)
            size = 0
            for byte in header[6:]:
                size = size << 7 | byte & 0x7F
            footer = 10 if header[5] & 0x10 else 0
            file.seek(start + 10 + size + footer)


def _is_mp3_frame(head: bytes) -> bool:
    """Whether an MPEG-1, 2 or 2.5 layer III frame header (ISO/IEC 11172-3, 2.4.2.3) comes first."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return False
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    bitrate, rate = head[2] >> 4, head[2] >> 2 & 3
    return version != 1 and layer == 1 and bitrate != 15 and rate != 3
