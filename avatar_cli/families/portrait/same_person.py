"""Whether two sights of a face are of one person in one light, told by the pattern of light and dark on it.

No network that recognises people is needed for it: brows, nostrils, beard, hairline, what is seen beside the
face and the shading of cheeks differ more between people than a turn of the head or another exposure changes
them. Lips and lids move too much to tell anything.
"""

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.landmarks import LEFT_EYE, LIPS, RIGHT_EYE
from avatar_cli.families.portrait.tokens import TOKEN_POINTS

# One person at another moment, exposure, white balance, size or inclination reaches 1.7, two differ by 2.4.
_SAME = 2.0
# Each of these makes 1.
_PATTERN, _COLOUR = 0.10, 0.16
_DARKEST = 0.05  # keeps logarithms of dark pixels from counting for much
_MOVING = {*LIPS, *LEFT_EYE.upper_lid, *LEFT_EYE.lower_lid, *RIGHT_EYE.upper_lid, *RIGHT_EYE.lower_lid}
_STILL = [index for index, point in enumerate(TOKEN_POINTS) if point not in _MOVING]


def is_same_person(colours: NDArray, other: NDArray) -> bool:
    """Whether colours [128, 3], 0..1, of the token points are those of one person.

    Both are to be taken from frames that show the face from the front, medians over several where there are.
    """
    return unlikeness(colours, other) < _SAME


def unlikeness(colours: NDArray, other: NDArray) -> float:
    """How different two faces are, from 0 on: by the pattern of their lightness and by their colours.

    The pattern is compared by its correlation, the colours by the root of the mean square of the logarithm of
    their ratio, both after what brightens or tints the whole face is taken away.
    """
    first, second = colours[_STILL], other[_STILL]
    correlation = float(np.corrcoef(first.mean(axis=1), second.mean(axis=1))[0, 1])
    ratios = np.log(first + _DARKEST) - np.log(second + _DARKEST)
    ratios -= np.median(ratios, axis=0)
    return (1 - correlation) / _PATTERN + float(np.sqrt((ratios**2).mean())) / _COLOUR
