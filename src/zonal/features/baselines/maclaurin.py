"""Random Maclaurin features: products of random projections."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._typing import Array, FloatArray
from ..._validation import check_choice
from ...kernels.expansion.cut import average_taylor
from ...kernels.expansion.taylor import TaylorSeries, taylor_series
from ..training_sample import TrainingSample
from .taylor import TaylorFeatures, mean_square_radius, warn_if_cut

__all__ = ["MaclaurinFeatures"]

# Degrees beyond have a probability of 2^-53 or less: no column is ever drawn for them.
GEOMETRIC_DEGREE = 52
# What the series may lose of k(x, x), averaged over the rows, with the "proportional" measure.
TOL = 1e-6


class MaclaurinFeatures(TaylorFeatures):
    r"""Random Maclaurin features of a dot-product or Gaussian kernel (Kar and Karnick, 2012).

    For :math:`k(x,y) = e^{-\beta(\|x\|^2+\|y\|^2)} \sum_j a_j \langle x,y\rangle^j` with
    :math:`a_j \ge 0`, every column draws a degree N with probability q(N), and N vectors
    :math:`w_1, \dots, w_N` with entries ±1:

    .. math::

        z(x) = \sqrt{\frac{a_N}{q(N)\, D}}\; e^{-\beta\|x\|^2} \prod_{i=1}^N \langle w_i, x\rangle,
        \qquad \mathbb{E}[Z Z^\top] = K .

    The variance grows like 3ʲ with the degree j: `PolySketchFeatures` grows linearly.

    Parameters
    ----------
    kernel : Kernel or str, default="gaussian"
        A kernel with a Taylor series in ⟨x, y⟩: Gaussian, Exponential, Polynomial, DotProduct,
        their sums and products. Summands with different radial factors share the columns.
    n_components : int, default=1024
        The width D of the output.
    measure : {"geometric", "proportional"}, default="geometric"
        How degrees are drawn. ``"geometric"``: q(N) ∝ 2^{-(N+1)} over the degrees whose
        coefficient is not zero, as in the paper, up to degree 52 (what lies beyond would have
        probability 2^-53, and is left out). ``"proportional"``: q(N) ∝ a_N R^{2N}, with R² the
        mean squared norm of the rows, up to the degree whose tail is below 1e-6 of the mean
        k(x, x): much less variance, and R is learnt from data.
    exact : bool, default=True
        Whether one column holds the constant a_0 exactly, so that the others draw degrees from 1
        on (unless that column would be the only one, or the kernel is constant). False is the
        original, which draws degree 0 like any other.
    center : bool, array-like of shape (n_features,) or "auto", default="auto"
        What is subtracted from the rows: nothing, their mean or a given point. ``"auto"`` is the
        mean for shift-invariant kernels on dense data, unless the rows lie on a sphere around
        zero, of which they are more than a small part.
    random_state : int, RandomState instance or None, default=None
        The seed.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters resolved to numbers.
    series_ : TaylorSeries
        What the features estimate without bias: E[Z Zᵀ] = ``series_(X - center_)``.
    degrees_ : ndarray of shape (n_components,)
        The degree N of every column, ascending.
    center_ : ndarray of shape (n_features,)
        The point subtracted from all rows (zeros for none).
    n_features_in_ : int
        d.

    Notes
    -----
    With ``measure="geometric"``, ``center=False`` and numeric kernel parameters nothing is learnt
    from data. The time is O(D · mean degree · d) a row, or of its non-zero entries for CSR.

    References
    ----------
    P. Kar and H. Karnick, "Random Feature Maps for Dot Product Kernels", AISTATS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> features = zonal.MaclaurinFeatures(zonal.Gaussian(4.0), 512, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> Z.shape
    (200, 512)
    >>> K = zonal.Gaussian(4.0)(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.1 * np.linalg.norm(K))
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 1024,
        *,
        measure: str = "geometric",
        exact: bool = True,
        center: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.measure = measure
        self.exact = exact
        self.center = center
        self.random_state = random_state

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        check_choice("measure", self.measure, ("geometric", "proportional"), type(self).__name__)
        norms = self._norms(sample)
        self.series_, measure = self._measure(norms, sample.weights)
        rng = np.random.default_rng(seed)
        n_columns = int(self.n_components)
        exact = (self.series_.degrees == 0) & bool(self.exact)
        if exact.all() or exact.sum() >= n_columns:
            exact[:] = False
        n_drawn = n_columns - int(exact.sum())
        measure = np.where(exact, 0.0, measure)
        measure /= measure.sum()
        self._counts = np.where(exact, 1, rng.multinomial(n_drawn, measure))
        with np.errstate(divide="ignore"):  # pieces that cannot be drawn
            self._log_scales = np.where(exact, 0.0, -np.log(measure * n_drawn) / 2)
        self.degrees_ = np.repeat(self.series_.degrees, self._counts)
        # Factor i serves the columns of degree i or more, which are the last ones.
        self._factors = [
            2 * rng.integers(0, 2, (self.n_features_in_, count), np.int8) - np.int8(1)
            for count in (self.degrees_[:, None] > np.arange(self.degrees_[-1])).sum(axis=0)
        ]
        return n_columns

    def _measure(self, norms: FloatArray, weights: FloatArray) -> tuple[TaylorSeries, FloatArray]:
        """Return the series, and the probability of each piece (up to a factor)."""
        name = type(self).__name__
        if self.measure == "geometric":
            series = taylor_series(self.kernel_, GEOMETRIC_DEGREE, name)
            return series, np.exp2(-1.0 - series.degrees)
        series, energy = average_taylor(self.kernel_, norms, weights, TOL, name)
        warn_if_cut(self.kernel_, series, 1 - energy.sum(), self.n_components)
        return series, series.shares(mean_square_radius(norms, weights))

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        return 2 * self.n_columns

    def _unit_features(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        factors = [factor.astype(dtype) for factor in self._factors]

        def block(rows: Any, out: Array) -> None:
            out[:] = 1
            for factor in factors:
                out[:, -factor.shape[1] :] *= rows @ factor

        return block

    def _unit_gradients(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        values = np.ones((len(rows), self.n_columns))
        gradients = np.zeros((*values.shape, rows.shape[1]))
        for factor in self._factors:  # the rule for products
            n = factor.shape[1]
            linear = rows @ factor.astype(np.float64)
            gradients[:, -n:] *= linear[:, :, None]
            gradients[:, -n:] += values[:, -n:, None] * factor.T
            values[:, -n:] *= linear
        return values, gradients
