"""Feature maps beside RBFSampler."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import zonal

from ..measure import seconds
from .data import DEGREE, WIDTH, N, gegenbauer, peer, points
from .limits import Limits
from .line import Line

__all__ = ["transforms"]


def transforms(limits: Limits) -> Iterator[Line]:
    """`transform` of 64,800 rows into 1,024 columns."""
    radial = zonal.GegenbauerFeatures(
        zonal.Gaussian(1.0), WIDTH, max_degree=12, n_radial=2, random_state=0
    )
    # Clenshaw's recurrence takes two multiply-adds a degree, the projection one a dimension (and
    # with s radial functions, on 1/s of the directions).
    yield _line(
        limits,
        "GegenbauerFeatures",
        f"degree {DEGREE}, s = 1",
        gegenbauer(),
        3,
        2 * DEGREE + 3,
        0.6,
    )
    yield _line(limits, "GegenbauerFeatures", "degree 12, s = 2", radial, 9, 2 * 12 + 9 / 2, 1.2)
    # A harmonic is its recurrence's two multiply-adds and its scale.
    for dim, kernel, goal in (
        (3, zonal.Gaussian(0.15), 0.30),
        (4, zonal.Gaussian(1.0), None),
        (9, zonal.Gaussian(1.0), 0.7),
    ):
        features = zonal.HarmonicFeatures(kernel, WIDTH)
        yield _line(limits, "HarmonicFeatures", kernel, features, dim, 3, goal)


def _line(
    limits: Limits,
    name: str,
    how: Any,
    features: Any,
    dim: int,
    multiply_adds: float,
    goal: float | None,
) -> Line:
    X = points(dim)
    ours, other = features.fit(X), peer().fit(X)
    used = np.ones((N, WIDTH), np.float32)
    mine, warm, theirs = seconds(
        lambda: ours.transform(X),
        lambda: ours.transform_into(X, used),
        lambda: other.transform(X),
        repeats=7,
    )
    ideal, bound = limits.ideal(multiply_adds * N * WIDTH, 4 * N * WIDTH)
    fresh = 1e3 * max(mine - warm, 0.0)
    return Line(
        f"{name}.transform, d = {dim}, {how}",
        "RBFSampler.transform",
        mine,
        theirs,
        goal,
        ideal,
        bound,
        f"{fresh:.0f} ms are fresh pages of the output, which transform_into does without; the "
        f"other {1e3 * (warm - ideal):.0f} ms recurrences and radial functions beyond the bound",
    )
