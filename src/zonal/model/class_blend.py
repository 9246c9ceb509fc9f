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
from .from_classes import FromClasses, left_out_logits
from .from_rows import FromRows
from .local_calibration import unseen_rows
from .start import Start

__all__ = ["ClassBlend", "blend_classes", "mixture_weights"]

# Parts with less weight are left out: each costs as much as the others in predictions.
LEAST_WEIGHT = 0.05
# Steps of the weights. They are slow where a weight goes to zero, and the loss is flat there.
STEPS = 200


@dataclass(frozen=True)
class ClassBlend:
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
        if not len(self.parts) == len(self.starts) == len(self.weights) > 1:
            raise ValueError(
                f"{len(self.parts)} parts, {len(self.starts)} starts and {len(self.weights)} "
                "weights of a weighted mean must be as many, and two at least."
            )

    @property
    def coef(self) -> FloatArray:
        """The coefficients of the first part."""
        return np.asarray(self.parts[0].coef)

    @property
    def intercept(self) -> FloatArray:
        """The constants of the first part."""
        return np.asarray(self.parts[0].intercept)

    @property
    def alpha(self) -> float:
        """The regularisation of the first part."""
        return float(self.parts[0].alpha)

    @property
    def cv_results(self) -> dict[str, Array]:
        """Nothing: the evidence decides."""
        return {}

    @property
    def part(self) -> Any:
        """The local part of the first part, or None."""
        return self.parts[0].part

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

    def shares(self) -> dict[str, float]:
        """Return the shares of the indicators' variance in the first part."""
        shares: dict[str, float] = self.parts[0].shares()
        return shares

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


def blend_classes(
    candidates: Sequence[tuple[Start, FromClasses | FromRows]],
    X: Any,
    labels: npt.NDArray[np.intp],
    n_classes: int,
    weight: FloatArray,
    alone: bool = False,
) -> Any:
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

    Returns
    -------
    ClassBlend, FromClasses or FromRows
    """
    own, chances = [], []
    for start, part in candidates:
        if isinstance(part, FromClasses):
            logits = left_out_logits(part.space, part.mode, X, labels, weight)
            chances.append(part.calibrated.probabilities(logits))
        else:
            truth = np.eye(n_classes)[labels]
            values = unseen_rows(part.part, part.map, part.local_rows(X), truth, weight)
            found = ClassCalibration.of(values, labels, weight, with_levels=True)
            chances.append(found.probabilities(values))
            part = replace(part, kept={"class_calibration": found})
        own.append((start, part))
    every = np.stack(chances)
    right = every[:, np.arange(len(labels)), labels]
    if alone:
        return own[int(np.argmax(np.log(right) @ weight))][1]
    counted = np.arange(len(own))
    while True:
        shares = mixture_weights(right[counted], weight)
        if shares.min() >= LEAST_WEIGHT:
            break
        counted = counted[shares >= LEAST_WEIGHT]
    if len(counted) == 1:
        return own[int(counted[0])][1]
    order = np.argsort(-shares)
    counted, shares = counted[order], shares[order]
    logits = np.log(np.tensordot(shares, every[counted], 1))
    return ClassBlend(
        tuple(own[i][1] for i in counted),
        tuple(own[i][0] for i in counted),
        tuple(shares.tolist()),
        SoftmaxCalibration.of(logits, labels, weight),
    )


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
