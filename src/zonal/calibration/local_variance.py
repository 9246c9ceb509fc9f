"""Noise that varies, known by the nearest rows: kriging of the logarithms of squared errors."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from ..kernels import Kernel, Matern
from ..kriging.covariance import covariance_of
from ..kriging.effort import JUDGED
from ..kriging.neighbors import Indices
from ..kriging.process import LocalProcess
from .numerics import FACTORS, NOISES
from .variance import OutOfFold, shares_of

__all__ = ["ErrorField", "LocalVariance", "local_variance"]


@dataclass(frozen=True)
class ErrorField:
    """Squared errors at known rows, in logarithms.

    Attributes
    ----------
    rows : ndarray of shape (f, d)
    values : ndarray of shape (f, n_targets)
        Logarithms of squared scores, of mean zero.
    """

    rows: Array
    values: FloatArray

    def at(self, queries: Array, kernel: Kernel, noise: float, neighbors: Indices) -> FloatArray:
        """Return the field at other points, from given neighbours: [n_queries, n_targets]."""
        process = self._process(kernel, noise, neighbors.shape[1])
        return _kriged(process, self.values, queries, neighbors)

    def near(self, queries: Array, kernel: Kernel, n_neighbors: int) -> Indices:
        """Return the neighbours of other points, the same for all multiples of length scales."""
        return self._process(kernel, 0.0, n_neighbors).near(queries)

    def _process(self, kernel: Kernel, noise: float, n_neighbors: int) -> LocalProcess:
        return LocalProcess(self.rows, np.ones(len(self.rows)), kernel, noise, n_neighbors)

    def variance(self, kernel: Kernel, noise: float, n_neighbors: int) -> "LocalVariance":
        """Return the field as a variance, of which everything is taken."""
        return LocalVariance(self._process(kernel, noise, n_neighbors), self.values)


@dataclass(frozen=True)
class LocalVariance:
    """A log variance that is kriged from rows near by.

    Attributes
    ----------
    process : LocalProcess
        With the rows.
    values : ndarray of shape (f, n_targets)
        Log squared scores at the rows, of mean zero.
    share : float
        How much of it is taken.
    """

    process: LocalProcess
    values: FloatArray
    share: float = 1.0

    def at(self, rows: Array) -> FloatArray:
        """Return log variances at rows: [n, n_targets]."""
        return self.share * _kriged(self.process, self.values, rows)


def local_variance(
    fields: list[tuple[ErrorField, npt.NDArray[np.intp]]],
    whole: ErrorField,
    rows: Array,
    out_of_fold: OutOfFold,
    kernel: Kernel,
    n_neighbors: int,
) -> tuple[LocalVariance | None, FloatArray]:
    """Find a variance that makes forecasts better, and its logarithm at the rows.

    Parameters
    ----------
    fields : list of (ErrorField, ndarray of int)
        Errors that may be known at some of the rows, and which rows these are.
    whole : ErrorField
        Errors that may be known at new rows.
    rows : ndarray of shape (n, d)
        Rows with errors that tell nothing about the fields.
    out_of_fold : OutOfFold
        Of these rows.
    kernel : Kernel
        The model's own.
    n_neighbors : int

    Returns
    -------
    variance : LocalVariance or None
        None: a constant variance is as good.
    log_variance : ndarray of shape (n, n_targets)
    """
    correlation = covariance_of(kernel)
    constant = np.zeros_like(out_of_fold.residual)
    if correlation is None:
        return None, constant
    scales = np.asarray(correlation.length_scale, np.float64)
    near = [known.near(rows[mine], Matern(0.5, scales), n_neighbors) for known, mine in fields]

    def at(factor: float, noise: float, step: int = 1) -> FloatArray:
        found = np.zeros((len(rows), constant.shape[1]))
        for (known, mine), neighbors in zip(fields, near, strict=True):
            chosen = mine % step == 0
            if chosen.any():
                kernel = Matern(0.5, scales * factor)
                found[mine[chosen]] = known.at(rows[mine[chosen]], kernel, noise, neighbors[chosen])
        return found[::step]

    step = max(1, len(rows) // JUDGED)
    judge = out_of_fold.rows(np.arange(0, len(rows), step))
    best, pair = 1.0, (1.0, 1.0)
    tried = [(factor, 1.0) for factor in FACTORS]
    for first in (True, False):  # length scales first, then the noise at the best of them
        for candidate in tried if first else [(pair[0], noise) for noise in NOISES]:
            share, ratio = shares_of(judge, at(*candidate, step))
            if share and ratio < best:
                best, pair = ratio, candidate
    if best == 1.0:
        return None, constant
    log_variance = at(*pair)
    share, _ = shares_of(out_of_fold, log_variance)
    if not share:
        return None, constant
    variance = whole.variance(Matern(0.5, scales * pair[0]), pair[1], n_neighbors)
    return replace(variance, share=share), share * log_variance


def _kriged(
    process: LocalProcess, values: FloatArray, queries: Array, known: Indices | None = None
) -> FloatArray:
    neighbors, weights, _ = process.at(queries, known)
    return np.asarray(np.einsum("ij,ijt->it", weights, values[neighbors]))
