"""What "auto" means for the degree and the radial order of a feature map."""

import warnings
from typing import Protocol

import numpy as np

from .._typing import FloatArray
from ..kernels import GeneralizedZonalKernel, Kernel, TruncationWarning
from ..kernels.mercer import MercerModes
from ..kernels.radial import Radial
from ..kernels.terms import NumericTerm, Term, merge
from ..kernels.truncation import (
    MAX_DEGREE,
    SLOW_DEGREE,
    Distribution,
    Spectrum,
    balanced_degree,
    diagonal_variance,
    n_harmonics,
    split_order,
    stack,
)

__all__ = ["choose_expansion"]

FINE, COARSE = 1e-6, 1e-3
# Whoever asks for this many columns expects a usable map, and is told where it is not.
MANY = 128


def choose_expansion(
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
    """The expansion whose features are worth their width.

    Tails are averaged over the rows, so that a few outliers do not take the directions away from
    all others: what is bounded is the share of the trace of K that is cut off.

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
    terms = merge(kernel.terms())
    if all(term.fixed_order is not None for term in terms) and basis == "optimal":
        basis = "taylor"  # their functions are exact
    if any(isinstance(term, NumericTerm) for term in terms) and basis == "taylor":
        basis = "optimal"  # there are no others
    if max_degree is not None and n_radial is not None and basis == "taylor":
        degree = min(max_degree, 1) if dim == 1 else max_degree
        orders = split_order(terms, n_radial, repr(kernel))
        return GeneralizedZonalKernel(dim, stack(terms, dim, degree, orders), degree, sum(orders))

    radius = float(weights @ norms / weights.sum())
    # One row per sign makes d = 1 exact: there order costs no directions, up to half of D.
    order_tol = FINE if dim == 1 else COARSE
    order_cap = max(n_components // 2, 1) if dim == 1 else n_components
    if basis == "taylor":
        radii = Distribution.sample(norms, weights)
        series: _Series = _Taylor(kernel, terms, dim, radii)
    else:
        radii = (
            Distribution.point(radius)
            if basis == "sphere"
            else Distribution.sample(norms, weights, 64 if dim > 1 else min(order_cap, 512))
        )
        low, high = (radius, radius) if basis == "sphere" else (norms.min(), norms.max())
        series = _Optimal(kernel, terms, dim, radii, float(low), float(high), max_degree)

    if basis == "sphere":
        n_radial = 1
    if max_degree is not None or dim == 1:
        degree = min(1 if max_degree is None else max_degree, 1 if dim == 1 else 10**9)
    else:
        degree = _degree(series, terms, dim, radius, n_components, n_radial)
    if n_radial is None:
        orders = series.orders(degree, order_tol)
        if sum(orders) > order_cap:
            orders = series.split(max(order_cap, len(terms)))
    else:
        orders = series.split(n_radial)
    chosen = (max_degree is None or n_radial is None) and basis != "sphere"
    radial = series.radial(degree, orders)
    if chosen and n_components >= MANY:  # a few columns are coarse by choice
        left_out = 1 - series.kept(degree, orders)
        _warn(kernel, radial, radius, dim, degree, orders, left_out, n_components)
    return GeneralizedZonalKernel(dim, radial, degree, sum(orders))


class _Series(Protocol):
    """An expansion of a kernel that has not been cut yet."""

    def degree(self, tol: float) -> int:
        """The smallest degree that leaves out less than a share of the trace."""
        ...

    def orders(self, max_degree: int, tol: float) -> list[int]:
        """The smallest orders, one for each part, that leave out less than a share."""
        ...

    def split(self, n_radial: int) -> list[int]:
        """A given order, shared among the parts."""
        ...

    def kept(self, max_degree: int, orders: list[int]) -> float:
        """The share of the trace that a degree and orders keep."""
        ...

    def radial(self, max_degree: int, orders: list[int]) -> Radial:
        """The functions h."""
        ...


class _Taylor:
    """The paper's monomials, for each term of the kernel."""

    def __init__(self, kernel: Kernel, terms: list[Term], dim: int, radii: Distribution) -> None:
        self.kernel, self.terms, self.dim = kernel, terms, dim
        trace = float(sum(radii.weights @ term.total(radii.nodes) for term in terms))
        self.spectra = [Spectrum(term, dim, radii, trace or 1.0, FINE) for term in terms]

    def degree(self, tol: float) -> int:
        return max(spectrum.degree(tol / len(self.terms)) for spectrum in self.spectra)

    def orders(self, max_degree: int, tol: float) -> list[int]:
        share = tol / len(self.terms)
        return [spectrum.order(max_degree, share) for spectrum in self.spectra]

    def split(self, n_radial: int) -> list[int]:
        return split_order(self.terms, n_radial, repr(self.kernel))

    def kept(self, max_degree: int, orders: list[int]) -> float:
        pairs = zip(self.spectra, orders, strict=True)
        kept = sum(part.energy[: max_degree + 1, :order].sum() for part, order in pairs)
        # A kernel that vanishes at all rows leaves out nothing.
        return float(kept) if any(part.share for part in self.spectra) else 1.0

    def radial(self, max_degree: int, orders: list[int]) -> Radial:
        return stack(self.terms, self.dim, max_degree, orders)


class _Optimal:
    """The eigenfunctions of the kernel as a whole."""

    def __init__(
        self,
        kernel: Kernel,
        terms: list[Term],
        dim: int,
        radii: Distribution,
        low: float,
        high: float,
        max_degree: int | None,
    ) -> None:
        self.low, self.high = low, high
        if max_degree is None:
            top = SLOW_DEGREE if any(term.slow for term in terms) else MAX_DEGREE
            self.modes = MercerModes.until(
                kernel, dim, radii, lambda modes: modes.tail <= FINE / 10 * modes.trace, top
            )
        else:
            self.modes = MercerModes(kernel, dim, radii, max_degree)
        self.energies = self.modes.energies

    def degree(self, tol: float) -> int:
        return self.energies.degree(tol)

    def orders(self, max_degree: int, tol: float) -> list[int]:
        return [self.energies.order(max_degree, tol)]

    def split(self, n_radial: int) -> list[int]:
        return [n_radial]

    def kept(self, max_degree: int, orders: list[int]) -> float:
        kept = self.energies.energy[: max_degree + 1, : orders[0]].sum()
        return float(kept) if self.modes.trace else 1.0

    def radial(self, max_degree: int, orders: list[int]) -> Radial:
        return self.modes.radial(max_degree, orders[0], self.low, self.high)


def _degree(
    series: _Series,
    terms: list[Term],
    dim: int,
    radius: float,
    n_components: int,
    n_radial: int | None,
) -> int:
    """The largest degree q."""
    if any(term.slow for term in terms):
        return _balanced(series, dim, radius, n_components, n_radial)
    fine, coarse = series.degree(FINE), series.degree(COARSE)
    # Fewer harmonics than columns would leave columns linearly dependent: on the elevation data,
    # degree 25 (676 harmonics) has a test error of 0.47 km² and degree 31 (1,024) one of 0.37.
    fitting = next((q for q in range(fine, 0, -1) if n_harmonics(q, dim) <= n_components), 0)
    if coarse <= fitting:
        return fitting
    # Degrees beyond these add more variance than they take away bias: with 1,024 columns, N(0, I)
    # in nine dimensions and bandwidth 2, the error is 0.13 at the coarse degree 8, 0.105 at 4.
    return max(fitting, min(coarse, _balanced(series, dim, radius, n_components, n_radial)))


def _balanced(
    series: _Series, dim: int, radius: float, n_components: int, n_radial: int | None
) -> int:
    """Bias against variance, at the mean radius."""
    top = series.degree(0.0)
    orders = series.orders(top, COARSE) if n_radial is None else series.split(n_radial)
    coefficients = series.radial(top, orders)(np.array([radius]))[0]
    total = float(np.square(coefficients).sum()) / max(series.kept(top, orders), 1e-300)
    return balanced_degree(coefficients, total, dim, n_components / sum(orders))


def _warn(
    kernel: Kernel,
    radial: Radial,
    radius: float,
    dim: int,
    degree: int,
    orders: list[int],
    left_out: float,
    n_components: int,
) -> None:
    """Say so where the features can not be of much use: too much cut off, or too much noise."""
    advice = (
        f"The norms of the rows (mean {radius:.3g}) are large for the length scale of {kernel!r} "
        f"in dimension {dim}. Widen it, scale the columns, raise n_components={n_components}, or "
        "use a method that looks at the data, such as scikit-learn's Nystroem."
    )
    if left_out > 0.5:
        warnings.warn(
            f"Degree {degree} and order {sum(orders)} leave out {left_out:.0%} of the kernel's "
            f"trace. {advice}",
            TruncationWarning,
            stacklevel=5,
        )
        return
    if dim == 1:
        return
    mean, variance = diagonal_variance(radial(np.array([radius]))[0], dim)
    noise = np.sqrt(variance[-1] * sum(orders) / n_components)
    if noise > mean[-1] > 0:
        warnings.warn(
            f"{n_components} features estimate k(x, x) with a standard deviation of "
            f"{noise / mean[-1]:.2g} times its value (independent directions). {advice}",
            TruncationWarning,
            stacklevel=5,
        )
