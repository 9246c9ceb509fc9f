r"""How many features the theorems ask for.

The constants differ from the paper's text where a proof needs it; ``docs/theory/slips.md`` says
which, and how each was checked.
"""

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Array
from .._validation import check_count, check_positive, row_norms
from ..kernels import Gaussian, GeneralizedZonalKernel, Kernel, TruncationWarning, as_kernel
from ..kernels.points import as_rows
from ..polynomials import n_harmonics
from ..solvers.krylov import krylov
from .growth import Growth, derivative_growth, given_growth
from .inputs import EXACT_ROWS, check_fraction, check_lam, kernel_matrix
from .kernel_rows import KernelRows
from .leverage import leverage_bound, leverage_of_energies
from .statistical import statistical_dimension

__all__ = ["degree_and_order", "n_directions", "n_features"]

# Radial functions at radii that are held for the worst case; beyond, it is simpler and larger.
MAX_NUMBERS = 1 << 24


def n_directions(
    gzk: GeneralizedZonalKernel,
    X: Any,
    lam: float | None,
    eps: float,
    delta: float,
    rank: int | None = None,
    *,
    proved: bool = False,
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
    ε ≤ 1/2.) Its equation (1), which `spectral_error` measures, has 1/(1+ε) on the left, which is
    a little more: that is ``proved=True``. The features number m times the order s.

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
        :math:`\lambda = \frac1r \sum_{i>r} \lambda_i(K)`.
    proved : bool, default=False
        The m that the proof gives for what the paper's statement says. For equation (1) that is
        the formula at ε/(1+ε). With `rank` the proof ends with 16ε where the statement has ε: it is
        the formula for equation (1) at ε/16, some 256 times as many.
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
    inner = eps
    if proved:
        equation = eps if rank is None else eps / 16
        inner = equation / (1 + equation)
    return math.ceil(_bernstein(inner) * math.log(16 * dimension / delta) * bound)


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
    proved: bool = False,
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

    This is the paper's statement, and for some settings less than its proof gives: its 1.1 for
    the harmonics, its last step, and now and then its q and s are too small
    (``docs/theory/slips.md``, b, e and f). With ``proved=True`` nothing is left to chance: q and s
    are raised until :math:`|k_{q,s} - k| \le \varepsilon\lambda/(10n)` on the whole ball, U is the
    largest that `leverage_bound` has for n rows of norms up to r, and

    .. math::

        m = s \left\lceil \frac{2 (1 + 2\varepsilon'/3)}{\varepsilon'^2}\,
        \log\frac{16 s_\lambda}{\delta}\; U \right\rceil, \qquad
        \varepsilon' = 1 - \frac{1}{(1+\varepsilon)(1-\varepsilon/10)}

    features satisfy equation (1) with probability 1 - δ.

    Parameters
    ----------
    kernel, dim, radius, n, lam, eps, growth
        As for `degree_and_order`, and λ ≤ n k(r, r), the most that ‖K‖ can be.
    delta : float
        The probability δ of failure, strictly between 0 and 1.
    s_lam : float, optional
        The statistical dimension, by default its largest possible value n.
    proved : bool, default=False
        What is proved for any data in place of what the paper states.

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
    >>> zonal.theory.n_features(
    ...     kernel, dim=3, radius=1.0, n=1000, lam=1.0, eps=0.5, delta=0.1, proved=True
    ... )
    241892
    """
    owner = "n_features"
    kernel = as_kernel(kernel)
    delta = check_fraction("delta", delta, owner)
    degree, order = degree_and_order(kernel, dim, radius, n, lam, eps, growth=growth)
    _check_reachable(kernel, radius, n, lam)
    dimension = float(n) if s_lam is None else check_positive("s_lam", s_lam, owner)
    log = math.log(16 * dimension / delta)
    if proved:
        return _proved_features(kernel, dim, radius, n, lam, eps, log, (degree, order))
    inner = 0.8 * eps  # the truncation has a tenth, and the rest is slack
    needed = 1.1 * _bernstein(inner) * order**2
    width = max(5 * degree**2 / (4 * eps**2), needed)
    return math.ceil(Fraction(width * log) * math.comb(degree + dim - 1, degree))


def _proved_features(
    kernel: Kernel,
    dim: int,
    radius: float,
    n: int,
    lam: float,
    eps: float,
    log: float,
    stated: tuple[int, int],
) -> int:
    """Return what Bernstein's inequality asks for, for n rows of norms up to the radius."""
    largest = float(kernel.diag(np.array([[radius]]))[0])
    with warnings.catch_warnings():
        # A tail that stays above the tolerance is what the stated q and s are there for.
        warnings.simplefilter("ignore", TruncationWarning)
        tol = min(eps * lam / (10 * n * largest), 0.5)
        enough = kernel.expand(dim, radii=[radius], tol=tol)
    degree, order = max(stated[0], enough.max_degree), max(stated[1], enough.n_radial)
    # What is left of equation (1) when the truncation has taken ε/10: the lower side is narrower.
    inner = 1 - 1 / ((1 + eps) * (1 - eps / 10))
    bound = _largest_bound(kernel, dim, radius, n, lam, degree, order)
    return order * math.ceil(Fraction(_bernstein(inner) * log) * bound)


def _largest_bound(
    kernel: Kernel, dim: int, radius: float, n: int, lam: float, degree: int, order: int
) -> Fraction:
    """Return the largest bound on leverage scores of n rows with norms up to a radius."""
    n_powers = degree + 2 * order - 1
    everything = Fraction(order * n_harmonics(degree, dim))
    if (degree + 1) * order * n_powers > MAX_NUMBERS:
        return everything  # all harmonics at full weight: what the minima are at most
    gzk = kernel.expand(dim, max_degree=degree, n_radial=order)
    scale = kernel.one_scale() if isinstance(kernel, Gaussian) else radius
    # A monomial of power p is largest at t² = p for the Gaussian, if that is inside, else at r.
    powers = np.arange(n_powers) if isinstance(kernel, Gaussian) else np.full(n_powers, np.inf)
    values = gzk.coefficients(np.minimum(scale * np.sqrt(powers), radius))
    ell, i = np.arange(degree + 1)[:, None], np.arange(order)
    energy = np.square(values[ell + 2 * i, ell, i]).sum(axis=1)
    return (
        Fraction(leverage_of_energies(n * energy, dim, lam, order))
        if (np.isfinite(energy).all())
        else everything
    )


def _check_reachable(kernel: Kernel, radius: float, n: int, lam: float) -> None:
    largest = n * float(kernel.diag(np.array([[radius]]))[0])
    if lam > largest:
        raise ValueError(
            f"lam={lam!r} of n_features exceeds {largest:.6g}, the largest norm that K can have "
            f"for n={n} rows of norms up to {radius:.6g}; the theorem is for lam up to ‖K‖. Lower "
            "lam."
        )
