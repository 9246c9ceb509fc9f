"""Parameters of a local part with a likelihood, by Laplace's evidence of a sample of rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone

from .._typing import Array, FloatArray
from ..kriging.locations import Locations
from ..kriging.search import Found
from ..likelihoods import Likelihood
from .vecchia_laplace import Laplace, Responses, find_laplace

__all__ = ["LocalParameters", "find_local_parameters"]

# Rows whose evidence is maximised, and neighbours of each.
SEARCH_ROWS, SEARCH_NEIGHBORS = 3_000, 16
# The change of f that ends Newton's method there: the evidence is flat at the mode.
ROUGH = 1e-2
# First steps in the logarithms of the parameters, and trials for each of them.
STEP, TRIALS = 0.7, 14
# The range of each logarithm about its start.
WIDEST = 7.0


@dataclass(frozen=True)
class LocalParameters:
    """What the evidence prefers.

    Attributes
    ----------
    likelihood : Likelihood
        With all its parameters.
    found : Found
        The kernel and the ratio of the parts.
    scale : float
        σ².
    """

    likelihood: Likelihood
    found: Found
    scale: float


def find_local_parameters(
    locations: Locations,
    y: Array,
    weight: FloatArray | None,
    start: LocalParameters,
    unknown: tuple[str, ...],
    features: Callable[[Array], Array] | None,
    move_kernel: bool,
) -> tuple[LocalParameters, Laplace]:
    """Maximise Laplace's evidence by the method of Nelder and Mead.

    Parameters
    ----------
    locations : Locations
        All rows.
    y : ndarray of shape (n_rows, 3)
        Packed responses.
    weight : ndarray of shape (n_rows,) or None
    start : LocalParameters
        Where the search begins: what the linearised responses prefer.
    unknown : tuple of str
        Parameters of the likelihood that are to be found.
    features : callable or None
    move_kernel : bool
        Whether length scales may change, all by one factor.

    Returns
    -------
    LocalParameters
    Laplace
        The mode of the first rows that has the largest evidence.
    """
    sample = locations.head(SEARCH_ROWS)
    responses = Responses.of(sample, y, weight)
    moves = move_kernel and start.found.low is None and hasattr(start.found.kernel, "length_scale")

    def at(logs: FloatArray) -> LocalParameters:
        kernel = _stretched(start.found.kernel, logs[1]) if moves else start.found.kernel
        likelihood = start.likelihood
        for name, log in zip(unknown, logs[1 + moves :], strict=True):
            likelihood = likelihood.moved(name, float(log))
        scale = start.scale * float(np.exp(logs[0]))
        return LocalParameters(likelihood, replace(start.found, kernel=kernel), scale)

    best_known: Laplace | None = None

    def loss(logs: FloatArray) -> float:
        nonlocal best_known
        if np.abs(logs).max() > WIDEST:
            return np.inf
        where, near = at(logs), None if best_known is None else best_known.latent
        found = find_laplace(
            sample, responses, where.likelihood, where.found, where.scale, features,
            SEARCH_NEIGHBORS, ROUGH, near,
        )  # fmt: skip
        if not np.isfinite(found.log_evidence):
            return np.inf
        if best_known is None or found.log_evidence > best_known.log_evidence:
            best_known = found
        return -found.log_evidence

    size = 1 + moves + len(unknown)
    simplex = np.vstack([np.zeros(size), STEP * np.eye(size)])
    best = minimize(
        loss,
        np.zeros(size),
        method="Nelder-Mead",
        options={
            "initial_simplex": simplex,
            "maxfev": TRIALS * size,
            "xatol": 0.05,
            "fatol": 0.1,
        },
    )
    assert best_known is not None
    return at(best.x), best_known


def _stretched(kernel: Any, log_factor: float) -> Any:
    """Return a kernel with its length scales times exp(log_factor)."""
    length = np.asarray(kernel.length_scale, np.float64) * np.exp(log_factor)
    return clone(kernel).set_params(length_scale=float(length) if length.ndim == 0 else length)
