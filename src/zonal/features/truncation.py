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
    n_harmonics,
    sphere_radial,
    split_order,
    stack,
)

__all__ = ["choose_expansion"]

FINE, COARSE = 1e-6, 1e-3


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
    trace = float(sum(radii.weights @ term.total(radii.nodes) for term in terms)) or 1.0
    spectra = [Spectrum(term, dim, radii, trace, FINE) for term in terms]
    # One row per sign makes d = 1 exact: there order costs no directions, up to half of D.
    order_tol = FINE if dim == 1 else COARSE
    order_cap = max(n_components // 2, 1) if dim == 1 else n_components

    degree = _degree(terms, dim, radii, spectra, n_components, n_radial, on_sphere, max_degree)
    if on_sphere:
        radial = sphere_radial(terms, dim, degree, spectra, radius)
        return GeneralizedZonalKernel(dim, radial, degree, 1)
    if n_radial is None:
        orders = [spectrum.order(degree, order_tol / len(terms)) for spectrum in spectra]
        if sum(orders) > order_cap:
            orders = split_order(terms, max(order_cap, len(terms)), repr(kernel))
    else:
        orders = split_order(terms, n_radial, repr(kernel))
    left_out = 1 - sum(
        spectrum.energy[: degree + 1, :order].sum()
        for spectrum, order in zip(spectra, orders, strict=True)
    )
    chosen = max_degree is None and n_radial is None and not any(term.slow for term in terms)
    if chosen and left_out > 0.5:
        warnings.warn(
            f"Degree {degree} and order {sum(orders)} leave out {left_out:.0%} of the trace of "
            f"{kernel!r}: the norms of the rows (mean {radius:.3g}) are too large for its length "
            "scale. Scale the columns, centre the rows or widen the bandwidth.",
            TruncationWarning,
            stacklevel=4,
        )
    return GeneralizedZonalKernel(dim, stack(terms, dim, degree, orders), degree, sum(orders))


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
