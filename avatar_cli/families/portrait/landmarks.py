"""Index sets of MediaPipe's 478-point face mesh, in the order of the image for an upright frontal face.

"Left" and "right" are those of the image, so `LEFT_EYE` is the subject's right eye. Rings run from the
image's left to its right.
"""

from dataclasses import dataclass

OUTER_EYE_CORNERS = (33, 263)

INNER_UPPER_LIP = (78, 191, 80, 81, 82, 13, 312, 311, 310, 415, 308)
INNER_LOWER_LIP = (78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308)
SECOND_UPPER_LIP = (62, 183, 42, 41, 38, 12, 268, 271, 272, 407, 292)
SECOND_LOWER_LIP = (62, 96, 89, 179, 86, 15, 316, 403, 319, 325, 292)
THIRD_UPPER_LIP = (76, 184, 74, 73, 72, 11, 302, 303, 304, 408, 306)
THIRD_LOWER_LIP = (76, 77, 90, 180, 85, 16, 315, 404, 320, 307, 306)
OUTER_UPPER_LIP = (61, 185, 40, 39, 37, 0, 267, 269, 270, 409, 291)
OUTER_LOWER_LIP = (61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291)
UPPER_LIP_RINGS = (INNER_UPPER_LIP, SECOND_UPPER_LIP, THIRD_UPPER_LIP, OUTER_UPPER_LIP)
LOWER_LIP_RINGS = (INNER_LOWER_LIP, SECOND_LOWER_LIP, THIRD_LOWER_LIP, OUTER_LOWER_LIP)
LIPS = tuple(sorted({index for ring in UPPER_LIP_RINGS + LOWER_LIP_RINGS for index in ring}))

# Clockwise from the top of the forehead.
FACE_OVAL = (
    10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377,
    152, 148, 176, 149, 150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109,
)  # fmt: skip


@dataclass(frozen=True)
class Eye:
    """Points of one eye; every tuple runs from the image's left to its right except the iris.

    A brow has two rows of five, the upper one first.
    """

    upper_lid: tuple[int, ...]
    lower_lid: tuple[int, ...]
    crease: tuple[int, ...]
    below_brow: tuple[int, ...]
    under_lid: tuple[int, ...]
    brow: tuple[int, ...]
    iris: tuple[int, ...]  # centre, then the four points of the rim

    @property
    def lower_brow(self) -> tuple[int, ...]:
        """The lower edge of the brow."""
        return self.brow[5:]


LEFT_EYE = Eye(
    upper_lid=(33, 246, 161, 160, 159, 158, 157, 173, 133),
    lower_lid=(33, 7, 163, 144, 145, 153, 154, 155, 133),
    crease=(247, 30, 29, 27, 28, 56, 190),
    below_brow=(113, 225, 224, 223, 222, 221, 189),
    under_lid=(25, 110, 24, 23, 22, 26, 112),
    brow=(70, 63, 105, 66, 107, 46, 53, 52, 65, 55),
    iris=(468, 469, 470, 471, 472),
)
RIGHT_EYE = Eye(
    upper_lid=(362, 398, 384, 385, 386, 387, 388, 466, 263),
    lower_lid=(362, 382, 381, 380, 374, 373, 390, 249, 263),
    crease=(414, 286, 258, 257, 259, 260, 467),
    below_brow=(413, 441, 442, 443, 444, 445, 342),
    under_lid=(341, 256, 252, 253, 254, 339, 255),
    brow=(336, 296, 334, 293, 300, 285, 295, 282, 283, 276),
    iris=(473, 474, 475, 476, 477),
)

# Forehead, temples, eye corners, nose bridge and the base of the nose tip: they hardly move with expression.
STABLE = (
    10, 151, 9, 8, 168, 6, 197, 195, 5, 33, 133, 362, 263, 130, 359, 127, 356, 234, 454, 162, 389, 21, 251,
    103, 332, 67, 297, 109, 338, 54, 284, 71, 301, 98, 327, 4, 1, 122, 351, 193, 417,
)  # fmt: skip

# Input of the blendshape network, in its order.
BLENDSHAPE_INPUT = (
    0, 1, 4, 5, 6, 7, 8, 10, 13, 14, 17, 21, 33, 37, 39, 40, 46, 52, 53, 54, 55, 58, 61, 63, 65, 66, 67, 70,
    78, 80, 81, 82, 84, 87, 88, 91, 93, 95, 103, 105, 107, 109, 127, 132, 133, 136, 144, 145, 146, 148, 149,
    150, 152, 153, 154, 155, 157, 158, 159, 160, 161, 162, 163, 168, 172, 173, 176, 178, 181, 185, 191, 195,
    197, 234, 246, 249, 251, 263, 267, 269, 270, 276, 282, 283, 284, 285, 288, 291, 293, 295, 296, 297, 300,
    308, 310, 311, 312, 314, 317, 318, 321, 323, 324, 332, 334, 336, 338, 356, 361, 362, 365, 373, 374, 375,
    377, 378, 379, 380, 381, 382, 384, 385, 386, 387, 388, 389, 390, 397, 398, 400, 402, 405, 409, 415, 454,
    466, 468, 469, 470, 471, 472, 473, 474, 475, 476, 477,
)  # fmt: skip
BLENDSHAPES = (
    "_neutral", "browDownLeft", "browDownRight", "browInnerUp", "browOuterUpLeft", "browOuterUpRight",
    "cheekPuff", "cheekSquintLeft", "cheekSquintRight", "eyeBlinkLeft", "eyeBlinkRight", "eyeLookDownLeft",
    "eyeLookDownRight", "eyeLookInLeft", "eyeLookInRight", "eyeLookOutLeft", "eyeLookOutRight",
    "eyeLookUpLeft", "eyeLookUpRight", "eyeSquintLeft", "eyeSquintRight", "eyeWideLeft", "eyeWideRight",
    "jawForward", "jawLeft", "jawOpen", "jawRight", "mouthClose", "mouthDimpleLeft", "mouthDimpleRight",
    "mouthFrownLeft", "mouthFrownRight", "mouthFunnel", "mouthLeft", "mouthLowerDownLeft",
    "mouthLowerDownRight", "mouthPressLeft", "mouthPressRight", "mouthPucker", "mouthRight",
    "mouthRollLower", "mouthRollUpper", "mouthShrugLower", "mouthShrugUpper", "mouthSmileLeft",
    "mouthSmileRight", "mouthStretchLeft", "mouthStretchRight", "mouthUpperUpLeft", "mouthUpperUpRight",
    "noseSneerLeft", "noseSneerRight",
)  # fmt: skip
