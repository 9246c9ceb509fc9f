"""Draws of a model at rows: white numbers by seed, and what a local part makes of them.

Draw number s of a seed has a stream of random numbers of its own, and rows use them in the order of
a hash of their content: a draw depends neither on how many there are, nor on blocks, threads or the
order of the rows, and equal rows have equal values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..kriging.joint import Features, Joint
from ..kriging.sequential import Sequence
from ..rows.block import take
from ..rows.copies import content_hash
from .local_solution import LocalSolution

__all__ = ["Places", "draw_joint", "draw_local", "normals", "totals_local"]

# Numbers of all draws that are held at a time, 256 MB.
NUMBERS = 1 << 25


@dataclass(frozen=True)
class Places:
    """The distinct rows among some, in an order that depends on their content alone.

    Attributes
    ----------
    rows : array, CSR matrix or frame of shape (n, d)
    index : ndarray of int
        The place of each row given.
    """

    rows: Any
    index: npt.NDArray[np.intp]

    @classmethod
    def of(cls, rows: Any) -> "Places":
        """Find them by a hash, which makes their order as good as random."""
        _, first, index = np.unique(content_hash(rows), return_index=True, return_inverse=True)
        return cls(take(rows, first), index)

    def __len__(self) -> int:
        return int(self.rows.shape[0])


def normals(seed: int, draw: int, part: int, shape: tuple[int, ...]) -> FloatArray:
    """Return the white numbers of one draw, for one part of what is drawn."""
    return np.random.default_rng([seed, draw, part]).standard_normal(shape)


def draw_local(
    part: LocalSolution, features: Features | None, rows: Array, n_samples: int, seed: int
) -> FloatArray:
    """Draw the latent functions of a model with a local part at rows: [n, t, n_samples]."""
    places = Places.of(rows)
    center, _ = part.predict(places.rows, features)
    return draw_joint(part.joint, features, places.rows, center, n_samples, seed)[places.index]


def draw_joint(
    joint: Joint,
    features: Features | None,
    rows: Array,
    center: FloatArray,
    n_samples: int,
    seed: int,
) -> FloatArray:
    """Draw functions with the means `center` [n, t] at distinct rows: [n, t, n_samples]."""
    found, scale = Sequence.of(joint, rows), np.sqrt(joint.found.scale)
    features = features or joint.process.features
    n, n_targets = center.shape
    out = np.empty((n, n_targets, n_samples))
    step = max(1, NUMBERS // (n * n_targets))
    for start in range(0, n_samples, step):
        draws = range(start, min(start + step, n_samples))
        common = _columns(lambda k: normals(seed, k, 0, (found.n_common, n_targets)), draws)
        own = _columns(lambda k: normals(seed, k, 1, (n, n_targets)), draws)
        drawn = found.deviation(features, common, own).reshape(n, len(draws), n_targets)
        drawn *= scale
        drawn += center[:, None]
        out[:, :, start : start + len(draws)] = np.swapaxes(drawn, 1, 2)
    return out


def totals_local(
    part: LocalSolution, features: Features | None, rows: Array, weights: Any
) -> tuple[FloatArray, FloatArray]:
    """Return means and covariances of weighted sums of the latent functions over rows.

    Parameters
    ----------
    part, features, rows
        As in `draw_local`.
    weights : sparse array of shape (n, r)
        Of each row in each sum.

    Returns
    -------
    mean : ndarray of shape (r, t)
    covariance : ndarray of shape (r, r, t)
    """
    places = Places.of(rows)
    center, _ = part.predict(places.rows, features)
    found = Sequence.of(part.joint, places.rows)
    merged: FloatArray = np.zeros((len(places), weights.shape[1]))
    entries = weights.tocoo()
    np.add.at(merged, (places.index[entries.coords[0]], entries.coords[1]), entries.data)
    mean = np.asarray(merged.T @ center)
    common, own = found.roots(features or part.joint.process.features, merged)
    unit = common @ common.T + own.T @ own
    return mean, np.asarray(unit[:, :, None] * part.joint.found.scale)


def _columns(make: Callable[[int], FloatArray], draws: range) -> FloatArray:
    """Return numbers [k, t] of each draw side by side: [k, n_draws * t]."""
    return np.concatenate([make(draw) for draw in draws], axis=1)
