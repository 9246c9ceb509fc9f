"""What maps built on a Taylor series share: features of unit vectors, times a radial factor."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._typing import Array, FloatArray
from ..._validation import is_sparse, row_norms
from ...kernels import Kernel, TruncationWarning
from ...kernels.expansion.taylor import TaylorSeries, dot_product_terms
from ..centering import CenteredFeatures
from ..training_sample import TrainingSample

__all__ = ["TaylorFeatures", "mean_square_radius", "unit_rows", "warn_if_cut"]

# Whoever asks for this many columns expects a usable map, and is told where it is not.
MANY = 128


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
        dot_product_terms(self.kernel_, type(self).__name__)  # before it has a say on the rows
        self.center_ = self._find_center(sample)
        self._check_range(sample)  # before sums of what overflows are taken
        norms = row_norms(self._centered(sample.rows))
        return norms if norms.any() else np.ones_like(norms)

    @abstractmethod
    def _unit_features(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills [b, n_columns] for rows [b, d] of norm one (or zero)."""

    def evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills features of unit vectors, times their radial factors."""
        evaluate = self._unit_features(dtype)
        used = np.flatnonzero(self._counts)
        series, log_scales = self.series_[used], self._log_scales[used]
        stops = np.cumsum(self._counts[used])

        def block(rows: Any, out: Array) -> None:
            rows = self._centered(rows)
            norms = row_norms(rows)
            self.kernel_.check_norms(norms)
            evaluate(unit_rows(rows, norms), out)
            weights = np.exp(series.log_weights(norms) + log_scales).astype(rows.dtype)
            start = 0
            for weight, stop in zip(weights.T, stops, strict=True):
                out[:, start:stop] *= weight[:, None]
                start = stop

        return block

    @abstractmethod
    def _unit_gradients(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the columns of `_unit_features` [b, n_columns] and gradients [b, n_columns, d]."""

    def _gradients(self, rows: FloatArray) -> FloatArray:
        norms = row_norms(rows)
        self.kernel_.check_norms(norms)
        values, gradients = self._unit_gradients(unit_rows(rows, norms))
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
    """Return R, the root of the mean squared norm."""
    return float(np.sqrt(weights @ np.square(norms) / weights.sum()))


def unit_rows(rows: Any, norms: FloatArray) -> Any:
    """Scale rows to norm one; zero rows stay zero."""
    scale = np.maximum(norms, np.finfo(rows.dtype).tiny).astype(rows.dtype)
    if not is_sparse(rows):
        return rows / scale[:, None]
    data = rows.data / np.repeat(scale, np.diff(rows.indptr))
    return type(rows)((data, rows.indices, rows.indptr), shape=rows.shape)
