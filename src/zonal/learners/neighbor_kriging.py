"""Kriging on the nearest rows, with parameters by evidence."""

import math
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state

from .._typing import Array, FloatArray
from .._validation import check_count, check_time_limit, valid_rows
from ..features.columns.time_column import check_time
from ..kernels import Kernel, as_kernel
from ..model.cells import Cells
from ..model.from_rows import FromRows
from ..model.recipe import Local, Recipe
from ..model.start import Start
from ..partitions import FromParts
from . import answers
from .errors import known_errors
from .model_learner import ModelLearner

__all__ = ["NeighborKriging"]


class NeighborKriging(RegressorMixin, ModelLearner):
    r"""Gaussian process regression from the nearest rows, with features for the long range.

    .. math::

        y_i = \mu + u(x_i) + \varepsilon_i, \qquad
        \mathrm{Cov}(u(x), u(x')) = \sigma^2 k(x, x'), \qquad
        \mathrm{Var}(\varepsilon_i) = \sigma^2 \eta / w_i .

    With b the kriging weights of the m nearest rows, the prediction at q and its variance are

    .. math::

        \mu + \sum_j b_j (y_j - \mu), \qquad
        \sigma^2 \Big( k(q, q) - r^\top b + \frac{(1 - \sum_j b_j)^2}{\tilde 1^\top \tilde 1} \Big),

    and the log evidence is Vecchia's: rows in a random order, each given the m nearest of the rows
    before it. μ is the estimate of generalized least squares, σ² that of maximum likelihood. With
    m at least the number of rows everything is exact. Cost: m³/3 operations for a row, in fit and
    in prediction; the model keeps its rows.

    In a hole the nearest rows lie to one side, and tell little about what a long kernel correlates.
    So D features z carry the low degrees of the long part of the kernel (exact harmonics on a
    sphere, functions of landmarks elsewhere), and the nearest rows carry what these leave,

    .. math:: k(x, x') = z(x)^\top z(x') + [k(x, x') - z(x)^\top z(x')] .

    It is the same process: all formulas above hold with u replaced by the rest and z added to the
    constant, with coefficients of variance σ². Far from all rows the prediction is μ, with the
    variance of the prior.

    Parameters
    ----------
    kernel : Kernel, str or "auto", default="auto"
        A kernel of this library, or its name; its parameters are numbers or ``"median"``, and
        stay. ``"auto"``: a Matérn kernel with ν of 1/2, 3/2 or 5/2 and a length scale for each
        column, by the evidence of at most 16,000 rows, and a longer one added to it where the
        evidence is higher. Columns side by side that are points on a circle or a sphere share
        theirs. Matérn kernels of these ν, Gaussian, Laplacian, RationalQuadratic and sums of these
        are fast, all others slow.
    n_neighbors : int, default=32
        m, the number of rows that a prediction uses.
    noise : float or "auto", default="auto"
        η, the variance of the noise of a row of mean weight, relative to the kernel (where that is
        a sum, to one of its units). ``"auto"``: by evidence.
    n_features : int, default=256
        D at most, up to six columns, of kernels with a fast form and on a sphere of any; the
        evidence may want none.
        0: the nearest rows alone.
    random_state : int, RandomState instance or None, default=None
        The seed of the order of the rows; None is a fixed one. The order depends on the rows'
        content, not on how they are arranged.
    verbose : bool, default=False
        Print what the search for parameters finds.
    time_limit : float, optional
        About how many seconds the search for parameters may take: it then goes on with the best
        that it has found. One step of the first climb always runs.
    time : float, sequence of floats or None, default=None
        Whether the last column is a time, and its periods in its own units: ``365.25`` days, ``12``
        months, ``(24, 168)`` hours, or ``()`` for none. The kernel is then a sum of what changes
        with time (`SpaceTime`), what stays at its place and, for each period that the rows cover
        twice, a season, as far as the evidence wants them. Where all times lie within one period
        time is a circle: December lies beside January. Neighbours are the most correlated rows.
    amplitude : "auto" or None, default="auto"
        ``"auto"``: where there are 300 rows or more that are places (points of the sphere or two
        columns, and maybe a time) and the kernel is found by evidence, noise and what features
        leave of the process are multiplied with a smooth s(x) of low harmonics, if the evidence
        gains; see `amplitude_at`. Forecasts are sharper where a field is restless here and calm
        there; far from all rows s is a guess. None: the field is the same everywhere.
    warp : "auto" or None, default=None
        ``"auto"``: where rows are such places, without a time, and the kernel is found by evidence,
        distances are taken between places that are moved, x + ∇φ(x), with φ of harmonics of degree
        2 (on the sphere, onto which places are put back) or of products of cosines (on a plane), if
        the evidence gains more than they cost; see `warped`. So length scales differ from
        north–south to east–west, or along axes of any direction, and vary with place. The search
        takes two to three times as long. None: they are the same everywhere.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel used, a sum where a longer one was added.
    noise_ : float
        η.
    scale_ : float or ndarray of shape (n_targets,)
        σ².
    mean_ : float or ndarray of shape (n_targets,)
        μ.
    log_evidence_ : float
        Vecchia's log evidence, summed over targets. Of more than 20,000 different rows: with
        features that of the first so many of the random order, without an estimate from as many
        terms.
    n_neighbors_ : int
        m, at most the number of different rows.
    n_features_in_ : int
        The number of columns.

    References
    ----------
    A. V. Vecchia, "Estimation and model identification for continuous spatial processes",
    J. R. Stat. Soc. B 50 (1988).

    H. Sang and J. Z. Huang, "A full scale approximation of covariance functions for large spatial
    data sets", J. R. Stat. Soc. B 74 (2012).

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (500, 2))
    >>> y = np.sin(3 * X[:, 0]) * np.cos(X[:, 1]) + 0.01 * rng.standard_normal(500)
    >>> model = zonal.NeighborKriging().fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.9)
    True
    """

    def __init__(
        self,
        kernel: Any = "auto",
        n_neighbors: int = 32,
        *,
        noise: float | str = "auto",
        n_features: int = 256,
        random_state: Any = None,
        verbose: bool = False,
        time_limit: float | None = None,
        time: Any = None,
        amplitude: str | None = "auto",
        warp: str | None = None,
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.noise = noise
        self.n_features = n_features
        self.random_state = random_state
        self.verbose = verbose
        self.time_limit = time_limit
        self.time = time
        self.amplitude = amplitude
        self.warp = warp

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        queries: Any = None,
        noise_variance: Any = None,
        extra_noise: bool = True,
    ) -> Self:
        """Find the parameters, and keep the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; float32 stays float32. Or a Dask array, or blocks (X, y) of rows, from
            `zonal.stream` or any iterator.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets, which share the kernel and the noise ratio; None where X yields them.
        sample_weight : array-like of shape (n_samples,), optional
            As in `KernelRidge`. Rows at one place with different targets are several observations.
        queries : array-like of shape (n_queries, n_features), optional
            Rows that will be asked: intervals are calibrated at their distances from the rows, as
            in `KernelRidge.fit`.
        noise_variance : array-like of shape (n_samples,), optional
            The variance of each observation's own error, in the units of y squared. The noise of
            a row has this variance plus a common part, which the evidence finds
            (``extra_noise_``). True: the third part of a stream's blocks has them. A `noise`
            that is a number is the common part over σ².
        extra_noise : bool, default=True
            Whether there is that common part.

        Returns
        -------
        self
        """
        weight, errors = known_errors(X, sample_weight, noise_variance, extra_noise)
        return self._fit(X, y, weight, queries=queries, errors=errors)

    @classmethod
    def of(cls, solution: FromRows | FromParts, single: bool) -> Self:
        """Return the local part of a model, fitted to what its features leave.

        Parameters
        ----------
        solution : FromRows or FromParts
            The local part alone (``alone()`` of the whole model).
        single : bool
            Whether there is one target, and predictions have one axis.
        """
        part = solution.part
        return cls(part.found.kernel, part.joint.process.n_neighbors)._take(solution, single)

    def _take(self, solution: FromRows | FromParts, single: bool) -> Self:
        """Take over what was found."""
        self.n_features_in_ = solution.part.joint.process.rows.shape[1]
        self._cells_ = Cells(single=single)
        self._start_ = Start(Recipe(local=self._local_part()), self._cells_, 0, None)
        self._solution_ = solution
        self._sums_, self._probes_ = None, None
        return self

    predict = answers.predict
    predict_interval = answers.predict_interval
    predict_quantiles = answers.predict_quantiles
    sample_y = answers.sample_y
    posterior_sums = answers.posterior_sums

    @property
    def kernel_(self) -> Kernel:
        """The kernel used."""
        kernel: Kernel = self._solution.part.found.kernel
        return kernel

    @property
    def noise_(self) -> float:
        """The noise η, relative to the kernel."""
        return float(self._solution.part.found.noise)

    @property
    def n_neighbors_(self) -> int:
        """The number of neighbours m."""
        return int(self._solution.part.joint.process.n_neighbors)

    @property
    def log_evidence_(self) -> float:
        """Vecchia's log evidence."""
        return float(self._solution.log_evidence)

    @property
    def mean_(self) -> Any:
        """The mean μ."""
        return self._each(self._solution.intercept)

    @property
    def scale_(self) -> Any:
        """The variance σ² of the process."""
        return self._each(self._solution.amplitude)

    # A model of a constant and a local part, of rows of numbers.
    features = None
    local = "auto"
    encoder = None
    metric = False
    _many_targets = True
    _in_parts = True
    _varies = True

    def _check_parameters(self) -> None:
        check_count("n_neighbors", self.n_neighbors, "NeighborKriging")
        check_count("n_features", self.n_features, "NeighborKriging", minimum=0)
        check_time_limit(self.time_limit)
        self._check_noise()
        self.periods()
        self.varies()
        self.warps()

    def _valid_rows(self, X: Any, *, reset: bool) -> Any:
        return valid_rows(self, X, reset=reset, dtype=[np.float64, np.float32])

    def _local_part(self) -> Local:
        automatic = isinstance(self.kernel, str) and self.kernel == "auto"
        return Local(
            None if automatic else as_kernel(self.kernel),
            self._check_noise(),
            int(self.n_neighbors),
            seed=self._seed(),
            required=True,
            n_features=int(self.n_features),
            seconds=self.time_limit,
            periods=self.periods(),
            varies=self.varies(),
            warps=self.warps(),
        )

    def varies(self) -> bool:
        """Tell whether the standard deviation may vary with place."""
        if self.amplitude is None or self.amplitude == "auto":
            return self.amplitude is not None
        raise ValueError(
            f'amplitude={self.amplitude!r} of NeighborKriging must be "auto", a standard '
            "deviation that varies with place where the evidence wants it, or None, one that is "
            "the same everywhere."
        )

    def warps(self) -> bool:
        """Tell whether places may be moved."""
        if self.warp is None or self.warp == "auto":
            return self.warp is not None
        raise ValueError(
            f'warp={self.warp!r} of NeighborKriging must be "auto", length scales that vary with '
            "place and direction where the evidence wants it, or None, such that do not."
        )

    def warped(self, X: Any) -> Array:
        """Return the places between which distances are taken.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            X where the model moves nothing.

        Examples
        --------
        A field that is long along a diagonal: places beside each other on it come closer.

        >>> import numpy as np
        >>> import zonal
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 1, (320, 2))
        >>> y = np.sin(14 * (X[:, 0] - X[:, 1])) + 0.05 * rng.standard_normal(320)
        >>> model = zonal.NeighborKriging(n_features=0, warp="auto").fit(X, y)
        >>> ends = model.warped([[0.4, 0.4], [0.6, 0.6], [0.4, 0.6], [0.6, 0.4]])
        >>> along, across = np.linalg.norm(ends[[1, 3]] - ends[[0, 2]], axis=1)
        >>> bool(along < 0.5 * across)
        True
        """
        rows: Array = self._solution.local_rows(self._check_rows(X, reset=False))
        return rows

    def amplitude_at(self, X: Any) -> FloatArray:
        """Return s(x), by which process and noise are larger or smaller at places.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            One where the model is the same everywhere.

        Examples
        --------
        >>> import numpy as np
        >>> import zonal
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 1, (500, 2))
        >>> y = np.exp(2 * X[:, 0]) * (np.sin(9 * X[:, 1]) + 0.3 * rng.standard_normal(500))
        >>> model = zonal.NeighborKriging().fit(X, y)
        >>> calm, restless = model.amplitude_at([[0.1, 0.5], [0.9, 0.5]])
        >>> bool(restless > 2 * calm)
        True
        """
        rows = self._solution.local_rows(self._check_rows(X, reset=False))
        found = self._solution.part.found.amplitude
        return np.ones(len(rows)) if found is None else found.at(rows)

    def periods(self) -> tuple[float, ...] | None:
        """Return the periods of the last column, None where that is not a time."""
        time = self.time if not isinstance(self.time, str) else np.nan  # a name: of what frame?
        periods: tuple[float, ...] | None = check_time(time, "NeighborKriging")
        return periods

    def _check_noise(self) -> float | None:
        if isinstance(self.noise, str) and self.noise == "auto":
            return None
        is_number = isinstance(self.noise, Real) and not isinstance(self.noise, bool)
        if is_number and 0 <= float(self.noise) < math.inf:
            return float(self.noise)
        raise ValueError(
            f"noise={self.noise!r} of NeighborKriging must be a finite number of at least 0, the "
            'ratio of the noise variance to the kernel, or "auto".'
        )

    def _seed(self) -> int:
        if self.random_state is None:
            return 0
        return int(check_random_state(self.random_state).randint(1 << 31))

    @property
    def local_(self) -> Self:
        """The model itself, which is a local part."""
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
