"""Classification by kernel ridge regression on the class indicators."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight

from .._typing import Array
from ..moments import Moments
from ..rows import Block, blockwise
from ..rows.survey import Survey
from .ridge import RidgeLearner
from .targets import check_labels

__all__ = ["KernelRidgeClassifier"]

# The share of the uniform distribution in every probability.
MIXED = 1e-3


class KernelRidgeClassifier(ClassifierMixin, RidgeLearner):
    r"""Classification by kernel ridge regression on the class indicators.

    The indicator of each class is regressed on the features as in `KernelRidge`, all in one pass;
    a row goes to the class with the largest value.

    Parameters
    ----------
    features, alpha, alphas, cv, fit_intercept, local, encoder, budget, random_state, verbose
        As in `KernelRidge`. Cross-validation minimises the squared error of the indicators (the
        Brier score).
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of rows, by class. ``"balanced"``: n / (k n_c) for a class with n_c
        of n rows, as scikit-learn has it; of a stream, by its sample.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    features_, local_, alpha_, cv_results_, moments_
        As in `KernelRidge`.

    Notes
    -----
    *Probabilities.* Least squares on indicators estimates the conditional probabilities
    themselves, up to values outside [0, 1]. `predict_proba` projects them onto the probability
    simplex, which never increases the Brier score, and mixes in one part in a thousand of the
    uniform distribution, so that no class is impossible. There is no further calibration.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-2, 2, (400, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> model = zonal.KernelRidgeClassifier(budget=128, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        features: Any = "auto",
        alpha: float | str = "cv",
        *,
        alphas: npt.ArrayLike | None = None,
        cv: Any = 2,
        fit_intercept: bool = True,
        local: Any = "auto",
        encoder: Any = "auto",
        class_weight: Any = None,
        budget: int = 1024,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            features,
            alpha,
            alphas=alphas,
            cv=cv,
            fit_intercept=fit_intercept,
            local=local,
            encoder=encoder,
            budget=budget,
            random_state=random_state,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        checkpoint: Any = None,
    ) -> Self:
        """Fit to all rows.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows; or as in `KernelRidge` a Dask collection or a stream of blocks.
        y : array-like of shape (n_samples,)
            Labels, unless X yields them.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a row of weight 2 counts as two rows.
        groups : array-like of shape (n_samples,), optional
            As in `KernelRidge`.
        checkpoint : path-like or Checkpoint, optional
            As in `KernelRidge`.

        Returns
        -------
        self
        """
        return self._fit_grouped(X, y, sample_weight, checkpoint, groups)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add a chunk of rows; the first chunk decides what the features learn from data.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like of shape (n_classes,), optional
            All labels that will ever appear; required in the first call.

        Returns
        -------
        self
        """
        if self.__sklearn_is_fitted__():
            if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
                raise ValueError(
                    f"classes={classes!r} differ from those of the first call, {self.classes_!r}."
                )
        elif classes is None:
            raise ValueError(
                "The first call of partial_fit needs classes, all labels that will appear."
            )
        return self._partial_fit(
            X, y, sample_weight, None if classes is None else np.unique(classes)
        )

    def _learn(self, survey: Survey) -> None:
        if len(survey.classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of at least 2 classes, but y has one class "
                f"only: {survey.classes.tolist()}."
            )
        self.classes_ = survey.classes
        super()._learn(survey)

    @blockwise
    def decision_function(self, X: Any) -> Array:
        """Values whose largest wins: [n_samples, n_classes], or [n_samples] for two classes."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def gradient(self, X: Any) -> Array:
        """Gradients of the decision function, as those of `KernelRidge`.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, n_features), or (n_samples, n_features) for two
        classes
        """
        gradient = self._gradient(X, self._solution.coef)
        return gradient[:, 1] - gradient[:, 0] if len(self.classes_) == 2 else gradient

    @blockwise
    def predict(self, X: Any) -> Array:
        """Predict labels: [n_samples]."""
        scores = self._scores(X)
        # As the sign of the decision function, ties included.
        best = scores[:, 1] > scores[:, 0] if len(self.classes_) == 2 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best.astype(np.intp)])

    @blockwise
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes: [n_samples, n_classes]; see the notes of the class."""
        scores = self._scores(X)
        probabilities = (1 - MIXED) * _onto_simplex(scores) + MIXED / scores.shape[1]
        return probabilities.astype(scores.dtype)

    def _sums(self, block: Block) -> list[Moments]:
        counting = block.y if block.weight is None else block.y[block.weight > 0]
        unseen = np.setdiff1d(counting, self.classes_)
        if len(unseen):
            raise ValueError(
                f"y contains labels that are not among the classes: {unseen.tolist()}; the "
                f"classes are {self.classes_.tolist()}."
            )
        return super()._sums(block)

    def _targets(self, y: Any, n_rows: int) -> Array:
        """Return the indicators of the classes: [n, n_classes]."""
        return (y[:, None] == self.classes_).astype(np.int8)

    def _checked(self, block: Block, *, first: bool, numbers: Any = None) -> Block:
        block = super()._checked(block, first=first, numbers=numbers)
        if self.class_weight is None:
            return block
        counting = slice(None) if block.weight is None else block.weight > 0
        if first:
            classes = np.unique(block.y[counting])
            factors = compute_class_weight(self.class_weight, classes=classes, y=block.y[counting])
            self._class_factors_ = dict(zip(classes.tolist(), factors.tolist(), strict=True))
        factor = np.array([self._class_factors_.get(label, 1.0) for label in block.y.tolist()])
        return replace(block, weight=factor if block.weight is None else block.weight * factor)

    def _check_y(self, y: Any) -> Array:
        return check_labels(y, type(self).__name__)


def _onto_simplex(scores: Array) -> Array:
    """Project rows onto the probability simplex (Held, Wolfe and Crowder 1974).

    Subtract the threshold that leaves a sum of one after cutting at zero.
    """
    # A shift changes nothing but rounding, which is ruinous for large scores.
    scores = scores.astype(np.float64)
    scores = scores - scores.max(axis=1, keepdims=True)
    descending = -np.sort(-scores, axis=1)
    excess = np.cumsum(descending, axis=1) - 1
    counts = np.arange(1, scores.shape[1] + 1)
    size = np.count_nonzero(descending * counts > excess, axis=1)
    threshold = np.take_along_axis(excess, size[:, None] - 1, axis=1) / size[:, None]
    return np.maximum(scores - threshold, 0)
