r"""How many features the theorems ask for.

The constants differ from the paper's text where a proof needs it; ``docs/theory/slips.md`` says
which, and how each was checked.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Array
from .._validation import check_count, check_positive, row_norms
from ..kernels import Gaussian, GeneralizedZonalKernel, Kernel, as_kernel
from ..kernels.points import as_rows
from ..solvers.krylov import krylov
from .growth import Growth, derivative_growth, given_growth
from .inputs import EXACT_ROWS, check_fraction, check_lam, kernel_matrix
from .kernel_rows import KernelRows
from .leverage import leverage_bound
from .statistical import statistical_dimension

__all__ = ["degree_and_order", "n_directions", "n_features"]


def n_directions(
    gzk: GeneralizedZonalKernel,
    X: Any,
    lam: float | None,
    eps: float,
    delta: float,
    rank: int | None = None,
    *,
    random_state: Any = 0,
) -> int:
    r"""Return the number of random directions that the main theorem asks for.

    .. math::

        m = \left\lceil \frac{2 (1 + 2\varepsilon/3)}{\varepsilon^2} \log\frac{16 s_\lambda}{\delta}
        \sum_\ell \alpha_{\ell,d} \min\left\{\frac{\pi^2(\ell+1)^2}{6\lambda}
        \sum_j \|h_\ell(\|x_j\|)\|^2, s\right\} \right\rceil

    With that many, with probability at least 1 - δ over the directions,
    :math:`(1-\varepsilon)(K+\lambda I) \preceq ZZ^\top + \lambda I \preceq
    (1+\varepsilon)(K+\lambda I)`. (The paper writes 8/3 for 2(1 + 2ε/3), which is enough for
    ε ≤ 1/2. Its equation (1) has 1/(1+ε) on the left, which is a little more: for that, ask for
    ε/(1+ε).) The features number m times the order s.

    Parameters
    ----------
    gzk : GeneralizedZonalKernel
        The kernel, which is K here: what its expansion leaves out is another matter.
    X : {array-like, CSR matrix} of shape (n, d)
        Rows.
    lam : float or None
        The ridge, 0 < λ ≤ ‖K‖. Not used with `rank`, where the eigenvalues fix it.
    eps, delta : float
        ε and δ, strictly between 0 and 1.
    rank : int, optional
        The m of the projection-cost theorem for this rank r instead: the same formula with
        :math:`\lambda = \frac1r \sum_{i>r} \lambda_i(K)`. (The paper's proof loses a factor of 16
        in ε that its statement does not show.)
    random_state : int, RandomState instance or None, default=0
        The seed of the estimates of s_λ and ‖K‖ that spare the n × n matrix beyond 4,000 rows.
        They enter through a logarithm.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = 0.5 * np.random.default_rng(0).standard_normal((60, 3))
    >>> gzk = zonal.Gaussian().expand(dim=3, max_degree=8, n_radial=3)
    >>> m = zonal.theory.n_directions(gzk, X, lam=1.0, eps=0.5, delta=0.1)
    >>> m
    7164
    """
    owner = "n_directions"
    eps, delta = check_fraction("eps", eps, owner), check_fraction("delta", delta, owner)
    rows = as_rows(X)
    if rank is not None:
        check_count("rank", rank, owner)
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    leading, trace = _leading(gzk, rows, rank or 1, seed)
    norm = float(leading[0])
    ridge = check_lam(lam, owner) if rank is None else _tail(leading, trace, rank)
    if ridge > norm * (1 + 1e-12):
        raise ValueError(
            f"lam={ridge:.6g} of n_directions exceeds the norm {norm:.6g} of K, and the theorem is "
            "for smaller ones: so large a ridge leaves nothing of the kernel. Lower lam"
            + (" (raise rank)." if rank else ".")
        )
    method = "exact" if rows.shape[0] <= EXACT_ROWS else "sampled"
    dimension = statistical_dimension(gzk, ridge, X=rows, method=method, random_state=seed)
    bound = leverage_bound(gzk, row_norms(rows), ridge)
    if not math.isfinite(bound):
        raise ValueError(
            f"The harmonics up to degree {gzk.max_degree} in {gzk.dim} dimensions outnumber all "
            "floating-point numbers: the theorem has nothing to say here. Lower max_degree."
        )
    return math.ceil(_bernstein(eps) * math.log(16 * dimension / delta) * bound)


def _bernstein(eps: float) -> float:
    """Return 2 (1 + 2ε/3) / ε², what the matrix Bernstein inequality asks for."""
    return 2 * (1 + 2 * eps / 3) / eps**2


def _leading(gzk: Kernel, rows: Any, count: int, seed: int) -> tuple[Array, float]:
    """Return the largest eigenvalues of K (within one per cent for many rows), and Tr K."""
    if rows.shape[0] <= EXACT_ROWS:
        values = kernel_matrix(gzk, rows, "n_directions")[1][::-1]
        return values[:count], float(values.sum())
    matrix = KernelRows(gzk, rows)
    start = np.random.default_rng(seed).standard_normal((matrix.n_rows, count + 8))
    found = krylov(matrix.__matmul__, start, np.positive, count=count, tol=0.01, max_passes=20)
    return found.values, matrix.trace()


def _tail(leading: Array, trace: float, rank: int) -> float:
    """Return λ of the projection-cost theorem: the eigenvalues' sum beyond the rank, over it."""
    lam = (trace - float(leading.sum())) / rank
    if lam <= 1e-13 * float(leading[0]):
        raise ValueError(
            f"rank={rank} of n_directions must be below the rank of K: beyond it there is no cost "
            "to preserve."
        )
    return lam


def degree_and_order(
    kernel: Any,
    dim: int,
    radius: float,
    n: int,
    lam: float,
    eps: float,
    *,
    growth: tuple[float, float] | None = None,
) -> tuple[int, int]:
    r"""Return degree q and order s at which the theorems cut the expansion of a kernel.

    For the Gaussian kernel, with :math:`r` = radius / bandwidth and
    :math:`L = \log\frac{n}{\varepsilon\lambda}`,

    .. math::

        q = \max\left\{3.7 r^2,\; \tfrac d2 \log\tfrac{2.8 (r^2 + L + d)}{d} + L\right\},
        \qquad s = \max\left\{\tfrac d2,\; 3.7 r^2,\; \tfrac12 L\right\},

    and for dot-product kernels with :math:`\kappa^{(\ell)}(0) \le C \beta^\ell`, where
    :math:`b = r^2\beta` and :math:`L = \log\frac{C n}{\varepsilon\lambda}`,

    .. math::

        q = \max\left\{d,\; 3.7 b,\; b + \tfrac d2 \log\tfrac{3b}{d} + L\right\}, \qquad
        s = \max\left\{\tfrac d2,\; 3.7 b,\; \tfrac b4 + \tfrac12 L\right\},

    all rounded up. They are meant to make :math:`|k_{q,s} - k| \le \varepsilon\lambda/(10 n)`; for
    dot-product kernels they miss that now and then (see ``docs/theory/slips.md``).

    Parameters
    ----------
    kernel : Kernel or str
        A Gaussian or dot-product kernel (Exponential, Polynomial, DotProduct, their sums,
        products and multiples).
    dim : int
        d ≥ 3. For two columns append one of zeros: no kernel of the library changes.
    radius : float
        The largest norm of a row.
    n : int
        The number of rows.
    lam, eps : float
        λ > 0, and ε strictly between 0 and 1.
    growth : (float, float), optional
        C and β. By default C = β = 1 for the exponential kernel (in units of its scale), and
        otherwise the pair with the smallest q among those that the Taylor coefficients allow.

    Returns
    -------
    max_degree, n_radial : int

    Examples
    --------
    >>> import zonal
    >>> zonal.theory.degree_and_order(zonal.Gaussian(), dim=3, radius=1.0, n=1000, lam=1.0, eps=0.5)
    (12, 4)
    >>> zonal.theory.degree_and_order(zonal.Exponential(), 10, radius=1.5, n=10**4, lam=1, eps=0.9)
    (10, 9)
    """
    owner = "degree_and_order"
    kernel = as_kernel(kernel)
    check_count("dim", dim, owner, minimum=3, extra=" (append columns of zeros)")
    radius = check_positive("radius", radius, owner)
    ratio = check_count("n", n, owner) / (check_fraction("eps", eps, owner) * check_lam(lam, owner))
    kernel.check()
    kernel.check_norms(np.array([radius]))
    if isinstance(kernel, Gaussian):
        return _gaussian(dim, (radius / kernel.one_scale()) ** 2, math.log(ratio))
    found = [given_growth(growth, owner)] if growth is not None else derivative_growth(kernel)
    return min(_dot_product(dim, radius**2, math.log(ratio), pair) for pair in found)


def _gaussian(dim: int, square: float, log_ratio: float) -> tuple[int, int]:
    # A ratio below one would take the logarithm of a negative number: q may not fall below that.
    inner = max(2.8 * (square + log_ratio + dim) / dim, 1.0)
    degree = max(3.7 * square, dim / 2 * math.log(inner) + log_ratio, 0.0)
    order = max(dim / 2, 3.7 * square, log_ratio / 2)
    return math.ceil(degree), math.ceil(order)


def _dot_product(dim: int, square: float, log_ratio: float, growth: Growth) -> tuple[int, int]:
    b = square * growth.rate
    log = log_ratio + math.log(growth.constant)
    degree = max(dim, 3.7 * b, b + dim / 2 * math.log(3 * b / dim) + log)
    order = max(dim / 2, 3.7 * b, b / 4 + log / 2)
    return math.ceil(degree), math.ceil(order)


def n_features(
    kernel: Any,
    dim: int,
    radius: float,
    n: int,
    lam: float,
    eps: float,
    delta: float,
    *,
    s_lam: float | None = None,
    growth: tuple[float, float] | None = None,
) -> int:
    r"""Return the number of features that the theorems on the two kernels ask for.

    .. math::

        m = \left\lceil \frac{1}{\varepsilon^2} \max\left\{\frac{5 q^2}{4},\;
        1.1\, \frac{2 (1 + 2\varepsilon'/3)}{0.64}\, s^2\right\}
        \binom{q+d-1}{q} \log\frac{16 s_\lambda}{\delta} \right\rceil,
        \qquad \varepsilon' = 0.8\, \varepsilon

    with q and s of `degree_and_order`. The paper has only the first of the two, which covers the
    proof as long as s is at most about q/2; where :math:`3.7 r^2` decides, s = q and the second,
    about :math:`4.6 s^2`, is what the proof needs.

    Parameters
    ----------
    kernel, dim, radius, n, lam, eps, growth
        As for `degree_and_order`, and λ ≤ n k(r, r), the most that ‖K‖ can be.
    delta : float
        The probability δ of failure, strictly between 0 and 1.
    s_lam : float, optional
        The statistical dimension, by default its largest possible value n.

    Returns
    -------
    int
        The width m of the feature matrix (directions times s): exact, however large.

    Examples
    --------
    >>> import zonal
    >>> kernel = zonal.Gaussian()
    >>> zonal.theory.n_features(kernel, dim=3, radius=1.0, n=1000, lam=1.0, eps=0.5, delta=0.1)
    785122
    """
    owner = "n_features"
    kernel = as_kernel(kernel)
    delta = check_fraction("delta", delta, owner)
    degree, order = degree_and_order(kernel, dim, radius, n, lam, eps, growth=growth)
    _check_reachable(kernel, radius, n, lam)
    dimension = float(n) if s_lam is None else check_positive("s_lam", s_lam, owner)
    inner = 0.8 * eps  # the truncation has a tenth, and the rest is slack
    needed = 1.1 * _bernstein(inner) * order**2
    width = max(5 * degree**2 / (4 * eps**2), needed)
    factor = width * math.log(16 * dimension / delta)
    return math.ceil(Fraction(factor) * math.comb(degree + dim - 1, degree))


def _check_reachable(kernel: Kernel, radius: float, n: int, lam: float) -> None:
    largest = n * float(kernel.diag(np.array([[radius]]))[0])
    if lam > largest:
        raise ValueError(
            f"lam={lam!r} of n_features exceeds {largest:.6g}, the largest norm that K can have "
            f"for n={n} rows of norms up to {radius:.6g}; the theorem is for lam up to ‖K‖. Lower "
            "lam."
        )
