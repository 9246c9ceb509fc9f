"""Expansions whose radial functions are the best for a distribution of the radii."""

import warnings

import numpy as np

from .._typing import FloatArray
from .._validation import norms_agree
from .base import Kernel, TruncationWarning
from .gzk import GeneralizedZonalKernel
from .mercer import MercerModes
from .truncation import MAX_DEGREE, SLOW_DEGREE, Distribution

__all__ = ["optimal_expansion", "warn_if_truncated"]


def optimal_expansion(
    kernel: Kernel,
    dim: int,
    max_degree: int | None,
    n_radial: int | None,
    norms: FloatArray,
    tol: float,
) -> GeneralizedZonalKernel:
    """The expansion in eigenfunctions; see `Kernel.expand`."""
    if len(norms) == 1:
        low, high = 0.0, float(norms[0])
        radii = Distribution.interval(low, high)
    elif norms_agree(norms):
        low = high = float(norms.mean())
        radii = Distribution.point(low)
    else:
        low, high = float(norms.min()), float(norms.max())
        # The bound is for all radii, so that the rare ones must have nodes too.
        sample = Distribution.sample(norms, np.ones(len(norms)), 32)
        radii = sample.mixed(Distribution.interval(low, high, 32))
    slow = any(term.slow for term in kernel.terms())
    top = SLOW_DEGREE if slow else MAX_DEGREE
    if max_degree is None:
        modes = MercerModes.until(
            kernel, dim, radii, lambda found: _worst(found, found.max_degree) <= tol / 10, top
        )
        tails = _tails(modes)
        # Where the tolerance is out of reach, degrees that add nothing are of no use.
        max_degree = int(np.argmax(tails <= max(tol / 2, tails[-1])))
        if not slow:
            warn_if_truncated(kernel, max_degree, float(tails[-1]), tol)
    else:
        modes = MercerModes(kernel, dim, radii, max_degree)
        max_degree = min(max_degree, modes.max_degree)
    if n_radial is None:
        n_nodes = modes.values.shape[1]
        largest = float(modes.diagonal.max()) or 1.0
        least = modes.residual(np.full(max_degree + 1, n_nodes)).max() / largest
        limit = least + tol / 2  # half for the degree, half for the order
        n_radial = next(
            (
                order
                for order in range(1, n_nodes)
                if modes.residual(np.full(max_degree + 1, order)).max() <= limit * largest
            ),
            n_nodes,
        )
    radial = modes.radial(max_degree, n_radial, low, high)
    return GeneralizedZonalKernel(dim, radial, max_degree, n_radial)


def _tails(modes: MercerModes) -> FloatArray:
    """What each degree q leaves out of the largest k(x, x), at the worst radius."""
    rest = modes.diagonal - np.cumsum(modes.by_degree, axis=0)
    return np.asarray(rest.max(axis=1) / (modes.diagonal.max() or 1.0))


def _worst(modes: MercerModes, max_degree: int) -> float:
    return float(_tails(modes)[max_degree])


def warn_if_truncated(kernel: Kernel, max_degree: int, missing: float, tol: float) -> None:
    """Say so where the highest degree that is tried does not reach the tolerance."""
    if missing > tol:
        warnings.warn(
            f"The series of {kernel!r} does not converge at these radii: degree {max_degree} "
            f"leaves out {missing:.2g} of k(x, x), more than tol={tol:g}. The radii are too "
            "large for the kernel's length scale: rescale the data or widen the bandwidth.",
            TruncationWarning,
            stacklevel=4,
        )
