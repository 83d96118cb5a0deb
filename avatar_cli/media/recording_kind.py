"""Tells recordings of sound and video from pictures by their first bytes."""

HEAD = 1024  # bytes that are looked at

_STILL_BRANDS = (
    *(
        b"avif",
        b"avis",
        b"heic",
        b"heix",
        b"heim",
        b"heis",
        b"hevc",
        b"hevx",
        b"hevm",
        b"hevs",
        b"mif1",
        b"msf1",
    ),
    b"crx ",
)  # of pictures in boxes; ISO/IEC 23008-12 and Canon's raw files
# QuickTime files older than the file-type box begin with one of these.
_QUICKTIME_BOXES = (b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot")
_RIFF_KINDS = (b"WAVE", b"AVI ")
_BEGINNINGS = (
    b"ID3",
    b"\xff\xfb",  # MPEG audio
    b"OggS",
    b"fLaC",
    b"FLV\x01",
    b"\x1a\x45\xdf\xa3",  # Matroska and WebM
    b"\x00\x00\x01\xba",  # MPEG program stream
    b"\x00\x00\x01\xb3",  # MPEG video without a container
    b"\x30\x26\xb2\x75\x8e\x66\xcf\x11",  # ASF: WMV and WMA
    b"\x06\x0e\x2b\x34\x02\x05\x01\x01",  # MXF
    b".RMF",
)
_TRANSPORT_SYNC, _TRANSPORT_PACKET = 0x47, 188
_TIMED_TRANSPORT_PACKET = 192  # of camcorders: a time code of four bytes goes before each packet


def is_recording(head: bytes) -> bool:
    """Whether a file that begins with `head`, up to HEAD bytes, is of a container of sound or video.

    Source of the signatures: each format's own specification; for the boxes ISO/IEC 14496-12, for transport
    streams ISO/IEC 13818-1.
    """
    if head[4:8] == b"ftyp":
        return not names_brand(head, _STILL_BRANDS)
    if head[4:8] in _QUICKTIME_BOXES:
        return True
    if head.startswith(b"RIFF"):
        return head[8:12] in _RIFF_KINDS
    return head.startswith(_BEGINNINGS) or _is_transport_stream(head)


def names_brand(head: bytes, brands: tuple[bytes, ...]) -> bool:
    """Whether the file-type box has one of `brands` as its major or as a compatible one."""
    box = head[: int.from_bytes(head[:4], "big")]
    named = [box[8:12], *(box[start : start + 4] for start in range(16, len(box), 4))]
    return any(brand in brands for brand in named)


def _is_transport_stream(head: bytes) -> bool:
    for first, packet in ((0, _TRANSPORT_PACKET), (4, _TIMED_TRANSPORT_PACKET)):
        syncs = head[first::packet]
        if len(syncs) > 2 and all(byte == _TRANSPORT_SYNC for byte in syncs):
            return True
    return False
