r"""How many iterations conjugate gradients will take, from the spectrum that features leave.

If features are an (ε, α)-spectral approximation (`zonal.theory.spectral_error`), the
eigenvalues of the preconditioned matrix lie in [1 - ε, 1 + ε], and its condition number κ is at
most (1 + ε)/(1 - ε) (Avron, Clarkson and Woodruff 2017). Chebyshev's bound then needs

.. math:: \log\frac{2\sqrt\kappa}{tol} \Big/ \log\frac{\sqrt\kappa+1}{\sqrt\kappa-1}

iterations for a residual below tol, in the norm of the preconditioner.
"""

import math
from dataclasses import dataclass

import numpy as np

from .._typing import Array, FloatArray
from .krylov import krylov
from .systems import AllRows

__all__ = ["Forecast", "chebyshev_iterations", "forecast"]

# Products with the kernel spent on the forecast, and vectors in each.
PASSES, PROBES = 3, 6


@dataclass(frozen=True)
class Forecast:
    """What is known before the iterations.

    Attributes
    ----------
    low, high : float
        The extreme eigenvalues of the preconditioned matrix, from inside: so far as a few
        products show them.
    """

    low: float
    high: float

    @property
    def spectral_error(self) -> float:
        """The ε of the features at the smallest α."""
        return max(1 - self.low, self.high - 1)

    @property
    def condition(self) -> float:
        """The condition number κ."""
        return self.high / self.low

    def iterations(self, tol: float) -> int:
        """Return Chebyshev's bound."""
        return chebyshev_iterations(self.condition, tol)


def chebyshev_iterations(condition: float, tol: float) -> int:
    """Return the iterations that a condition number asks for.

    Examples
    --------
    >>> from zonal.solvers.forecast import chebyshev_iterations
    >>> chebyshev_iterations(3.0, 1e-4)
    8
    """
    root = math.sqrt(max(condition, 1.0))
    if root < 1 + 1e-9:
        return 1
    return max(1, math.ceil(math.log(2 * root / tol) / math.log((root + 1) / (root - 1))))


def forecast(system: AllRows, n_rows: int, seed: int) -> Forecast:
    """Estimate the extreme eigenvalues for the smallest α, by block Krylov iteration."""
    smallest = int(np.argmin(system.alphas))
    alpha = float(system.alphas[smallest])
    low_rank = system.low_rank

    def root(vectors: FloatArray) -> FloatArray:
        if low_rank is None:
            return vectors / math.sqrt(alpha)
        return low_rank.inverse_root(vectors, alpha)

    def matrix(vectors: FloatArray) -> FloatArray:
        columns = np.full(vectors.shape[1], smallest)
        return root(system.product(root(vectors), columns, False))

    def extremes(values: Array) -> Array:
        return ((values == values.min()) | (values == values.max())).astype(np.float64)

    start = np.random.default_rng(seed).standard_normal((n_rows, min(PROBES, n_rows)))
    found = krylov(matrix, start, extremes, count=2, tol=1e-2, max_passes=PASSES)
    low, high = float(found.values.min()), float(found.values.max())
    # Where the features are zero the eigenvalues are at least 1, and close to it somewhere; a few
    # passes do not find them. Rounding can take others below the least that there can be.
    return Forecast(min(max(low, 1e-7), 1.0), max(high, 1.0))
