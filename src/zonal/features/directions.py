"""Directions w_1, …, w_m on the sphere, and how radial indices share them."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from scipy.stats import qmc

from .._typing import FloatArray
from ..polynomials import random_rotation, uniform_sphere

__all__ = ["DIRECTIONS", "best_directions", "direction_table", "direction_weights", "share"]


def share(n_components: int, n_radial: int) -> npt.NDArray[np.intp]:
    """Share columns among radial indices: the m_i differ by at most one.

    Examples
    --------
    >>> from zonal.features.directions import share
    >>> share(10, 3)
    array([4, 3, 3])
    """
    counts = np.full(n_radial, n_components // n_radial)
    counts[: n_components % n_radial] += 1
    return counts


def best_directions(dim: int) -> str:
    """Return the scheme with the smallest measured error (`benchmarks/directions.py`).

    Sobol points were the best, or level, wherever they were measured, up to d = 784; beyond 1,024
    columns the rotation that they need costs more than it is worth.
    """
    if dim == 3:
        return "fibonacci"
    return "sobol" if dim <= 1024 else "orthogonal"


def direction_table(scheme: str, n_directions: int, dim: int, seed: int) -> FloatArray:
    """Draw directions [n_directions, dim], each uniform on the sphere, from a seed alone.

    Parameters
    ----------
    scheme : {"iid", "orthogonal", "sobol", "fibonacci"}
        How the directions depend on each other.
    n_directions : int
        m.
    dim : int
        d. For d = 1 the sphere is {-1, +1} and the signs alternate, whatever the scheme.
    seed : int
        The seed.
    """
    if scheme == "fibonacci" and dim != 3:
        raise ValueError(
            f"directions='fibonacci' is a lattice on the sphere of three dimensions, but X has "
            f"{dim} columns: use 'sobol', 'orthogonal', 'iid' or 'auto'."
        )
    rng = np.random.default_rng(seed)
    if dim == 1:
        signs = np.where(np.arange(n_directions) % 2 == rng.integers(2), 1.0, -1.0)
        return signs[:, None]
    return DIRECTIONS[scheme](n_directions, dim, rng)


def direction_weights(directions: FloatArray) -> FloatArray:
    """Return weights of directions that sum to one: equal, unless d = 1.

    There each sign gets half of the weight, which makes the features exact from two on.
    """
    n_directions, dim = directions.shape
    if dim > 1 or n_directions == 1:
        return np.full(n_directions, 1 / n_directions)
    positive = directions[:, 0] > 0
    return np.where(positive, 0.5 / positive.sum(), 0.5 / (~positive).sum())


def _orthogonal(n_directions: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Draw blocks of d orthonormal directions, each block Haar-distributed."""
    starts = range(0, n_directions, dim)
    return np.concatenate(
        [random_rotation(dim, rng, min(dim, n_directions - start)) for start in starts]
    )


def _sobol(n_directions: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Map scrambled Sobol points to the sphere, randomly rotated."""
    engine = qmc.Sobol(dim if dim > 3 else dim - 1, scramble=True, rng=rng)
    cube = engine.random_base2(math.ceil(math.log2(max(n_directions, 2))))[:n_directions]
    if dim == 2:
        points = _on_circle(cube[:, 0])
    elif dim == 3:
        points = _on_sphere(2 * cube[:, 0] - 1, cube[:, 1])
    else:
        gaussian = ndtri(np.clip(cube, 1e-12, 1 - 1e-12))
        points = gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True)
    return points @ random_rotation(dim, rng)


def _fibonacci(n_directions: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Return a Fibonacci lattice on the sphere in three dimensions, randomly rotated.

    Heights at equal areas, turned by the golden ratio from one point to the next.
    """
    index = np.arange(n_directions, dtype=np.float64)
    height = 1 - (2 * index + 1) / n_directions
    golden = (math.sqrt(5) - 1) / 2
    return _on_sphere(height, golden * index) @ random_rotation(dim, rng)


def _on_circle(turn: FloatArray) -> FloatArray:
    return np.column_stack([np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)])


def _on_sphere(height: FloatArray, turn: FloatArray) -> FloatArray:
    circle = np.sqrt(1 - np.square(height))[:, None] * _on_circle(turn)
    return np.column_stack([circle, height])


DIRECTIONS: dict[str, Callable[[int, int, np.random.Generator], FloatArray]] = {
    "iid": uniform_sphere,
    "orthogonal": _orthogonal,
    "sobol": _sobol,
    "fibonacci": _fibonacci,
}
