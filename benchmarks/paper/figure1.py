"""Figure 1: how fast Taylor, Chebyshev and Gegenbauer series approximate two kernel functions.

For κ(t) = exp(2t), the Gaussian kernel on the unit sphere up to a factor, and for the Neural
Tangent kernel of a two-layer ReLU network: max |κ - κ̃| over [-1, 1] of the series κ̃ up to each
degree.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.polynomial import chebyshev, polynomial
from scipy.special import gammaln, ive

from zonal.polynomials import gegenbauer_series, gegenbauer_table, log_harmonic_dimensions

from ..measure import table
from .common import Report

MAX_DEGREE = 15
DIMS = (2, 4, 8, 32)
NODES = 1000
# Points that crowd towards ±1, where the errors of all series are largest; both ends included.
POINTS = np.cos(np.linspace(0, np.pi, 4001))


def a0(t: Any) -> Any:
    """The paper's a₀(t) = 1 - acos(t)/π."""
    return 1 - np.arccos(t) / np.pi


def a1(t: Any) -> Any:
    """The paper's a₁(t) = (√(1 - t²) + t (π - acos(t))) / π."""
    return (np.sqrt(1 - t**2) + t * (np.pi - np.arccos(t))) / np.pi


def ntk(t: Any) -> Any:
    """a₁(a₁(t)) + (a₁(t) + t a₀(t)) a₀(a₁(t))."""
    # Rounding may lift a₁(1) = 1 above one, where the arc cosine ends.
    first = a1(t) if np.iscomplexobj(t) else np.minimum(a1(t), 1.0)
    return a1(first) + (first + t * a0(t)) * a0(first)


GAUSSIAN = "Gaussian, exp(2t)"
KERNELS: dict[str, Callable[[Any], Any]] = {
    GAUSSIAN: lambda t: np.exp(2 * t),
    "Neural Tangent, two layers": ntk,
}


# The exponential's series has a closed form; rounding spoils quadrature in high degrees.
EXPONENT = 2.0
TAIL = 60


def exponential_terms(series: str, dim: int | None) -> np.ndarray:
    """Coefficients of exp(2t) up to a degree where nothing is left.

    Taylor: 2^ℓ/ℓ!. Gegenbauer: α_ℓ Γ(d/2) (2/z)^{d/2-1} I_{ℓ+d/2-1}(z) at z = 2, and Chebyshev's
    are those of d = 2.
    """
    ell = np.arange(TAIL)
    if series == "Taylor":
        return np.exp(ell * np.log(EXPONENT) - gammaln(ell + 1))
    half = (dim or 2) / 2
    bessel = ive(ell + half - 1, EXPONENT) * np.exp(EXPONENT)
    scale = gammaln(half) + (half - 1) * np.log(2 / EXPONENT)
    return np.exp(scale + log_harmonic_dimensions(TAIL - 1, dim or 2)) * bessel


def exponential_errors(series: str, dim: int | None) -> np.ndarray:
    """The largest errors of the series of exp(2t) up to each degree.

    All coefficients are positive and all polynomials at most their value 1 at t = 1, where the
    error is the sum of the coefficients left out.
    """
    terms = exponential_terms(series, dim)
    return np.cumsum(terms[::-1])[::-1][1 : MAX_DEGREE + 2]


def partial_sums(kappa: Callable[[Any], Any], series: str, dim: int | None = None) -> np.ndarray:
    """The series of κ up to each degree at all points: [degree, point]."""
    if series == "Taylor":
        terms = gegenbauer_series(kappa, math.inf, MAX_DEGREE)
        basis = polynomial.polyvander(POINTS, MAX_DEGREE).T
    elif series == "Chebyshev":  # on its own, though it should equal d = 2
        terms = chebyshev.chebinterpolate(kappa, NODES)[: MAX_DEGREE + 1]
        basis = chebyshev.chebvander(POINTS, MAX_DEGREE).T
    else:
        assert dim is not None
        terms = gegenbauer_series(kappa, dim, MAX_DEGREE, NODES)
        basis = gegenbauer_table(MAX_DEGREE, dim, POINTS)
    return np.cumsum(terms[:, None] * basis, axis=0)


def run(quick: bool = False) -> Report:
    """The whole figure; it takes a second, quick or not."""
    kinds: dict[str, tuple[str, int | None]] = {
        "Taylor": ("Taylor", None),
        "Chebyshev": ("Chebyshev", None),
        **{f"Gegenbauer, d = {dim}": ("Gegenbauer", dim) for dim in DIMS},
    }
    rows: list[dict[str, Any]] = []
    for kernel, kappa in KERNELS.items():
        for label, (series, dim) in kinds.items():
            if kernel == GAUSSIAN:
                errors = exponential_errors(series, dim)
            else:
                errors = np.abs(partial_sums(kappa, series, dim) - kappa(POINTS)).max(axis=1)
            rows += [
                {"kernel": kernel, "series": label, "degree": degree, "error": float(error)}
                for degree, error in enumerate(errors)
            ]
    setting = {
        "largest degree": MAX_DEGREE,
        "dimensions": list(DIMS),
        "quadrature nodes": NODES,
        "points of the maximum": len(POINTS),
        "seeds": "none needed",
    }
    return Report(
        "Figure 1: errors of Taylor, Chebyshev and Gegenbauer series",
        setting,
        rows,
        _body(rows, list(kinds)),
        _draw(rows, list(kinds)),
    )


def _errors(rows: list[dict[str, Any]], kernel: str, series: str) -> list[float]:
    return [row["error"] for row in rows if row["kernel"] == kernel and row["series"] == series]


def _body(rows: list[dict[str, Any]], series: list[str]) -> str:
    parts = [
        "Largest error over [-1, 1] of each series, by its degree. The paper prints the picture "
        "only, no numbers; Chebyshev and Gegenbauer with d = 2 are the same series. Those of "
        "exp(2t) are sums of the coefficients left out, which have closed forms; those of the "
        "Neural Tangent kernel are measured at 4,001 points."
    ]
    for kernel in KERNELS:
        columns = [_errors(rows, kernel, name) for name in series]
        lines = [
            (str(degree), *(f"{error:.2e}" for error in errors))
            for degree, errors in enumerate(zip(*columns, strict=True))
        ]
        parts += [f"## {kernel}", table(lines, ("degree", *series))]
    return "\n\n".join(parts)


def _draw(rows: list[dict[str, Any]], series: list[str]) -> Figure:
    figure = Figure(figsize=(10, 4), layout="constrained")
    for axis, kernel in zip(figure.subplots(1, 2), KERNELS, strict=True):
        for number, name in enumerate(series):
            # Chebyshev and d = 2 coincide: a thin line on a thick one shows both.
            width = 4.0 if name == "Chebyshev" else 1.4
            axis.semilogy(
                _errors(rows, kernel, name),
                marker=".",
                lw=width,
                color="lightgrey" if name == "Chebyshev" else f"C{number}",
                label=name,
            )
        axis.set(title=kernel, xlabel="degree", ylabel="largest error on [-1, 1]")
        axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    return figure
