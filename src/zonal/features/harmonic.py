"""Harmonic features: the best features that do not look at the data."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._loaded import check_array, check_kind
from .._typing import Array, FloatArray
from .._validation import check_positive, is_sparse, norms_agree, row_norms, spread_of
from ..engines.harmonic_engine import HarmonicEngine
from ..kernels import TruncationWarning
from ..kernels.expansion.distribution import Distribution
from ..kernels.expansion.leading import LeadingByNumber, LeadingByTolerance
from ..kernels.expansion.mercer import MercerModes
from ..kernels.expansion.modes import ModeFunctions
from ..kernels.points import inverse_norms
from ..kernels.slopes import inverse
from ..polynomials.harmonics import HarmonicProgram, solid_harmonics_gradient
from .circle import CircleFeatures
from .training_sample import TrainingSample

__all__ = ["HarmonicFeatures"]

MAX_DEGREE = 4096
# Radii of the eigenproblem, at least.
MIN_NODES = 32


class HarmonicFeatures(CircleFeatures):
    r"""The largest Mercer eigenfunctions of a rotation-invariant kernel.

    Under uniform directions and the distribution of the norms, the eigenfunctions of any
    rotation-invariant kernel are spherical harmonics times radial functions,

    .. math::

        z_{\ell,i,k}(x) = \alpha_{\ell,d}^{-1/2}\, h_{\ell,i}(\|x\|)\,
        Y_{\ell,k}\!\left(\frac{x}{\|x\|}\right), \qquad \mathbb{E}[z_{\ell,i,k}^2] =
        \frac{\mu_{\ell,i}}{\alpha_{\ell,d}},

    and the features are the `n_components` of them with the largest eigenvalue. No other features
    of that number are better on average over such data, random or not. They are deterministic,
    and a feature costs a few multiplications.

    In low dimension (up to about 5) they are close to the best low-rank approximation of the
    kernel matrix. From about 9 columns on, methods that look at the data (`NystroemFeatures`)
    are better, unless the data fill all directions alike; `reduce` is a way in between.

    Parameters
    ----------
    kernel : Kernel, GeneralizedZonalKernel or str, default="gaussian"
        The kernel, any that is rotation-invariant. ``"gaussian"`` is ``Gaussian("median")``.
        `Periodic` is one on a circle, round which this map takes the column of times.
    n_components : int, default=1024
        The largest number of columns D. Eigenvalues below 1e-15 of the largest are dropped, so
        that kernels of finite rank have fewer columns. The last degree may be used in part.
    tol : float, optional
        Take as many columns as the accuracy needs, instead of `n_components`: the features leave
        out at most this share of the largest k(x, x), at every radius that the map is for.
    radii : "data" or (low, high), default="data"
        The distribution of the norms: the quantiles of those in `fit`, or uniform on an interval,
        with which nothing is learnt from the norms of the data. On one sphere (norms differ by
        less than 1e-6 of the distances between rows) one radial function is exact.
    center : bool, array-like of shape (n_features,) or "auto", default="auto"
        What is subtracted from the rows: nothing, their mean or a given point. ``"auto"`` is the
        mean for shift-invariant kernels on dense data, unless the rows lie on a sphere around
        zero, of which they are more than a small part.
    reduce : {"pca", "jl"} or None, default=None
        Fewer columns first: the leading principal axes, or a random projection.
    reduced_dim : int or "auto", default="auto"
        How many; ``"auto"`` is the number with the smallest error of the kernel matrix of a
        few hundred rows, at this `n_components`.
    random_state : int, RandomState instance or None, default=None
        The seed of the random projection; nothing else is random.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters resolved to numbers.
    eigenvalues_ : ndarray of shape (n_columns,)
        μ_{ℓ,i} / α_ℓ of each column, in descending order.
    degrees_ : ndarray of shape (n_columns,)
        The degree ℓ of each column.
    radial_indices_ : ndarray of shape (n_columns,)
        The radial index i of each column.
    center_ : ndarray of shape (n_features,)
        The point subtracted from all rows (zeros for none).
    reduction_ : ndarray of shape (n_features, reduced_dim) or None
        The matrix that rows are multiplied with after that.
    n_features_in_ : int
        d.

    See Also
    --------
    GegenbauerFeatures : The paper's random features for the same kernels.
    ProductFeatures : Products of features of groups of columns, such as a sphere and time.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> features = zonal.HarmonicFeatures(zonal.Gaussian(2.0), n_components=256)
    >>> Z = features.fit_transform(X)
    >>> K = zonal.Gaussian(2.0)(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 1e-4 * np.linalg.norm(K))
    True
    >>> features.degrees_[:5]
    array([0, 1, 1, 1, 2])
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 1024,
        *,
        tol: float | None = None,
        radii: Any = "data",
        center: Any = "auto",
        reduce: str | None = None,
        reduced_dim: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.tol = tol
        self.radii = radii
        self.center = center
        self.reduce = reduce
        self.reduced_dim = reduced_dim
        self.random_state = random_state

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        if self.tol is not None:
            check_positive("tol", self.tol, type(self).__name__)
        rows = self._prepare(sample, seed)
        norms = row_norms(rows)
        self._check_range(sample)
        low, high = self._range(norms, sample.weights, spread_of(rows))
        modes = self._modes(norms, sample.weights, low, high)
        degrees, indices, counts = self._leading().select(modes)
        self._blocks = np.column_stack([degrees, counts])
        self._functions = modes.functions(degrees, indices, low, high)
        self._roots = np.exp(-modes.log_dimensions[degrees] / 2)
        self.degrees_ = np.repeat(degrees, counts)
        self.radial_indices_ = np.repeat(indices, counts)
        self.eigenvalues_ = np.repeat(modes.eigenvalues[degrees, indices], counts)
        self._program = None
        if self._dim > 1:
            used = np.zeros(degrees.max(initial=0) + 1, np.int64)
            np.maximum.at(used, degrees, counts)
            self._program = HarmonicProgram.of(self._dim, used)
        self._warn(modes, high)
        return len(self.degrees_)

    def _range(self, norms: FloatArray, weights: FloatArray, spread: float) -> tuple[float, float]:
        """Return the smallest and the largest radius that the map is for."""
        if isinstance(self.radii, str) and self.radii == "data":
            if not norms_agree(norms, spread):
                return float(norms.min()), float(norms.max())
            radius = float(weights @ norms / weights.sum())
            if abs(radius - 1) <= 1e-6:  # unit vectors: the map owes nothing to the data
                radius = 1.0
            return radius, radius
        try:
            low, high = (float(value) for value in self.radii)
        except (TypeError, ValueError):
            low, high = np.nan, np.nan
        if not 0 <= low <= high < np.inf:
            raise ValueError(
                f"radii={self.radii!r} of {type(self).__name__} must be 'data' or two finite "
                "numbers (low, high) with 0 <= low <= high."
            )
        return low, high

    def _modes(
        self, norms: FloatArray, weights: FloatArray, low: float, high: float
    ) -> MercerModes:
        """Find eigenfunctions for the distribution of the radii, on as many nodes as they need."""
        # On the line there is one function a column, on the plane one for every two.
        most = {1: min(max(self.n_components, 64), 1024), 2: 128}.get(self._dim, 64)
        n_nodes, leading = MIN_NODES, self._leading()
        while True:
            if low == high:
                radii = Distribution.point(low)
            elif isinstance(self.radii, str):
                radii = Distribution.sample(norms, weights, n_nodes)
            else:
                radii = Distribution.interval(low, high, n_nodes)
            if low < high:
                radii = radii.with_ends(low, high)
            modes = MercerModes.until(
                self._expanded_kernel, self._dim, radii, leading.enough, MAX_DEGREE
            )
            # A function that oscillates i times needs more than i nodes.
            used = 1 + leading.select(modes)[1].max(initial=0)
            if 3 * used <= n_nodes or n_nodes >= most or low == high:
                return modes
            n_nodes = min(4 * n_nodes, most)

    def _leading(self) -> LeadingByNumber | LeadingByTolerance:
        """Return the rule by which eigenfunctions become columns."""
        if self.tol is None:
            return LeadingByNumber(self.n_components)
        return LeadingByTolerance(self.tol)

    def _warn(self, modes: MercerModes, high: float) -> None:
        if not self.eigenvalues_.any() and modes.trace > 0:
            warnings.warn(
                f"The features are zero: no eigenfunction of {self.kernel_!r} is above rounding at "
                f"norms up to {high:.3g}, which are large for its length scale. Widen it, scale or "
                "centre the columns, or use NystroemFeatures.",
                TruncationWarning,
                stacklevel=4,
            )
            return
        if 1 + self._dim <= self.n_components or self.tol is not None or modes.max_degree < 1:
            return
        left_out = 1 - float(self.eigenvalues_.sum()) / (modes.trace or 1.0)
        warnings.warn(
            f"n_components={self.n_components} is less than 1 + {self._dim}, the harmonics up to "
            f"degree 1 in {self._dim} dimensions: {left_out:.0%} of the kernel's trace is left "
            "out. Use NystroemFeatures or FourierFeatures, or reduce='pca'.",
            TruncationWarning,
            stacklevel=4,
        )

    def _check_loaded(self) -> None:
        if not hasattr(self, "_blocks"):
            return
        blocks = check_array(self, "_blocks", "i", (None, 2), 0)
        check_array(self, "_roots", "f", (len(blocks),))
        degrees = check_kind(self, "_functions", ModeFunctions).degrees
        program = check_kind(self, "_program", (HarmonicProgram, type(None)))
        if not np.array_equal(blocks[:, 0], degrees) or (program is None) != (self._dim == 1):
            raise ValueError("it is damaged: the modes of its HarmonicFeatures disagree")

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        return 2 * self._dim + 2 * len(self._blocks) + self.n_columns // 8

    def evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills harmonics times radial functions."""
        engine = HarmonicEngine(self._program, self._blocks, dtype) if self._program else None
        odd = self._blocks[:, 0] == 1

        def block(rows: Any, out: Array) -> None:
            rows = self._prepared(rows)
            norms = row_norms(rows)
            self.kernel_.check_norms(norms)
            rows = rows.toarray() if is_sparse(rows) else rows
            radial = self._functions(norms) * self._roots
            if engine is None:  # d = 1: the even functions, and the odd ones with the sign
                out[:] = np.where(odd, np.sign(rows), 1.0) * radial
                return
            directions = rows * inverse_norms(norms, np.float64)[:, None]
            engine(directions, radial.astype(dtype, copy=False), out)

        return block

    def _gradients(self, rows: FloatArray) -> FloatArray:
        norms = row_norms(rows)
        self.kernel_.check_norms(norms)
        radial = self._functions(norms) * self._roots
        slope = self._functions.derivative(norms) * self._roots
        degrees, counts = self._blocks.T
        if self._program is None:  # d = 1, as in `evaluator`
            return np.where(degrees == 1, slope, slope * np.sign(rows))[:, :, None]
        directions = rows * inverse(norms)[:, None]
        values, gradients = solid_harmonics_gradient(self._program, directions)
        # At zero all that is left of a differentiable function is its linear part.
        ratio = radial * inverse(norms)[:, None]
        ratio[norms == 0] = np.where(degrees == 1, slope[norms == 0], 0.0)
        # Of h(‖x‖) Y(x/‖x‖): Y is homogeneous of degree ℓ, so that ⟨x, ∇Y⟩ = ℓ Y (Euler).
        starts = self._program.offsets[degrees]
        columns = np.concatenate(
            [np.arange(start, start + count) for start, count in zip(starts, counts, strict=True)]
        )
        mode = np.repeat(np.arange(len(counts)), counts)
        scale = self._program.scale[columns]
        along = (slope - degrees * ratio)[:, mode] * scale * values[:, columns]
        across = ratio[:, mode] * scale
        whole = (
            along[:, :, None] * directions[:, None, :] + across[:, :, None] * gradients[:, columns]
        )
        return self._by_time(rows, whole)
