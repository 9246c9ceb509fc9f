"""Harmonic features: the best features that do not look at the data."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._loaded import check_array, check_kind
from .._typing import Array, FloatArray
from .._validation import check_positive, is_sparse, norms_agree, spread_of
from ..engines.harmonic_engine import HarmonicEngine
from ..kernels import TruncationWarning
from ..kernels.expansion.leading import LeadingByNumber, LeadingByTolerance
from ..kernels.expansion.mercer import MercerModes
from ..kernels.expansion.modes import ModeFunctions
from ..kernels.expansion.nodes import PairNodes, RadiusNodes
from ..kernels.expansion.pair_functions import PairFunctions
from ..kernels.points import inverse_norms
from ..kernels.slopes import inverse
from ..polynomials.harmonics import HarmonicProgram, solid_harmonics_gradient
from .times import TimedFeatures
from .training_sample import TrainingSample

__all__ = ["HarmonicFeatures"]

MAX_DEGREE = 4096


class HarmonicFeatures(TimedFeatures):
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

    A `SpaceTime` kernel (or a sum of multiples of several) is rotation-invariant in the place at
    any two times. Under uniform directions and the joint distribution of norms and times, its
    eigenfunctions are

    .. math::

        z_{\ell,i,k}(x, t) = \alpha_{\ell,d}^{-1/2}\, h_{\ell,i}(\|x\|, t)\,
        Y_{\ell,k}\!\left(\frac{x}{\|x\|}\right),

    with :math:`h_{\ell,i}` those of the kernel of pairs
    :math:`k_\ell\big((r, t), (s, u)\big)`, on one sphere functions of the time alone. At times
    beyond those in `fit` they are Nyström extensions, as at any other norm.

    In low dimension (up to about 5) they are close to the best low-rank approximation of the
    kernel matrix. From about 9 columns on, methods that look at the data (`NystroemFeatures`)
    are better, unless the data fill all directions alike; `reduce` is a way in between.

    Parameters
    ----------
    kernel : Kernel, GeneralizedZonalKernel or str, default="gaussian"
        The kernel, any that is rotation-invariant. ``"gaussian"`` is ``Gaussian("median")``.
        `Periodic` is one on a circle, round which this map takes the column of times. Of
        `SpaceTime` the last column is a time, which is to the functions as one more radius (below).
    n_components : int, default=1024
        The largest number of columns D. Eigenvalues below 1e-15 of the largest are dropped, so
        that kernels of finite rank have fewer columns. The last degree may be used in part.
    tol : float, optional
        Take as many columns as the accuracy needs, instead of `n_components`: the features leave
        out at most this share of the largest k(x, x), at every radius that the map is for.
    radii : "data" or (low, high), default="data"
        The distribution of the norms: the quantiles of those in `fit`, or uniform on an interval,
        with which nothing is learnt from the norms of the data. On one sphere (norms differ by
        less than 1e-6 of the distances between rows) one radial function is exact. The times of
        `SpaceTime` are always those in `fit`.
    center : bool, array-like of shape (n_features,) or "auto", default="auto"
        What is subtracted from the rows: nothing, their mean or a given point. ``"auto"`` is the
        mean for shift-invariant kernels on dense data, unless the rows lie on a sphere around
        zero, of which they are more than a small part. The times of `SpaceTime` stay as they are.
    reduce : {"pca", "jl"} or None, default=None
        Fewer columns first: the leading principal axes, or a random projection; not of `SpaceTime`.
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

    Places and times, of which what is small changes faster than what is large:

    >>> X = np.column_stack([X[:, :2], np.linspace(0.0, 6.0, 200)])
    >>> kernel = zonal.SpaceTime(zonal.Gaussian(2.0), zonal.Gaussian(3.0), interaction=0.5)
    >>> Z = zonal.HarmonicFeatures(kernel, n_components=256).fit_transform(X)
    >>> bool(np.linalg.norm(Z @ Z.T - kernel(X)) < 1e-4 * np.linalg.norm(kernel(X)))
    True
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
        points, radii = self._polar(self._prepare(sample, seed))
        self._check_range(sample)
        low, high = self._range(points, radii, sample.weights)
        modes = self._modes(radii, sample.weights, low, high)
        degrees, indices, counts = self._leading().select(modes)
        self._blocks = np.column_stack([degrees, counts])
        self._functions: Any = modes.functions(degrees, indices, low, high)
        self._roots = np.exp(-modes.log_dimensions[degrees] / 2)
        self.degrees_ = np.repeat(degrees, counts)
        self.radial_indices_ = np.repeat(indices, counts)
        self.eigenvalues_ = np.repeat(modes.eigenvalues[degrees, indices], counts)
        self._program = None
        if self._dim > 1:
            used = np.zeros(degrees.max(initial=0) + 1, np.int64)
            np.maximum.at(used, degrees, counts)
            self._program = HarmonicProgram.of(self._dim, used)
        self._warn(modes, float(np.ravel(high)[0]))
        return len(self.degrees_)

    def _range(self, points: Any, radii: FloatArray, weights: FloatArray) -> tuple[Any, Any]:
        """Return the smallest and the largest radius that the map is for, or pair of both."""
        if radii.ndim == 2:
            low, high = self._range(points, radii[:, 0], weights)
            times = radii[:, 1]
            return np.array([low, times.min()]), np.array([high, times.max()])
        if isinstance(self.radii, str) and self.radii == "data":
            if not norms_agree(radii, spread_of(points)):
                return float(radii.min()), float(radii.max())
            radius = float(weights @ radii / weights.sum())
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

    def _modes(self, radii: FloatArray, weights: FloatArray, low: Any, high: Any) -> MercerModes:
        """Find eigenfunctions for the distribution of the radii, on as many nodes as they need."""
        leading, uniform = self._leading(), not isinstance(self.radii, str)
        # On the line there is one function a column, on the plane one for every two.
        most = {1: min(max(self.n_components, 64), 1024), 2: 128}.get(self._dim, 64)
        finer: RadiusNodes | PairNodes | None = (
            RadiusNodes(radii, weights, low, high, uniform, most)
            if radii.ndim == 1
            else PairNodes(radii, weights, low, high, uniform)
        )
        while finer is not None:
            nodes = finer
            modes = MercerModes.until(
                self._expanded_kernel, self._dim, nodes.distribution, leading.enough, MAX_DEGREE
            )
            finer = nodes.finer(modes, leading.select(modes))
        return modes

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
        degrees = check_kind(self, "_functions", (ModeFunctions, PairFunctions)).degrees
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
            points, radii = self._polar(self._prepared(rows))
            norms = radii if radii.ndim == 1 else radii[:, 0]
            self.kernel_.check_norms(norms)
            points = points.toarray() if is_sparse(points) else points
            radial = self._functions(radii) * self._roots
            if engine is None:  # d = 1: the even functions, and the odd ones with the sign
                out[:] = np.where(odd, np.sign(points), 1.0) * radial
                return
            directions = points * inverse_norms(norms, np.float64)[:, None]
            engine(directions, radial.astype(dtype, copy=False), out)

        return block

    def _gradients(self, rows: FloatArray) -> FloatArray:
        points, radii = self._polar(rows)
        timed = radii.ndim == 2
        norms = radii[:, 0] if timed else radii
        self.kernel_.check_norms(norms)
        radial = self._functions(radii) * self._roots
        slope = self._functions.derivative(radii) * self._roots
        degrees, counts = self._blocks.T
        if self._program is None:  # d = 1, as in `evaluator`
            sign = np.sign(points)
            whole = np.where(degrees == 1, slope, slope * sign)[:, :, None]
            harmonics = np.where(degrees == 1, sign, 1.0)
            mode = np.arange(len(counts))
        else:
            directions = points * inverse(norms)[:, None]
            values, gradients = solid_harmonics_gradient(self._program, directions)
            # At zero all that is left of a differentiable function is its linear part.
            ratio = radial * inverse(norms)[:, None]
            ratio[norms == 0] = np.where(degrees == 1, slope[norms == 0], 0.0)
            # Of h(‖x‖) Y(x/‖x‖): Y is homogeneous of degree ℓ, so that ⟨x, ∇Y⟩ = ℓ Y (Euler).
            starts = self._program.offsets[degrees]
            columns = np.concatenate(
                [np.arange(first, first + n) for first, n in zip(starts, counts, strict=True)]
            )
            mode = np.repeat(np.arange(len(counts)), counts)
            scale = self._program.scale[columns]
            harmonics = scale * values[:, columns]
            along = (slope - degrees * ratio)[:, mode] * harmonics
            across = ratio[:, mode] * scale
            whole = (
                along[:, :, None] * directions[:, None, :]
                + across[:, :, None] * gradients[:, columns]
            )
        if not timed:
            return self._by_time(points, whole)
        by_time = (self._functions.derivative(radii, 1) * self._roots)[:, mode] * harmonics
        return np.concatenate([whole, by_time[:, :, None]], axis=2)
