"""Inversion of a forward displacement field on a coarse grid."""

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.sampling import sample

_MIN_DETERMINANT = 0.2
_MAX_STEP = 2.5  # grid cells
_CONVERGED = 2e-3  # grid cells; the next step would be far smaller still


def invert_displacement(
    forward: NDArray[np.float32], step: float, iterations: int, rows: slice = slice(None)
) -> NDArray[np.float32]:
    """Backward displacement b with (x - b(x)) + F(x - b(x)) = x, at the grid's own nodes.

    Newton's method with the Jacobian of F: a lid or lip stretches the skin beside it by more than two, where
    the usual fixed point b = F(x - b) diverges. Where F folds (determinant near 0) the step is bounded, and
    such places lie under the mouth interior or the eyeball.

    Args:
        forward: F [rows, columns, 2], px.
        step: distance of the nodes, px.
        iterations: Newton steps at most; 4 suffice for smooth fields, 6 for the sheets of a slit.
        rows: Rows of nodes x for which b is wanted.

    Returns:
        b [rows asked for, columns, 2], px; exactly 0 where F is 0 everywhere.
    """
    target = _node_indices(*forward.shape[:2])[rows]
    field = forward * np.float32(1.0 / step)
    inverse_jacobian = _inverse_jacobian(field)
    position = target - sample(field, target - field[rows])
    for _ in range(iterations):
        residual = position + sample(field, position) - target
        inverse = sample(inverse_jacobian, position)
        newton = inverse[..., 0:2] * residual[..., 0:1] + inverse[..., 2:4] * residual[..., 1:2]
        position = position - np.clip(newton, -_MAX_STEP, _MAX_STEP)
        if np.abs(newton).max() < _CONVERGED:
            break
    return (target - position) * np.float32(step)


def _node_indices(rows: int, columns: int) -> NDArray[np.float32]:
    indices = np.empty((rows, columns, 2), np.float32)
    indices[..., 0] = np.arange(columns, dtype=np.float32)
    indices[..., 1] = np.arange(rows, dtype=np.float32)[:, None]
    return indices


def _inverse_jacobian(field: NDArray[np.float32]) -> NDArray[np.float32]:
    """Columns of inverse(I + grad F): [..., 0:2] multiplies the x residual, [..., 2:4] the y residual."""
    along_x = np.empty_like(field)
    along_x[:, 1:-1] = (field[:, 2:] - field[:, :-2]) * np.float32(0.5)
    along_x[:, 0] = field[:, 1] - field[:, 0]
    along_x[:, -1] = field[:, -1] - field[:, -2]
    along_y = np.empty_like(field)
    along_y[1:-1] = (field[2:] - field[:-2]) * np.float32(0.5)
    along_y[0] = field[1] - field[0]
    along_y[-1] = field[-1] - field[-2]
    a = along_x[..., 0] + 1
    b = along_y[..., 0]
    c = along_x[..., 1]
    d = along_y[..., 1] + 1
    scale = 1 / np.maximum(a * d - b * c, np.float32(_MIN_DETERMINANT))
    inverse = np.empty((*field.shape[:2], 4), np.float32)
    inverse[..., 0] = d * scale
    inverse[..., 1] = -c * scale
    inverse[..., 2] = -b * scale
    inverse[..., 3] = a * scale
    return inverse
