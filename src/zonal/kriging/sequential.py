r"""The joint posterior of a model at many places, one place after the other.

Places come in a random order, and each is conditioned on the rows near it *and* on the places near
it that came before (Vecchia's approximation of the posterior). With b the kriging weights of all
these, the deviations w from the posterior mean are

.. math::

    w_i = \sum_{\text{earlier}} b_{ik} w_k
    + c_i\, \delta\mu + \zeta_i^\top \delta\beta + \sqrt{\sigma^2 v_i}\; \epsilon_i,
    \qquad \zeta_i = z_i - \sum_j b_{ij} z_j, \quad c_i = 1 - \sum_j b_{ij},

where j runs over rows and earlier places, δμ and δβ are drawn from the posterior of mean and
coefficients, and ε is white. So w is a linear map of white numbers, :math:`w = (I - B)^{-1}(\dots)`
with B strictly lower triangular and sparse: a draw is one forward substitution, and the variance of
a weighted sum of places one backward substitution. The weights do not depend on targets, so that
all draws share them. With all rows and places as neighbours everything is exact. The mean is that
of predictions, each from its nearest rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit

from .._typing import Array, FloatArray
from ..engines.correlation import FARTHEST
from ..rows.threads import ordered_map
from .joint import Features, Joint
from .neighbors import Indices, packed
from .numerics import DRAWN_COLUMNS, PREDICTED_ROWS
from .process import LocalProcess
from .whitening import spatial_order, subtract_neighbors

__all__ = ["Sequence"]


@dataclass(frozen=True)
class Sequence:
    """Places in a random order, each with its weights on rows and on earlier places.

    Attributes
    ----------
    joint : Joint
        The fitted model.
    process : LocalProcess
        Its process, at the rows of the fit and then, without noise, at the places.
    neighbors : ndarray of shape (n, m + k)
        Numbers of rows and places in the order of `process`, -1 at the end for none.
    weights : ndarray of shape (n, m + k)
        b.
    variance : ndarray of shape (n,)
        v, over σ².
    """

    joint: Joint
    process: LocalProcess
    neighbors: Indices
    weights: FloatArray
    variance: FloatArray

    @classmethod
    def of(cls, joint: Joint, places: Array) -> "Sequence":
        """Find neighbours and weights of places.

        Parameters
        ----------
        joint : Joint
        places : ndarray of shape (n, d)
            Distinct, in random order. Each is conditioned on as many earlier places as rows.
        """
        known = joint.process
        n_rows = len(known.rows)
        weight = np.concatenate([known.weight, np.full(len(places), np.inf)])  # of no noise
        process = known.observed_at(np.vstack([known.rows, places]), weight)
        asked = known.observed_at(places, weight[n_rows:])
        for one in (process, asked):
            np.clip(one.points, -FARTHEST, FARTHEST, out=one.points)
        earlier = asked.earlier()
        earlier = np.where(earlier >= 0, earlier + np.int32(n_rows), earlier)
        neighbors = packed(np.column_stack([known.near(places), earlier]))
        with process.kept_features():
            found = process.at(places, neighbors)
        return cls(joint, process, *found)

    def __len__(self) -> int:
        return len(self.variance)

    @property
    def n_rows(self) -> int:
        """The number of rows of the fit, after which the places follow."""
        return len(self.process.rows) - len(self)

    @property
    def n_common(self) -> int:
        """The number of white numbers that all places share: one for μ, and one a feature."""
        return 1 + len(self.joint.found.coef)

    def deviation(self, features: Features, common: FloatArray, own: FloatArray) -> FloatArray:
        """Return deviations from the mean over σ, of white numbers.

        Parameters
        ----------
        features : callable
        common : ndarray of shape (1 + D, s)
            Those of mean and coefficients.
        own : ndarray of shape (n, s)
            Those of the places; overwritten by what is returned.
        """
        own *= np.sqrt(self.variance)[:, None]

        def add(part: Indices) -> None:
            own[part] += self._common(features, part) @ common

        for _ in ordered_map(add, self._blocks()):
            pass
        self._substitute(_forward, own)
        return own

    def roots(self, features: Features, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the linear map from white numbers to weighted sums over the places, over σ.

        Parameters
        ----------
        features : callable
        sums : ndarray of shape (n, r)
            Weights of each place in r sums; overwritten.

        Returns
        -------
        common : ndarray of shape (r, 1 + D)
        own : ndarray of shape (n, r)
            The covariance of the sums is common commonᵀ + ownᵀ own, times σ².
        """
        self._substitute(_backward, sums)
        total = np.zeros((sums.shape[1], self.n_common))

        def part_of(part: Indices) -> FloatArray:
            return np.asarray(sums[part].T @ self._common(features, part))

        for found in ordered_map(part_of, self._blocks()):
            total += found
        sums *= np.sqrt(self.variance)[:, None]
        return total, sums

    def _blocks(self) -> Iterator[Indices]:
        """Yield the numbers of places near each other, which share their neighbours."""
        order = spatial_order(self.process.points[self.n_rows :])
        for start in range(0, len(self), PREDICTED_ROWS):
            yield order[start : start + PREDICTED_ROWS].astype(np.int32)

    def _common(self, features: Features, part: Indices) -> FloatArray:
        """Return what white numbers of mean and coefficients are multiplied with: [b, 1 + D]."""
        rows, found = self.process.rows, self.joint.found
        own = np.array(features(rows[self.n_rows + part]), np.float64)
        rest = 1 - self.weights[part].sum(axis=1)
        if own.shape[1]:
            support, where = np.unique(self.neighbors[part], return_inverse=True)
            lost = int(support[0] < 0)  # -1, for none
            near = np.asarray(features(rows[support[lost:]]), np.float64)
            local = (where.reshape(self.neighbors[part].shape) - lost).astype(np.int32)
            subtract_neighbors(near, local, self.weights[part], own)
        level = np.sqrt(found.mean_variance) * (rest - own @ found.mean_pull)
        return np.column_stack([level, own @ found.root])

    def _substitute(self, substitution: object, values: FloatArray) -> None:
        """Solve with I - B, or its transpose, in place, for all columns of values [n, s]."""

        def run(first: int) -> None:
            part = np.ascontiguousarray(values[:, first : first + DRAWN_COLUMNS])
            substitution(self.neighbors, self.weights, self.n_rows, part)  # type: ignore[operator]
            values[:, first : first + DRAWN_COLUMNS] = part

        for _ in ordered_map(run, range(0, values.shape[1], DRAWN_COLUMNS)):
            pass


@njit(nogil=True, cache=True)
def _forward(neighbors, weights, n_rows, values):  # type: ignore[no-untyped-def]
    """IN: neighbours, of which those from `n_rows` on are places. OUT: (I - B)⁻¹ values."""
    for i in range(len(values)):
        for j in range(neighbors.shape[1]):
            place = neighbors[i, j] - n_rows
            if place >= 0:
                for s in range(values.shape[1]):
                    values[i, s] += weights[i, j] * values[place, s]


@njit(nogil=True, cache=True)
def _backward(neighbors, weights, n_rows, values):  # type: ignore[no-untyped-def]
    """IN: as in `_forward`. OUT: (I - B)⁻ᵀ values."""
    for i in range(len(values) - 1, -1, -1):
        for j in range(neighbors.shape[1]):
            place = neighbors[i, j] - n_rows
            if place >= 0:
                for s in range(values.shape[1]):
                    values[place, s] += weights[i, j] * values[i, s]
