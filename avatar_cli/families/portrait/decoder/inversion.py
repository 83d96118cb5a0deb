"""Inversion of a forward displacement field on a coarse grid."""

import numpy as np
from numpy.typing import NDArray

from avatar_cli.families.portrait.decoder.sampling import sample_planes

_MIN_DETERMINANT = 0.2
_MAX_STEP = np.float32(2.5)  # grid cells
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
    columns, lines = _node_indices(*forward.shape[:2])
    target_x, target_y = columns[rows], lines[rows]
    field = forward * np.float32(1.0 / step)
    inverse_jacobian = _inverse_jacobian(field)
    # x and y in planes of their own: numpy is several times slower on pairs.
    start = sample_planes(field, target_x - field[rows, :, 0], target_y - field[rows, :, 1])
    x, y = target_x - start[..., 0], target_y - start[..., 1]
    for _ in range(iterations):
        moved = sample_planes(field, x, y)
        residual_x = x + moved[..., 0] - target_x
        residual_y = y + moved[..., 1] - target_y
        inverse = sample_planes(inverse_jacobian, x, y)
        newton_x = inverse[..., 0] * residual_x + inverse[..., 2] * residual_y
        newton_y = inverse[..., 1] * residual_x + inverse[..., 3] * residual_y
        x -= _bounded(newton_x)
        y -= _bounded(newton_y)
        if max(_largest(newton_x), _largest(newton_y)) < _CONVERGED:
            break
    return np.stack([target_x - x, target_y - y], axis=-1) * np.float32(step)


def _node_indices(rows: int, columns: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Column and row of every node [rows, columns]."""
    x = np.broadcast_to(np.arange(columns, dtype=np.float32), (rows, columns))
    y = np.broadcast_to(np.arange(rows, dtype=np.float32)[:, None], (rows, columns))
    return x, y


def _bounded(newton: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.maximum(np.minimum(newton, _MAX_STEP), -_MAX_STEP)


def _largest(newton: NDArray[np.float32]) -> np.float32:
    return max(newton.max(), -newton.min())


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
