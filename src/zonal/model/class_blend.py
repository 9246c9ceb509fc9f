r"""A weighted mean of classifiers, as a model: logarithms of probabilities are averaged.

.. math:: p_k(x) \propto \exp\Big(b_k + \sum_c w_c \log p_{c,k}(x)\Big), \qquad
    (w, b) = \arg\min_{w \ge 0, b}\; -\sum_i v_i \log p_{y_i}(x_i) + \tfrac12 |b|^2,

over rows that each part leaves out of its fit, a convex problem. What both parts say counts twice
where they err independently, so that the sum of w is free, as a temperature is. (On validation rows
of connect4 the log loss is .444 instead of .447 with means of probabilities.)
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

__all__ = ["ClassBlend", "Weighing", "pooled", "weigh_classes"]

# Parts with less weight are left out: each costs as much as the others in predictions.
LEAST_WEIGHT = 0.05


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
    levels : ndarray of shape (K,)
        b over the sum of w.
    calibrated : SoftmaxCalibration
        Of the mean logarithms; its temperature is about one over the sum of w.
    """

    parts: tuple[Any, ...]
    starts: tuple[Start, ...]
    weights: tuple[float, ...]
    levels: FloatArray
    calibrated: SoftmaxCalibration

    def _check_loaded(self) -> None:
        """Raise ValueError unless each part has a start and a weight."""
        check_kind(self, "calibrated", SoftmaxCalibration)
        if not len(self.parts) == len(self.starts) == len(self.weights) > 0:
            raise ValueError(
                f"{len(self.parts)} parts, {len(self.starts)} starts and {len(self.weights)} "
                "weights of a weighted mean must be as many, and one at least."
            )
        check_array(self, "levels", "f", (len(self.parts[0].intercept),))

    @property
    def cv_results(self) -> dict[str, Array]:
        """Nothing: the evidence decides."""
        return {}

    def class_calibration(self) -> SoftmaxCalibration:
        """What makes logits probabilities."""
        return self.calibrated

    def mean(self, rows: Any) -> FloatArray:
        """Return mean logarithms of probabilities: [n, K]."""
        found = self.levels
        for weight, part in zip(self.weights, self.parts, strict=True):
            found = found + weight * np.log(chances_of(part, rows))
        return np.asarray(found)

    def averaged(self, rows: Any) -> FloatArray:
        """Return the same: parts are averaged over their posteriors already."""
        return self.mean(rows)

    def gradient(self, rows: Any, held_out: bool = False) -> FloatArray:
        """Return gradients of the mean logarithms: [n, K, d]."""
        slopes: Any = 0.0
        for weight, part in zip(self.weights, self.parts, strict=True):
            calibration = part.class_calibration()
            if isinstance(part, FromClasses):
                values, own = part.averaged(rows), part.averaged_gradient(rows)
            else:
                values, own = part.mean(rows), part.gradient(rows, held_out)
            chances = calibration.probabilities(values)[:, :, None]
            slopes = slopes + weight * calibration.gradient(values, own) / chances
        return np.asarray(slopes)

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
    logs = np.log(every)
    weights, levels = np.zeros(len(own)), np.zeros(n_classes)
    if alone:
        losses = np.take_along_axis(logs, labels[None, :, None], axis=2)[..., 0] @ weight
        weights[int(np.argmax(losses))] = 1.0
    else:
        kept = np.ones(len(own), np.bool_)
        while True:
            weights[:] = 0.0
            weights[kept], levels = pooled(logs[kept], labels, weight)
            if weights[kept].min() >= LEAST_WEIGHT:
                break
            kept = weights >= LEAST_WEIGHT
    order = np.flatnonzero(weights)
    order = order[np.argsort(-weights[order])]
    if order.tolist() == [0]:
        solution: Any = own[0][1]
    else:  # perhaps of one part alone, with its start
        logits = levels + np.tensordot(weights[order], logs[order], 1)
        solution = ClassBlend(
            tuple(own[i][1] for i in order),
            tuple(own[i][0] for i in order),
            tuple(weights[order].tolist()),
            levels,
            SoftmaxCalibration.of(logits, labels, weight),
        )
    return Weighing(solution, tuple(weights.tolist()), tuple(errors.tolist()))


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
