"""What "auto" means for the degree and the radial order of a feature map."""

import warnings

import numpy as np

from .._typing import FloatArray
from ..kernels import GeneralizedZonalKernel, Kernel, TruncationWarning
from ..kernels.radial import Radial
from ..kernels.terms import Term, merge
from ..kernels.truncation import (
    Distribution,
    Spectrum,
    balanced_degree,
    diagonal_variance,
    n_harmonics,
    sphere_radial,
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
    on_sphere: bool,
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
    on_sphere : bool
        Whether one function with the full coefficient serves all rows.
    """
    terms = merge(kernel.terms())
    if max_degree is not None and n_radial is not None and not on_sphere:
        degree = min(max_degree, 1) if dim == 1 else max_degree
        orders = split_order(terms, n_radial, repr(kernel))
        return GeneralizedZonalKernel(dim, stack(terms, dim, degree, orders), degree, sum(orders))

    radius = float(weights @ norms / weights.sum())
    radii = Distribution.point(radius) if on_sphere else Distribution.sample(norms, weights)
    trace = float(sum(radii.weights @ term.total(radii.nodes) for term in terms))
    spectra = [Spectrum(term, dim, radii, trace or 1.0, FINE) for term in terms]
    # One row per sign makes d = 1 exact: there order costs no directions, up to half of D.
    order_tol = FINE if dim == 1 else COARSE
    order_cap = max(n_components // 2, 1) if dim == 1 else n_components

    degree = _degree(terms, dim, radii, spectra, n_components, n_radial, on_sphere, max_degree)
    if on_sphere:
        one = sphere_radial(terms, dim, degree, spectra, radius)
        return GeneralizedZonalKernel(dim, one, degree, 1)
    if n_radial is None:
        orders = [spectrum.order(degree, order_tol / len(terms)) for spectrum in spectra]
        if sum(orders) > order_cap:
            orders = split_order(terms, max(order_cap, len(terms)), repr(kernel))
    else:
        orders = split_order(terms, n_radial, repr(kernel))
    radial = stack(terms, dim, degree, orders)
    chosen = max_degree is None or n_radial is None
    if chosen and trace > 0 and n_components >= MANY:  # a few columns are coarse by choice
        left_out = 1 - sum(
            spectrum.energy[: degree + 1, :order].sum()
            for spectrum, order in zip(spectra, orders, strict=True)
        )
        _warn(kernel, radial, radius, dim, degree, orders, left_out, n_components)
    return GeneralizedZonalKernel(dim, radial, degree, sum(orders))


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


def _degree(
    terms: list[Term],
    dim: int,
    radii: Distribution,
    spectra: list[Spectrum],
    n_components: int,
    n_radial: int | None,
    on_sphere: bool,
    given: int | None,
) -> int:
    """The largest degree q."""
    if given is not None or dim == 1:
        return min(given if given is not None else 1, 1 if dim == 1 else 10**9)
    if any(term.slow for term in terms):
        return _slow_degree(terms, dim, radii, spectra, n_components, n_radial, on_sphere)
    fine, coarse = (
        max(spectrum.degree(tol / len(terms)) for spectrum in spectra) for tol in (FINE, COARSE)
    )
    # Fewer harmonics than columns would leave columns linearly dependent: on the elevation data,
    # degree 25 (676 harmonics) has a test error of 0.47 km² and degree 31 (1,024) one of 0.37.
    fitting = next((q for q in range(fine, 0, -1) if n_harmonics(q, dim) <= n_components), 0)
    return max(coarse, fitting)


def _slow_degree(
    terms: list[Term],
    dim: int,
    radii: Distribution,
    spectra: list[Spectrum],
    n_components: int,
    n_radial: int | None,
    on_sphere: bool,
) -> int:
    """Bias against variance, at the mean radius."""
    radius = float(radii.weights @ radii.nodes)
    top = max(len(spectrum.energy) for spectrum in spectra) - 1
    if on_sphere:
        radial: Radial = sphere_radial(terms, dim, top, spectra, radius)
        order = 1
    else:
        orders = (
            [spectrum.order(top, COARSE / len(terms)) for spectrum in spectra]
            if n_radial is None
            else split_order(terms, n_radial, "the kernel")
        )
        radial = stack(terms, dim, top, orders)
        order = sum(orders)
    coefficients = radial(np.array([radius]))[0]
    total = float(sum(term.total(np.array([radius]))[0] for term in terms))
    return balanced_degree(coefficients, total, dim, n_components / order)
