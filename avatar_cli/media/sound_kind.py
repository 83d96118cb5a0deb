"""What the first bytes of a recording tell: which containers are read, and how they may be read."""

from collections.abc import Callable

# ffmpeg's demuxers that may open a recording: containers and raw formats that hold sound themselves and are
# told by their content. Left out are playlists and scripts, which name other files, and everything else.
DEMUXERS = (
    *("aac", "ac3", "aiff", "amr", "ape", "asf", "au", "avi", "caf", "dsf", "dts", "dtshd", "eac3", "flac"),
    *("flv", "gxf", "iff", "ircam", "loas", "matroska", "mlp", "mov", "mp3", "mpc", "mpc8", "mpeg", "mpegts"),
    *("mxf", "nistsphere", "nut", "ogg", "oma", "qcp", "rm", "sox", "tak", "truehd", "tta", "voc", "w64"),
    *("wav", "wsd", "wtv", "wv", "xwma"),
)

# Those whose header promises a length of sound, and of nothing else.
PROMISE_A_LENGTH = ("aiff", "ape", "au", "flac", "mp3", "tta", "wav", "wv")

Read = Callable[[int, int], bytes]
"""Bytes of a recording from an offset on, of a length; fewer only at its end. May wait for them."""

_WAVE = b"WAVE"
_RIFF = (b"RIFF", b"RIFX", b"RF64", b"BW64")
# AIFF, CAF, WavPack, Monkey's Audio, Musepack, TAK, MXF and WTV: what they need may stand at the end.
_NEED_THEIR_END = (
    b"FORM",
    b"caff",
    b"wvpk",
    b"MAC ",
    b"MPCK",
    b"MP+",
    b"tBaK",
    b"\x06\x0e\x2b\x34",
    b"\xb7\xd8\0\x20",
)
_MAY_BE_MPEG = (b"ID3", b"\xff", b"\0")
_MP4_BOXES = (b"ftyp", b"styp", b"moov", b"moof", b"mdat", b"free", b"skip", b"wide", b"pnot", b"uuid")
_HEAD = 4096
_PLACEHOLDER = 0x7FFF_F000  # the least of those that recorders write
_OGG_PAGE = 27 + 255 + 255 * 255  # bytes at most
_OGG_END = 4  # flag of a page that ends a stream


def plays_in_order(read: Read) -> bool:
    """Whether ffmpeg makes the same samples of it from a pipe, where it cannot go back, as from a file.

    Not so for MP4 where the index comes last, for MP3 where a header states the size of the whole file, by
    which ffmpeg trusts or doubts that header, and for some rarer containers. What is unknown here plays in
    order: raw streams do, and of what is no recording ffmpeg says so at once instead of at its end.
    """
    head = read(0, 12)
    if head[4:8] in _MP4_BOXES:
        return _index_comes_first(read)
    if head.startswith(_RIFF):
        return head[8:12] == _WAVE
    if head.startswith(_MAY_BE_MPEG):
        return not _states_its_size(_after_id3(read))
    return not head.startswith(_NEED_THEIR_END)


def begins_with_mpeg_frame(read: Read) -> bool:
    """Whether an MPEG audio frame comes first, after tags: enough for a file too short to be sure of."""
    return _is_mpeg_frame(_after_id3(read))


def leaves_its_length_open(read: Read) -> bool:
    """Whether it is a WAV made for a pipe, whose header holds 0 or 2 GiB and more in place of its length."""
    if read(0, 4) != b"RIFF":
        return False
    offset = 12
    while len(header := read(offset, 8)) == 8:
        size = int.from_bytes(header[4:], "little")
        if header.startswith(b"data"):
            return size == 0 or size >= _PLACEHOLDER
        offset += 8 + size + size % 2
    return False


def lacks_its_end(read: Read, size: int) -> bool:
    """Whether it is an Ogg file of `size` bytes whose last page is cut or does not end a stream.

    ffmpeg takes the cut for the end.
    """
    if read(0, 4) != b"OggS":
        return False
    tail = read(max(0, size - _OGG_PAGE), _OGG_PAGE)
    page = tail[tail.rfind(b"OggS") :]
    segments = page[27 : 27 + page[26]] if len(page) > 26 else b""
    whole = len(page) == 27 + len(segments) + sum(segments)
    return not whole or not page[5] & _OGG_END


def _index_comes_first(read: Read) -> bool:
    """Walks the boxes (ISO/IEC 14496-12, 4.2) up to the index or the samples."""
    offset = 0
    while len(header := read(offset, 16)) >= 8:
        size, kind = int.from_bytes(header[:4]), header[4:8]
        if kind == b"moov":
            return True
        if size == 1:
            size = int.from_bytes(header[8:16])
        if kind == b"mdat" or size < 8:
            return False
        offset += size
    return False


def _after_id3(read: Read) -> bytes:
    """The first bytes after ID3v2 tags and zeros: a tag has ten bytes, four of them seven bits of size."""
    offset = 0
    while len(header := read(offset, 10)) == 10 and header.startswith(b"ID3"):
        size = 0
        for byte in header[6:]:
            size = size << 7 | byte & 0x7F
        footer = 10 if header[5] & 0x10 else 0
        offset += 10 + size + footer
    return read(offset, _HEAD).lstrip(b"\0")


def _is_mpeg_frame(head: bytes) -> bool:
    """Whether an MPEG-1, 2 or 2.5 audio frame header (ISO/IEC 11172-3, 2.4.2.3) comes first."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return False
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    bitrate, rate = head[2] >> 4, head[2] >> 2 & 3
    return version != 1 and layer != 0 and bitrate != 15 and rate != 3


def _states_its_size(frame: bytes) -> bool:
    """Whether it is an MPEG audio frame with a Xing header that holds the number of bytes."""
    if not _is_mpeg_frame(frame):
        return False
    for mark in (b"Xing", b"Info"):
        at = frame.find(mark, 4, 64)
        if at >= 0:
            flags = int.from_bytes(frame[at + 4 : at + 8])
            size = at + 8 + (4 if flags & 1 else 0)
            return bool(flags & 2) and any(frame[size : size + 4])
    return False
