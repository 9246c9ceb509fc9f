"""Kriging of several targets at once, which may have gaps."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._suggestions import check_keywords
from .._typing import Array, FloatArray
from .._validation import check_count, check_values, valid_rows
from ..calibration.scores import check_coverage
from ..kernels import Kernel, as_kernel
from ..kriging.coregional import CoregionalProcess, stacked
from ..kriging.joint import Joint, fit_joint
from ..kriging.ladder import split_parameters
from ..kriging.locations import Locations, Repeated, locate
from ..kriging.search import Found, find_parameters
from ..kriging.target_covariance import find_covariances
from ..model.drawing import Places, draw_joint, normals
from ..model.recipe import MIN_ROWS
from ..rows import blockwise
from ..rows.hashing import row_hash
from .targets import check_range, require

__all__ = ["CoKriging"]

# Targets whose correlation is smaller tell each other less than a hundredth of their variance: they
# are fitted apart, each with a kernel of its own.
UNRELATED = 0.1


class CoKriging(RegressorMixin, BaseEstimator):
    r"""Gaussian process regression of several targets at once, some of which may be missing.

    .. math::

        y_a(x) = \mu_a + f_a(x) + e_a(x), \qquad
        \mathrm{Cov}(f_a(x), f_b(x')) = B_{ab}\, k(x, x'), \qquad
        \mathrm{Cov}(e_a(x), e_b(x')) = E_{ab}\, [x = x'],

    linear coregionalisation with one kernel k. A row that has one target informs the others: where
    a float measured at 100 m alone, its value is among the neighbours of the prediction for 150 m.
    The kernel is that of `NeighborKriging` for all targets together; B and E
    are those of largest evidence (Vecchia's). Targets that turn out to be unrelated (correlations
    of fields and of places below 0.1) are fitted apart, with kernels of their own.

    Parameters
    ----------
    kernel : Kernel, str or "auto", default="auto"
        As in `NeighborKriging`, of kernels with a compiled form.
    n_neighbors : int, default=16
        A prediction uses so many observations of each target, and twice as many of its own.
    n_features : int, default=256
        Features for each target that carry what is long of the kernel; as in `NeighborKriging`.
    random_state : int, RandomState instance or None, default=None
        The seed of the order of the rows; None is a fixed one.
    verbose : bool, default=False
        Print what the search for the kernel finds.

    Attributes
    ----------
    kernel_ : Kernel or list of Kernel
        k, or that of each group.
    groups_ : list of list of int
        Numbers of the targets that are fitted together.
    covariance_ : ndarray of shape (n_targets, n_targets)
        B.
    noise_covariance_ : ndarray of shape (n_targets, n_targets)
        E.
    correlation_ : ndarray of shape (n_targets, n_targets)
        The correlations of the fields.
    n_features_in_ : int
        The number of columns.

    Notes
    -----
    A prediction is of the field and of what the other targets, where they were observed at exactly
    that place, tell of E there. Targets need not be in the same unit.

    References
    ----------
    A. G. Journel and C. J. Huijbregts, *Mining Geostatistics* (1978), chapter V.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 10, (150, 2))
    >>> first = np.sin(X[:, 0]) * np.cos(X[:, 1])
    >>> Y = np.column_stack([first, 2 * first + 0.1 * X[:, 0]])
    >>> holes = Y.copy()
    >>> holes[50:, 1] = np.nan
    >>> model = zonal.CoKriging(n_neighbors=16).fit(X, holes)
    >>> bool(np.mean((model.predict(X)[50:, 1] - Y[50:, 1]) ** 2) < 0.01)
    True
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Answer an unknown keyword with the one that was probably meant."""
        super().__init_subclass__(**options)
        check_keywords(cls)

    def __init__(
        self,
        kernel: Any = "auto",
        n_neighbors: int = 16,
        *,
        n_features: int = 256,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.n_features = n_features
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Find the kernel and the covariances of the targets, and keep the observations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; a place may be given several times.
        y : array-like of shape (n_samples, n_targets)
            Targets, NaN where one was not observed. Every target needs an observation.

        Returns
        -------
        self
        """
        check_count("n_neighbors", self.n_neighbors, "CoKriging")
        check_count("n_features", self.n_features, "CoKriging", minimum=0)
        rows = valid_rows(self, X, reset=True, dtype=[np.float64, np.float32])
        Y = _targets(y)
        check_consistent_length(rows, Y)
        if len(Y) < 2:
            raise ValueError("CoKriging needs at least two rows, but n_samples=1.")
        self._single_ = np.asarray(y).ndim == 1
        seed = 0
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(1 << 31))
        self._middle_ = np.nanmean(Y, axis=0)
        spread = np.nanstd(Y, axis=0)
        self._spread_ = np.where(spread > 0, spread, 1.0)
        Y = (Y - self._middle_) / self._spread_
        found = self._kernel_of(np.asarray(rows, np.float64), Y, seed)
        places, values = _observations(np.asarray(rows, np.float64), Y, seed)
        n_targets = Y.shape[1]
        m = int(self.n_neighbors) * (n_targets + 1)
        fields, noise, _ = find_covariances(places, values, found.kernel, found.noise, m)
        self._groups_ = _related(fields, noise)
        if len(self._groups_) > 1:
            whole = Y * self._spread_ + self._middle_
            self._parts_ = [clone(self).fit(X, whole[:, group]) for group in self._groups_]
            return self
        process = CoregionalProcess(places, found.kernel, fields, noise, m, found.low)
        index = np.arange(len(places))
        repeated = Repeated.nothing(len(places), 1)
        locations = Locations(places, values[:, None], np.ones(len(places)), repeated, index)
        self._joint_ = fit_joint(locations, process, scale=1.0)
        return self

    def _kernel_of(self, rows: FloatArray, Y: FloatArray, seed: int) -> Found:
        """Return the kernel and the noise that all targets share, from complete rows if enough."""
        complete = np.isfinite(Y).all(axis=1)
        chosen = slice(None)
        # Rows by which kernel and noise are found have all targets.
        if complete.sum() < min(MIN_ROWS, len(Y)):
            best = int(np.isfinite(Y).sum(axis=0).argmax())  # the target that is known best
            complete, chosen = np.isfinite(Y[:, best]), slice(best, best + 1)
        targets = Y[complete][:, chosen]
        locations = locate(rows[complete], targets - targets.mean(axis=0), None, seed)
        automatic = isinstance(self.kernel, str) and self.kernel == "auto"
        kernel = None if automatic else as_kernel(self.kernel).resolve(rows, None)
        found = find_parameters(locations, kernel, None, verbose=self.verbose)
        return split_parameters(
            locations, found, int(self.n_features), move_kernel=automatic, verbose=self.verbose
        )

    @blockwise
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict all targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        return_std : bool, default=False
            Whether to return the standard deviation too, without the noise of observations.

        Returns
        -------
        mean : ndarray of shape (n_samples, n_targets)
        std : ndarray of the same shape
            If `return_std`.
        """
        mean, std = self._predicted(X, return_std)
        return (mean, std) if return_std else mean

    @blockwise
    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Array, Array]:
        """Predict intervals of new observations, from the model's own standard deviations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        coverage : float, default=0.9
            The share of observations that the intervals hold.

        Returns
        -------
        lower, upper : ndarrays of shape (n_samples, n_targets)
        """
        check_is_fitted(self)
        if len(self._groups_) > 1:
            ends = [part.predict_interval(X, coverage) for part in self._parts_]
            lower, upper = (self._placed([one[k] for one in ends]) for k in (0, 1))
            return lower, upper
        factor = norm.ppf(0.5 + check_coverage(coverage) / 2)
        mean, std = self._predicted(X, True)
        own = np.diag(self.noise_covariance_) - self._process.projected * self._spread_**2
        half = factor * np.sqrt(np.square(std) + (own[0] if self._single_ else own))
        return mean - half.astype(mean.dtype), mean + half.astype(mean.dtype)

    def sample_y(
        self, X: Any, n_samples: int = 1, random_state: Any = None, *, noise: bool = False
    ) -> Array:
        """Draw the fields from their posterior, jointly at all rows of X and of all targets.

        As `NeighborKriging.sample_y`, where each target at a place is a row of its own. The mean
        and the standard deviation of the draws are those of `predict`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows. Their order does not matter, and equal rows have equal values.
        n_samples : int, default=1
            The number of draws. The first ones are the same however many there are.
        random_state : int, RandomState instance or None, default=None
            The seed: the same one gives the same fields. None: others each time.
        noise : bool, default=False
            Whether to add to each target what E leaves when the other targets of the place are
            known, as in `predict_interval`; it is drawn for each target and row by itself.

        Returns
        -------
        ndarray of shape (n_rows, n_targets, n_samples), or (n_rows, n_samples) of a single target

        Examples
        --------
        >>> import numpy as np
        >>> import zonal
        >>> X = np.linspace(0, 9, 60)[:, None]
        >>> Y = np.column_stack([np.sin(X[:, 0]), np.sin(X[:, 0]) + 0.1 * X[:, 0]])
        >>> model = zonal.CoKriging("matern", n_features=0).fit(X, Y)
        >>> model.sample_y([[4.05], [12.0]], 20, random_state=0).shape
        (2, 2, 20)
        """
        check_is_fitted(self)
        check_count("n_samples", n_samples, "sample_y")
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
        if len(self._groups_) > 1:  # with a seed for each group, for they know nothing of another
            parts = [
                part.sample_y(X, n_samples, np.random.default_rng([seed, k]).integers(1 << 31),
                              noise=noise).reshape(-1, len(group), n_samples)
                for k, (part, group) in enumerate(zip(self._parts_, self._groups_, strict=True))
            ]  # fmt: skip
            return np.asarray(np.concatenate(parts, axis=1)[:, self._order])
        rows, t = (
            valid_rows(self, X, reset=False, dtype=[np.float64, np.float32]),
            len(self._middle_),
        )
        places = Places.of(np.asarray(rows, np.float64))
        asked = stacked(places.rows, t, latent=True)
        center, _ = self._joint_.predict(asked)
        drawn = draw_joint(self._joint_, None, asked, center, int(n_samples), seed)
        found = drawn.reshape(len(places), t, -1)[places.index]
        if noise:
            own = np.sqrt(np.diag(self._process.places) - self._process.projected)
            for draw in range(int(n_samples)):
                found[..., draw] += own * normals(seed, draw, 2, found.shape[:2])
        found = found * self._spread_[:, None] + self._middle_[:, None]
        return (found[:, 0] if self._single_ else found).astype(rows.dtype)

    def _predicted(self, X: Any, return_std: bool) -> Any:
        check_is_fitted(self)
        if len(self._groups_) > 1:
            found = [part.predict(X, return_std=True) for part in self._parts_]
            both = [self._placed([one[k] for one in found]) for k in (0, 1)]
            return both[0], both[1] if return_std else None
        rows = valid_rows(self, X, reset=False, dtype=[np.float64, np.float32])
        t = len(self._middle_)
        mean, std = self._joint_.predict(stacked(rows, t), None, return_std)
        shape = (len(rows),) if self._single_ else (len(rows), t)
        mean = (mean.reshape(-1, t) * self._spread_ + self._middle_).reshape(shape)
        if std is not None:
            std = (std.reshape(-1, t) * self._spread_).reshape(shape).astype(rows.dtype)
        return mean.astype(rows.dtype), std

    def _placed(self, parts: list[Array]) -> Array:
        """Return columns of groups [n, t_g] in the order of the targets: [n, t]."""
        return np.column_stack(parts)[:, self._order]

    @property
    def _order(self) -> npt.NDArray[np.intp]:
        """Where each target is among the columns of all groups."""
        return np.argsort(np.concatenate(self._groups_))

    @property
    def _process(self) -> CoregionalProcess:
        joint: Joint = self._joint_
        process = joint.process
        assert isinstance(process, CoregionalProcess)
        return process

    @property
    def groups_(self) -> list[list[int]]:
        """Numbers of the targets that are fitted together."""
        check_is_fitted(self)
        groups: list[list[int]] = self._groups_
        return groups

    @property
    def kernel_(self) -> Kernel | list[Kernel]:
        """The kernel k, or that of each group."""
        if len(self.groups_) > 1:
            return [part.kernel_ for part in self._parts_]
        return self._process.kernel

    @property
    def covariance_(self) -> FloatArray:
        """The covariance B of the fields."""
        if len(self.groups_) > 1:
            return self._blocks("covariance_")
        return self._process.fields * np.outer(self._spread_, self._spread_)

    @property
    def noise_covariance_(self) -> FloatArray:
        """The covariance E at places."""
        if len(self.groups_) > 1:
            return self._blocks("noise_covariance_")
        return self._process.places * np.outer(self._spread_, self._spread_)

    @property
    def correlation_(self) -> FloatArray:
        """The correlations of the fields."""
        return _correlation(self.covariance_)

    def _blocks(self, name: str) -> FloatArray:
        """Return matrices of groups as blocks of one of all targets."""
        whole = np.zeros((len(self._middle_), len(self._middle_)))
        for group, part in zip(self._groups_, self._parts_, strict=True):
            whole[np.ix_(group, group)] = getattr(part, name)
        return whole

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has come to its end."""
        return "_joint_" in vars(self) or "_parts_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _correlation(covariance: FloatArray) -> FloatArray:
    root = np.sqrt(np.diag(covariance))
    return np.asarray(covariance / np.outer(root, root))


def _related(fields: FloatArray, places: FloatArray) -> list[list[int]]:
    """Return groups of targets, of which each is related to another of its group."""
    both = np.abs(_correlation(fields)), np.abs(_correlation(fields + places))
    near = np.maximum(*both) >= UNRELATED
    _, label = connected_components(near, directed=False)
    return [np.flatnonzero(label == k).tolist() for k in range(label.max() + 1)]


def _targets(y: Any) -> FloatArray:
    """Return targets as numbers [n, t], with gaps as NaN."""
    require(y, "CoKriging")
    check_values(y, "y")
    Y = np.asarray(y, np.float64)
    if Y.ndim not in (1, 2) or not Y.size:
        raise ValueError(
            f"y has the shape {Y.shape}; a column for each target, (n_samples, n_targets), is "
            "needed."
        )
    if np.isinf(Y).any() or (Y.ndim == 1 and np.isnan(Y).any()):
        raise ValueError(
            "Input y contains NaN, infinity or a value too large: only gaps in one of several "
            "columns are left out, as NaN."
        )
    Y = Y.reshape(len(Y), -1)
    check_range(np.nan_to_num(Y), "CoKriging")
    empty = np.flatnonzero(~np.isfinite(Y).any(axis=0))
    if len(empty):
        raise ValueError(f"Column {empty[0]} of y has no observation: leave it out.")
    return Y


def _observations(rows: FloatArray, Y: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return stacked places [n, d + 1] and observations [n] in random order, without gaps.

    Observations of one target at one place are their mean.
    """
    places = locate(rows, np.zeros((len(rows), 1)), None, seed)
    n_places, t = len(places), Y.shape[1]
    known = np.isfinite(Y)
    where, target = np.nonzero(known)
    key = places.index[where] * t + target
    count = np.bincount(key, minlength=n_places * t)
    total = np.bincount(key, Y[where, target], minlength=n_places * t)
    seen = np.flatnonzero(count)
    order = seen[np.argsort(row_hash(seen + seed))]
    return stacked(places.rows, t)[order], total[order] / count[order]
