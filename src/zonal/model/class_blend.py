r"""A weighted mean of classifiers, as a model: probabilities are averaged.

.. math:: p_k(x) = \sum_c w_c\, p_{c,k}(x), \qquad w = \arg\max_w \sum_i v_i \log p_{y_i}(x_i),

over rows that each part leaves out of its fit. A temperature follows, as after one model: the mean
of probabilities that are right is too timid.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .._loaded import check_kind
from .._typing import Array, FloatArray
from ..calibration.classes import ClassCalibration
from ..calibration.softmax import SoftmaxCalibration
from .first_part import FirstPart
from .from_classes import FromClasses, left_out_logits
from .from_rows import FromRows
from .local_calibration import unseen_rows
from .start import Start

__all__ = ["ClassBlend", "Weighing", "mixture_weights", "weigh_classes"]

# Parts with less weight are left out: each costs as much as the others in predictions.
LEAST_WEIGHT = 0.05
# Steps of the weights. They are slow where a weight goes to zero, and the loss is flat there.
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
        w, of sum one.
    calibrated : SoftmaxCalibration
        Of the logarithms of the mean probabilities.
    """

    parts: tuple[Any, ...]
    starts: tuple[Start, ...]
    weights: tuple[float, ...]
    calibrated: SoftmaxCalibration

    def _check_loaded(self) -> None:
        """Raise ValueError unless each part has a start and a weight."""
        check_kind(self, "calibrated", SoftmaxCalibration)
        if not len(self.parts) == len(self.starts) == len(self.weights) > 0:
            raise ValueError(
                f"{len(self.parts)} parts, {len(self.starts)} starts and {len(self.weights)} "
                "weights of a weighted mean must be as many, and one at least."
            )

    @property
    def cv_results(self) -> dict[str, Array]:
        """Nothing: the evidence decides."""
        return {}

    def class_calibration(self) -> SoftmaxCalibration:
        """What makes logits probabilities."""
        return self.calibrated

    def mean(self, rows: Any) -> FloatArray:
        """Return logarithms of the mean probabilities: [n, K]."""
        found = [w * chances_of(p, rows) for w, p in zip(self.weights, self.parts, strict=True)]
        return np.asarray(np.log(sum(found)))

    def averaged(self, rows: Any) -> FloatArray:
        """Return the same: parts are averaged over their posteriors already."""
        return self.mean(rows)

    def gradient(self, rows: Any, held_out: bool = False) -> FloatArray:
        """Return gradients of the logarithms of the mean probabilities: [n, K, d]."""
        chances, slopes = 0.0, 0.0
        for weight, part in zip(self.weights, self.parts, strict=True):
            calibration = part.class_calibration()
            if isinstance(part, FromClasses):
                values, own = part.averaged(rows), part.averaged_gradient(rows)
            else:
                values, own = part.mean(rows), part.gradient(rows, held_out)
            chances = chances + weight * calibration.probabilities(values)
            slopes = slopes + weight * calibration.gradient(values, own)
        return np.asarray(slopes / np.asarray(chances)[:, :, None])

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
    candidates: Sequence[tuple[Start, FromClasses | FromRows]],
    X: Any,
    labels: npt.NDArray[np.intp],
    n_classes: int,
    weight: FloatArray,
    alone: bool = False,
) -> Weighing:
    """Weigh classifiers by rows of theirs, each of which is left out; one alone may be left.

    Parameters
    ----------
    candidates : sequence of (Start, FromClasses or FromRows)
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
    for start, part in candidates:
        if isinstance(part, FromClasses):
            logits = left_out_logits(part.space, part.mode, X, labels, weight)
            chances.append(part.calibrated.probabilities(logits))
        else:
            values = unseen_rows(part.part, part.map, part.local_rows(X), truth, weight)
            found = ClassCalibration.of(values, labels, weight, with_levels=True)
            chances.append(found.probabilities(values))
            part = replace(part, kept={"class_calibration": found})
        own.append((start, part))
    every = np.stack(chances)
    right = every[:, np.arange(len(labels)), labels]
    spread = weight @ np.square(truth - np.average(truth, axis=0, weights=weight)).sum(axis=1)
    errors = np.square(every - truth).sum(axis=2) @ weight / spread
    weights = np.zeros(len(own))
    if alone:
        weights[int(np.argmax(np.log(right) @ weight))] = 1.0
    else:
        weights[:] = 1.0
        while True:
            counted = np.flatnonzero(weights)
            weights[counted] = mixture_weights(right[counted], weight)
            if weights[counted].min() >= LEAST_WEIGHT:
                break
            weights[weights < LEAST_WEIGHT] = 0.0
    counted = np.flatnonzero(weights)
    order = counted[np.argsort(-weights[counted])]
    if order.tolist() == [0]:
        solution: Any = own[0][1]
    else:  # perhaps of one part alone, with its start
        logits = np.log(np.tensordot(weights[order], every[order], 1))
        solution = ClassBlend(
            tuple(own[i][1] for i in order),
            tuple(own[i][0] for i in order),
            tuple(weights[order].tolist()),
            SoftmaxCalibration.of(logits, labels, weight),
        )
    return Weighing(solution, tuple(weights.tolist()), tuple(errors.tolist()))


def mixture_weights(chances: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the weights of candidates whose mean has the least log loss.

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
