"""What maps built on a Taylor series share: the series, where it is cut, and the radial factor."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, xlogy

from ..._typing import Array, FloatArray
from ..._validation import is_sparse, row_norms
from ...kernels import Kernel, TruncationWarning
from ...kernels.base import as_rows, dots
from ...kernels.terms import DotProductTerm, merge
from ..centering import CenteredFeatures
from ..training_sample import TrainingSample

__all__ = [
    "TaylorFeatures",
    "TaylorSeries",
    "cut_series",
    "mean_square_radius",
    "taylor_series",
    "warn_if_cut",
]

# Beyond, a sketch of the series is of no use, whatever its width.
MAX_DEGREE = 200
# Whoever asks for this many columns expects a usable map, and is told where it is not.
MANY = 128


@dataclass(frozen=True, eq=False)
class TaylorSeries:
    r"""Pieces :math:`a_k e^{-\beta_k (\|x\|^2 + \|y\|^2)} \langle x,y\rangle^{p_k}`, by degree.

    Calling it gives the matrix of their sum, a kernel's truncated Taylor series.

    Attributes
    ----------
    degrees : ndarray of shape (n_pieces,)
        p_k, ascending. A degree occurs once for every decay of the kernel.
    log_coefficients : ndarray of shape (n_pieces,)
        log a_k.
    decays : ndarray of shape (n_pieces,)
        β_k.
    """

    degrees: npt.NDArray[np.intp]
    log_coefficients: FloatArray
    decays: FloatArray

    def __len__(self) -> int:
        return len(self.degrees)

    def __getitem__(self, chosen: Any) -> Self:
        return type(self)(self.degrees[chosen], self.log_coefficients[chosen], self.decays[chosen])

    def __call__(self, X: Any, Y: Any = None) -> Array:
        """The matrix of the sum of all pieces, shape (n_rows_x, n_rows_y)."""
        rows, others = as_rows(X), as_rows(X if Y is None else Y)
        inner = dots(rows, others)
        total = np.zeros_like(inner)
        left, right = (
            np.exp(self.log_coefficients / 2 - np.square(row_norms(points))[:, None] * self.decays)
            for points in (rows, others)
        )
        for k, degree in enumerate(self.degrees):
            total += np.outer(left[:, k], right[:, k]) * inner**degree
        return total

    def log_weights(self, norms: FloatArray) -> FloatArray:
        """Log of √a_k e^{-β_k r²} r^{p_k}: [n, n_pieces]. Its square is the share of k(x, x)."""
        norms = np.asarray(norms, dtype=np.float64)[:, None]
        with np.errstate(over="ignore"):
            decay = np.square(norms) * self.decays
        return np.asarray(self.log_coefficients / 2 + xlogy(self.degrees, norms) - decay)

    def shares(self, radius: float) -> FloatArray:
        """What each piece contributes to the sum of all at one radius: [n_pieces], sum 1."""
        log_energy = 2 * self.log_weights(np.array([radius]))[0]
        return np.exp(log_energy - logsumexp(log_energy))


def taylor_series(kernel: Kernel, max_degree: int, owner: str) -> TaylorSeries:
    """All pieces of a kernel up to a degree whose coefficients are not zero."""
    pieces = []
    for term in _dot_product_terms(kernel, owner):
        logs = term.log_taylor(max_degree + 1)
        degrees = np.flatnonzero(np.isfinite(logs))
        pieces.append((degrees, logs[degrees], np.full(len(degrees), term.decay)))
    degrees, logs, decays = (np.concatenate(part) for part in zip(*pieces, strict=True))
    if not len(degrees):
        raise ValueError(
            f"All Taylor coefficients of {kernel!r} up to degree {max_degree} are zero: raise the "
            f"degree of {owner}."
        )
    return TaylorSeries(degrees, logs, decays)[np.argsort(degrees, kind="stable")]


def cut_series(
    kernel: Kernel, norms: FloatArray, weights: FloatArray, tol: float, owner: str
) -> tuple[TaylorSeries, FloatArray]:
    """The series up to the smallest degree whose tail is below `tol` of the mean k(x, x).

    Returns
    -------
    series : TaylorSeries
    energy : ndarray of shape (n_pieces,)
        The share of the mean k(x, x) that each piece holds.
    """
    series = taylor_series(kernel, MAX_DEGREE, owner)
    log_share = np.log(weights / weights.sum())[:, None]
    squares = np.square(norms)
    log_trace = logsumexp(
        [
            term.log_kappa(squares) - 2 * term.decay * squares + log_share[:, 0]
            for term in _dot_product_terms(kernel, owner)
        ]
    )
    energy = np.exp(logsumexp(2 * series.log_weights(norms) + log_share, axis=0) - log_trace)
    kept = 1 - np.bincount(series.degrees, energy).cumsum() <= tol
    # At norms that are large for the length scale, the tail is still too heavy at the last degree.
    last = int(np.argmax(kept)) if kept.any() else MAX_DEGREE
    inside = series.degrees <= last
    return series[inside], energy[inside]


def warn_if_cut(kernel: Kernel, series: TaylorSeries, left_out: float, n_components: int) -> None:
    """Say so where more than half of the kernel is missing."""
    if left_out > 0.5 and n_components >= MANY:
        warnings.warn(
            f"{len(series)} pieces of the Taylor series up to degree {series.degrees.max()} leave "
            f"out {left_out:.0%} of the trace of {kernel!r}: the norms of the rows are large for "
            "its length scale. Widen it, scale the columns, or use NystroemFeatures, which looks "
            "at the data.",
            TruncationWarning,
            stacklevel=5,
        )


def _dot_product_terms(kernel: Kernel, owner: str) -> list[DotProductTerm]:
    terms = merge(kernel.terms())
    if not all(isinstance(term, DotProductTerm) for term in terms):
        raise ValueError(
            f"{owner} needs a kernel with a Taylor series in ⟨x, y⟩ (Gaussian, Exponential, "
            f"Polynomial, DotProduct, their sums and products), and {kernel!r} has none. Use "
            "GegenbauerFeatures or NystroemFeatures, which take any kernel."
        )
    return terms  # type: ignore[return-value]


class TaylorFeatures(CenteredFeatures):
    """Base class: features of x/‖x‖ for every piece of a Taylor series, times its weight at ‖x‖.

    Powers of unit vectors neither overflow nor underflow, whatever the degree; the radial factor
    and the power of the norm are one exponential. Subclasses set `series_`, and

    - `_counts`, the number of columns of each piece, in the order of `series_`;
    - `_log_scales`, the log of what multiplies the columns of each piece;
    - `_unit_features(dtype)`, which fills the columns for a block of unit rows.
    """

    series_: TaylorSeries
    _counts: npt.NDArray[np.intp]
    _log_scales: FloatArray

    def _norms(self, sample: TrainingSample) -> FloatArray:
        """Find the centre, and return the norms of the centred rows (1 if all are zero)."""
        _dot_product_terms(self.kernel_, type(self).__name__)  # before it has a say on the rows
        self.center_ = self._find_center(sample)
        norms = row_norms(self._centered(sample.rows))
        self.kernel_.check_norms(norms)
        return norms if norms.any() else np.ones_like(norms)

    @abstractmethod
    def _unit_features(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """A function that fills [b, n_columns] for a block of rows [b, d] of norm one (or zero)."""

    def _evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        evaluate = self._unit_features(dtype)
        used = np.flatnonzero(self._counts)
        series, log_scales = self.series_[used], self._log_scales[used]
        stops = np.cumsum(self._counts[used])

        def block(rows: Any, out: Array) -> None:
            rows = self._centered(rows)
            norms = row_norms(rows)
            self.kernel_.check_norms(norms)
            evaluate(_unit(rows, norms), out)
            weights = np.exp(series.log_weights(norms) + log_scales).astype(rows.dtype)
            start = 0
            for weight, stop in zip(weights.T, stops, strict=True):
                out[:, start:stop] *= weight[:, None]
                start = stop

        return block

    @abstractmethod
    def _unit_gradients(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The columns of `_unit_features` [b, n_columns], and their gradients [b, n_columns, d]."""

    def _gradients(self, rows: FloatArray) -> FloatArray:
        norms = row_norms(rows)
        self.kernel_.check_norms(norms)
        values, gradients = self._unit_gradients(_unit(rows, norms))
        used = np.flatnonzero(self._counts)
        series, counts = self.series_[used], self._counts[used]
        # A column is homogeneous of degree p but for the decay, its gradient of degree p - 1.
        lower = replace(series, degrees=np.maximum(series.degrees - 1, 0))
        weights, slopes = (
            np.repeat(np.exp(part.log_weights(norms) + self._log_scales[used]), counts, axis=1)
            for part in (series, lower)
        )
        along = -2 * np.repeat(series.decays, counts) * weights * values
        return slopes[:, :, None] * gradients + along[:, :, None] * rows[:, None, :]


def mean_square_radius(norms: FloatArray, weights: FloatArray) -> float:
    """R, the root of the mean squared norm."""
    return float(np.sqrt(weights @ np.square(norms) / weights.sum()))


def _unit(rows: Any, norms: FloatArray) -> Any:
    """Rows of norm one; zero rows stay zero."""
    scale = np.maximum(norms, np.finfo(rows.dtype).tiny).astype(rows.dtype)
    if not is_sparse(rows):
        return rows / scale[:, None]
    data = rows.data / np.repeat(scale, np.diff(rows.indptr))
    return type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)
