"""A fitted model with a local part: what it predicts, and how sure it is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .._deadline import Deadline
from .._typing import Array, FloatArray
from ..calibration.intervals import Calibration
from ..features.chain_rule import features_gradient
from ..kriging.absolute import AbsoluteEvidence
from ..kriging.covariance import covariance_of
from ..kriging.joint import Joint, first_rows, fit_joint
from ..kriging.joint_search import joint_parameters
from ..kriging.ladder import is_short, split_parameters
from ..kriging.locations import Locations, locate
from ..kriging.neighbors import Indices
from ..kriging.process import LocalProcess
from ..kriging.search import Found, find_parameters
from ..kriging.space_time import find_space_time
from ..kriging.space_time_split import more_evident, split_space_time
from ..kriging.varying import varying
from ..moments.folds import Splits
from ..rows import Block, row_hash, sample_rows
from ..rows.copies import content_hash
from .known_errors import KnownErrors

__all__ = [
    "FEW_NEIGHBORS",
    "JUDGED_ROWS",
    "MOST_SPLITS",
    "OBSERVED_PLACES",
    "LocalGradient",
    "LocalSolution",
    "Observations",
    "find_local",
    "judged_places",
    "shrunk",
    "solve_local",
]

# Without features, mean, scale and evidence of more rows come from the terms of so many.
JUDGED_ROWS = 20_000
# Places whose rows calibrate intervals, and the most splits of a splitter that do.
OBSERVED_PLACES, MOST_SPLITS = 10_000, 8
# With more neighbours than these, half as many places.
FEW_NEIGHBORS = 64
# Places with more rows each than this do not stand for new rows, which come to where rows crowd.
MOST_REPEATED = 1.5


@dataclass(frozen=True)
class Observations:
    """Rows by which intervals are calibrated: those of the last places, which are random ones.

    Where places have several rows each, they are random rows of all places.

    Attributes
    ----------
    places : ndarray of shape (s,)
        Where the process holds each row.
    deviation : ndarray of shape (s, n_targets)
        y minus the mean at its place, where there may be several rows.
    weight : ndarray of shape (s,)
        How much each row counts, and its part of the weight at its place.
    n_places : int
        The number of last places; zero where rows are those of any.
    labels : ndarray of shape (n,) or None
        The group of each place, where there is a splitter.
    splits : tuple of (train, test)
        Groups of training and test rows.
    in_space : bool
        Whether rows are places, among which balls can be emptied.
    wanted : ndarray of shape (q,) or None
        Distances of rows that will be asked to the places, where they are known.
    total : float
        The sum of the weights of all rows.
    """

    places: npt.NDArray[np.int32]
    deviation: FloatArray
    weight: FloatArray
    n_places: int
    labels: npt.NDArray[np.intp] | None = None
    splits: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    in_space: bool = False
    wanted: FloatArray | None = None
    total: float = 0.0

    @classmethod
    def of(
        cls, locations: Locations, block: Block, plan: Splits | None, n_neighbors: int
    ) -> "Observations":
        """Keep the rows of the last places; fewer, where each takes long to predict.

        Where rows crowd at some places, these are drawn as often as new rows come to them: a tenth
        of keggdirected is at one place, and 82 % instead of 95 % of the rows at such places were
        inside their intervals while places were drawn alike.
        """
        most = OBSERVED_PLACES if n_neighbors <= FEW_NEIGHBORS else OBSERVED_PLACES // 2
        crowded = (locations.index >= 0).sum() > MOST_REPEATED * len(locations)
        n_places = 0 if crowded else min(len(locations), most)
        first = 0 if crowded else len(locations) - n_places
        rows = np.flatnonzero(locations.index >= first)
        rows = rows[sample_rows(len(rows), most)]
        places = locations.index[rows].astype(np.int32)
        weight = np.ones(len(rows)) if block.weight is None else block.weight[rows]
        deviation = block.y[rows] - locations.targets[places]
        labels: npt.NDArray[np.intp] | None = None
        splits: tuple[Any, ...] = ()
        if plan is not None and len(plan.labels) == len(locations.index):
            labels = np.zeros(len(locations), np.intp)
            used = locations.index >= 0
            labels[locations.index[used]] = plan.labels[used]
            splits = tuple((tuple(train), tuple(test)) for train, test in plan.splits[:MOST_SPLITS])
        total = float(locations.weight.sum())
        return cls(places, deviation, weight, n_places, labels, splits, total=total)

    def parts(self) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
        """Yield the training places of each split, and the test rows among the observations."""
        assert self.labels is not None
        for train, test in self.splits:
            places = np.flatnonzero(np.isin(self.labels, train))
            rows = np.flatnonzero(np.isin(self.labels[self.places], test))
            if len(places) > 1 and len(rows):
                yield places, rows


@dataclass(frozen=True)
class LocalSolution:
    """Features, a local part and their coefficients.

    Attributes
    ----------
    joint : Joint
        The rows, the parameters, the coefficients.
    offset : ndarray of shape (n_targets,)
        What was subtracted from the targets.
    found : Found
        The kernel, the noise, the ratio of the two parts.
    spread : ndarray of shape (n_targets,)
        The variance of the targets.
    observations : Observations or None
        Rows by which intervals are calibrated.
    errors : KnownErrors or None
        What the noise has beside variances that were given.
    """

    joint: Joint
    offset: FloatArray
    found: Found
    spread: FloatArray
    cv_results: dict[str, Array] = field(default_factory=dict)
    observations: Observations | None = None
    errors: KnownErrors | None = None

    @property
    def common_noise(self) -> FloatArray:
        """The variance of the noise beside errors that are given: [n_targets]."""
        if self.errors is not None:
            return np.full(len(self.offset), self.errors.extra)
        return np.asarray(self.found.noise * self.joint.found.scale)

    def noise_at(self, rows: Array) -> FloatArray:
        """Return the variance of the noise of observations of mean weight at rows: [n, t]."""
        return np.asarray(self.joint.process.noise_at(rows)[:, None] * self.joint.found.scale)

    @property
    def alpha(self) -> float:
        """The ridge on whitened features, one over the ratio of the two parts' variances."""
        return 1 / self.found.ratio

    @property
    def coef(self) -> FloatArray:
        """The coefficients of the features: [D, n_targets]."""
        return self.joint.found.coef

    @property
    def intercept(self) -> FloatArray:
        """The constant: [n_targets]."""
        return self.joint.found.mean + self.offset

    def shares(self) -> dict[str, float]:
        """Return the shares of the targets' variance: features, local part, noise; sum one."""
        total = float(self.spread.sum()) or 1.0
        left = min(float(self.joint.residual.var(axis=0).sum()) / total, 1.0)
        share = self.joint.process.noise_at(self.joint.process.rows).mean()
        noise = min(float(share * self.joint.found.scale.sum()) / total, left)
        return {"features": 1 - left, "local": left - noise, "noise": noise}

    def without(self, rows: Array) -> "LocalSolution":
        """Return the same fit, to which the places nearest to some rows are not known."""
        process = self.joint.process
        places = np.arange(len(process.rows))
        known = np.setdiff1d(places, process.near(rows)[:, 0])
        if not len(known):
            return self
        fewer = process.observed_at(process.rows[known], process.weight[known])
        return replace(self, joint=Joint(fewer, self.joint.found, self.joint.residual[known]))

    def without_features(self) -> "LocalSolution":
        """Return the local part alone, of what the mean and the features leave."""
        joint, n_targets = self.joint, len(self.offset)
        found = replace(
            joint.found,
            mean=np.zeros(n_targets),
            coef=np.zeros((0, n_targets)),
            mean_variance=0.0,
            mean_pull=np.zeros(0),
            root=np.zeros((0, 0)),
        )
        if joint.process.low is not None or not len(joint.found.coef):
            return self  # its own features, or nothing but a mean, which stay
        local = Joint(joint.process, found, joint.residual)
        return replace(self, joint=local, offset=np.zeros(n_targets))

    def predict(
        self, rows: Array, features: Callable[[Array], Array] | None, return_std: bool = False
    ) -> tuple[Array, Array | None]:
        """Predict targets [n, t], and standard deviations of the latent functions, in float64."""
        mean, std = self.joint.predict(rows, features, return_std)
        return mean + self.offset, std

    def predict_observations(
        self,
        rows: Array,
        features: Callable[[Array], Array] | None,
        calibration: Calibration | None,
        noise: FloatArray | None = None,
    ) -> tuple[Array, Array]:
        """Predict targets [n, t], and standard deviations of observations, with their noise.

        Parameters
        ----------
        rows, features
            As in `predict`.
        calibration : Calibration or None
            How the noise varies, and what distances to the rows add; None: nothing of this.
        noise : ndarray of shape (n,), optional
            The variance of each observation's own error; by default that of a row of mean weight.
        """
        mean, std = self.predict(rows, features, return_std=True)
        assert std is not None
        own = self.noise_at(rows)
        if noise is not None:
            own = self.common_noise + noise[:, None]
        total = np.sqrt(np.square(std, dtype=np.float64) + own)
        return mean, total if calibration is None else total * self.factor(rows, calibration)

    def factor(self, rows: Array, calibration: Calibration) -> Array:
        """Return what a calibration multiplies deviations by: [n, n_targets]."""
        total = np.ones((len(rows), len(self.offset)))
        if calibration.variance is not None:
            total = total * np.exp(calibration.variance.at(rows) / 2)
        if calibration.distance is not None:
            total = total * np.exp(calibration.distance.at(self.joint.process.distance(rows)))
        return total


@dataclass(frozen=True)
class LocalGradient:
    """The last step of a chain of gradients: the features, if there are any, and the local part.

    Attributes
    ----------
    solution : LocalSolution
    features : transformer or None
        The feature map of rows as the local part sees them.
    held_out : bool
        Whether rows of the fit are left out of their own neighbours.
    """

    solution: LocalSolution
    features: Any = None
    held_out: bool = False

    def contract_gradient(self, rows: Array, coef: FloatArray) -> Array:
        """Gradients of t predictions at rows: [n, t, d]."""
        joint = self.solution.joint
        own = joint.process.gradient(rows, joint.residual, self.held_out).astype(rows.dtype)
        if joint.process.low is not None:
            own = own + joint.process.carried_gradient(rows, joint.found.coef)
        if self.features is None:
            return np.asarray(own, rows.dtype)
        return np.asarray(own + features_gradient([self.features], rows, coef))


def solve_local(
    block: Block,
    features: Callable[[Array], Array] | None,
    found: Found | None,
    *,
    kernel: Any = None,
    noise: float | None = None,
    alpha: float | None = None,
    n_neighbors: int = 32,
    n_features: int = 0,
    fit_neighbors: int | None = None,
    plan: Splits | None = None,
    seed: int = 0,
    learnt: bool = False,
    in_space: bool = False,
    varies: bool = False,
    warps: bool = False,
    queries: Array | None = None,
    verbose: bool = False,
    deadline: Deadline | None = None,
    periods: tuple[float, ...] | None = None,
    errors: KnownErrors | None = None,
) -> LocalSolution:
    """Fit the joint model to rows in memory.

    Parameters
    ----------
    block : Block
        Rows as the local part sees them, targets [n, t] and weights.
    features : callable or None
        Maps such rows to features; None: a constant.
    found : Found or None
        Parameters, if they are known; else they are found by evidence.
    kernel, noise
        What is given of the local part.
    alpha : float, optional
        The ridge, by default by evidence.
    n_neighbors : int
        Rows that a prediction uses.
    n_features : int
        How many features may carry the low degrees of the kernel, where `features` is None and the
        parameters are not known.
    fit_neighbors : int, optional
        Earlier rows that a row is conditioned on in the fit, by default as many.
    plan : Splits, optional
        Splits of the rows by which intervals are calibrated; by default each row is left out.
    learnt : bool
        Whether the columns of the rows were learnt from targets (see `locate`).
    in_space : bool
        Whether rows are places: intervals are then calibrated in holes too.
    varies : bool
        Whether the standard deviation may vary with place.
    warps : bool
        Whether places may be moved.
    queries : ndarray of shape (q, d), optional
        Rows that will be asked, as the local part sees them.
    deadline : Deadline, optional
        How long the search for parameters may take.
    periods : tuple of float, optional
        Where the last column is a time: seasons that are tried.
    errors : KnownErrors, optional
        Where the weights of the block are one over variances that are known.
    """
    X, Y, weight = block.parts
    Y, precision = np.asarray(Y, np.float64), weight
    if errors is not None:
        weight, _ = errors.relative(precision)
    # In the order of the locations, so that how the rows are arranged does not matter at all.
    locations = locate(np.asarray(X), Y, weight, seed, learnt)
    offset = np.average(locations.targets, axis=0, weights=locations.weight)
    locations = replace(locations, targets=locations.targets - offset)
    if found is None:
        found = find_local(
            locations,
            features,
            kernel=kernel,
            noise=noise,
            n_neighbors=n_neighbors,
            n_features=n_features,
            verbose=verbose,
            deadline=deadline,
            periods=periods,
            varies=varies,
            warps=warps,
        )
    if found.warp is not None:
        X = found.warp.transform(X)
        # In the order of what places are moved to, which is that of rows in parts.
        locations = locate(np.asarray(X), Y - offset, weight, seed, learnt)
        queries = None if queries is None else found.warp.transform(queries)
    found = shrunk(found, alpha)
    scale = None
    if errors is not None:

        def at(extra: float) -> tuple[Locations, float]:
            assert errors is not None
            weights, unit = replace(errors, extra=extra).relative(precision)
            if len(locations) == len(X):  # each row is a place of its own
                own = np.empty(len(locations))
                own[locations.index] = weights
                return replace(locations, weight=own), unit
            return locate(np.asarray(X), Y - offset, weights, seed, learnt), unit

        evidence = AbsoluteEvidence(at, found, features, n_neighbors)
        scale, extra = evidence.best(errors.extra, errors.learnt, noise if errors.learnt else None)
        errors = replace(errors, extra=extra)
        weight, unit = errors.relative(precision)
        locations, found = at(extra)[0], replace(found, noise=unit / scale)
    m = min(n_neighbors, len(locations))
    process = LocalProcess(
        locations.rows, locations.weight, found.kernel, found.noise, m, found.low, found.amplitude
    )
    if found.low is not None or features is not None:
        judged = first_rows(process, features)
    else:
        judged = judged_places(locations.rows)
    joint = fit_joint(
        locations,
        process,
        features,
        found.ratio,
        n_neighbors=fit_neighbors,
        judged=judged,
        scale=scale,
    )
    observed = Observations.of(locations, Block(X, Y - offset, weight), plan, m)
    if in_space and covariance_of(found.kernel) is not None:  # others would take minutes
        wanted = None if queries is None else process.distance(queries)
        observed = replace(observed, in_space=True, wanted=wanted)
    spread = locations.targets.var(axis=0)
    return LocalSolution(joint, offset, found, spread, observations=observed, errors=errors)


def find_local(
    locations: Locations,
    features: Callable[[Array], Array] | None,
    *,
    kernel: Any = None,
    noise: float | None = None,
    n_neighbors: int = 32,
    n_features: int = 0,
    verbose: bool = False,
    deadline: Deadline | None = None,
    periods: tuple[float, ...] | None = None,
    varies: bool = False,
    warps: bool = False,
) -> Found:
    """Find the parameters of a local part by evidence, from places with targets about zero.

    The parameters are those of `solve_local`.
    """
    search = partial(
        _same_everywhere,
        features=features,
        kernel=kernel,
        noise=noise,
        n_neighbors=n_neighbors,
        n_features=n_features,
        verbose=verbose,
        deadline=deadline,
        periods=periods,
    )
    return varying(
        locations,
        search,
        n_neighbors,
        varies=varies,
        warps=warps,
        in_time=periods is not None,
        verbose=verbose,
        deadline=deadline,
    )


def _same_everywhere(
    locations: Locations,
    features: Callable[[Array], Array] | None,
    kernel: Any,
    noise: float | None,
    n_neighbors: int,
    n_features: int,
    verbose: bool,
    deadline: Deadline | None,
    periods: tuple[float, ...] | None,
) -> Found:
    """Find parameters of a field that is the same everywhere."""
    splits = features is None and n_features > 0
    quick = partial(is_short, locations, n_neighbors) if splits else None
    found = find_parameters(
        locations, kernel, noise, verbose=verbose, deadline=deadline, quick=quick
    )
    if periods is not None and kernel is None and features is None:
        timed = find_space_time(
            locations, found, periods, noise=noise, verbose=verbose, deadline=deadline
        )
        timed = split_space_time(locations, timed, n_features, n_neighbors, verbose)
        found = more_evident(locations, found, timed, n_neighbors, verbose)
    if features is not None:
        found = _beside(locations, features, found, kernel is None, noise is None)
    else:
        found = split_parameters(
            locations,
            found,
            n_features,
            n_neighbors=n_neighbors,
            move_kernel=kernel is None,
            move_noise=noise is None,
            verbose=verbose,
        )
    return found


def shrunk(found: Found, alpha: float | None) -> Found:
    """Return parameters with the ridge that is given, where features are not those of the split."""
    if alpha is None or found.low is not None:
        return found
    return replace(found, ratio=1 / max(alpha, 1e-300))


def judged_places(rows: Array) -> Indices | None:
    """Return some of many places, by which the mean and the scale are known; None for all.

    Which ones their content decides, so that it does not matter who holds them.
    """
    if len(rows) <= JUDGED_ROWS:
        return None
    hashes = row_hash(content_hash(rows))
    return np.sort(np.argpartition(hashes, JUDGED_ROWS)[:JUDGED_ROWS]).astype(np.int32)


def _beside(
    locations: Locations,
    features: Callable[[Array], Array],
    found: Found,
    move_kernel: bool,
    move_noise: bool,
) -> Found:
    """Find the parameters of the local part and the features together."""
    n_columns = features(locations.rows[:1]).shape[1]
    return joint_parameters(
        locations, features, n_columns, found, move_kernel=move_kernel, move_noise=move_noise
    )
