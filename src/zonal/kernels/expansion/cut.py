r"""The one place where series are cut: the largest degree q and the radial order s.

There are two policies. `worst_case` bounds what is left out of k(x, x) at every radius, so that
each entry of the kernel matrix is known to a tolerance; it is what `Kernel.expand` uses. `average`
bounds what is left out of the trace of the kernel matrix of given rows, so that a few outliers do
not cost all others; it is what feature maps use, of which every function costs columns.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ..._typing import FloatArray
from ..._validation import norms_agree
from ..radial import Radial
from ..terms import NumericTerm, Term, merge
from .distribution import Distribution
from .mercer import NEGLIGIBLE
from .series import ModeSeries, Series, TermSeries, WorstModeSeries
from .taylor import TaylorSeries, dot_product_terms, taylor_series

__all__ = [
    "COARSE",
    "FINE",
    "FINEST",
    "Cut",
    "TruncationWarning",
    "average",
    "average_taylor",
    "worst_case",
]

# What features may leave out of the trace: by the degree, which costs time only, and by the order,
# which costs columns. Where there is room for them, all functions above rounding are kept: a ridge
# that is as small as double precision allows still sees them.
FINE, COARSE = 1e-6, 1e-3
FINEST = NEGLIGIBLE
# Beyond, a sketch of a Taylor series is of no use, whatever its width.
MAX_TAYLOR_DEGREE = 200


class TruncationWarning(UserWarning):
    """A series was cut where what is left out is larger than was asked for."""


@dataclass(frozen=True)
class Cut:
    """A series up to a degree and an order.

    Attributes
    ----------
    series : Series
        The whole series.
    max_degree : int
        q.
    orders : list of int
        The radial order of each part; their sum is s.
    """

    series: Series
    max_degree: int
    orders: list[int]

    @property
    def n_radial(self) -> int:
        """The radial order s of the whole."""
        return sum(self.orders)

    def radial(self) -> Radial:
        """Return the radial functions h."""
        return self.series.radial(self.max_degree, self.orders)

    def left_out(self) -> float:
        """Return the share of the mean k(x, x) that is cut off."""
        return 1 - self.series.kept(self.max_degree, self.orders)


def worst_case(
    kernel: Any,
    dim: int,
    norms: FloatArray,
    tol: float,
    *,
    max_degree: int | None = None,
    n_radial: int | None = None,
    basis: str = "taylor",
) -> Cut:
    """Cut where at most `tol` of the largest k(x, x) is left out at any of the radii.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose parameters are numbers.
    dim : int
        d.
    norms : ndarray of shape (n,)
        The radii; a single one stands for the ball.
    tol : float
        The tolerance, half of it for the degree and half for the order.
    max_degree, n_radial : int, optional
        q and s where they are given.
    basis : {"taylor", "optimal"}
        The radial functions; kernels that have only one kind get that.
    """
    terms = merge(kernel.terms())
    series: Series
    if any(term.fixed_order is None for term in terms) and (
        basis == "optimal"
        or _has_no_taylor(terms)
        or (n_radial is None and norms_agree(norms, norms.max()))
    ):
        series = WorstModeSeries(kernel, dim, *_range(norms), tol, max_degree)
    else:
        series = TermSeries(kernel, terms, dim, Distribution.point(float(norms.max())), tol)
    degree = _at_most(series.degree(tol / 2) if max_degree is None else max_degree, series.top)
    orders = series.orders(degree, tol / 2) if n_radial is None else series.split(n_radial)
    if (max_degree is None or n_radial is None) and not any(term.slow for term in terms):
        _warn_if_missing(kernel, degree, series.missing(), tol)
    return Cut(series, degree, orders)


def average(
    kernel: Any,
    dim: int,
    norms: FloatArray,
    weights: FloatArray,
    *,
    degree_rule: Callable[[Series, list[Term]], int],
    order_tol: Callable[[Series], float],
    max_degree: int | None,
    n_radial: int | None,
    n_components: int,
    basis: str,
) -> Cut:
    """Cut where little of the trace of the rows' kernel matrix is left out.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose parameters are numbers.
    dim : int
        d.
    norms, weights : ndarrays of shape (n,)
        The norms of the rows and their weights.
    degree_rule : callable
        A series and its terms to the degree q, where `max_degree` is None.
    order_tol : callable
        A series to what its order s may leave out, where `n_radial` is None.
    max_degree, n_radial : int or None
        q and s where they are given.
    n_components : int
        The width D; no larger s is chosen.
    basis : {"sphere", "taylor", "optimal"}
        The radial functions; ``"sphere"`` is the one that is exact at one radius.
    """
    terms = merge(kernel.terms())
    # On the line, one column for each sign of a radial function makes features exact.
    max_order = max(n_components // 2, 1) if dim == 1 else n_components
    if basis == "optimal" and all(term.fixed_order is not None for term in terms):
        basis = "taylor"  # their functions are exact
    if basis == "taylor" and _has_no_taylor(terms):
        basis = "optimal"  # there are no others
    series: Series
    if basis == "taylor":
        series = TermSeries(kernel, terms, dim, Distribution.sample(norms, weights), FINEST)
    elif basis == "optimal":
        radii = Distribution.sample(norms, weights, 64 if dim > 1 else min(max_order, 512))
        low, high = float(norms.min()), float(norms.max())
        series = ModeSeries(kernel, dim, radii, low, high, FINE, max_degree, n_components)
    else:
        n_radial, radius = 1, float(weights @ norms / weights.sum())
        radii = Distribution.point(radius)
        series = ModeSeries(kernel, dim, radii, radius, radius, FINE, max_degree, n_components)
    if max_degree is not None or dim == 1:
        degree = _at_most(1 if max_degree is None else max_degree, 1 if dim == 1 else None)
    else:
        degree = degree_rule(series, terms)
    if n_radial is not None:
        return Cut(series, degree, series.split(n_radial))
    # On the line there is a column for each sign: order costs no directions.
    orders = series.orders(degree, FINE if dim == 1 else order_tol(series))
    if sum(orders) > max_order:
        orders = series.split(max(max_order, len(terms)))
    return Cut(series, degree, orders)


def average_taylor(
    kernel: Any, norms: FloatArray, weights: FloatArray, tol: float, owner: str
) -> tuple[TaylorSeries, FloatArray]:
    """Cut a Taylor series where less than `tol` of the trace of the rows' matrix is left out.

    Parameters
    ----------
    kernel : Kernel
        A kernel with a Taylor series in ⟨x, y⟩.
    norms, weights : ndarrays of shape (n,)
        The norms of the rows and their weights.
    tol : float
        The share that may be left out.
    owner : str
        Who asks, for messages.

    Returns
    -------
    series : TaylorSeries
    energy : ndarray of shape (n_pieces,)
        The share of the mean k(x, x) that each piece holds.
    """
    series = taylor_series(kernel, MAX_TAYLOR_DEGREE, owner)
    log_share = np.log(weights / weights.sum())[:, None]
    squares = np.square(norms)
    log_trace = logsumexp(
        [
            term.log_kappa(squares) - 2 * term.decay * squares + log_share[:, 0]
            for term in dot_product_terms(kernel, owner)
        ]
    )
    energy = np.exp(logsumexp(2 * series.log_weights(norms) + log_share, axis=0) - log_trace)
    kept = 1 - np.bincount(series.degrees, energy).cumsum() <= tol
    # At norms that are large for the length scale, the tail is still too heavy at the last degree.
    last = int(np.argmax(kept)) if kept.any() else MAX_TAYLOR_DEGREE
    inside = series.degrees <= last
    return series[inside], energy[inside]


def _has_no_taylor(terms: list[Term]) -> bool:
    return any(isinstance(term, NumericTerm) for term in terms)


def _at_most(degree: int, top: int | None) -> int:
    return degree if top is None else min(degree, top)


def _range(norms: FloatArray) -> tuple[Distribution, float, float]:
    """Return the distribution of radii for eigenfunctions, the smallest and the largest."""
    if len(norms) == 1:
        high = float(norms[0])
        return Distribution.interval(0.0, high), 0.0, high
    if norms_agree(norms, norms.max()):
        radius = float(norms.mean())
        return Distribution.point(radius), radius, radius
    low, high = float(norms.min()), float(norms.max())
    # The bound is for all radii, so that the rare ones must have nodes too.
    sample = Distribution.sample(norms, np.ones(len(norms)), 32)
    return sample.mixed(Distribution.interval(low, high, 32)), low, high


def _warn_if_missing(kernel: Any, max_degree: int, missing: float, tol: float) -> None:
    """Say so where the highest degree that is tried does not reach the tolerance."""
    if missing > tol:
        warnings.warn(
            f"The series of {kernel!r} does not converge at these radii: degree {max_degree} "
            f"leaves out {missing:.2g} of k(x, x), more than tol={tol:g}. The radii are too "
            "large for the kernel's length scale: rescale the data or widen the bandwidth.",
            TruncationWarning,
            stacklevel=4,
        )
