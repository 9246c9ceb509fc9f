"""Fields drawn from known kernels, by which the rules of the split are checked.

None of these was looked at while the rules were set. What a model can know at best is what the
kernel knows from which the field was drawn.
"""

from typing import NamedTuple

import numpy as np

import zonal
from zonal.kernels import Kernel

__all__ = ["DRAWN", "Drawn", "draw"]

# Rows of a field, and places inside holes and among the rows that are asked for.
ROWS, ASKED = 2_000, 400


class Drawn(NamedTuple):
    """Rows with noise, places with the truth, and the kernel and the noise of both."""

    X: np.ndarray
    y: np.ndarray
    places: np.ndarray
    truth: np.ndarray
    kernel: Kernel
    noise: float


# Domain, ν, length scale, weight of a second kernel five times as long, noise.
DRAWN = {
    f"{domain}, ν = {nu:g}, {'two scales' if weight else 'one scale'}, noise {noise:g}": (
        domain, nu, scale, weight, noise)
    for domain, scale in (("plane", 0.1), ("sphere", 0.2))
    for nu, weight, noise in ((0.5, 0.0, 0.01), (0.5, 3.0, 0.1), (1.5, 0.0, 0.1), (1.5, 3.0, 0.01),
                              (2.5, 0.0, 0.01), (2.5, 3.0, 0.1))
}  # fmt: skip


def draw(name: str, seed: int) -> Drawn:
    """Draw a field with three round holes, exactly: by a Cholesky factor."""
    domain, nu, scale, weight, noise = DRAWN[name]
    rng = np.random.default_rng(seed)
    n = 4 * (ROWS + ASKED)
    if domain == "plane":
        rows, centers, radius = rng.random((n, 2)), rng.uniform(0.2, 0.8, (3, 2)), 0.08
    else:
        rows, centers, radius = (_on_sphere(rng, n), _on_sphere(rng, 3), 0.3)
    distance = np.min([np.linalg.norm(rows - center, axis=1) for center in centers], axis=0)
    inside, outside = rows[distance < radius], rows[distance >= radius]
    places = np.vstack([inside[: ASKED // 2], outside[ROWS : ROWS + ASKED // 2]])
    X = outside[:ROWS]
    kernel = zonal.Matern(nu, scale)
    kernel = kernel + weight * zonal.Matern(nu, 5 * scale) if weight else kernel
    both = np.vstack([X, places])
    covariance = kernel(both) + 1e-8 * np.eye(len(both))
    values = np.linalg.cholesky(covariance) @ rng.standard_normal(len(both))
    y = values[: len(X)] + np.sqrt(noise) * rng.standard_normal(len(X))
    return Drawn(X, y, places, values[len(X) :], kernel, noise)


def _on_sphere(rng: np.random.Generator, n: int) -> np.ndarray:
    rows = rng.standard_normal((n, 3))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)
