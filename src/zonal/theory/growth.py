r"""How fast the derivatives of κ at zero grow: the paper's assumption on dot-product kernels."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from .._typing import Array, FloatArray
from .._validation import check_positive
from ..kernels import Exponential, Kernel
from ..kernels.terms import DotProductTerm, merge

__all__ = ["Growth", "derivative_growth"]

# Derivatives that are looked at.
N_TERMS = 256
# Slopes of log κ^(ℓ)(0) level off for the exponential growth that is assumed. They differ by
# log 2 / 2 = 0.35 from one octave to the next for exp(t²), and by 0.69 for 1/(1 - t).
LEVEL = 0.1


@dataclass(frozen=True)
class Growth:
    r"""Derivatives at zero that grow exponentially: κ^(ℓ)(0) ≤ C β^ℓ.

    The paper asks for it from ℓ = d + 1 on only, but a sum over i ≥ s = d/2 begins with the power
    d, and one pair for all ℓ serves every dimension.

    Attributes
    ----------
    constant : float
        C > 0.
    rate : float
        β > 0. The paper has β ≥ 1; smaller ones are the same theorem for √β x.
    """

    constant: float
    rate: float


def derivative_growth(kernel: Kernel) -> list[Growth]:
    r"""Return pairs (C, β) that bound the derivatives of a dot-product kernel, all of them valid.

    C = β = 1 in the units of the exponential kernel. For others, a range of rates β from the
    final growth on, each with the smallest C that its derivatives, found from the Taylor
    coefficients, allow: which one is best depends on the radius.
    """
    if isinstance(kernel, Exponential):
        kernel.check()
        return [Growth(1.0, float(kernel.scale) ** -2)]
    terms = merge(kernel.terms())
    term: Any = terms[0]
    if len(terms) > 1 or not isinstance(term, DotProductTerm) or term.decay > 0:
        raise ValueError(
            f"kernel={kernel!r} is neither a Gaussian nor a dot-product kernel, and the paper's "
            "closed forms are for those. Expand it and use n_directions, or recommend, which "
            "measures."
        )
    degrees = np.arange(N_TERMS)
    logs = term.log_taylor(N_TERMS) + gammaln(degrees + 1)
    degrees, logs = degrees[np.isfinite(logs)], logs[np.isfinite(logs)]
    # What stops early is a polynomial: any rate will do, and low ones are paid for in the constant.
    lowest = _final_slope(kernel, degrees, logs) if degrees[-1] >= N_TERMS // 4 else -2.0
    rates = lowest + np.r_[0.0, np.geomspace(1e-3, 5.0, 60)]
    constants = (logs[:, None] - degrees[:, None] * rates).max(axis=0)
    return [
        Growth(math.exp(constant), math.exp(rate))
        for constant, rate in zip(constants, rates, strict=True)
    ]


def _final_slope(kernel: Kernel, degrees: Array, logs: FloatArray) -> float:
    """Return the growth of the log-derivatives in the end, if it is one."""
    span = degrees[-1] - degrees[0]
    marks = np.searchsorted(degrees, degrees[0] + span * np.array([0.25, 0.5]))
    edges = [*marks, len(degrees) - 1]
    earlier, later = np.diff(logs[edges]) / np.diff(degrees[edges])
    if later - earlier > LEVEL:
        raise ValueError(
            f"The derivatives of kernel={kernel!r} at zero grow faster than any C β^ℓ, which the "
            "paper's theorem on dot-product kernels assumes (its Taylor series may end at some "
            "radius). Give growth=(C, beta) if you know better, or use recommend, which measures."
        )
    return float(later)


def given_growth(growth: Any, owner: str) -> Growth:
    """Check C and β that the user gave, and return them."""
    try:
        constant, rate = growth
    except (TypeError, ValueError):
        raise ValueError(
            f"growth={growth!r} of {owner} must be a pair (C, beta) with κ^(ℓ)(0) ≤ C β^ℓ."
        ) from None
    return Growth(
        check_positive("C", constant, owner), check_positive("beta", rate, f"{owner}'s growth")
    )
