"""What a fit with known parameters leaves of targets, and how evident the parameters are."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from .._typing import FloatArray
from .locations import Locations
from .marginal import Observed, marginal
from .neighbors import Indices
from .process import LocalProcess
from .search import Found
from .whitening import Whitening

__all__ = ["log_evidence", "process_of", "unexplained"]


def process_of(locations: Locations, found: Found, n_neighbors: int) -> LocalProcess:
    """Return the process that parameters say, with so many neighbours at most."""
    return LocalProcess(
        locations.rows, locations.weight, found.kernel, found.noise,
        min(n_neighbors, len(locations)), found.low, found.amplitude,
    )  # fmt: skip


def unexplained(
    locations: Locations, process: LocalProcess, ratio: float
) -> tuple[Whitening, FloatArray]:
    """Return the whitening of rows, and their targets less the mean and the features.

    Parameters
    ----------
    locations : Locations
    process : LocalProcess
        Observed there.
    ratio : float
        τ, the variance of the coefficients over that of the process.
    """
    rows = np.arange(len(locations), dtype=np.int32)
    with process.kept_features():
        whitening = process.whitening(rows)
        known = np.column_stack([np.ones(len(rows)), process.own_features(rows)])
    whitened = whitening.apply(known)
    gram = whitened.T @ whitened
    gram[1:, 1:] += np.eye(len(gram) - 1) / ratio
    coef = cho_solve(cho_factor(gram), whitened.T @ whitening.apply(locations.targets))
    return whitening, locations.targets - known @ coef


def log_evidence(
    locations: Locations, found: Found, n_neighbors: int, numbers: Indices | None = None
) -> float:
    """Return the log evidence of rows, or of some, given by their numbers."""
    process = process_of(locations, found, n_neighbors)
    with process.kept_features():
        whitening = process.whitening(numbers)
        columns = [np.ones(len(locations)), locations.targets]
        columns.append(process.own_features(np.arange(len(locations), dtype=np.int32)))
    whitened = whitening.apply(np.column_stack(columns))
    rows = whitening.rows
    repeated = locations.repeated.part(rows)
    if found.amplitude is not None:
        repeated = repeated.over(found.amplitude.at(locations.rows[rows]))
    observed = Observed.of(whitening.variance, repeated, found.noise)
    n_targets = locations.targets.shape[1]
    return float(marginal(whitened.T @ whitened, n_targets, observed, found.ratio).log_evidence)
