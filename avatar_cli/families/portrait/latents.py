"""The motion latents of the portrait family: 21 numbers a frame at 25 frames/s.

Distances are in units of e, the distance between the outer eye corners (landmarks 33 and 263) measured in
3-D in the face's canonical frame (x right in the image, y down, z away from the camera). Mouth and brow
channels are relative to the person's own neutral face with closed mouth.
"""

from fractions import Fraction

FPS = Fraction(25)

MOUTH = (
    "jaw_drop",  # y of the chin tip (152, 148, 377)
    "gap",  # y of the inner lower lip (14, 87, 317) minus y of the inner upper lip (13, 82, 312)
    "width",  # x of corner 291 minus x of corner 61
    "upper_lip_y",  # y of (13, 82, 312)
    "corner_y",  # y of (61, 291)
    "lower_roll",  # y of (17, 84, 314) minus y of (14, 87, 317)
    "upper_roll",  # y of (13, 82, 312) minus y of (0, 37, 267)
    "shift_x",  # x of (61, 291, 0, 17)
    "protrude",  # z of (0, 13, 14, 17); negative is forward
)
UPPER = (
    "blink",  # 0 open as in the photo, 1 closed, down to -0.2 wider open
    "brow_raise",  # upward movement of both brows, e
    "brow_lower",  # downward and inward movement of both brows, e
    "gaze_x",  # iris shift to the image's right, iris radii
    "gaze_y",  # iris shift down, iris radii
    "squint",  # rise of the lower lids, e
)
POSE = (
    "yaw",  # radians, relative to the photo's pose; positive turns the nose to the image's right
    "pitch",  # radians; positive looks down
    "roll",  # radians; positive leans to the image's right
    "shift_x_head",  # head translation to the right, e
    "shift_y_head",  # head translation down, e
    "log_scale",  # natural logarithm of the head's scale against the photo
)
CHANNELS = MOUTH + UPPER + POSE
MOUTH_SLICE = slice(0, len(MOUTH))
POSE_SLICE = slice(len(MOUTH) + len(UPPER), len(CHANNELS))

MESH_POINTS = 478
REFERENCE_TOKENS = 128
REFERENCE_TOKEN_FEATURES = 12  # canonical x, y, z (e), r, g, b (0..1), and six of the family's own choice
