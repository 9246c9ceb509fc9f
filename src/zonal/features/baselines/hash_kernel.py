"""The product kernels that weighted hashing estimates."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import gamma
from sklearn.base import BaseEstimator

from ..._typing import Array, FloatArray
from ..._validation import is_sparse
from ...rows.threads import map_rows

__all__ = ["BUCKETS", "HashKernel"]

#: Shapes of a bucket, and the shape parameter of the Gamma distribution of its widths.
BUCKETS = {"box": 2.0, "tent": 4.0}
# The tabulated function of one column is zero beyond, and linear between so many points.
LARGEST, N_POINTS = 60.0, 6001


class HashKernel(BaseEstimator):
    r"""Product over the columns of one function of the difference.

    .. math::

        k(x, y) = \prod_l \kappa\Big(\frac{|x_l - y_l|}{\ell_l}\Big), \qquad
        \kappa(t) = \int p(w)\, (f \star f)(t / w)\, dw,

    with f the shape of a bucket and p the density of its width. A box with
    :math:`p(w) = w e^{-w}` has :math:`\kappa(t) = e^{-t}`: the Laplace kernel of the sum of
    absolute differences. A tent is smooth at zero.

    Parameters
    ----------
    length_scale : float or array-like of shape (d,), default=1.0
        ℓ.
    bucket : {"box", "tent"}, default="box"
        f.

    Examples
    --------
    >>> from zonal.features.baselines.hash_kernel import HashKernel
    >>> HashKernel(2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(6)
    array([[0.367879]])
    """

    def __init__(self, length_scale: npt.ArrayLike = 1.0, bucket: str = "box") -> None:
        self.length_scale = length_scale
        self.bucket = bucket

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """Return the matrix of values: [n, m]."""
        rows = self._scaled(X)
        others = rows if Y is None else self._scaled(Y)
        out = np.ones((len(rows), len(others)))

        def block(part: FloatArray, out: Array) -> None:
            out[:] = 1
            for column in range(part.shape[1]):
                gaps = np.abs(part[:, column, None] - others[:, column])
                out *= np.exp(-gaps) if self.bucket == "box" else self.one_column(gaps)

        return map_rows(block, rows, out, 3 * len(others))

    def one_column(self, t: FloatArray) -> FloatArray:
        """Return κ(t)."""
        points, values = _table(self.bucket)
        return np.asarray(np.interp(t, points, values, right=0.0))

    def diag(self, X: Any) -> Array:
        """Return k(x, x) = 1."""
        return np.ones(np.shape(X)[0])

    def _scaled(self, X: Any) -> FloatArray:
        rows = np.asarray(X.toarray() if is_sparse(X) else X, np.float64)
        return rows / np.asarray(self.length_scale, np.float64)


@lru_cache(maxsize=2)
def _table(bucket: str) -> tuple[FloatArray, FloatArray]:
    """κ at points, by quadrature over the widths."""
    points = np.linspace(0.0, LARGEST, N_POINTS)
    steps = (np.arange(4000) + 0.5) / 4000
    widths = gamma.ppf(steps, BUCKETS[bucket])  # each stands for the same probability
    values = np.array([np.mean(_overlap(bucket, t / widths)) for t in points])
    return points, values


def _overlap(bucket: str, s: FloatArray) -> FloatArray:
    """(f ⋆ f)(s), of unit integral of f²: the tent's is a cubic B-spline, of half its width."""
    s = np.minimum(np.abs(s), 1.0)
    if bucket == "box":
        return 1 - s
    u = 2 * s
    v = 2 - u
    # Products: the power of an array takes ten times as long.
    return np.where(u < 1, 1 - u * u * (1.5 - 0.75 * u), v * v * v / 4)
