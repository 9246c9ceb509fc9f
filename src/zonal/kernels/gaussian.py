"""The Gaussian kernel, and the median rule for its bandwidth."""

from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from .._typing import Array, FloatArray
from .._validation import check_positive
from .bandwidth import median_distance
from .base import Kernel, as_rows
from .dot_product import exponential_term
from .terms import Term

__all__ = ["Gaussian"]


class Gaussian(Kernel):
    r"""Gaussian kernel, :math:`k(x,y) = e^{-\|x-y\|^2 / (2 \sigma^2)}`.

    The paper's g(x, y) has σ = 1; scikit-learn's ``gamma`` is 1 / (2σ²).

    Parameters
    ----------
    bandwidth : float or "median", default=1.0
        σ. ``"median"`` is the median distance between different rows, found in `fit` of whatever
        uses the kernel (or by ``kernel.resolve(X)``).

    Examples
    --------
    >>> import zonal
    >>> zonal.Gaussian(bandwidth=2.0)([[0.0, 0.0]], [[0.0, 2.0]]).round(6)
    array([[0.606531]])
    """

    shift_invariant = True

    def __init__(self, bandwidth: float | str = 1.0) -> None:
        self.bandwidth = bandwidth

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range."""
        if isinstance(self.bandwidth, str) and self.bandwidth == "median":
            raise ValueError(
                'Gaussian(bandwidth="median") has no bandwidth yet: it is found in fit. To use '
                "the kernel directly, call kernel.resolve(X) first or give a number."
            )
        check_positive("bandwidth", self.bandwidth, "Gaussian", extra=', or "median"')

    def resolve(self, X: Any, sample_weight: Any = None) -> Self:
        """A copy with a bandwidth that is a number: the median distance if "median" was given."""
        kernel = clone(self)
        if isinstance(self.bandwidth, str) and self.bandwidth == "median":
            kernel.bandwidth = median_distance(as_rows(X), sample_weight)
        kernel.check()
        return kernel

    def terms(self) -> list[Term]:
        """exp(⟨x, y⟩/σ²) with the radial factor exp(-‖x‖²/(2σ²)) for each point."""
        self.check()
        sigma = float(self.bandwidth)
        return [exponential_term(sigma, 1 / (2 * sigma**2))]

    def _matrix(self, rows: Any, others: Any) -> Array:
        return np.asarray(rbf_kernel(rows, others, gamma=1 / (2 * float(self.bandwidth) ** 2)))

    def _diag(self, norms: FloatArray) -> FloatArray:
        return np.ones_like(norms)
