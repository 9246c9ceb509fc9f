"""The statistical dimension: how many directions of feature space the ridge leaves alive."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._validation import check_choice, check_count
from .estimate import Estimate
from .inputs import as_kernel_and_rows, check_lam, check_matrix_free, kernel_matrix
from .kernel_rows import KernelRows
from .ridge import RidgeSolver

__all__ = ["METHODS", "statistical_dimension"]

METHODS = ("exact", "sampled")


def statistical_dimension(
    K: Any,
    lam: float,
    *,
    X: Any = None,
    method: str = "exact",
    n_probes: int = 16,
    random_state: Any = None,
) -> Estimate:
    r"""Return statistical dimension, the paper's :math:`s_\lambda`.

    .. math::

        s_\lambda = \mathrm{Tr}\big(K (K + \lambda I)^{-1}\big)
                  = \sum_i \frac{\lambda_i}{\lambda_i + \lambda}

    Parameters
    ----------
    K : array-like of shape (n, n), Kernel or str
        The kernel matrix; or a kernel, with rows X.
    lam : float
        The ridge λ > 0.
    X : {array-like, CSR matrix} of shape (n, d), optional
        Rows, if K is a kernel.
    method : {"exact", "sampled"}, default="exact"
        ``"exact"``: all eigenvalues of the n × n matrix. ``"sampled"``: no n × n matrix; K must be
        a kernel. A Nyström approximation K̂ has a known dimension, and random signs z estimate
        the rest, :math:`\lambda\, \mathbb{E}\, z^\top[(\hat K+\lambda)^{-1} - (K+\lambda)^{-1}]z`,
        where conjugate gradients, preconditioned by K̂ + λ, multiply by the exact kernel in
        blocks of rows.
    n_probes : int, default=16
        The number of random vectors z of ``"sampled"``, at least 2.
    random_state : int, RandomState instance or None, default=None
        The seed of ``"sampled"``.

    Returns
    -------
    Estimate
        A float whose attribute ``error`` is its standard error: 0 for ``"exact"``.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> zonal.theory.statistical_dimension(np.diag([3.0, 1.0, 0.0]), lam=1.0)
    1.25
    >>> X = np.random.default_rng(0).standard_normal((1500, 3))
    >>> exact = zonal.theory.statistical_dimension(zonal.Gaussian(), 0.1, X=X)
    >>> sampled = zonal.theory.statistical_dimension(
    ...     zonal.Gaussian(), 0.1, X=X, method="sampled", random_state=0
    ... )
    >>> bool(abs(sampled - exact) < 5 * sampled.error)
    True
    """
    owner = "statistical_dimension"
    lam = check_lam(lam, owner)
    check_choice("method", method, METHODS, owner)
    check_count("n_probes", n_probes, owner, minimum=2)
    if method == "exact":
        values = kernel_matrix(K, X, owner)[1]
        return Estimate(float((values / (values + lam)).sum()))
    check_matrix_free(K, owner)
    kernel, rows = as_kernel_and_rows(K, X, owner)
    return _sampled(KernelRows(kernel, rows), lam, n_probes, random_state)


def _sampled(matrix: KernelRows, lam: float, n_probes: int, random_state: Any) -> Estimate:
    rng = np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    solver = RidgeSolver(matrix, lam, seed=int(rng.integers(2**31)))
    signs = rng.choice([-1.0, 1.0], (matrix.n_rows, n_probes))
    # Per probe: what the approximation's dimension lacks.
    difference = solver.approximation.solve(signs) - solver.solve(signs)
    rest = lam * np.einsum("np,np->p", signs, difference)
    error = float(rest.std(ddof=1) / np.sqrt(n_probes))
    return Estimate(solver.approximation.statistical_dimension() + float(rest.mean()), error)
