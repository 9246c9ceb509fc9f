"""Classification by kernel ridge regression on the class indicators."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight

from .._typing import Array
from ..calibration.classes import ClassCalibration
from ..moments import Moments
from ..rows import Block, blockwise
from ..rows.survey import Survey
from .local_calibration import unseen_local
from .local_solution import LocalSolution
from .ridge_learner import RidgeLearner
from .targets import check_labels

__all__ = ["KernelRidgeClassifier"]

# With more classes calibration takes memory, and waits until probabilities are asked for.
FEW_CLASSES = 50


class KernelRidgeClassifier(ClassifierMixin, RidgeLearner):
    r"""Classification by kernel ridge regression on the class indicators.

    The indicator of each class is regressed on the features as in `KernelRidge`, all in one pass;
    a row goes to the class with the largest value.

    Parameters
    ----------
    features, alpha, alphas, cv, fit_intercept, local, encoder, budget, metric, time_limit
    random_state, verbose
        As in `KernelRidge`. Cross-validation minimises the squared error of the indicators (the
        Brier score).
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of rows, by class. ``"balanced"``: n / (k n_c) for a class with n_c
        of n rows, as scikit-learn has it; of a stream, by its sample.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    calibration_ : ClassCalibration
        What makes probabilities and sets hold; found when first asked for.
    features_, local_, alpha_, cv_results_, moments_
        As in `KernelRidge`.

    Notes
    -----
    *Probabilities.* Least squares on indicators estimates the conditional probabilities
    themselves, up to values outside [0, 1]. `predict_proba` calibrates them by two parameters, of
    least log loss on rows that are left out of the fit (`zonal.calibration.classes` has the
    formula); the order of the classes stays.

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
        metric: bool = True,
        time_limit: float | None = None,
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
            metric=metric,
            time_limit=time_limit,
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
            Weights w_i, relative precisions of mean one over the rows that count, so that constant
            weights change nothing; a row of weight 2 counts as two rows. A given α is relative to
            the weights as they are, as in scikit-learn's Ridge.
        groups : array-like of shape (n_samples,), optional
            As in `KernelRidge`.
        checkpoint : path-like or Checkpoint, optional
            As in `KernelRidge`.

        Returns
        -------
        self
        """
        self._fit_grouped(X, y, sample_weight, checkpoint, groups)
        if len(self.classes_) <= FEW_CLASSES:
            self.calibration_  # noqa: B018  # now, so that predictions leave the model as it is
        return self

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
        calibration = self.calibration_
        scores = self._scores(X)
        return calibration.probabilities(scores).astype(scores.dtype)

    @blockwise
    def predict_set(self, X: Any, coverage: float = 0.9) -> Array:
        """Predict sets of classes that hold the true one with a given probability.

        A class is in the set where its probability is at least the one that a share `coverage` of
        its own rows reach when they are left out of the fit (conformal prediction), so that the
        level holds for each class. A set may hold several classes where they are hard to tell
        apart, and none where a row is less like its class than most others are.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_samples, n_features)
            Rows; or a Dask array or frame, or a stream of blocks.
        coverage : float, default=0.9
            The share of rows, of every class, whose class is in the set.

        Returns
        -------
        ndarray of bool, of shape (n_samples, n_classes)
            Whether each of ``classes_`` is in the set.

        Examples
        --------
        >>> import numpy as np
        >>> import zonal
        >>> rng = np.random.default_rng(0)
        >>> y = rng.integers(0, 2, 1500)
        >>> X = rng.standard_normal((1500, 2)) + y[:, None]
        >>> model = zonal.KernelRidgeClassifier(budget=64, random_state=0).fit(X[:1000], y[:1000])
        >>> held = model.predict_set(X[1000:])
        >>> bool(0.85 < held[np.arange(500), y[1000:]].mean() < 0.95)
        True
        """
        calibration = self.calibration_
        return calibration.sets(self._scores(X), coverage)

    @property
    def calibration_(self) -> ClassCalibration:
        """What makes values of classes probabilities, from rows that are left out of the fit."""
        solution = self._solution
        known: tuple[Any, ClassCalibration] | None = getattr(self, "_calibration_", None)
        if known is None or known[0] is not solution:
            self._calibration_ = known = solution, self._calibrated(solution)
        return known[1]

    def _calibrated(self, solution: Any) -> ClassCalibration:
        if isinstance(solution, LocalSolution):
            truth, values, weight = unseen_local(solution, self._local_features())
            return ClassCalibration.of(values, truth.argmax(axis=1), weight)
        rows, folded = self._sampled_rows, self._folded(self._posterior())
        weight = np.ones(len(rows)) if rows.weight is None else np.asarray(rows.weight)
        labels = np.searchsorted(self.classes_, rows.y[folded.rows])
        return ClassCalibration.of(folded.mean, labels, weight[folded.rows])

    def without_sums(self) -> Self:
        """Return a copy that predicts the same, but cannot be continued by `partial_fit`."""
        if self._sums_ is not None:
            self.calibration_  # noqa: B018  # found now, for it needs rows
        return super().without_sums()

    def _sums(self, block: Block) -> list[Moments]:
        counting = block.y if block.weight is None else block.y[block.weight > 0]
        unseen = np.setdiff1d(counting, self.classes_)
        if len(unseen):
            raise ValueError(
                f"y contains labels that are not among the classes: {unseen.tolist()}; the "
                f"classes are {self.classes_.tolist()}."
            )
        return super()._sums(block)

    def _n_targets(self, y: Any) -> int:
        return len(self.classes_)

    def _targets(self, y: Any, n_rows: int) -> Array:
        """Return the indicators of the classes: [n, n_classes]."""
        return (y[:, None] == self.classes_).astype(np.int8)

    def _checked(self, block: Block, *, first: bool, **how: Any) -> Block:
        block = super()._checked(block, first=first, **how)
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
