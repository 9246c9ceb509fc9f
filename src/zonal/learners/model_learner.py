"""Learners that are a face over a fitted model: features, a local part, or both."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from .._deadline import Deadline
from .._typing import Array, FloatArray
from .._validation import check_count, check_time_limit, is_sparse
from ..features.columns.table.encoding import SplitTable
from ..features.space import FeatureSpace
from ..model.anova_kernel import Latent
from ..model.blend import BlendStart, start_of
from ..model.cells import learn_encoder
from ..model.features import asked_width, fit_features, is_automatic, take_sparse
from ..model.folds import count_folds, path_cost, plan_folds, splits_rows
from ..model.from_sums import FromSums
from ..model.importance import PROBES
from ..model.known_errors import KnownErrors
from ..model.length_scales import tune_length_scales
from ..model.recipe import Local, Recipe
from ..model.ridge_path import check_alphas, few_groups
from ..model.start import Start
from ..model.summation import announce_sums
from ..moments.folds import Splits
from ..partitions import FromParts, fit_parts
from ..partitions.sorting import BLOCK_ROWS
from ..partitions.staying import (
    check_gathering,
    gathered,
    left_in_place,
    refuse_gathering,
)
from ..persistence.checkpoint import Run
from ..rows import LEARN_ROWS, Block, Source, sample_rows
from ..rows.array import ArraySource
from ..rows.block import take
from ..rows.copies import content_hash
from ..rows.kept import BEYOND_MEMORY, PILOT_ROWS
from ..rows.survey import Survey
from ..selection.choose import Question, choose
from ..selection.table import Records
from .errors import check_one_target, precisions
from .fitted_attributes import FittedAttributes
from .targets import check_labels, check_numbers

__all__ = ["ModelLearner"]


class ModelLearner(FittedAttributes):
    """Base of `KernelRidge`, `KernelRidgeClassifier`, `GaussianProcess` and `NeighborKriging`.

    A fit learns three values: `Cells` (how cells become numbers), `Start` (the recipe with its
    fitted features) and ``_solution`` (`FromSums` or `FromRows`). A subclass has parameters and a
    docstring. It may override these hooks:

    - ``_shrinkage()``: how coefficients are shrunk, as a recipe without features;
    - ``_local_part()``: what is given of the local part;
    - ``_tuned(recipe, survey, plan)``: a recipe with better parameters;
    - those of `Learner`: ``_check_parameters()``, ``_check_y(y)``, ``_read(...)``, ``_sums(...)``.
    """

    features: Any
    local: Any
    encoder: Any
    budget: int
    metric: bool
    time_limit: float | None
    random_state: Any
    # How coefficients are shrunk, in learners that have no parameters for it.
    alpha: Any = "evidence"
    alphas: Any = None
    cv: Any = None
    fit_intercept: bool = True
    #: Whether the choice may end with a weighted mean of several models.
    _blends = False
    #: How latent functions are fitted, of classes or another likelihood; None: by least squares.
    _latent: Latent | None = None
    #: Whether rows of a local part may stay in parts.
    _in_parts = False
    #: Whether the standard deviation and the length scales of a local part may vary with place.
    _varies = False
    #: Whether y may have several columns.
    _many_targets = False
    # Known once rows were seen.
    _errors_: KnownErrors | None = None

    def _shrinkage(self) -> Recipe:
        """Return a recipe that says how coefficients are shrunk, and nothing else."""
        alpha = self.alpha if isinstance(self.alpha, str) else float(self.alpha)
        return Recipe(
            alpha=alpha, alphas=check_alphas(self.alphas), fit_intercept=self.fit_intercept
        )

    def _tuned(self, recipe: Recipe, survey: Survey, plan: Splits | None) -> Recipe:
        """Return the recipe, with better parameters where the learner knows a way to find them."""
        return recipe

    # Checks, and the source of the rows.

    def _check_parameters(self) -> None:
        given = hasattr(self.local, "n_neighbors")
        if not (self.local is None or given or (self.local == "auto")):
            raise ValueError(
                f"local={self.local!r} must be 'auto', None or a zonal.NeighborKriging."
            )
        if self.features is None and self.local is None:
            raise ValueError(
                "features=None leaves a constant and the local part, but local=None: give one of "
                "them, or use the defaults."
            )
        if is_automatic(self.features):
            check_count("budget", self.budget, type(self).__name__)
        if not isinstance(self.metric, bool | np.bool_):
            raise ValueError(
                f"metric={self.metric!r} must be True or False: whether a learned metric is tried."
            )
        check_time_limit(self.time_limit)

    def _check_y(self, y: Any) -> Array:
        check = check_labels if is_classifier(self) else check_numbers
        return check(y, type(self).__name__)

    def _local_part(self) -> Local | None:
        """Return the local part that the parameters ask for; None: the model has none."""
        if self.local is None:
            return None
        required = not isinstance(self.local, str) or self.features is None
        if isinstance(self.local, str):
            if not (required or is_automatic(self.features)):
                return None
            given = Local(required=required)
        else:
            given = Local.of(self.local)
        if given.warps and not self._varies:
            raise ValueError(
                f'NeighborKriging(warp="auto") is not available in {type(self).__name__}: use '
                "warp=None."
            )
        if given.warps and not (self.features is None or is_automatic(self.features)):
            raise ValueError(
                f'NeighborKriging(warp="auto") stands alone, and is not available beside the '
                f"features of {type(self).__name__}: use warp=None, or features=None."
            )
        return replace(given, varies=given.varies and self._varies)

    def _splits_rows(self, groups: Any) -> bool:
        """Tell whether a splitter judges the model."""
        return splits_rows(self.alpha, self.cv, groups)

    def _open(
        self,
        X: Any,
        y: Any,
        weight: Any,
        resumable: bool = False,
        *,
        groups: Any = None,
        errors: KnownErrors | None = None,
        **options: Any,
    ) -> Source:
        self._errors_ = errors
        splits, part = self._splits_rows(groups), self._local_part()
        # A splitter needs all rows in memory; for a local part they may stay where they are.
        gathers = splits or resumable or errors is not None
        stays = part is not None and self._in_parts and not gathers
        large = left_in_place(X, y, weight) if stays else None
        if large is not None:
            return large
        source = super()._open(X, y, weight, resumable, groups=groups)
        if resumable or isinstance(source, ArraySource) or (part is None and not splits):
            return source
        found = gathered(source, stays, self.verbose)
        if found is source and part is not None and part.required:
            refuse_gathering(type(self).__name__)
        return self._held(found, groups=groups) if isinstance(found, Block) else found

    def _merges_copies(self, groups: Any = None, **options: Any) -> bool:
        # Two rows may have the same label by chance, a splitter decides where copies go, and
        # observations with errors of their own are no copies.
        errors = self._errors_ is not None
        return not (is_classifier(self) or errors or self._splits_rows(groups))

    def _check_weight(self, X: Any, sample_weight: Any, *, allow_zero: bool) -> FloatArray | None:
        if self._errors_ is None:
            return super()._check_weight(X, sample_weight, allow_zero=allow_zero)
        return precisions(sample_weight, _num_samples(X), type(self).__name__)

    # Learnt before rows are summed.

    def _read(self, block: Block, survey: Survey, source: Source | None) -> dict[str, Any]:
        task = "classification" if is_classifier(self) else "regression"
        automatic, numbers = is_automatic(self.features), survey.sample.numbers
        cells = learn_encoder(self._encoder(block), automatic, task, block, numbers, source)
        self._cells_ = cells.with_targets(block.y, survey.classes)
        return {"raw": block}

    def _encoder(self, block: Block) -> Any:
        """Return the encoder that is asked for."""
        return self.encoder

    def _prepared(self, block: Block, numbers: Any = None) -> Block:
        prepared: Block = self._cells_.training(block, numbers)
        return prepared

    def _learn(
        self,
        survey: Survey,
        *,
        groups: Any = None,
        raw: Block | None = None,
        queries: Any = None,
        **options: Any,
    ) -> Any:
        n_folds, plan, table = plan_folds(
            self.alpha, self.cv, groups, survey, raw, self._cells_.encoder, is_classifier(self)
        )
        errors, sample = self._errors_, survey.sample
        if errors is not None:
            check_one_target(sample.y)
            errors = errors.guessed(sample.X, sample.y, sample.weight)
            weighed = sample._replace(weight=errors.weights(sample.weight))
            survey = survey._replace(sample=weighed)
        asked = self._asked(queries)
        recipe = self._recipe(survey, plan, table, n_folds, asked)
        start = start_of(recipe, self._cells_, sample.X, sample.y, n_folds)
        start = start.with_errors(errors, sample.X, sample.y, sample.weight)
        self._start_ = start.asking(asked)
        self._pilot_ = Block(*sample[1:]) if survey.pilot else None
        self._probes_ = None
        if isinstance(sample.X, np.ndarray):
            self._probes_ = sample.X[sample_rows(len(sample.X), PROBES)].copy()
        return None if plan is None else (plan, table)

    def _asked(self, queries: Any) -> Array | None:
        """Return rows that will be asked, or a sample of them, as numbers."""
        if queries is None:
            return None
        try:
            rows = self._check_rows(queries, reset=False)
        except ValueError as error:
            raise ValueError(f"queries must be rows with the columns of X: {error}") from error
        # By what is in them: how they are stored decides nothing.
        least = np.argsort(content_hash(rows), kind="stable")[:LEARN_ROWS]
        few = take(rows, np.sort(least))
        numbers: Array = self._cells_.rows(few)
        return numbers

    def _recipe(
        self,
        survey: Survey,
        plan: Splits | None,
        table: SplitTable | None,
        n_folds: int,
        asked: Array | None = None,
    ) -> Recipe:
        """Return what to fit: the parameters say it, or the choice finds it."""
        shrink, local, sample = self._shrinkage(), self._local_part(), survey.sample
        if local is not None and is_sparse(sample.X):
            if local.required:
                raise ValueError(
                    "A local part needs dense rows, but X is sparse: use local=None, or pass a "
                    "dense array of fewer columns."
                )
            local = None
        if local is not None and self._errors_ is not None:  # known errors do not vary with s
            local = replace(local, varies=False, warps=False)
        if local is not None and local.periods is None:
            local = replace(local, periods=self._cells_.periods)
        if self.features is None:
            return replace(shrink, local=local)
        if not survey.pilot:
            self._announce(survey, plan, table, n_folds)
        if is_automatic(self.features):
            chosen = choose(self._question(survey, local, plan, table, asked))
            if chosen is not None:
                if survey.pilot and chosen.local is None:  # all rows are summed after all
                    self._announce(survey, plan, table, n_folds)
                return self._tuned(chosen.shrunk_as(shrink), survey, plan)
            local = local if local is not None and local.required else None
        features = fit_features(
            self.features,
            *sample[1:],
            owner=type(self).__name__,
            budget=self.budget,
            random_state=self.random_state,
        )
        before = None if local is None else FeatureSpace(features, 0).before
        given = replace(shrink, features=features, columns=before, local=local)
        return self._tuned(given, survey, plan)

    def _announce(
        self, survey: Survey, plan: Splits | None, table: SplitTable | None, n_folds: int
    ) -> None:
        """Warn of sums and systems that will take much time or memory."""
        n_sums = n_folds
        if plan is not None:
            n_sums = plan.n_groups if few_groups(plan, table) else 1
        width = asked_width(self.features, self.budget)
        if is_automatic(self.features) and self.local is not None and survey.n_rows > PILOT_ROWS:
            width = -(-width // 4)  # of many rows more columns are taken only if they are worth it
        announce_sums(
            type(self).__name__,
            survey.n_rows,
            width,
            self._cells_.n_targets(survey.sample.y),
            n_sums,
            path_cost(self.alpha, n_sums),
        )

    def _question(
        self,
        survey: Survey,
        local: Local | None,
        plan: Splits | None,
        table: SplitTable | None,
        asked: Array | None,
    ) -> Question:
        """Return everything that the choice needs to know."""
        cells, sample = self._cells_, survey.sample
        return Question(
            survey,
            cells.targets(sample.y, sample.X.shape[0]),
            local,
            self.budget,
            cells.mixed,
            self.metric,
            int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            Deadline(self.time_limit),
            plan,
            table,
            "" if survey.whole or survey.pilot or local is None else BEYOND_MEMORY,
            self.verbose,
            blend=survey.whole and self._blends,
            latent=self._latent if plan is None else None,
            asked=asked,
            timeless=getattr(self, "time", None) is None,
        )

    def _with_length_scales(self, recipe: Recipe, survey: Survey) -> Recipe:
        """Give automatic features the length scales of largest evidence near their own."""
        X, y, weight = survey.sample[1:]
        if recipe.local is not None or not is_automatic(self.features) or is_sparse(X):
            return recipe
        Y = self._cells_.targets(y, len(y)).astype(np.float64)
        # If nothing was chosen, the length scale is the median distance, often far too long.
        factors = (1.0,) if recipe.records else (1.0, 0.5, 0.25, 0.12)
        features = tune_length_scales(recipe.features, X, Y, weight, factors)
        return replace(recipe, features=features)

    # Sums, and the solution.

    @property
    def _block_rows(self) -> int:
        return int(self._start_.block_rows)

    def _sums(self, block: Block) -> Any:
        return self._start_.sums(block, self._title("rows"))

    def _merge(self, left: Any, right: Any) -> Any:
        return self._start_.merged(left, right)

    def _n_summed(self, sums: Any) -> int:
        return int(sums.n_rows)

    def _solve(self, sums: Any) -> Any:
        return self._shrunk_start().solved(sums, self.verbose)

    def _shrunk_start(self) -> Start | BlendStart:
        """Return the start with coefficients shrunk as the parameters say now."""
        self._check_parameters()  # which may have changed since
        n_folds = count_folds(self.alpha, self.cv, None)
        start: Start | BlendStart = self._start_.shrunk_as(self._shrinkage(), n_folds)
        return start

    def _reduce(self, source: Source, resume: Run | None, learnt: Any) -> None:
        pilot, self._pilot_ = vars(self).get("_pilot_"), None
        if learnt is None:
            if pilot is None or self._start_.recipe.local is None or not self._sort(source, pilot):
                super()._reduce(source, resume, learnt)
            return
        assert isinstance(source, ArraySource)  # a splitter has seen all rows
        plan, table = learnt
        found = self._start_.solved_by_splits(source.block, plan, table, self.verbose)
        self._solution_ = found
        self._sums_ = found.sums if isinstance(found, FromSums) else self._sums(source.block)
        self.n_rows_ = len(source.block)

    def _sort(self, source: Source, pilot: Block) -> bool:
        """Fit to rows that are sorted into parts, where the kernel allows it."""
        light = self._snapshot()
        light.verbose = False

        def reduce(function: Any, merge: Any) -> Any:
            return self._walk(source, function, merge, light, block_rows=BLOCK_ROWS)

        start = self._shrunk_start()
        assert isinstance(start, Start)  # a pilot makes no weighted mean
        found = fit_parts(
            start,
            pilot,
            source,
            light._sums,
            reduce,
            n_rows=None if source.once else self.n_rows_,
            verbose=self.verbose,
        )
        if found is None:
            check_gathering(pilot, self.n_rows_, self.verbose)
            return False
        self._solution_, self.n_rows_ = found
        self._sums_ = None
        return True

    def _partial_fit(self, X: Any, y: Any = None, weight: Any = None, classes: Any = None) -> Self:
        if isinstance(self._solution_, FromParts):
            raise ValueError(
                f"{type(self).__name__} was fitted to rows in parts, which cannot be continued: "
                "fit it to all rows again, or use local=None."
            )
        if self.__sklearn_is_fitted__():
            start, found = self._shrunk_start(), self._solution_
            self._start_ = start if found is None else start.knowing(found)  # parameters stay
        return super()._partial_fit(X, y, weight, classes)

    def _snapshot(self) -> Self:
        light = super()._snapshot()
        light._solution_ = None if self._solution_ is None else self._solution_.light()
        return light

    def refitted(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Return this model fitted to other rows, with everything that was chosen kept.

        Features, the kernel and the noise of a local part, and alpha stay; only coefficients, the
        rows of a local part and what an encoder learns from targets are new. This is what
        cross-validation of a chosen model needs.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`, in memory; of a model with known errors, variances as the weights.
        """
        solution = self._solution
        start = self._start_.keeping(solution)
        light = self._snapshot()
        if sample_weight is None:  # errors are not known of these rows
            light._errors_, start = None, start.with_errors(None)
        return light._refit(Block(X, y, sample_weight), start)

    def _refit(self, block: Block, start: Start | BlendStart) -> Self:
        """Forget the rows seen and take others, with a recipe that stays."""
        block = self._checked(block, first=False)
        self._cells_ = self._cells_.refitted(block)
        self._start_ = start.with_cells(self._cells_)
        block = self._prepared(block)
        self._sums_, self.n_rows_ = self._sums(block), len(block)
        self._solution_ = self._start_.solved(self._sums_)
        return self

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram, and below it the table of what was tried."""
        diagram = str(super()._html_repr())
        if self._start_ is None or not self._start_.recipe.records:
            return diagram
        table = Records(self._start_.recipe.records)._repr_html_()  # pandas would leave rows out
        return f"{diagram}<details><summary>What was tried</summary>{table}</details>"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = take_sparse(self.features)
        tags.target_tags.multi_output = self._many_targets
        return tags
