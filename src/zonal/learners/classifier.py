"""Classification: logistic regression on features, kriged indicators, or their mean."""

from dataclasses import replace
from operator import add
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from .._typing import Array
from ..calibration.classes import ClassCalibration
from ..calibration.softmax import SoftmaxCalibration
from ..model.blend import BlendStart
from ..model.class_blend import ClassBlend, weigh_classes
from ..model.class_field import ClassField, class_field
from ..model.class_places import beside_local
from ..model.class_sums import ClassExpansion, ClassSums
from ..model.features import is_automatic
from ..model.folds import check_alpha
from ..model.from_classes import FromClasses
from ..model.log_loss import LogLoss
from ..model.recipe import Recipe, Share
from ..model.start import Start
from ..persistence.checkpoint import Run
from ..rows import LEARN_ROWS, Block, Source, blockwise
from ..rows.array import ArraySource
from ..rows.kept import KEPT_BYTES
from ..rows.progress import phase
from ..rows.survey import Survey
from ..selection.records import weighed_records
from .model_learner import ModelLearner
from .neighbor_kriging import NeighborKriging
from .numerics import FEW_CLASSES

__all__ = ["KernelRidgeClassifier"]

# What is fitted by the log loss.
BY_LOG_LOSS = FromClasses | ClassBlend | ClassField


class KernelRidgeClassifier(ClassifierMixin, ModelLearner):
    r"""Classification by kernel methods: by the log loss, or by ridge regression of indicators.

    The indicator of each class is regressed on the features as in `KernelRidge`, all in one pass,
    which chooses features and a local part; the log loss then fits and weighs them.

    Parameters
    ----------
    features, alpha, alphas, cv, fit_intercept, local, encoder, budget, metric, time_limit
    random_state, verbose
        As in `KernelRidge`. Cross-validation minimises the squared error of the indicators (the
        Brier score).
    loss : {"log", "squared"}, default="log"
        ``"squared"``: ridge regression of the indicators. ``"log"``: on features, logistic
        regression of all classes, with α by evidence, or the given number: it minimises the log
        loss plus α/2 ‖β‖², as scikit-learn's LogisticRegression with C = 1/α. What is chosen
        automatically may be a weighted mean of such a fit, on landmarks of an `Anova` kernel, and
        of a local part, kriging of the indicators: of their probabilities or the logarithms of
        these, with weights of least log loss on rows that are left out
        (`zonal.model.class_blend`), and columns may count by their ranks. Two classes at places may
        be a field of logits (`zonal.model.class_field`). Rows that are seen once (`partial_fit`,
        checkpoints, iterators that do not fit into memory), a splitter as `cv`, a given local part
        and more than 50 classes have the squared loss;
        ``loss_`` tells. Others are walked over some forty times.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of rows, by class. ``"balanced"``: n / (k n_c) for a class with n_c
        of n rows, as in scikit-learn; the sample of a stream decides for all of its rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    calibration_ : ClassCalibration or SoftmaxCalibration
        What makes probabilities and sets hold. `fit` finds it for up to 50 classes, else the first
        use does.
    coef_, intercept_ : ndarrays of shape (n_classes, D) and (n_classes,)
        β and β₀ of the indicator of each class, or of its logit (of two, the first has zeros).
    loss_ : {"log", "squared"}
        The loss that coefficients minimise.
    features_, local_, alpha_, cv_results_, moments_
        As in `KernelRidge`.

    Notes
    -----
    *Probabilities.* Of the log loss, logits are averaged over the posterior of the coefficients
    (`zonal.model.from_classes`), with a temperature. Least squares on indicators estimates the
    conditional probabilities themselves, up to values outside [0, 1]. `predict_proba` calibrates
    them by two parameters, of least log loss on rows that are left out of the fit
    (`zonal.calibration.classes` has the formula); the order of the classes stays.

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

    # Candidates beside the first of the choice, until the log loss has weighed them.
    _others_: tuple[Start, ...] = ()

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
        loss: str = "log",
        budget: int = 1024,
        metric: bool = True,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.alpha = alpha
        self.alphas = alphas
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.local = local
        self.encoder = encoder
        self.class_weight = class_weight
        self.loss = loss
        self.budget = budget
        self.metric = metric
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

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
            Weights w_i. For the log loss they are numbers of rows: a row of weight 2 counts as two
            rows; where they add up to less than the rows, only their ratios count. For the squared
            loss they are relative precisions, of which only the ratios count. A given α is relative
            to the weights as they are, as in scikit-learn's Ridge.
        groups, checkpoint
            As in `KernelRidge`.

        Returns
        -------
        self
        """
        groups = None if groups is None else np.asarray(groups)
        self._fit(X, y, sample_weight, checkpoint, groups=groups)
        if len(self.classes_) <= FEW_CLASSES:
            self._solution.class_calibration()  # now, so that predictions leave the model as it is
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

    @blockwise
    def decision_function(self, X: Any) -> Array:
        """Averaged logits, or indicators: [n_samples, n_classes], or [n_samples] of two classes.

        Of two classes the sign decides, of more the largest value; but with a local part, the
        largest probability, which has a level for each class. Of a field of logits: those at its
        mode.
        """
        field = isinstance(self._solution, ClassField)
        scores = self._values(X) if field else self._averaged(X)
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
        rows, solution = self._check_rows(X, reset=False), self._solution
        if isinstance(solution, FromClasses | ClassBlend):
            gradient = solution.averaged_gradient(self._cells_.rows(rows))
        else:
            gradient = self._model.gradient(rows)
        return gradient[:, 1] - gradient[:, 0] if len(self.classes_) == 2 else gradient

    @blockwise
    def predict(self, X: Any) -> Array:
        """Predict labels: [n_samples]."""
        scores = self._values(X)
        n_classes = len(self.classes_)
        if n_classes == 2:  # as the sign of the decision function, ties included
            best = scores[:, 1] > scores[:, 0]
        elif self._solution.part is not None and n_classes <= FEW_CLASSES:
            best = self.calibration_.probabilities(scores).argmax(axis=1)
        else:
            best = scores.argmax(axis=1)
        return np.asarray(self.classes_[best.astype(np.intp)])

    @blockwise
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes: [n_samples, n_classes]; see the notes of the class."""
        calibration = self.calibration_
        scores = self._averaged(X)
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
        return calibration.sets(self._averaged(X), coverage)

    def _values(self, X: Any) -> Array:
        """Return the values of the classes at rows: [n, n_classes]."""
        return self._model.at(self._check_rows(X, reset=False)).mean

    def _averaged(self, X: Any) -> Array:
        """Return the values that are calibrated: of logits, those averaged over the posterior."""
        solution = self._solution
        if not isinstance(solution, BY_LOG_LOSS):
            return self._values(X)
        rows = self._cells_.rows(self._check_rows(X, reset=False))
        return solution.averaged(rows).astype(self._cells_.dtype(rows), copy=False)

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return np.asarray(self._known(self._cells_).classes)

    @property
    def calibration_(self) -> ClassCalibration | SoftmaxCalibration:  # type: ignore[override]
        """What makes values of classes probabilities, from rows that are left out of the fit.

        `fit` finds it for up to 50 classes; else this is a slot that is filled when first asked
        for.
        """
        calibration: ClassCalibration | SoftmaxCalibration = self._solution.class_calibration()
        return calibration

    @property
    def loss_(self) -> str:
        """The loss that coefficients minimise."""
        return "log" if isinstance(self._solution, BY_LOG_LOSS) else "squared"

    @property
    def features_(self) -> Any:
        """The fitted features, or None."""
        found = self._solution_
        if isinstance(found, ClassBlend):
            found = found.parts[0]
            if not isinstance(found, FromClasses):
                return found.features
        return found.space.features if isinstance(found, FromClasses) else super().features_

    @property
    def recipe_(self) -> Recipe:
        """What was fitted; of a weighted mean, each part with its weight."""
        found = self._solution
        if not isinstance(found, ClassBlend):
            return super().recipe_
        each = zip(found.parts, found.starts, strict=True)
        first, *others = (start.knowing(part).recipe for part, start in each)
        shares = zip(found.weights[1:], others, strict=True)
        records = self._start_.recipe.records
        return replace(first, records=records, others=tuple(Share(w, one) for w, one in shares))

    @property
    def _latent(self) -> LogLoss | None:  # type: ignore[override]
        few = len(self.classes_) <= FEW_CLASSES
        return LogLoss(self.classes_, None, True) if self.loss == "log" and few else None

    def _open(self, X: Any, y: Any, weight: Any, resumable: bool = False, **options: Any) -> Source:
        source = super()._open(X, y, weight, resumable, **options)
        if resumable or not source.once or self.loss != "log":
            return source
        held = source.hold(KEPT_BYTES)  # to walk over it again
        return source if held is None else self._held(held, **options)

    def _learn(self, survey: Survey, **options: Any) -> Any:
        learnt = super()._learn(survey, **options)
        if isinstance(self._start_, BlendStart):  # the log loss will weigh the parts
            self._start_, *others = self._start_.parts
            self._others_ = tuple(others)
        return learnt

    def _reduce(self, source: Source, resume: Run | None, learnt: Any) -> None:
        super()._reduce(source, resume, learnt)
        others, self._others_ = self._others_, ()
        few = len(self.classes_) <= FEW_CLASSES  # of many, their coefficients take the memory
        if few and self.loss == "log" and learnt is None and resume is None and not source.once:
            phase("log loss", self.verbose)
            self._solution_ = self._with_log_loss(source, others)

    def _with_log_loss(self, source: Source, others: tuple[Start, ...]) -> Any:
        """Return the fit by log loss, or a weighted mean with a local part of the indicators."""
        start = self._start_
        alpha = None if isinstance(self.alpha, str) else float(self.alpha)
        how = LogLoss(self.classes_, alpha, self.fit_intercept, self._weight_unit(source))

        def walk(where: ClassExpansion) -> ClassSums:
            found: ClassSums = self._walk(source, where.sums, add)
            return found

        chosen = is_automatic(self.features) and isinstance(self.local, str)
        if start.summation is not None:
            found: Any = how.fitted(start.summation, self._sums_.rows, source, walk, quick=chosen)
        else:
            found = self._solution
        if not (chosen and isinstance(source, ArraySource)):
            return found
        block = source.block
        candidates: list[Any] = [(start, found, None)]
        # Rows that are left out alone tell nothing of holes: places have one model.
        places = block.X.shape[1] <= 3  # as `is_places` has it
        for other in others:
            if other.summation is not None:
                candidates.append((other, *how.left_out(other.summation.space, block)))
            else:
                candidates.append((other, other.solved(other.sums(block)), None))
        if start.summation is None and not others:
            beside = beside_local(how, found, block, self.budget)
            field = self._field(how, found, block) if places else None
            if field is not None and (
                beside is None or field.calibrated.loss < beside.calibrated.loss
            ):
                return field
            if beside is not None:
                recipe, few = Recipe(beside.space.features), block.rows(slice(1))
                candidates.append((Start.of(recipe, self._cells_, few.X, few.y), beside, None))
        if len(candidates) == 1:
            return found
        X, labels, weight = how.sample(block, LEARN_ROWS)
        weighed = weigh_classes(candidates, X, labels, len(self.classes_), weight, alone=places)
        starts = [own for own, *_ in candidates]
        records = weighed_records(start.recipe.records, starts, weighed.weights, weighed.errors)
        self._start_ = replace(start, recipe=replace(start.recipe, records=records))
        return weighed.found

    def _field(self, how: LogLoss, local: Any, block: Block) -> ClassField | None:
        """Return two classes as a field of logits, where it is better than that of indicators."""
        if len(self.classes_) != 2:
            return None
        seed = self._start_.recipe.local.seed
        return class_field(local, block, *how.labelled(block), seed)

    def _weight_unit(self, source: Source) -> float:
        """Return what weights are divided by where α is found by evidence.

        It is the mean factor of the classes, of which only ratios count, and the mean of all other
        weights where it is less than one: they add up to less than the rows then, and are shares,
        not numbers of rows.
        """
        if isinstance(source, ArraySource):
            labels, weight = np.asarray(source.block.y), source.block.weight
        else:
            sample = self._sums_.rows
            labels, weight = self.classes_[sample.y.argmax(axis=1)], sample.weight
        if weight is None or not isinstance(self.alpha, str):
            return 1.0
        counting = np.asarray(weight) > 0
        factors = self._cells_.factors
        own = np.array([factors.get(label, 1.0) for label in labels[counting].tolist()])
        weight = np.asarray(weight, np.float64)[counting]
        return float(np.sum(weight) / max(np.sum(weight / own), len(own)))

    def _refit(self, block: Block, start: Start | BlendStart) -> Self:
        """Refit by the loss that was chosen, with its features and its alpha."""
        found = self._solution_
        if not isinstance(found, BY_LOG_LOSS):
            return super()._refit(block, start)
        block = self._checked(block, first=False)
        self._cells_ = self._cells_.refitted(block)
        self._start_ = start.with_cells(self._cells_)
        block = self._prepared(block)
        self._check_labels(block)
        unit = self._weight_unit(ArraySource(block))

        def refitted(part: Any, own: Start) -> Any:
            if isinstance(part, FromClasses):
                how = LogLoss(self.classes_, part.alpha, self.fit_intercept, unit)
                return how.on_rows(part.space, block)
            known = own.keeping(part).with_cells(self._cells_)
            return known.solved(known.sums(block))

        if isinstance(found, ClassField):
            how = LogLoss(self.classes_, None, self.fit_intercept, unit)
            self._solution_ = found.refitted(block, *how.labelled(block))
        elif isinstance(found, FromClasses):
            self._solution_ = refitted(found, self._start_)
        else:
            each = zip(found.parts, found.starts, strict=True)
            self._solution_ = replace(found, parts=tuple(refitted(p, own) for p, own in each))
        self._sums_, self.n_rows_ = None, len(block)
        return self

    def without_sums(self) -> Self:
        """Return a copy that predicts the same, but cannot be continued by `partial_fit`."""
        if self._sums_ is not None:
            self._solution.class_calibration()  # which needs the sums
        return super().without_sums()

    def _check_parameters(self) -> None:
        check_alpha(self.alpha)
        if self.loss not in ("log", "squared"):
            raise ValueError(f"loss={self.loss!r} must be 'log' or 'squared'.")
        super()._check_parameters()

    def _read(self, block: Block, survey: Survey, source: Source | None) -> dict[str, Any]:
        if len(survey.classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of at least 2 classes, but y has one class "
                f"only: {survey.classes.tolist()}."
            )
        known = super()._read(block, survey, source)
        self._cells_ = self._cells_.with_class_weight(block, self.class_weight)
        return known

    def _sums(self, block: Block) -> Any:
        self._check_labels(block)
        return super()._sums(block)

    def _check_labels(self, block: Block) -> None:
        counting = block.y if block.weight is None else block.y[block.weight > 0]
        unseen = np.setdiff1d(counting, self.classes_)
        if len(unseen):
            raise ValueError(
                f"y contains labels that are not among the classes: {unseen.tolist()}; the "
                f"classes are {self.classes_.tolist()}."
            )

    _local_class = NeighborKriging
