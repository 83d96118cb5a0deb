"""Names what a file is that is no picture for us, so that the user knows what to do with it."""

from pathlib import Path

from avatar_cli.media.recording_kind import HEAD, is_recording, names_brand

_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"msf1")

_PICTURE_WANTED = "give a picture, such as JPEG or PNG"
_HEIC = "is a HEIC picture, as iPhones make them, which avatar cannot decode: save it as JPEG."
_DRAWING = "is {}, which avatar does not draw: export it as PNG."
_PHOTO = "is {}, which avatar cannot decode: export it as JPEG."
_SOUND_OR_VIDEO = f"is a sound or video file: {_PICTURE_WANTED}."

# Beginning of the file, and the sentence.
_SIGNATURES = (
    (b"%PDF", _DRAWING.format("a PDF document")),
    (b"%!PS", _DRAWING.format("an EPS or PostScript drawing")),
    (b"\xc5\xd0\xd3\xc6", _DRAWING.format("an EPS drawing")),
    (b"\xd7\xcd\xc6\x9a", _DRAWING.format("a WMF drawing")),
    (b"\x01\x00\x00\x00X\x00\x00\x00", _DRAWING.format("an EMF drawing")),
    (b"\x01\x00\x00\x00l\x00\x00\x00", _DRAWING.format("an EMF drawing")),
    (b"\xff\x0a", _PHOTO.format("a JPEG XL picture")),
    (b"\x00\x00\x00\x0cJXL ", _PHOTO.format("a JPEG XL picture")),
    (b"FUJIFILMCCD-RAW", _PHOTO.format("a camera's raw file")),
    (b"IIRO", _PHOTO.format("a camera's raw file")),
    (b"IIU\x00", _PHOTO.format("a camera's raw file")),
)


def why_not_a_picture(path: Path) -> str:
    """The rest of a sentence that begins with the file's name; the file can be read and is no picture.

    Source of the signatures: each format's own specification; for `ftyp`, ISO/IEC 14496-12 and 23008-12.
    """
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head:
        return f"is empty: {_PICTURE_WANTED}."
    if is_recording(head):
        return _SOUND_OR_VIDEO
    if head[4:8] == b"ftyp":
        return _boxed(head)
    for signature, sentence in _SIGNATURES:
        if head.startswith(signature):
            return sentence
    if b"<svg" in head.lower():
        return _DRAWING.format("an SVG drawing")
    return f"is not a picture that avatar can read: {_PICTURE_WANTED}."


def _boxed(head: bytes) -> str:
    """A picture in ISO boxes."""
    if names_brand(head, (b"avif", b"avis")):
        return "is a damaged AVIF picture: save or download it again."
    return _HEIC if names_brand(head, _HEIC_BRANDS) else _PHOTO.format("a camera's raw file")
