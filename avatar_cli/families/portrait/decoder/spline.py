"""Splines as linear operators: their geometry is solved once, a frame only multiplies."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating]


def smoothstep(low: float, high: float, x: FloatArray | float) -> NDArray[np.float64]:
    """3t^2 - 2t^3 of t = (x - low) / (high - low) clipped to 0..1."""
    t = np.clip((np.asarray(x, np.float64) - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


class ThinPlateSpline:
    """Smoothing thin-plate spline over scattered 2-D nodes, linear in the values at the nodes.

    Kernel r^2 log r with a first-degree polynomial (Wahba, "Spline Models for Observational Data", 1990).
    Coordinates are divided by their spread, so `smoothing` means the same at every image size.
    """

    def __init__(self, nodes: FloatArray, smoothing: float) -> None:
        """Factorise the system for `nodes` [N, 2] (px); `smoothing` 0 interpolates exactly."""
        self._centre = nodes.mean(axis=0)
        self._spread = float(nodes.std())
        self._nodes = self._normalise(nodes)
        count = len(nodes)
        system = np.zeros((count + 3, count + 3))
        system[:count, :count] = _kernel(self._nodes, self._nodes)
        system[np.arange(count), np.arange(count)] += smoothing
        system[:count, count:] = _polynomial(self._nodes)
        system[count:, :count] = system[:count, count:].T
        self._inverse = np.linalg.inv(system)[:, :count]

    def operator(self, queries: FloatArray) -> NDArray[np.float32]:
        """Matrix [Q, N] that takes values at the nodes to values at `queries` [Q, 2] (px)."""
        return (self._basis(queries) @ self._inverse).astype(np.float32)

    def evaluate(self, values: FloatArray, queries: FloatArray) -> NDArray[np.float32]:
        """Values [N, C] at the nodes carried to `queries` [Q, 2]: cheaper than `operator` for few columns."""
        return (self._basis(queries) @ (self._inverse @ values)).astype(np.float32)

    def _normalise(self, points: FloatArray) -> NDArray[np.float64]:
        return (points - self._centre) / self._spread

    def _basis(self, queries: FloatArray) -> NDArray[np.float64]:
        points = self._normalise(queries)
        return np.concatenate([_kernel(points, self._nodes), _polynomial(points)], axis=1)


def _kernel(a: FloatArray, b: FloatArray) -> NDArray[np.float64]:
    squared = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None, :] - 2.0 * (a @ b.T)
    squared = np.maximum(squared, 1e-12)
    # Single precision is enough for the logarithm and is the costly part of the set-up.
    return 0.5 * squared * np.log(squared.astype(np.float32))


def _polynomial(points: FloatArray) -> NDArray[np.float64]:
    return np.concatenate([np.ones((len(points), 1)), points], axis=1)


def natural_cubic_operator(points: int, per_segment: int) -> NDArray[np.float32]:
    """Matrix that refines a polyline of `points` knots to `per_segment` samples a segment (natural ends).

    Shape [(points - 1) * per_segment + 1, points]; knots are kept.
    """
    second = np.zeros((points, points))
    system = np.eye(points)
    for i in range(1, points - 1):
        system[i, i - 1 : i + 2] = (1.0, 4.0, 1.0)
        second[i, i - 1 : i + 2] = (6.0, -12.0, 6.0)
    curvature = np.linalg.solve(system, second)
    rows = []
    for i in range(points - 1):
        for step in range(per_segment):
            rows.append(_cubic_row(points, curvature, i, step / per_segment))
    rows.append(_cubic_row(points, curvature, points - 2, 1.0))
    return np.asarray(rows, np.float32)


def _cubic_row(points: int, curvature: FloatArray, segment: int, t: float) -> NDArray[np.float64]:
    row = np.zeros(points)
    row[segment] = 1.0 - t
    row[segment + 1] = t
    left = ((1.0 - t) ** 3 - (1.0 - t)) / 6.0
    right = (t**3 - t) / 6.0
    return row + left * curvature[segment] + right * curvature[segment + 1]
