"""Kriging on the nearest rows, with parameters by evidence."""

import math
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from .._suggestions import Hinting
from .._typing import Array, FloatArray
from .._validation import check_count, valid_rows
from ..calibration.intervals import Calibration
from ..kernels import Kernel, as_kernel
from ..rows import Block
from .interval_learner import IntervalLearner
from .local_calibration import calibrate_local
from .local_solution import LocalSolution, solve_local

__all__ = ["NeighborKriging"]


class NeighborKriging(Hinting, IntervalLearner, RegressorMixin, BaseEstimator):
    r"""Gaussian process regression in which every prediction uses the nearest rows only.

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

    Parameters
    ----------
    kernel : Kernel, str or "auto", default="auto"
        A kernel of this library, or its name; its parameters are numbers or ``"median"``, and
        stay. ``"auto"``: a Matérn kernel with ν of 1/2, 3/2 or 5/2 and a length scale for each
        column, by the evidence of at most 16,000 rows. Columns side by side that are points on a
        circle or a sphere share theirs. Matérn kernels of these ν, Gaussian, Laplacian and
        RationalQuadratic are fast, all others slow.
    n_neighbors : int, default=32
        m, the number of rows that a prediction uses.
    noise : float or "auto", default="auto"
        η, the variance of the noise of a row of weight one, relative to the kernel. ``"auto"``: by
        evidence.
    random_state : int, RandomState instance or None, default=None
        The seed of the order of the rows; None is a fixed one. The order depends on the rows'
        content, not on how they are arranged.
    verbose : bool, default=False
        Print what the search for parameters finds.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel used.
    noise_ : float
        η.
    scale_ : float or ndarray of shape (n_targets,)
        σ².
    mean_ : float or ndarray of shape (n_targets,)
        μ.
    log_evidence_ : float
        Vecchia's log evidence, summed over targets; of more than 150,000 rows an estimate from so
        many of its terms.
    n_neighbors_ : int
        m, at most the number of different rows.
    n_features_in_ : int
        The number of columns.

    References
    ----------
    A. V. Vecchia, "Estimation and model identification for continuous spatial processes",
    J. R. Stat. Soc. B 50 (1988).

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
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.noise = noise
        self.n_features = n_features
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the parameters, and keep the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; float32 stays float32.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets, which share the kernel and the noise ratio.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a row of weight 2 is the same as the row twice, and both are one observation
            with half the variance of noise. Rows at one place whose targets differ count as
            several observations.

        Returns
        -------
        self
        """
        check_count("n_neighbors", self.n_neighbors, "NeighborKriging")
        check_count("n_features", self.n_features, "NeighborKriging", minimum=0)
        noise = self._check_noise()
        X, y = valid_rows(
            self, X, y, dtype=[np.float64, np.float32], multi_output=True, y_numeric=True
        )
        weight = self._check_weight(X, sample_weight)
        kernel = self._given_kernel(X, weight)
        Y = np.asarray(y, np.float64).reshape(len(y), -1)
        self._single_ = np.ndim(y) == 1
        solution = solve_local(
            Block(X, Y, weight),
            None,
            None,
            kernel=kernel,
            noise=noise,
            n_neighbors=int(self.n_neighbors),
            n_features=int(self.n_features),
            seed=self._seed(),
            verbose=self.verbose,
        )
        return self._take(solution)

    @classmethod
    def of(cls, solution: LocalSolution, single: bool) -> Self:
        """Return the local part of a model, fitted to what its features leave.

        Parameters
        ----------
        solution : LocalSolution
            Of the whole model.
        single : bool
            Whether there is one target, and predictions have one axis.
        """
        part = cls(solution.found.kernel, solution.joint.process.n_neighbors)
        part._single_ = single
        part.n_features_in_ = solution.joint.process.rows.shape[1]
        return part._take(solution.without_features())

    def _take(self, solution: LocalSolution) -> Self:
        """Take over what was found."""
        joint = solution.joint
        self._solution_ = solution
        self._calibration_: Calibration | None = None
        self.kernel_: Kernel = solution.found.kernel
        self.noise_ = solution.found.noise
        self.n_neighbors_ = joint.process.n_neighbors
        self.log_evidence_ = joint.found.log_evidence
        mean, scale = solution.intercept, joint.found.scale
        self.mean_ = float(mean[0]) if self._single_ else mean
        self.scale_ = float(scale[0]) if self._single_ else scale
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        return_std : bool, default=False
            Whether to return the standard deviation too: that of the mean plus the process,
            without noise, as in scikit-learn.

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_targets)
        std : ndarray of the same shape
            If `return_std`.
        """
        check_is_fitted(self)
        X = valid_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        parts = self._solution_.predict(X, None, return_std)
        found = [part[:, 0] if self._single_ else part for part in parts if part is not None]
        return tuple(found) if return_std else found[0]

    @property
    def calibration_(self) -> Calibration:
        """Scores of rows that are left out of their neighbours; found when first asked for."""
        check_is_fitted(self)
        known: Calibration | None = getattr(self, "_calibration_", None)
        if known is None:
            self._calibration_ = known = calibrate_local(self._solution_, None)
        return known

    def _observations(self, X: Any) -> tuple[Array, Array]:
        X = valid_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        return self._solution_.predict_observations(X, None, self.calibration_.variance)

    def _given_kernel(self, X: Array, weight: FloatArray | None) -> Kernel | None:
        if isinstance(self.kernel, str) and self.kernel == "auto":
            return None
        kernel = as_kernel(self.kernel).resolve(X, weight)
        kernel(X[:1])  # length scales of another number of columns are an error here
        return kernel

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

    def _check_weight(self, X: Array, sample_weight: Any) -> FloatArray | None:
        if sample_weight is None:
            return None
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if not weight.any():
            raise ValueError("All sample weights are zero: at least one row must count.")
        return np.asarray(weight)

    def _seed(self) -> int:
        if self.random_state is None:
            return 0
        return int(check_random_state(self.random_state).randint(1 << 31))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
