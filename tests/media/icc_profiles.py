"""ICC profiles made from bytes (ICC.1:2001-04), and the sRGB that their colours are."""

import struct

import numpy as np
import numpy.typing as npt

# Columns are the primaries' XYZ under D50.
SRGB_TO_XYZ = np.array(
    [[0.43607, 0.38515, 0.14307], [0.22249, 0.71687, 0.06061], [0.01392, 0.09708, 0.71410]]
)
DISPLAY_P3 = np.array(
    [[0.51512, 0.29198, 0.15710], [0.24120, 0.69225, 0.06657], [-0.00105, 0.04189, 0.78407]]
)
ADOBE_RGB = np.array([[0.60974, 0.20528, 0.14919], [0.31111, 0.62567, 0.06322], [0.01947, 0.06087, 0.74457]])
D50 = (0.9642, 1.0, 0.8249)


def to_linear(encoded: npt.ArrayLike) -> npt.NDArray:
    """0..1, IEC 61966-2-1."""
    encoded = np.asarray(encoded, float)
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def to_encoded(linear: npt.ArrayLike) -> npt.NDArray:
    linear = np.asarray(linear, float)
    curved = 1.055 * np.maximum(linear, 0) ** (1 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, linear * 12.92, curved)


def xyz_as_srgb(xyz: npt.ArrayLike) -> npt.NDArray:
    """Levels 0..255, not rounded, from XYZ [..., 3] under D50."""
    return to_encoded(np.asarray(xyz) @ np.linalg.inv(SRGB_TO_XYZ).T) * 255


def lab_as_srgb(lab: npt.ArrayLike) -> npt.NDArray:
    lightness, a, b = np.moveaxis(np.asarray(lab, float), -1, 0)
    y = (lightness + 16) / 116
    roots = np.stack([y + a / 500, y, y - b / 200], axis=-1)
    xyz = np.where(roots > 6 / 29, roots**3, (roots - 4 / 29) * 3 * (6 / 29) ** 2)
    return xyz_as_srgb(xyz * D50)


def _fixed(value: float) -> bytes:
    return struct.pack(">i", round(value * 65536))


def _xyz(values: npt.ArrayLike) -> bytes:
    return b"XYZ \0\0\0\0" + b"".join(_fixed(value) for value in np.asarray(values))


def gamma(exponent: float) -> bytes:
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(exponent * 256))


def srgb_curve() -> bytes:
    samples = np.rint(to_linear(np.linspace(0, 1, 1024)) * 65535).astype(">u2")
    return b"curv\0\0\0\0" + struct.pack(">I", 1024) + samples.tobytes()


def profile(space: bytes, connection: bytes, tags: dict[bytes, bytes], kind: bytes = b"mntr") -> bytes:
    """A profile of version 2.1 with `tags`, and those that every profile has."""
    description = b"made for a test\0"
    tags = {
        b"desc": b"desc\0\0\0\0" + struct.pack(">I", len(description)) + description + bytes(78),
        b"cprt": b"text\0\0\0\0none\0",
        b"wtpt": _xyz(D50),
        **tags,
    }
    table, body, start = struct.pack(">I", len(tags)), b"", 128 + 4 + 12 * len(tags)
    for name, content in tags.items():
        table += name + struct.pack(">II", start + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    size = start + len(body)
    head = struct.pack(">I4sI4s4s4s", size, b"test", 0x02100000, kind, space, connection)
    head += bytes(12) + b"acsp" + bytes(28) + b"".join(map(_fixed, D50))
    return head.ljust(128, b"\0") + table + body


def matrix_profile(to_xyz: npt.NDArray, curve: bytes) -> bytes:
    tags = {name: _xyz(to_xyz[:, column]) for column, name in enumerate((b"rXYZ", b"gXYZ", b"bXYZ"))}
    return profile(b"RGB ", b"XYZ ", {**tags, **dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), curve)})


def gray_profile(exponent: float) -> bytes:
    return profile(b"GRAY", b"XYZ ", {b"kTRC": gamma(exponent)})


def cmyk_profile(corners: npt.NDArray[np.uint8]) -> bytes:
    """Ink to Lab through a table with two steps a channel: uint8 [2, 2, 2, 2, 3], in the file's own scale."""
    straight = bytes(range(256))
    table = b"mft1\0\0\0\0" + bytes((4, 3, 2, 0)) + b"".join(map(_fixed, np.eye(3).ravel()))
    table += straight * 4 + corners.tobytes() + straight * 3
    yellowish_paper = _xyz((0.85, 0.88, 0.65))  # which relative colours do not show
    return profile(b"CMYK", b"Lab ", {b"A2B0": table, b"A2B1": table, b"wtpt": yellowish_paper}, kind=b"prtr")
