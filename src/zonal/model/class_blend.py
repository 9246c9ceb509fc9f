r"""A weighted mean of classifiers, as a model: of logarithms of probabilities, or of probabilities.

.. math:: p_k(x) \propto \exp\Big(b_k + \sum_c w_c \log p_{c,k}(x)\Big), \qquad
    (w, b) = \arg\min_{w \ge 0, b}\; -\sum_i v_i \log p_{y_i}(x_i) + \tfrac12 |b|^2,

over rows that each part leaves out of its fit, a convex problem. What both parts say counts twice
where they err independently, so that the sum of w is free, as a temperature is. (On validation rows
of connect4 the log loss is .412 instead of .418 with means of probabilities and a temperature.)

Where few rows are uncertain they are too few to tell K - 1 levels, and a part that is certain and
wrong is so at any weight. There :math:`p_k(x) = \sum_c w_c\, p_{c,k}(x)`, w of sum one and of least
log loss too, with a temperature; logarithms are averaged only where their loss of all n rows is
less by more than :math:`\tfrac{K - 1}2 \log n` (Schwarz 1978). (On five validation splits of
shuttle means of probabilities have .0008, .0045, .0008, .0018 and .0050, of logarithms .0006,
.0058, .0011, .0028 and .0062.)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import log_softmax

from .._loaded import check_array, check_kind
from .._typing import Array, FloatArray
from ..calibration.classes import ClassCalibration
from ..calibration.softmax import SoftmaxCalibration
from .first_part import FirstPart
from .from_classes import FromClasses, left_out_logits
from .from_rows import FromRows
from .local_calibration import unseen_rows
from .start import Start

__all__ = [
    "ClassBlend",
    "Weighing",
    "mixture_weights",
    "pooled",
    "weigh_classes",
    "weights_of_mean",
]

# Parts with less weight are left out: each costs as much as the others in predictions.
LEAST_WEIGHT = 0.05
# Steps of weights of probabilities. They are slow where a weight goes to zero, and the loss is flat
# there.
STEPS = 200


@dataclass(frozen=True)
class ClassBlend(FirstPart):
    """Several classifiers and how much each counts.

    Attributes
    ----------
    parts : tuple of FromClasses or FromRows
        The one with the largest weight first; what a mean of models does not have (coefficients, a
        local part), this one tells.
    starts : tuple of Start
        What each part was fitted from, for a fit to other rows.
    weights : tuple of float
        w over their sum.
    levels : ndarray of shape (K,) or None
        b over the sum of w; None: probabilities are averaged.
    calibrated : SoftmaxCalibration
        Of the mean logarithms (its temperature is about one over the sum of w), or of the
        logarithms of the mean.
    """

    parts: tuple[Any, ...]
    starts: tuple[Start, ...]
    weights: tuple[float, ...]
    levels: FloatArray | None
    calibrated: SoftmaxCalibration

    def _check_loaded(self) -> None:
        """Raise ValueError unless each part has a start and a weight."""
        check_kind(self, "calibrated", SoftmaxCalibration)
        if not len(self.parts) == len(self.starts) == len(self.weights) > 0:
            raise ValueError(
                f"{len(self.parts)} parts, {len(self.starts)} starts and {len(self.weights)} "
                "weights of a weighted mean must be as many, and one at least."
            )
        if self.levels is not None:
            check_array(self, "levels", "f", (len(self.parts[0].intercept),))

    @property
    def cv_results(self) -> dict[str, Array]:
        """Nothing: the evidence decides."""
        return {}

    def class_calibration(self) -> SoftmaxCalibration:
        """What makes logits probabilities."""
        return self.calibrated

    def mean(self, rows: Any) -> FloatArray:
        """Return mean logarithms of probabilities, or logarithms of their mean: [n, K]."""
        every = np.stack([chances_of(part, rows) for part in self.parts])
        return _mean(np.array(self.weights), self.levels, every)

    def averaged(self, rows: Any) -> FloatArray:
        """Return the same: parts are averaged over their posteriors already."""
        return self.mean(rows)

    def gradient(self, rows: Any, held_out: bool = False) -> FloatArray:
        """Return gradients of the mean: [n, K, d]."""
        total, slopes = 0.0, 0.0
        for weight, part in zip(self.weights, self.parts, strict=True):
            calibration = part.class_calibration()
            if isinstance(part, FromClasses):
                values, own = part.averaged(rows), part.averaged_gradient(rows)
            else:
                values, own = part.mean(rows), part.gradient(rows, held_out)
            chances = calibration.probabilities(values)[:, :, None]
            # Of logarithms each gradient is over its own probabilities, else over their mean.
            share = weight * (chances if self.levels is None else 1.0)
            total = total + share
            slopes = slopes + share * calibration.gradient(values, own) / chances
        return np.asarray(slopes / total)

    averaged_gradient = gradient

    def without(self, rows: Any) -> "ClassBlend":
        """Return the model as if some rows were not known."""
        return replace(
            self, parts=tuple(replaced_calibration(part.without(rows), part) for part in self.parts)
        )

    def light(self) -> "ClassBlend":
        """Return the model: it keeps no sums."""
        return self


def replaced_calibration(part: Any, other: Any) -> Any:
    """Return a part with the calibration of another."""
    if isinstance(part, FromClasses):
        return part
    return replace(part, kept={"class_calibration": other.class_calibration()})


def chances_of(part: Any, rows: Any) -> FloatArray:
    """Return the probabilities of one part: [n, K]."""
    values = part.averaged(rows) if isinstance(part, FromClasses) else part.mean(rows)
    found: FloatArray = part.class_calibration().probabilities(values)
    return found


@dataclass(frozen=True)
class Weighing:
    """What rows that are left out have told of candidates.

    Attributes
    ----------
    found : ClassBlend, FromClasses or FromRows
        The weighted mean; or the first candidate, if it is left alone.
    weights : tuple of float
        Of all candidates; zero for those that were dropped.
    errors : tuple of float
        The squared error of each, over that of the mean indicators.
    """

    found: Any
    weights: tuple[float, ...]
    errors: tuple[float, ...]


def weigh_classes(
    candidates: Sequence[tuple[Start, FromClasses | FromRows, FloatArray | None]],
    X: Any,
    labels: npt.NDArray[np.intp],
    n_classes: int,
    weight: FloatArray,
    alone: bool = False,
) -> Weighing:
    """Weigh classifiers by rows of theirs, each of which is left out; one alone may be left.

    Parameters
    ----------
    candidates : sequence of (Start, FromClasses or FromRows, logits or None)
        Logits of the rows [s, K], where they are known.
    X : array of shape (s, d)
        Rows of the fit.
    labels : ndarray of shape (s,)
        0, …, K - 1.
    n_classes : int
        K.
    weight : ndarray of shape (s,)
    alone : bool
        Whether the one with the least loss is taken alone.
    """
    own, chances, truth = [], [], np.eye(n_classes)[labels]
    for start, part, logits in candidates:
        if isinstance(part, FromClasses):
            if logits is None:
                logits = left_out_logits(part.space, part.mode, X, labels, weight)
            chances.append(part.calibrated.probabilities(logits))
        else:
            values = unseen_rows(part.part, part.map, part.local_rows(X), truth, weight)
            found = ClassCalibration.of(values, labels, weight, with_levels=True)
            chances.append(found.probabilities(values))
            part = replace(part, kept={"class_calibration": found})
        own.append((start, part))
    every = np.stack(chances)
    spread = weight @ np.square(truth - np.average(truth, axis=0, weights=weight)).sum(axis=1)
    errors = np.square(every - truth).sum(axis=2) @ weight / spread
    if alone:
        right = np.log(every[:, np.arange(len(labels)), labels])
        weights, levels = np.eye(len(own))[int(np.argmax(right @ weight))], None
        calibrated = SoftmaxCalibration.of(_mean(weights, levels, every), labels, weight)
    else:
        weights, levels, calibrated = weights_of_mean(every, labels, weight)
    order = np.flatnonzero(weights)
    order = order[np.argsort(-weights[order])]
    if order.tolist() == [0]:
        solution: Any = own[0][1]
    else:  # perhaps of one part alone, with its start
        solution = ClassBlend(
            tuple(own[i][1] for i in order),
            tuple(own[i][0] for i in order),
            tuple(weights[order].tolist()),
            levels,
            calibrated,
        )
    return Weighing(solution, tuple(weights.tolist()), tuple(errors.tolist()))


def _mean(weights: FloatArray, levels: FloatArray | None, every: FloatArray) -> FloatArray:
    """Return mean logarithms of probabilities [c, n, K], or logarithms of their mean: [n, K]."""
    if levels is None:
        return np.asarray(np.log(np.tensordot(weights, every, 1)))
    return np.asarray(levels + np.tensordot(weights, np.log(every), 1))


def weights_of_mean(
    every: FloatArray, labels: npt.NDArray[np.intp], weight: FloatArray
) -> tuple[FloatArray, FloatArray | None, SoftmaxCalibration]:
    """Return weights, levels and the calibration of the better mean; see the module.

    Parameters
    ----------
    every : ndarray of shape (n_candidates, n, K)
        Probabilities, all positive.
    labels : ndarray of shape (n,)
    weight : ndarray of shape (n,)

    Returns
    -------
    weights : ndarray of shape (n_candidates,)
    levels : ndarray of shape (K,) or None
        None: probabilities are averaged.
    calibrated : SoftmaxCalibration
    """
    n_rows = float(weight.sum())

    def of_probabilities(some: FloatArray) -> tuple[FloatArray, None]:
        return mixture_weights(some[:, np.arange(len(labels)), labels], weight), None

    def of_logarithms(some: FloatArray) -> tuple[FloatArray, FloatArray]:
        return pooled(np.log(some), labels, weight)

    found: list[tuple[FloatArray, FloatArray | None, SoftmaxCalibration]] = []
    for rule in (of_probabilities, of_logarithms):
        kept, weights = np.ones(len(every), np.bool_), np.zeros(len(every))
        while True:
            weights[:] = 0.0
            weights[kept], levels = rule(every[kept])
            if weights[kept].min() >= LEAST_WEIGHT:
                break
            kept = weights >= LEAST_WEIGHT
        calibrated = SoftmaxCalibration.of(_mean(weights, levels, every), labels, weight)
        found.append((weights, levels, calibrated))
    plain, logarithmic = found
    gain = n_rows * (plain[2].loss - logarithmic[2].loss)
    return logarithmic if gain > (every.shape[2] - 1) / 2 * np.log(n_rows) else plain


def mixture_weights(chances: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the weights of candidates the mean of whose probabilities has the least log loss.

    Each step of the EM algorithm lowers the loss, which is convex.

    Parameters
    ----------
    chances : ndarray of shape (n_candidates, n)
        Probabilities of what has come true, all positive.
    weight : ndarray of shape (n,), optional
        Of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.model.class_blend import mixture_weights
    >>> mixture_weights(np.array([[0.9, 0.1], [0.1, 0.9]])).round(3)
    array([0.5, 0.5])
    """
    rows = np.ones(chances.shape[1]) if weight is None else weight
    shares = np.full(len(chances), 1 / len(chances))
    for _ in range(STEPS):
        each = shares[:, None] * chances
        shares = each / each.sum(axis=0) @ rows / rows.sum()
    return np.asarray(shares)


def pooled(
    logs: FloatArray, labels: npt.NDArray[np.intp], weight: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return w and b of candidates, both over the sum of w.

    Parameters
    ----------
    logs : ndarray of shape (n_candidates, n, K)
        Logarithms of the probabilities of classes.
    labels : ndarray of shape (n,)
        0, …, K - 1.
    weight : ndarray of shape (n,), optional
        Of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.model.class_blend import pooled
    >>> rng = np.random.default_rng(0)
    >>> chance, labels = rng.uniform(0.1, 0.9, 1000), rng.uniform(size=1000)
    >>> right = np.log(np.column_stack([chance, 1 - chance]))
    >>> pooled(np.stack([right, right[::-1]]), (labels > chance).astype(int))[0].round(1)
    array([1., 0.])
    """
    own, own_weight = np.arange(logs.shape[1]), np.ones(logs.shape[1])
    if weight is not None:
        own_weight = weight
    n_parts, n_classes = len(logs), logs.shape[2]

    def objective(both: FloatArray) -> tuple[float, FloatArray]:
        shares, levels = both[:n_parts], both[n_parts:]
        found = log_softmax(np.tensordot(shares, logs, 1) + levels, axis=1)
        missed = np.exp(found)
        missed[own, labels] -= 1
        missed *= own_weight[:, None]
        loss = -float(own_weight @ found[own, labels]) + 0.5 * float(levels @ levels)
        slope = np.tensordot(logs, missed, 2)
        return loss, np.concatenate([slope, missed.sum(axis=0) + levels])

    start = np.concatenate([np.full(n_parts, 1 / n_parts), np.zeros(n_classes)])
    bounds = [(0.0, None)] * n_parts + [(None, None)] * n_classes
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    total = found[:n_parts].sum()
    if total == 0:  # none of them knows more than the shares of the classes
        return start[:n_parts], found[n_parts:]
    return found[:n_parts] / total, found[n_parts:] / total
