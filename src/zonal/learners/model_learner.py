"""Learners that are a face over a fitted model: features, a local part, or both."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._deadline import Deadline
from .._typing import Array, FloatArray
from .._validation import check_count, check_time_limit, is_sparse
from ..calibration.quantiles import check_levels
from ..calibration.scores import check_coverage
from ..features.columns.table.encoding import SplitTable
from ..features.space import FeatureSpace
from ..kernels import as_kernel
from ..model.cells import Cells, learn_encoder
from ..model.encoders import sources_of
from ..model.fitted import Fitted, Predicted
from ..model.from_sums import FromSums
from ..model.importance import column_shares, permutation_shares
from ..model.known_errors import KnownErrors
from ..model.length_scales import tune_length_scales
from ..model.recipe import Local, Recipe
from ..model.ridge_path import few_groups
from ..model.start import Start
from ..model.summation import announce_sums
from ..moments.folds import Splits
from ..rows import Block, Source, sample_rows
from ..rows.array import ArraySource
from ..rows.kept import KEPT_BYTES, KeptRows
from ..rows.survey import Survey
from ..selection.choose import BEYOND_MEMORY, Question, choose
from ..selection.table import Records, selection_table
from .base import Learner
from .checkpoint import Run
from .errors import check_one_target, precisions, variances
from .features import asked_width, fit_features, is_automatic, take_sparse

__all__ = ["ModelLearner"]

# Multiples of the median distance that are tried as length scales of few rows.
FACTORS = (1.0, 0.5, 0.25, 0.125)
# Rows at which the importances of columns are found.
PROBES = 256
# Of the places of a local part at most one in so many is left out for them.
PLACES_A_PROBE = 5


class ModelLearner(Learner):
    """Base of `KernelRidge`, `KernelRidgeClassifier`, `GaussianProcess` and `NeighborKriging`.

    What is learnt are three values: `Cells`, how cells become numbers; `Start`, the recipe with its
    fitted features; and what was found, ``_solution``. A subclass states its recipe, and gives the
    answers of the model names and shapes.
    """

    features: Any
    local: Any
    encoder: Any
    budget: int
    metric: bool
    time_limit: float | None
    random_state: Any
    _cells_: Cells
    _start_: Start
    _errors_: KnownErrors | None = None

    def _shrinkage(self) -> Recipe:
        """Return a recipe that tells no more than how coefficients are shrunk."""
        raise NotImplementedError(f"{type(self).__name__} must define _shrinkage().")

    def _splits_rows(self, groups: Any) -> bool:
        """Tell whether a splitter judges the model."""
        return False

    def _n_folds(self) -> int:
        """Return the number of folds by row number that the parameters ask for now."""
        return 1

    def _folds(
        self, survey: Survey, raw: Block | None, groups: Any
    ) -> tuple[int, Splits | None, SplitTable | None]:
        """Return the number of folds by row number, and the splits of a splitter."""
        return 1, None, None

    def _tuned(self, recipe: Recipe, survey: Survey, plan: Splits | None) -> Recipe:
        """Return a recipe with better parameters, where there are some."""
        return recipe

    def _solve_cost(self, n_sums: int) -> float:
        """Return how long systems take, in eigendecompositions of their size."""
        return 0.8

    # What is checked and opened.

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

    def _local_part(self) -> Local | None:
        """Return what is given of the local part; None where there is to be none."""
        if self.local is None:
            return None
        required = not isinstance(self.local, str) or self.features is None
        if isinstance(self.local, str):
            return Local(required=required) if required or is_automatic(self.features) else None
        part = self.local
        kernel = None if isinstance(part.kernel, str) and part.kernel == "auto" else part.kernel
        return Local(
            None if kernel is None else as_kernel(kernel),
            None if isinstance(part.noise, str) else float(part.noise),
            int(part.n_neighbors),
            required=required,
            n_features=int(part.n_features),
        )

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
        source = super()._open(X, y, weight, resumable, groups=groups)
        if resumable or isinstance(source, ArraySource):
            return source
        if self._local_part() is None and not self._splits_rows(groups):
            return source
        # A local part wants all rows, and so do splitters.
        held = source.hold(KEPT_BYTES)
        return source if held is None else self._held(held, groups=groups)

    def _merges_copies(self, groups: Any = None, **options: Any) -> bool:
        # Labels agree by chance, whoever splits the rows decides where copies go, and
        # observations with errors of their own are no copies.
        errors = self._errors_ is not None
        return not (is_classifier(self) or errors or self._splits_rows(groups))

    def _check_weight(self, X: Any, sample_weight: Any, *, allow_zero: bool) -> FloatArray | None:
        if self._errors_ is None:
            return super()._check_weight(X, sample_weight, allow_zero=allow_zero)
        return precisions(sample_weight, _num_samples(X), type(self).__name__)

    # What is learnt before rows are summed.

    def _read(self, block: Block, survey: Survey, source: Source | None) -> dict[str, Any]:
        task = "classification" if is_classifier(self) else "regression"
        automatic, numbers = is_automatic(self.features), survey.sample.numbers
        cells = learn_encoder(self.encoder, automatic, task, block, numbers, source)
        self._cells_ = cells.with_targets(block.y, survey.classes)
        return {"raw": block}

    def _prepared(self, block: Block, numbers: Any = None) -> Block:
        return self._cells_.training(block, numbers)

    def _learn(
        self, survey: Survey, *, groups: Any = None, raw: Block | None = None, **options: Any
    ) -> Any:
        n_folds, plan, table = self._folds(survey, raw, groups)
        errors, sample = self._errors_, survey.sample
        if errors is not None:
            check_one_target(sample.y)
            errors = errors.guessed(sample.X, sample.y, sample.weight)
            weighed = sample._replace(weight=errors.weights(sample.weight))
            survey = survey._replace(sample=weighed)
        recipe = self._recipe(survey, plan, table, n_folds)
        start = Start.of(recipe, self._cells_, sample.X, sample.y, n_folds)
        self._start_ = start.with_errors(errors, sample.X, sample.y, sample.weight)
        self._probes_ = None
        if isinstance(sample.X, np.ndarray):
            self._probes_ = sample.X[sample_rows(len(sample.X), PROBES)].copy()
        return None if plan is None else (plan, table)

    def _recipe(
        self, survey: Survey, plan: Splits | None, table: SplitTable | None, n_folds: int
    ) -> Recipe:
        """Return what is fitted: as it is given, or chosen."""
        shrink, local, sample = self._shrinkage(), self._local_part(), survey.sample
        if local is not None and is_sparse(sample.X):
            if local.required:
                raise ValueError(
                    "A local part needs dense rows, but X is sparse: use local=None, or pass a "
                    "dense array of fewer columns."
                )
            local = None
        if self.features is None:
            return replace(shrink, local=local)
        cells = self._cells_
        n_sums = n_folds
        if plan is not None:
            n_sums = plan.n_groups if few_groups(plan, table) else 1
        announce_sums(
            type(self).__name__,
            survey.n_rows,
            asked_width(self.features, self.budget),
            cells.n_targets(sample.y),
            n_sums,
            self._solve_cost(n_sums),
        )
        if is_automatic(self.features):
            question = Question(
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
                "" if survey.whole or local is None else BEYOND_MEMORY,
                self.verbose,
            )
            chosen = choose(question)
            if chosen is not None:
                return self._tuned(_shrunk(chosen, shrink), survey, plan)
            local = local if local is not None and local.required else None
        features = fit_features(
            self.features,
            sample.X,
            sample.y,
            sample.weight,
            owner=type(self).__name__,
            budget=self.budget,
            random_state=self.random_state,
        )
        before = None if local is None else FeatureSpace(features, 0).before
        given = replace(shrink, features=features, columns=before, local=local)
        return self._tuned(given, survey, plan)

    def _with_length_scales(self, recipe: Recipe, survey: Survey) -> Recipe:
        """Give automatic features the length scales of largest evidence near their own."""
        X, y, weight = survey.sample[1:]
        if recipe.local is not None or not is_automatic(self.features) or is_sparse(X):
            return recipe
        Y = self._cells_.targets(y, len(y)).astype(np.float64)
        # Where nothing was chosen the median distance may be far too long.
        factors = (1.0,) if recipe.records else FACTORS
        features = tune_length_scales(recipe.features, X, Y, weight, factors)
        return replace(recipe, features=features)

    # What is summed, and what follows.

    @property
    def _block_rows(self) -> int:
        return self._start_.block_rows

    def _sums(self, block: Block) -> Any:
        return self._start_.sums(block, self._title("rows"))

    def _merge(self, left: Any, right: Any) -> Any:
        return self._start_.merged(left, right)

    def _n_summed(self, sums: Any) -> int:
        return len(sums) if isinstance(sums, KeptRows) else sum(m.n_rows for m in sums.moments)

    def _solve(self, sums: Any) -> Any:
        self._check_parameters()  # which may have changed since
        start = self._start_.shrunk_as(self._shrinkage(), self._n_folds())
        return start.solved(sums, self.verbose)

    def _reduce(self, source: Source, resume: Run | None, learnt: Any) -> None:
        if learnt is None:
            super()._reduce(source, resume, learnt)
            return
        assert isinstance(source, ArraySource)  # a splitter has seen all rows
        plan, table = learnt
        found = self._start_.solved_by_splits(source.block, plan, table, self.verbose)
        self._solution_ = found
        self._sums_ = found.sums if isinstance(found, FromSums) else self._sums(source.block)
        self.n_rows_ = len(source.block)

    def _partial_fit(self, X: Any, y: Any = None, weight: Any = None, classes: Any = None) -> Self:
        if self.__sklearn_is_fitted__():
            self._check_parameters()
            start = self._start_.shrunk_as(self._shrinkage(), self._n_folds())
            found = self._solution_
            self._start_ = start if found is None else start.knowing(found)  # parameters stay
        return super()._partial_fit(X, y, weight, classes)

    def _snapshot(self) -> Self:
        light = super()._snapshot()
        found = vars(self).get("_solution_")
        light._solution_ = None if found is None else found.light()
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
        start = self._start_.knowing(solution).with_alpha(solution.alpha)
        light = self._snapshot()
        if sample_weight is None:  # errors are not known of these rows
            light._errors_, start = None, replace(start, errors=None)
        return light._refit(Block(X, y, sample_weight), start)

    def _refit(self, block: Block, start: Start) -> Self:
        """Forget the rows seen and take others, with a recipe that stays."""
        block = self._checked(block, first=False)
        self._cells_ = self._cells_.refitted(block)
        self._start_ = start.with_cells(self._cells_)
        block = self._prepared(block)
        self._sums_, self.n_rows_ = self._sums(block), len(block)
        self._solution_ = self._start_.solved(self._sums_)
        return self

    # What is fitted, under the names that users know.

    @property
    def _model(self) -> Fitted:
        """The fitted model."""
        solution = self._solution  # or an error that there is none
        return Fitted(self._cells_, solution)

    def _observed(self, X: Any, noise_variance: Any) -> Predicted:
        """Predict observations at rows, of errors that are given or not."""
        rows, noise = self._check_rows(X, reset=False), None
        if noise_variance is not None:
            noise = variances(noise_variance, _num_samples(rows), type(self).__name__)
        return self._model.observed_at(rows, noise)

    def _interval(self, X: Any, coverage: float, noise: Any = None) -> tuple[Array, Array]:
        """Return the ends of intervals of observations at rows."""
        missed = 1 - check_coverage(coverage)
        found = self._observed(X, noise)
        lower, upper = found.quantiles([missed / 2, 1 - missed / 2])
        return self._each(lower), self._each(upper)

    def _quantiles(self, X: Any, q: npt.ArrayLike, noise: Any = None) -> Array:
        """Return quantiles of observations at rows, the levels on the last axis."""
        levels = check_levels(q)
        found = self._observed(X, noise).quantiles(levels)
        found = np.moveaxis(found, 0, -1)
        found = found[:, 0] if self._cells_.single else found
        return found[..., 0] if np.ndim(q) == 0 else found

    def _predicted(self, X: Any, return_std: bool) -> Any:
        """Return means at rows, and on request standard deviations of the latent functions."""
        found = self._model.at(self._check_rows(X, reset=False), return_std)
        mean = self._each(found.mean)
        return (mean, self._each(found.std)) if return_std else mean

    def _drawn(self, X: Any, n_samples: int, random_state: Any, noise: bool) -> Array:
        """Return joint draws at rows, the draws on the last axis."""
        check_count("n_samples", n_samples, "sample_y")
        found, rows = self._model, self._check_rows(X, reset=False)
        seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
        drawn = found.draw(rows, int(n_samples), seed, bool(noise))
        return drawn[:, 0] if self._cells_.single else drawn

    def posterior_sums(self, X: Any, weights: Any) -> tuple[Array, Array]:
        """Return the mean and the covariance of weighted sums over rows, Σ_i w_ir f(x_i).

        By algebra from the joint posterior of the latent function that `sample_y` draws from.

        Parameters
        ----------
        X : {array-like, CSR matrix, frame} of shape (n_rows, n_features)
            Rows.
        weights : {array-like, sparse array} of shape (n_rows, n_sums)
            w.

        Returns
        -------
        mean : ndarray of shape (n_sums,) or (n_sums, n_targets)
        covariance : ndarray of shape (n_sums, n_sums) or (n_sums, n_sums, n_targets)
        """
        found = self._model
        if found.cells.scale is not None:
            raise ValueError(
                "The targets are learnt on another scale (target_), on which sums are not linear: "
                "use sample_y, or fit with target=None."
            )
        rows = found.cells.rows(self._check_rows(X, reset=False))
        sums = sp.csr_array(weights, dtype=np.float64)
        if sums.shape[0] != _num_samples(rows):
            raise ValueError(
                f"weights has {sums.shape[0]} rows, and X {_num_samples(rows)}: one weight for "
                "each row and sum is needed."
            )
        mean, covariance = found.solved.totals(rows, sums)
        return (mean[:, 0], covariance[..., 0]) if found.cells.single else (mean, covariance)

    def _each(self, values: Any) -> Any:
        """Return values of targets [n, t] or [t] without their axis, where there is one target."""
        if not self._learnt_cells.single:
            return values
        return values[:, 0] if np.ndim(values) > 1 else float(values[0])

    @property
    def recipe_(self) -> Recipe:
        """What was fitted; it prints itself in five lines."""
        solution = self._solution
        return self._start_.knowing(solution).recipe

    @property
    def extra_noise_(self) -> float:
        """The variance of the noise beside the errors that were given to `fit`."""
        errors = self._solution.errors
        if errors is None:
            raise AttributeError("The noise is one for all rows: no noise_variance was given.")
        return float(errors.extra)

    @property
    def features_(self) -> Any:
        """The fitted features, or None."""
        return _learnt(self, "_start_").recipe.features

    @property
    def n_columns_(self) -> int:
        """The number of features D."""
        return int(_learnt(self, "_start_").n_columns)

    @property
    def _learnt_cells(self) -> Cells:
        cells: Cells = _learnt(self, "_cells_")
        return cells

    @property
    def encoder_(self) -> Any:
        """The fitted encoder of a table that needed one."""
        encoder = self._learnt_cells.encoder
        if encoder is None:
            raise AttributeError("There is no encoder: the rows were numbers.")
        return encoder

    @property
    def selection_(self) -> Any:
        """What ``features="auto"`` tried, as a table: a pandas frame where pandas is installed."""
        check_is_fitted(self)
        records = self._start_.recipe.records
        if not records:
            raise AttributeError(
                "Nothing was chosen: features were given, there are no targets, or too few rows."
            )
        return selection_table(list(records))

    @property
    def moments_(self) -> Any:
        """The sums over the rows seen, for each fold; none where the rows are kept instead."""
        check_is_fitted(self)
        sums = self._sums_
        return [] if sums is None or isinstance(sums, KeptRows) else sums.moments

    @moments_.setter
    def moments_(self, moments: Any) -> None:
        self._sums_, self._solution_ = replace(self._sums_, moments=moments), None

    @property
    def local_(self) -> Any:
        """The fitted local part, of what the features leave, or None."""
        part = self._solution.part
        return None if part is None else self._local_view(part)

    @property
    def shares_(self) -> dict[str, float]:
        """Shares of the targets' variance that features, local part and noise explain."""
        shares: dict[str, float] = self._solution.shares()
        return shares

    @property
    def importances_(self) -> dict[str, float]:
        """Shares of the columns in what predictions depend on, the largest first; sum to one.

        With an encoder by permutation: how far predictions move where the columns that encode a
        word, a date or a number come from another row. Of numbers alone by gradients, which tell
        the same to first order (`zonal.model.importance` has the formulas). Both at up to 256 of
        the rows, which a local part does not know then. On the scale of ``target_``, if any.
        """
        probes, solution = self._probes_, self._solution
        if probes is None:
            raise AttributeError(
                "Importances need rows of numbers: X was sparse, or a plain frame."
            )
        if self._cells_.encoder is not None:
            if solution.part is not None:
                most = len(solution.part.joint.residual) // PLACES_A_PROBE + 1
                probes = probes[sample_rows(len(probes), most)]
            unknowing = solution.without(probes)
            groups = sources_of(self._cells_.encoder, self.n_features_in_)
            return permutation_shares(unknowing.mean, probes, groups)
        width = probes.shape[1]
        names = vars(self).get("feature_names_in_", [f"x{number}" for number in range(width)])
        gradients = solution.gradient(probes, held_out=True)
        return column_shares(gradients, probes, [str(name) for name in names])

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram, and below it the table of what was tried."""
        diagram = str(super()._html_repr())
        start = vars(self).get("_start_")
        if start is None or not start.recipe.records:
            return diagram
        table = Records(start.recipe.records)._repr_html_()  # pandas would leave rows out
        return f"{diagram}<details><summary>What was tried</summary>{table}</details>"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = take_sparse(self.features)
        return tags


def _shrunk(chosen: Recipe, shrink: Recipe) -> Recipe:
    """Return a recipe that was chosen, with coefficients shrunk as another says."""
    return replace(
        shrink,
        features=chosen.features,
        columns=chosen.columns,
        local=chosen.local,
        records=chosen.records,
    )


def _learnt(learner: ModelLearner, name: str) -> Any:
    """Return a value that `fit` learns, or say that there has been none."""
    known = vars(learner).get(name)
    if known is None:
        check_is_fitted(learner)
    return known
