"""How many degrees and radial functions are worth their columns: bias against variance.

Degrees that are left out are a bias of the features; those that are kept add variance, for random
directions see high degrees badly. Radial functions take directions from each other.
"""

import warnings

import numpy as np

from .._typing import FloatArray
from ..kernels import GeneralizedZonalKernel, Kernel, TruncationWarning
from ..kernels.expansion.cut import COARSE, FINEST, Cut, average
from ..kernels.expansion.series import Series
from ..kernels.terms import Term
from ..polynomials import gauss_gegenbauer, n_harmonics, orthonormal_table

__all__ = ["balanced_degree", "diagonal_variance", "worthwhile_expansion"]

# Columns for each function of a finer order. Set on seven cells of the paper's Table 1: for d = 2
# the width needed at n/λ = 1e4 (1e3) is 215 (54) with 1 of them, 54 (32) with 2, and 108 (32) with
# 4; an order that leaves out 1e-3 never gets there (32). In eleven of twelve settings of other rows
# and kernels, too, 2 is the best of the three (benchmarks/results/order.md).
ROOM = 2
# Whoever asks for this many columns expects a usable map, and is told where it is not.
MANY = 128


def worthwhile_expansion(
    kernel: Kernel,
    dim: int,
    norms: FloatArray,
    weights: FloatArray,
    *,
    n_components: int,
    max_degree: int | None,
    n_radial: int | None,
    basis: str,
) -> GeneralizedZonalKernel:
    """Return the expansion whose features are worth their width.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose parameters are numbers.
    dim : int
        d.
    norms, weights : ndarrays of shape (n,)
        The norms of the rows and their weights.
    n_components : int
        The width D.
    max_degree, n_radial : int or None
        q and s where they are given.
    basis : {"sphere", "taylor", "optimal"}
        The radial functions; ``"sphere"`` is the one that is exact at one radius.
    """
    radius = float(weights @ norms / weights.sum())

    def degree_rule(series: Series, terms: list[Term]) -> int:
        order = 1 if basis == "sphere" else n_radial
        return _degree(series, terms, dim, radius, n_components, order)

    cut = average(
        kernel,
        dim,
        norms,
        weights,
        degree_rule=degree_rule,
        order_tol=lambda series: _order_tolerance(series, dim, n_components),
        max_degree=max_degree,
        n_radial=n_radial,
        n_components=n_components,
        basis=basis,
    )
    chosen = (max_degree is None or n_radial is None) and basis != "sphere"
    if chosen and n_components >= MANY:  # a few columns are coarse by choice
        _warn(kernel, cut, radius, dim, n_components)
    return GeneralizedZonalKernel(dim, cut.radial(), cut.max_degree, cut.n_radial)


def _degree(
    series: Series,
    terms: list[Term],
    dim: int,
    radius: float,
    n_components: int,
    n_radial: int | None,
) -> int:
    """Return the largest degree q."""
    finest, coarse = series.degree(FINEST), series.degree(COARSE)
    if any(term.slow for term in terms):
        # Directions that are as many as the harmonics, evenly spread, see all of these: with 1,024
        # columns, 400 normal rows and λ = n/1000, the spectral error of NTK(2) in three dimensions
        # is 0.8 at the balanced degree 6 and 0.1 at 31, that of Matern(2.5, 2.0) 5.2 at 2 and 0.1
        # at 15. From six dimensions on the two rules differ by a tenth of the error.
        n_directions = n_components // sum(_orders(series, n_radial))
        balanced = _balanced(series, dim, radius, n_components, n_radial)
        return max(balanced, _fitting(finest, dim, n_directions))
    # Fewer harmonics than columns would leave columns linearly dependent: on the elevation data
    # at bandwidth 0.15, degree 25 (676 harmonics) has a test error of 0.47 km² and degree 31
    # (1,024) one of 0.37. At bandwidth 1, degree 7 leaves out 2e-7 of the trace and has an error
    # of 1.68; degree 14, where rounding begins, has 1.12, and no degree has less.
    fitting = _fitting(finest, dim, n_components)
    if coarse <= fitting:
        return fitting
    # Degrees beyond these add more variance than they take away bias: with 1,024 columns, N(0, I)
    # in nine dimensions and bandwidth 2, the error is 0.13 at the coarse degree 8, 0.105 at 4.
    return max(fitting, min(coarse, _balanced(series, dim, radius, n_components, n_radial)))


def _fitting(most: int, dim: int, count: int) -> int:
    """Return the largest degree, up to the most, whose harmonics number at most so many."""
    return next((q for q in range(most, 0, -1) if n_harmonics(q, dim) <= count), 0)


def _orders(series: Series, n_radial: int | None) -> list[int]:
    """Return the radial orders of all degrees: those given, or a coarse choice."""
    return series.orders(series.degree(0.0), COARSE) if n_radial is None else series.split(n_radial)


def _order_tolerance(series: Series, dim: int, n_components: int) -> float:
    """Return what the order may leave out: as little as there is room for.

    An order takes directions from the others, and what it leaves out no width brings back: a
    ridge below it cannot be approximated. There is room as long as the functions up to degree and
    order, twice over, number at most D.
    """
    for tol in np.geomspace(FINEST, COARSE, 13)[:-1]:
        degree = series.degree(tol)
        if ROOM * sum(series.orders(degree, tol)) * n_harmonics(degree, dim) <= n_components:
            return float(tol)
    return COARSE


def _balanced(
    series: Series, dim: int, radius: float, n_components: int, n_radial: int | None
) -> int:
    """Return the degree that balances bias and variance at the mean radius."""
    top, orders = series.degree(0.0), _orders(series, n_radial)
    coefficients = _relative(series.at(radius, top, orders))
    total = float(np.square(coefficients).sum()) / max(series.kept(top, orders), 1e-300)
    return balanced_degree(coefficients, total, dim, n_components / sum(orders))


def _relative(coefficients: FloatArray) -> FloatArray:
    """Scale coefficients to norm one: fourth powers of those of a large k(x, x) overflow."""
    return coefficients / max(float(np.linalg.norm(coefficients)), 1e-300)


def diagonal_variance(coefficients: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    r"""Return mean and variance of the squared features for every largest degree.

    Of :math:`\|\varphi(\langle x,w\rangle)\|^2` with :math:`\varphi(t) = \sum_{\ell \le q}
    \sqrt{\alpha_\ell}\, h_\ell P_\ell(t)`, by one-dimensional quadrature, exact for polynomials of
    degree 4q.

    Parameters
    ----------
    coefficients : ndarray of shape (max_degree + 1, n_radial)
        h_ℓ at one radius.
    dim : int
        d.

    Returns
    -------
    mean, variance : ndarrays of shape (max_degree + 1,)
    """
    top = len(coefficients) - 1
    nodes, weights = gauss_gegenbauer(2 * top + 50, dim)
    table = orthonormal_table(top, dim, nodes)
    phi = np.zeros((len(nodes), coefficients.shape[1]))
    mean, variance = np.empty(top + 1), np.empty(top + 1)
    with np.errstate(over="ignore", invalid="ignore"):
        for ell in range(top + 1):
            phi += table[ell][:, None] * coefficients[ell]
            square = np.square(phi).sum(axis=1)
            mean[ell] = weights @ square
            variance[ell] = max(weights @ np.square(square) - mean[ell] ** 2, 0.0)
    return mean, np.where(np.isfinite(variance), variance, np.inf)


def balanced_degree(coefficients: FloatArray, total: float, dim: int, n_directions: float) -> int:
    r"""Return the degree that minimises bias² + variance for a series that decays slowly.

    The features estimate k(x, x) by the mean of :math:`\|\varphi(\langle x, w_j\rangle)\|^2` over
    m directions (see `diagonal_variance`); its squared error is
    :math:`\text{tail}^2 + \mathrm{Var}\|\varphi\|^2 / m`. The variance explodes with the degree:
    α_ℓ P_ℓ² is heavy-tailed.

    Parameters
    ----------
    coefficients : ndarray of shape (max_degree + 1, n_radial)
        h_ℓ at a typical radius.
    total : float
        k(x, x) there.
    dim : int
        d.
    n_directions : float
        m.
    """
    mean, variance = diagonal_variance(coefficients, dim)
    return int(np.argmin((total - mean) ** 2 + variance / n_directions))


def _warn(kernel: Kernel, cut: Cut, radius: float, dim: int, n_components: int) -> None:
    """Say so where the features cannot be of much use: too much cut off, or too much noise."""
    advice = (
        f"The norms of the rows (mean {radius:.3g}) are large for the length scale of {kernel!r} "
        f"in dimension {dim}. Widen it, scale the columns, raise n_components={n_components}, or "
        "use a method that looks at the data, such as scikit-learn's Nystroem."
    )
    left_out = cut.left_out()
    if left_out > 0.5:
        warnings.warn(
            f"Degree {cut.max_degree} and order {cut.n_radial} leave out {left_out:.0%} of the "
            f"kernel's trace. {advice}",
            TruncationWarning,
            stacklevel=5,
        )
        return
    if dim == 1:
        return
    coefficients = cut.series.at(radius, cut.max_degree, cut.orders)
    mean, variance = diagonal_variance(_relative(coefficients), dim)
    noise = np.sqrt(variance[-1] * cut.n_radial / n_components)
    if noise > mean[-1] > 0:
        warnings.warn(
            f"{n_components} features estimate k(x, x) with a standard deviation of "
            f"{noise / mean[-1]:.2g} times its value (independent directions). {advice}",
            TruncationWarning,
            stacklevel=5,
        )
