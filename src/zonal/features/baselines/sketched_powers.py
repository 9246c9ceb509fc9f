"""What sketches of tensor powers share: the degrees, and the columns that each of them gets."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..._typing import FloatArray
from ..._validation import check_count
from ...kernels.expansion.cut import average_taylor
from ...kernels.expansion.taylor import TaylorSeries, taylor_series
from ..training_sample import TrainingSample
from .taylor import TaylorFeatures, mean_square_radius, warn_if_cut

__all__ = ["TOL", "SketchedPowers", "share_widths"]

#: What the series may lose of k(x, x), averaged over the rows. The last degrees cost columns and
#: noise: below this, an error of D^{-1/2} hides what they would add.
TOL = 1e-4


class SketchedPowers(TaylorFeatures):
    """Base class: every degree of the Taylor series is sketched in columns of its own.

    Subclasses have the parameter `degree`, call `_share_columns` in `_fit` and draw their sketches.
    """

    degree: int | str
    degrees_: npt.NDArray[np.intp]
    widths_: npt.NDArray[np.intp]

    def _share_columns(self, sample: TrainingSample, size: Callable[[int], int]) -> None:
        """Find the series, and share the columns among its degrees, each at most its size."""
        if self.degree != "auto":
            extra = ', or "auto"'
            check_count("degree", self.degree, type(self).__name__, minimum=0, extra=extra)
        norms = self._norms(sample)
        self.series_ = self._find_series(norms, sample.weights)
        self.degrees_ = self.series_.degrees
        self.widths_ = share_widths(
            self.series_.shares(mean_square_radius(norms, sample.weights)),
            [size(int(degree)) for degree in self.degrees_],
            self.n_components,
        )
        self._counts, self._log_scales = self.widths_, np.zeros(len(self.series_))

    def _find_series(self, norms: FloatArray, weights: FloatArray) -> TaylorSeries:
        name = type(self).__name__
        if not isinstance(self.degree, str):
            series = taylor_series(self.kernel_, int(self.degree), name)
            if len(series) > self.n_components:
                raise ValueError(
                    f"n_components={self.n_components} of {name} is less than the {len(series)} "
                    f"degrees up to degree={self.degree}, each of which needs a column: raise "
                    'n_components, lower degree, or use degree="auto".'
                )
            return series
        series, energy = average_taylor(self.kernel_, norms, weights, TOL, name)
        # Beyond the last degree that earns half a column there is nothing worth a sketch: a few
        # rows of large norm would else ask for a hundred degrees, each with a tree of its own.
        earned = series.degrees[energy * self.n_components >= 0.5]
        if len(earned):
            inside = series.degrees <= earned.max()
            series, energy = series[inside], energy[inside]
        largest = np.sort(np.argsort(-energy, kind="stable")[: self.n_components])
        series, energy = series[largest], energy[largest]
        warn_if_cut(self.kernel_, series, 1 - energy.sum(), self.n_components)
        return series


def share_widths(shares: FloatArray, sizes: list[int], n_components: int) -> npt.NDArray[np.intp]:
    """Divide columns in proportion to shares, at least one each and no more than their sizes.

    Whatever is left when all have their size goes to the last.

    Examples
    --------
    >>> from zonal.features.baselines.sketched_powers import share_widths
    >>> share_widths([0.4, 0.4, 0.2], [1, 3, 9], 8)
    array([1, 3, 4])
    """
    shares = np.maximum(np.asarray(shares, dtype=np.float64), 1e-300)
    # One column each, and the rest in proportion; what one cannot use, the others share again.
    room = np.array([min(size, n_components) - 1 for size in sizes])
    extra = np.zeros(len(room))
    left = n_components - len(room)
    is_open = room > 0
    while is_open.any():
        extra[is_open] = left * shares[is_open] / shares[is_open].sum()
        full = is_open & (extra >= room)
        if not full.any():
            break
        extra[full] = room[full]
        left -= int(room[full].sum())
        is_open &= ~full
    widths = 1 + np.floor(extra).astype(np.intp)
    missing = n_components - int(widths.sum())
    if is_open.any():
        largest = np.argsort(np.floor(extra) - extra, kind="stable")[:missing]
        widths[largest] += 1
    else:
        widths[-1] += missing
    return widths
