r"""How well features keep the cost of projections, which k-means and PCA minimise.

The worst rank-r projection is a trace-ratio problem. For Y = I - P,

.. math::

    \rho_{\max} = \max_Y \frac{\mathrm{Tr}(Y Z Z^\top Y)}{\mathrm{Tr}(Y K Y)},

and Dinkelbach's iteration solves it exactly: for a trial ρ, the best Y drops the r lowest
eigenvectors of :math:`Z Z^\top - \rho K`, and its ratio is the next ρ. The ratios increase,
superlinearly, to the maximum; the minimum is the same with the r highest dropped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from .._typing import Array
from .._validation import check_choice, check_count
from ..solvers.krylov import Apply, krylov
from ..solvers.low_rank import ShiftedLowRank
from .estimate import Estimate
from .inputs import as_kernel_and_rows, check_matrix_free, kernel_matrix
from .kernel_rows import KernelRows
from .spectral import feature_matrix
from .statistical import METHODS

__all__ = ["projection_cost_error"]

MAX_ITERATIONS = 100
# Relative residual of the eigenvectors of "sampled", and the passes that they may take.
TOL = 1e-3
MAX_PASSES = 40


def projection_cost_error(
    K: Any,
    Z: Any,
    rank: int,
    *,
    X: Any = None,
    method: str = "exact",
    random_state: Any = None,
) -> Estimate:
    r"""Return smallest ε with which features preserve the cost of every rank-r projection.

    .. math::

        (1-\varepsilon)\, \mathrm{Tr}(K - PKP) \le \mathrm{Tr}(ZZ^\top - P Z Z^\top P) \le
        (1+\varepsilon)\, \mathrm{Tr}(K - PKP) \quad \text{for all } P

    Parameters
    ----------
    K : array-like of shape (n, n), Kernel or str
        The kernel matrix; or a kernel, with rows X.
    Z : array-like of shape (n, D) or features object
        The features of the rows; or a fitted map, with rows X.
    rank : int
        The rank r of the projections, below the rank of K: a projection of cost zero has no
        relative error.
    X : {array-like, CSR matrix} of shape (n, d), optional
        Rows, if K is a kernel.
    method : {"exact", "sampled"}, default="exact"
        How the eigenvectors of :math:`Z Z^\top - \rho K` are found: from the n × n matrix, or by
        block Krylov iteration with products by the exact kernel in blocks of rows.
    random_state : int, RandomState instance or None, default=None
        The seed of ``"sampled"``.

    Returns
    -------
    Estimate
        A float. For ``"sampled"`` it is the error of a projection that was found, so never above
        the worst, and its attribute ``error`` is r times the residual over that projection's cost.

    Examples
    --------
    The worst P takes an axis on which Z Zᵀ and K agree:

    >>> import numpy as np
    >>> import zonal
    >>> K, Z = np.diag([1.0, 1.0, 1.0]), np.diag([1.0, 1.0, 2.0])
    >>> zonal.theory.projection_cost_error(K, Z, rank=1)
    1.5
    """
    owner = "projection_cost_error"
    check_count("rank", rank, owner)
    check_choice("method", method, METHODS, owner)
    if method == "exact":
        matrix, values = kernel_matrix(K, X, owner)
        columns = np.asarray(feature_matrix(Z, X, len(matrix), owner), np.float64)
        known = int((values > len(values) * np.finfo(float).eps * values[-1]).sum())
        if rank >= known:
            raise ValueError(
                f"rank={rank} of projection_cost_error must be below the rank {known} of K: a "
                "projection on all of its range costs nothing, and nothing is a share of that."
            )
        problem = _exact(columns @ columns.T, matrix, rank)
    else:
        check_matrix_free(K, owner)
        kernel, rows = as_kernel_and_rows(K, X, owner)
        exact = KernelRows(kernel, rows)
        columns = feature_matrix(Z, rows, exact.n_rows, owner)
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        problem = _sampled(ShiftedLowRank(columns, 1.0), exact, rank, seed)
    highest, lowest = problem.extreme(1), problem.extreme(-1)
    return max(Estimate(highest - 1, highest.error), Estimate(1 + lowest, lowest.error))


@dataclass(frozen=True)
class _TraceRatio:
    """Extremes of Tr(Y A) / Tr(Y K) over projections Y = I - V Vᵀ, V of a given rank.

    Attributes
    ----------
    a, k : callable
        Products V to A V and K V.
    trace_a, trace_k : float
    lowest : callable
        (sign, ρ) to the lowest eigenvectors V of sign A - ρ K, and the error of their eigenvalues
        summed.
    tol : float
        Increases of the ratio below this share are none.
    """

    a: Apply
    k: Apply
    trace_a: float
    trace_k: float
    lowest: Callable[[int, float], tuple[Array, float]]
    tol: float

    def extreme(self, sign: int) -> Estimate:
        """Return the maximum for sign 1, minus the minimum for sign -1."""
        ratio = self._better(sign, sign * self.trace_a / self.trace_k)
        for _ in range(MAX_ITERATIONS):
            better = self._better(sign, ratio)
            if better - ratio <= self.tol * abs(ratio):
                return max(better, ratio)
            ratio = better
        raise ArithmeticError(
            f"Dinkelbach's iteration did not settle in {MAX_ITERATIONS} steps; the matrices may "
            "hold numbers of very different size. Scale K and Z."
        )

    def _better(self, sign: int, ratio: float) -> Estimate:
        """Return the ratio of the Y that is best for a trial ratio."""
        V, error = self.lowest(sign, ratio)
        cost = self.trace_k - float(np.einsum("ni,ni->", V, self.k(V)))
        kept = self.trace_a - float(np.einsum("ni,ni->", V, self.a(V)))
        return Estimate(sign * kept / cost, error / cost)


def _exact(A: Array, K: Array, rank: int) -> _TraceRatio:
    def lowest(sign: int, ratio: float) -> tuple[Array, float]:
        return eigh(sign * A - ratio * K, subset_by_index=[0, rank - 1])[1], 0.0

    return _TraceRatio(
        A.__matmul__, K.__matmul__, float(np.trace(A)), float(np.trace(K)), lowest, 1e-13
    )


def _sampled(A: ShiftedLowRank, K: KernelRows, rank: int, seed: int) -> _TraceRatio:
    width = min(rank + 8, K.n_rows)
    start = np.random.default_rng(seed).standard_normal((K.n_rows, width))

    def lowest(sign: int, ratio: float) -> tuple[Array, float]:
        found = krylov(
            lambda V: sign * A.low_rank(V) - ratio * (K @ V),
            start,
            np.negative,
            count=rank,
            tol=TOL,
            max_passes=MAX_PASSES,
        )
        return found.vectors, rank * found.residual

    return _TraceRatio(A.low_rank, K.__matmul__, A.trace(), K.trace(), lowest, TOL)
