r"""Two classes at places as a field: Vecchia and Laplace, with parameters by the log loss.

The logit of the second class is μ + u(x), u a Gaussian process (`vecchia_laplace`). Laplace's
evidence of labels prefers variances that are too small, and probabilities of left-out rows are too
timid at its mode: of 6,000 pixels of a cloud mask, a tenth of which was held out, these have a log
loss of .316 by evidence. Hence the variance, the length scales and the shares of the kernel have
the least log loss of rows that are left out, of logits averaged over the posterior and divided by a
temperature. Left out of the fit, the latent value of a row is kriged from the pseudo-targets of the
others; by its mean alone variances would be found that err more in holes.

Predictions are the mode, with a temperature: it is too timid by about as much as an average over
the posterior would make it (left-out pixels have a log loss of .2592 and a temperature of .99,
averaged .2654 and .47).

*Holes.* With parameters that stay, balls are emptied of rows, the mode of the others is found, and
the logits of the rows inside are divided by a further factor :math:`e^{c(d)}`, with c linear in the
logarithm of the distance d to the nearest row. It minimises

.. math:: -\sum_{\text{holes}} \operatorname{mean}_i \log p_{y_i}
    + \tfrac12 \sum_j (c_j - c_{j-1})^2, \qquad c_0 = 0,

a hole counting as one row, for rows of one hole err together, with a normal prior of c.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from sklearn.base import clone

from .._typing import Array, FloatArray
from ..calibration.distance import GROUPS, DistanceScale
from ..calibration.softmax import SoftmaxCalibration, farther_logits
from ..kriging.covariance import covariance_of
from ..kriging.joint import Joint
from ..kriging.locations import Locations
from ..kriging.precision import Precision
from ..kriging.process import LocalProcess
from ..kriging.search import Found
from ..likelihoods import Bernoulli
from ..likelihoods.averages import probit_scaled
from ..rows import LEARN_ROWS, Block
from .class_sums import latent_of
from .from_classes import latent_of_columns
from .from_local_likelihood import (
    FromLocalLikelihood,
    at_parameters,
    located,
    refit_local_likelihood,
)
from .from_rows import FromRows
from .held_out import LEAST_HOLES, HeldOut, hold_out, time_like
from .laplace_parameters import (
    ROUGH,
    SEARCH_NEIGHBORS,
    SEARCH_ROWS,
    STEP,
    TRIALS,
    LocalParameters,
)
from .local_calibration import LEAST_IN_SPACE, unseen_local
from .split_fits import SplitFits
from .vecchia_laplace import Responses, field_mode, pseudo_joint

__all__ = ["ClassField", "class_field"]

# Where the search for the variance begins. Of 6,000 pixels of the cloud mask, with the kernel of
# their indicators, those that are left out have a log loss of .279 at 10, .277 at 50, .285 at 250.
FIRST_SCALE = 30.0
# The prior's standard deviation of the logarithm of each parameter: that of `anova_kernel`.
SPREAD = 2.0


@dataclass(frozen=True)
class ClassField:
    """A field of logits, and its calibration near the rows and far from them.

    Attributes
    ----------
    latent : FromLocalLikelihood
        The logit of the second class.
    farther : DistanceScale or None
        c; None: zero.
    calibrated : SoftmaxCalibration
        By rows that are left out.
    """

    latent: FromLocalLikelihood
    farther: DistanceScale | None
    calibrated: SoftmaxCalibration

    @property
    def part(self) -> Any:
        """The local part of the logit."""
        return self.latent.part

    @property
    def coef(self) -> FloatArray:
        """There are no features: [0, 2]."""
        return latent_of_columns(self.latent.coef)

    @property
    def intercept(self) -> FloatArray:
        """The constants of both classes: [2]."""
        return latent_of_columns(self.latent.intercept[None])[0]

    @property
    def alpha(self) -> float:
        """The ridge on features, of which there are none."""
        return self.latent.alpha

    @property
    def cv_results(self) -> dict[str, Array]:
        """Nothing."""
        return {}

    def class_calibration(self) -> SoftmaxCalibration:
        """What makes logits probabilities."""
        return self.calibrated

    def mean(self, rows: Any) -> Array:
        """Return logits at the mode: [n, 2]."""
        return latent_of(np.asarray(self.latent.mean(rows), np.float64))

    def averaged(self, rows: Any) -> FloatArray:
        """Return logits at the mode, timid in holes: [n, 2]."""
        logit = np.asarray(self.latent.mean(rows)[:, 0], np.float64)
        if self.farther is not None:
            process = self.part.joint.process
            distance = process.distance(self.latent.rows.local_rows(rows))
            logit = logit * np.exp(-self.farther.at(distance)[:, 0])
        return latent_of(logit[:, None])

    def gradient(self, rows: Any, held_out: bool = False) -> Array:
        """Return gradients of the logits at the mode: [n, 2, d]."""
        own = self.latent.gradient(rows, held_out)
        return np.concatenate([np.zeros_like(own), own], axis=1)

    def without(self, rows: Any) -> "ClassField":
        """Return the model to which the places nearest to some rows are not known."""
        return replace(self, latent=self.latent.without(rows))

    def refitted(self, block: Block, labels: npt.NDArray[np.intp], weight: FloatArray) -> Any:
        """Return the same with other rows, and all parameters kept."""
        rows = _packed(self.latent.rows, block, labels, weight)
        return replace(self, latent=refit_local_likelihood(self.latent, rows, 0))

    def shares(self) -> dict[str, float]:
        """Return the shares of the pseudo-targets' variance."""
        return self.latent.shares()

    def light(self) -> "ClassField":
        """Return the model: it needs its rows."""
        return self


@dataclass(frozen=True)
class _Labelled:
    """Places and the labels there.

    Attributes
    ----------
    locations : Locations
    responses : Responses
    """

    locations: Locations
    responses: Responses

    @classmethod
    def of(cls, locations: Locations, y: Array, weight: FloatArray | None) -> "_Labelled":
        return cls(locations, Responses.of(locations, y, weight))

    def part(self, known: npt.NDArray[np.bool_]) -> "_Labelled":
        """Return some of the places."""
        rows = known[self.responses.place]
        number = np.cumsum(known) - 1
        own = self.responses
        return _Labelled(
            self.locations.take(np.flatnonzero(known)),
            Responses(own.packed[rows], own.weight[rows], number[own.place[rows]], known.sum()),
        )

    def fitted(
        self, found: Found, scale: float, n_neighbors: int, near: FloatArray | None = None
    ) -> tuple[Joint, FloatArray]:
        """Return kriging of the pseudo-targets at the mode, and the mode."""
        own, likelihood = self.responses, Bernoulli()
        rows = self.locations.rows
        m = min(n_neighbors, len(rows))
        few = min(SEARCH_NEIGHBORS, m)
        prior = Precision.of(LocalProcess(rows, np.ones(len(rows)), found.kernel, 0.0, few))
        start = own.beginning(likelihood) if near is None else near
        f, _ = field_mode(prior, own, likelihood, scale, start, ROUGH)
        targets, precision, _ = own.expansion(likelihood, f)
        joint = pseudo_joint(self.locations, targets, precision, found, scale, None, m)
        return replace(joint, found=replace(joint.found, scale=np.array([scale]))), f

    def left_out(
        self, joint: Joint, averaged: bool = False
    ) -> tuple[FloatArray, npt.NDArray[np.intp], FloatArray, npt.NDArray[np.int32]]:
        """Return logits of rows at some places, left out of the fit, labels, weights, places."""
        n_places = len(self.locations)
        places = np.arange(max(n_places - LEARN_ROWS, 0), n_places, dtype=np.int32)
        logits, own = left_out_logits(joint, places, averaged), self.responses
        rows = np.flatnonzero(own.place >= places[0])
        where = own.place[rows] - places[0]
        labels = own.packed[rows, 0].astype(np.intp)
        return logits[where], labels, own.weight[rows], places[where]


def left_out_logits(
    joint: Joint, places: npt.NDArray[np.int32], averaged: bool = False
) -> FloatArray:
    """Return logits of places of a fit to pseudo-targets, each left out of it: [s].

    At the mode, or averaged over what is not known of the place.
    """
    process, scale = joint.process, float(joint.found.scale[0])
    neighbors, weights, variance = process.held_out(places)
    near = np.einsum("ij,ij->i", weights, joint.residual[neighbors, 0])
    logits = np.asarray(joint.found.mean[0] + near)
    return probit_scaled(logits, scale * variance) if averaged else logits


def class_field(
    local: FromRows, block: Block, labels: npt.NDArray[np.intp], weight: FloatArray, seed: int
) -> ClassField | None:
    """Fit a field to two classes, beside the kriging of their indicators.

    None where that has less log loss: near the rows, where each is left out alone, and in each draw
    of holes (c is found in others then), relative to the other's and in the mean over these.

    Parameters
    ----------
    local : FromRows
        The fit of the indicators, whose kernel is where the search begins.
    block : Block
        All rows.
    labels : ndarray of shape (n,)
        0 or 1.
    weight : ndarray of shape (n,)
    seed : int
        Of the order of the rows, that of the other fit.
    """
    kernel = local.part.found.kernel
    n_places = len(local.part.joint.process.rows)
    if covariance_of(kernel) is None or n_places < LEAST_IN_SPACE:
        return None
    rows = _packed(local, block, labels, weight)
    labelled = _Labelled.of(located(rows, seed), rows.y, rows.weight)
    if not np.array_equal(labelled.locations.rows, local.part.joint.process.rows):
        return None  # in another order: columns that were learnt from targets are no places
    start = replace(local.part.found, low=None, amplitude=None, ratio=1.0)
    found, scale = _parameters(labelled, start)
    m = local.part.joint.process.n_neighbors
    joint, f = labelled.fitted(found, scale, m)
    logits, own, counted, places = labelled.left_out(joint)
    near = SoftmaxCalibration.of(latent_of(logits[:, None]), own, counted)
    parts = _holes(joint.process)
    far = _InHoles.of(labelled, parts, found, scale, m, f) if parts else None
    distance = _own_distance(joint.process, places)
    ours = [near.loss]
    if far is not None:
        unseen = far.unseen_chances(near, distance)
        ours += [float(-np.average(np.log(c), weights=w)) for c, w in far.by_part(unseen)]
    theirs = _kriged_losses(local, labelled, parts)
    if np.mean(np.array(ours) / np.array(theirs)) >= 1:
        return None
    alone = replace(local, features=None, n_columns=0, kept={})
    latent = at_parameters(
        alone, rows, labelled.locations, LocalParameters(Bernoulli(), found, scale), f
    )
    farther = None if far is None else far.farther(near, distance)
    if farther is not None:
        logits = logits * np.exp(-farther.at(distance)[:, 0])
        near = SoftmaxCalibration.of(latent_of(logits[:, None]), own, counted)
    return ClassField(latent, farther, near)


def _own_distance(process: LocalProcess, places: npt.NDArray[np.int32]) -> FloatArray:
    """Return the distance from the place of each row to the nearest other one."""
    return np.asarray(process.distance(process.rows[places], held_out=True))


@dataclass(frozen=True)
class _InHoles:
    """Rows in holes, by the mode of all others.

    Attributes
    ----------
    logits : ndarray of shape (n,)
    labels : ndarray of shape (n,)
    weight, distance : ndarrays of shape (n,)
    holes, part : ndarrays of shape (n,)
        Which hole each row lies in, and holes of which draw.
    """

    logits: FloatArray
    labels: npt.NDArray[np.intp]
    weight: FloatArray
    distance: FloatArray
    holes: npt.NDArray[np.intp]
    part: npt.NDArray[np.intp]

    @classmethod
    def of(
        cls,
        labelled: _Labelled,
        parts: list[HeldOut],
        found: Found,
        scale: float,
        m: int,
        f: FloatArray,
    ) -> "_InHoles":
        """Find the mode without each draw of holes, from the one at hand."""
        own, each, first = labelled.responses, [], 0
        for number, part in enumerate(parts):
            joint, _ = labelled.part(part.train).fitted(found, scale, m, f[part.train])
            logits = joint.predict(labelled.locations.rows[part.test])[0][:, 0]
            rows, at = _rows_at(own, part)
            labels = own.packed[rows, 0].astype(np.intp)
            where = np.full(len(rows), number)
            each.append(
                (
                    logits[at],
                    labels,
                    own.weight[rows],
                    part.distance[at],
                    part.hole[at] + first,
                    where,
                )
            )
            first += int(part.hole.max()) + 1
        return cls(*(np.concatenate(values) for values in zip(*each, strict=True)))

    def farther(
        self, near: SoftmaxCalibration, distance: FloatArray, some: Any = slice(None)
    ) -> DistanceScale | None:
        """Return c by some of the rows, beside rows that are left out alone at distances."""
        _, holes = np.unique(self.holes[some], return_inverse=True)
        return farther_logits(
            self.logits[some] / near.temperature,
            self.labels[some],
            self.weight[some],
            self.distance[some],
            holes.ravel(),
            distance,
        )

    def unseen_chances(self, near: SoftmaxCalibration, distance: FloatArray) -> FloatArray:
        """Return the probabilities of the labels, with c from other holes."""
        logits, groups = self.logits.copy(), self.holes % GROUPS
        for group in np.unique(groups):
            mine = groups == group
            rest = ~mine if not mine.all() else mine
            found = self.farther(near, distance, rest)
            if found is not None:
                logits[mine] *= np.exp(-found.at(self.distance[mine])[:, 0])
        chances = near.probabilities(latent_of(logits[:, None]))
        return np.asarray(chances[np.arange(len(logits)), self.labels])

    def by_part(self, values: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield values and weights of the rows of each draw."""
        for number in np.unique(self.part):
            mine = self.part == number
            yield values[mine], self.weight[mine]


def _packed(
    local: FromRows, block: Block, labels: npt.NDArray[np.intp], weight: FloatArray
) -> Block:
    """Return rows as the local part sees them, with responses, offsets and trials."""
    y = np.column_stack([labels, np.zeros(len(labels)), np.ones(len(labels))])
    return Block(local.local_rows(block.X), y, weight)


def _parameters(labelled: _Labelled, start: Found) -> tuple[Found, float]:
    """Return the kernel and the variance of least log loss of left-out rows, of some places."""
    few = labelled.part(np.arange(len(labelled.locations)) < SEARCH_ROWS)
    names = [
        name
        for name in sorted(start.kernel.get_params())
        if name.split("__")[-1] in ("length_scale", "factor")
    ]
    values = start.kernel.get_params()
    best, mode = np.inf, None

    def at(logs: FloatArray) -> tuple[Found, float]:
        moved = {
            name: values[name] * np.exp(log) for name, log in zip(names, logs[1:], strict=True)
        }
        kernel = clone(start.kernel).set_params(**moved)
        return replace(start, kernel=kernel), FIRST_SCALE * float(np.exp(logs[0]))

    def objective(logs: FloatArray) -> float:
        nonlocal best, mode
        joint, f = few.fitted(*at(logs), SEARCH_NEIGHBORS, mode)
        logits, own, counted, _ = few.left_out(joint, averaged=True)
        loss = SoftmaxCalibration.of(latent_of(logits[:, None]), own, counted).loss
        value = loss * float(counted.sum()) + 0.5 * float(np.square(logs / SPREAD).sum())
        if value < best:
            best, mode = value, f
        return value

    size = 1 + len(names)
    found = minimize(
        objective,
        np.zeros(size),
        method="Nelder-Mead",
        options={
            "initial_simplex": np.vstack([np.zeros(size), STEP * np.eye(size)]),
            "maxfev": TRIALS * size,
            "xatol": 0.1,
            "fatol": 0.5,
        },
    )
    return at(found.x)


def _holes(process: LocalProcess) -> list[HeldOut]:
    """Empty balls of several sizes among places."""
    time = time_like(process.rows, np.arange(process.rows.shape[1]))
    return hold_out(process.points, time=time, scattered=False, least_holes=LEAST_HOLES)


def _rows_at(
    responses: Responses, part: HeldOut
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return rows at the places that a part asks, and which of these."""
    number = np.full(responses.n_places, -1)
    number[part.test] = np.arange(len(part.test))
    rows = np.flatnonzero(number[responses.place] >= 0)
    return rows, number[responses.place[rows]]


def _kriged_losses(local: FromRows, labelled: _Labelled, parts: list[HeldOut]) -> list[float]:
    """Return the log losses of kriged indicators, left out alone and in holes."""
    calibration, solution = local.class_calibration(), local.part

    def loss(values: FloatArray, labels: npt.NDArray[np.intp], weight: FloatArray) -> float:
        chances = calibration.probabilities(values)[np.arange(len(labels)), labels]
        return float(-np.average(np.log(chances), weights=weight))

    truth, values, weight = unseen_local(solution, local.map)
    found = [loss(values, truth.argmax(axis=1), weight)]
    process = solution.joint.process
    features = local.map or process.features
    with process.kept_features():
        fits = SplitFits.of(solution.joint, features, solution.found.ratio)
        for part in parts:
            values = fits.predicted(np.flatnonzero(part.train), process.rows[part.test])
            rows, at = _rows_at(labelled.responses, part)
            labels = labelled.responses.packed[rows, 0].astype(np.intp)
            weight = labelled.responses.weight[rows]
            found.append(loss((values + solution.offset)[at], labels, weight))
    return found
