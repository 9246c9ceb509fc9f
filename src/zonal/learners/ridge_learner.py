"""Ridge regression from moments: what the regressor and the classifier share."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._typing import Array, FloatArray
from .._validation import is_sparse
from ..features.columns import TableEncoder
from ..features.columns.table.cells import columns_of, is_frame, is_plain
from ..features.columns.table.encoding import SplitTable
from ..features.columns.table.gaps import column_means, filled
from ..features.columns.table.identifiers import identifiers
from ..moments import Moments
from ..moments.folds import Split, Splits, check_n_folds, hashed_folds, make_splits, of_folds
from ..moments.held_out import (
    HeldOut,
    best_alpha,
    check_split,
    cross_validate,
    falling_end,
    summary,
)
from ..moments.ridge import Solution, default_alphas, solve
from ..rows import Block, Source, sample_rows
from ..rows.array import ArraySource
from ..rows.block import take
from ..rows.kept import KEPT_BYTES
from ..rows.survey import Survey
from ..selection import trials
from .alpha_end import warn_of_end
from .checkpoint import Run
from .feature_calibration import Folded, fold_predictions
from .importance import column_shares, permutation_shares
from .local_calibration import Part, refitted_parts
from .local_learner import LocalLearner
from .local_solution import MOST_SPLITS, LocalSolution
from .ridge_posterior import RidgePosterior
from .sampled_sums import SampledSums, moments_of

__all__ = ["RidgeLearner"]

# Rows at which the importances of columns are found.
PROBES = 256
# Of the places of a local part at most one in so many is left out for them.
PLACES_A_PROBE = 5
# Moments of more groups of rows than fit here are found split by split, with a pass for each.
GROUP_BYTES = 1 << 30


class RidgeLearner(LocalLearner):
    """Ridge regression from moments: what the regressor and the classifier share."""

    #: The groups of the rows, while `fit` runs.
    _groups: Any = None
    #: The table that is encoded anew for each split of a splitter, while `fit` runs.
    _split_table: SplitTable | None = None

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
        self.budget = budget
        self.metric = metric
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        name = isinstance(self.alpha, str)
        number = isinstance(self.alpha, Real) and not isinstance(self.alpha, bool)
        if not ((name and self.alpha == "cv") or (number and 0 <= float(self.alpha) < np.inf)):
            raise ValueError(f"alpha={self.alpha!r} must be 'cv' or a number of at least 0.")
        super()._check_parameters()

    def _learn_encoder(
        self, X: Any, y: Any, weight: FloatArray | None, numbers: Any, source: Source | None
    ) -> None:
        encoder = self.encoder
        if encoder is None or not is_frame(X):
            return
        if isinstance(encoder, str):
            if encoder != "auto":
                raise ValueError(
                    f"encoder={encoder!r} must be 'auto', None or a zonal.TableEncoder."
                )
            if not self._is_automatic():
                return
            if is_plain(X) and not identifiers(columns_of(X), numbers):
                self._means_ = column_means(X)
                return
            encoder = TableEncoder()
        task = "classification" if is_classifier(self) else "regression"
        encoder = clone(encoder)
        if encoder.task == "auto":
            encoder.set_params(task=task)
        self.encoder_ = encoder.fit(X, y, weight, row_numbers=numbers, source=source)
        self._table_ = Block(X, y, weight)  # splitters want its columns by name

    def _valid_rows(self, X: Any, *, reset: bool) -> Any:
        rows = super()._valid_rows(X, reset=reset)
        fills = not reset and hasattr(self, "_means_") and is_frame(rows)
        return filled(rows, self._means_) if fills else rows

    def _fit_grouped(self, X: Any, y: Any, weight: Any, checkpoint: Any, groups: Any) -> Self:
        """Fit to all rows; `cv` keeps groups together."""
        self._groups = None if groups is None else np.asarray(groups)
        try:
            return self._fit(X, y, weight, checkpoint)
        finally:
            for name in ("_groups", "_split_table", "_parts"):
                self.__dict__.pop(name, None)

    def _open(self, X: Any, y: Any, weight: Any, resumable: bool) -> Source:
        source = super()._open(X, y, weight, resumable)
        if isinstance(source, ArraySource) or resumable or not self._splits_rows():
            return source
        held = source.hold(KEPT_BYTES)  # splitters want all rows at once
        return source if held is None else ArraySource(self._checked(held, first=True))

    def _splits_rows(self) -> bool:
        """Tell whether a splitter, not the hash of row numbers, makes the folds."""
        is_number = isinstance(self.cv, Integral) and self._groups is None
        return self.alpha == "cv" and not is_number

    def refitted(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Return this model fitted to other rows, with everything that was chosen kept.

        Features, the kernel and the noise of a local part, and alpha stay; only coefficients, the
        rows of a local part and what an encoder learns from targets are new. This is what
        cross-validation of a chosen model needs.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`, in memory.
        """
        check_is_fitted(self)
        model = self._snapshot()
        model.alpha = self.alpha_
        return model._continue_with(X, y, sample_weight)

    def _continue_with(self, X: Any, y: Any, weight: Any) -> Self:
        """Forget the rows seen and take others, without learning anew."""
        block = Block(self._valid_rows(X, reset=False), self._check_y(y), weight)
        if hasattr(self, "encoder_"):
            self.encoder_ = self.encoder_.refitted(*block.parts)
        block = self._checked(block, first=False)
        self._sums_, self.n_rows_ = self._sums(block), len(block)
        self._folded_: Folded | None = None  # of the rows before
        self._solution_ = self._solve(self._sums_)
        return self

    def _learn(self, survey: Survey) -> None:
        self._plan_: Splits | None = None
        table: Block | None = getattr(self, "_table_", None)
        if survey.whole and self.alpha == "cv":
            X, y = survey.sample.X if table is None else table.X, survey.sample.y
            plan = make_splits(self.cv, X, y, survey.n_rows, is_classifier(self), self._groups)
            if self._splits_rows():
                self._plan_ = plan
                if table is not None:
                    self._split_table = self.encoder_.split_table(*table.parts)
        else:
            self._n_folds()
        if table is not None:
            del self._table_
        self._probes_ = _probes(survey.sample.X)
        super()._learn(survey)

    def _moments(self, block: Block) -> list[Moments]:
        """Sum the moments of the rows of each fold, or of each group of a splitter's rows."""
        plan = self._plan_
        if plan is not None:
            if self._too_many(plan):
                return self._grouped_sums(block, None, 1)
            return self._grouped_sums(block, plan.labels, plan.n_groups)
        n_folds = self._n_folds()
        if n_folds == 1:
            return self._grouped_sums(block, None, 1)
        labels = hashed_folds(block.start, block.start + len(block), n_folds)
        return self._grouped_sums(block, labels, n_folds)

    def _merge(self, left: Any, right: Any) -> Any:
        if not self._is_local_:
            have, asked = len(moments_of(left)), len(moments_of(right))
            if have != asked:
                raise ValueError(
                    f"The model holds {have} folds of rows, but alpha={self.alpha!r} and "
                    f"cv={self.cv!r} now ask for {asked}: fit it again."
                )
        return super()._merge(left, right)

    def _reduce(self, source: Source, resume: Run | None) -> None:
        plan = self._plan_
        if plan is None or self._is_local_:
            super()._reduce(source, resume)
            if plan is not None and self._split_table is not None:
                # Later there are no rows of splits any more.
                self._parts = self._refitted_parts(source, plan)
                self.calibration_  # noqa: B018
            self._plan_ = None  # it is of these rows
            return
        sums = self._walk(source, "_sums", self._merge)
        groups = sums.moments
        total = Moments.merged(groups)
        grid = self._grid(total)
        known: Iterable[Moments]
        if self._too_many(plan):
            results, known = self._split_by_split(source, plan, grid)
        else:
            results = cross_validate(groups, plan.splits, grid, self.fit_intercept)
            known = (Moments.merged([groups[k] for k in split.train]) for split in plan.splits)
        self._solution_ = self._best(total, results)
        # Groups that are not folds by row number cannot be continued.
        self._sums_ = SampledSums([total], sums.rows)
        self._folded_ = self._fold_predictions(plan, known)
        self._plan_ = None

    def _fold_predictions(self, plan: Splits, known: Iterable[Moments]) -> Folded | None:
        """Predict the sampled test rows of splits by moments of their training rows.

        None where the sample has no test row of these splits. Rows of a table become what they
        are while they are held out.
        """
        rows, parts = self._sampled_rows, []
        if self._split_table is not None:
            rows = replace(rows, held=rows.held.copy())
            self._sums_ = replace(self._sums_, rows=rows)
        labels, done = plan.labels[rows.numbers], np.zeros(len(rows), bool)
        for number, (split, train) in enumerate(zip(plan.splits, known, strict=False)):
            mine = np.flatnonzero(np.isin(labels, split.test) & ~done)
            done[mine] = True
            if not len(mine):
                continue
            solution = solve(train, self._solution_.alpha, self.fit_intercept)
            posterior = RidgePosterior.of([train], solution, self.fit_intercept)
            if self._split_table is not None:
                rows.held[mine] = self._seen_in(plan, split)[rows.numbers[mine]]
            found = fold_predictions(posterior, self._space, take(rows.rows(), mine), mine)
            parts.append(found._replace(folds=np.full(len(mine), number)))
        if not parts:
            warnings.warn(
                f"None of the {len(rows)} rows that calibrate intervals is a test row of cv: they "
                "are left out one by one, so that intervals do not hold in gaps.",
                UserWarning,
                stacklevel=2,
            )
            return None
        return Folded(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def _folded(self, posterior: RidgePosterior) -> Folded:
        """Return predictions for the sampled rows by other rows: the splitter's, or all others."""
        known: Folded | None = getattr(self, "_folded_", None)
        return super()._folded(posterior) if known is None else known

    def _too_many(self, plan: Splits) -> bool:
        """Tell whether the groups of a plan are too many to be summed at once."""
        n_bytes = plan.n_groups * self._moment_bytes()
        return self._too_many_groups(plan) or n_bytes > GROUP_BYTES

    def _too_many_groups(self, plan: Splits) -> bool:
        """Tell whether splits share too few sums; none, where rows are others in each of them."""
        return self._split_table is not None or plan.n_groups > 2 * len(plan.splits) + 1

    def _seen_in(self, plan: Splits, split: Split) -> Array:
        """Return all rows as they are to a model of the training rows of a split."""
        assert self._split_table is not None
        return self._split_table.rows(np.isin(plan.labels, split.train))

    def _refitted_parts(self, source: Source, plan: Splits) -> list[Part]:
        """Predict test rows of the splits by fits of the local model to their training rows."""
        assert isinstance(source, ArraySource)
        block = source.block
        Y = self._targets(block.y, len(block)).astype(np.float64)

        def parts() -> Iterator[tuple[Block, Array, Array]]:
            for split in plan.splits[:MOST_SPLITS]:
                rows = self._local_rows(self._seen_in(plan, split))
                train, test = (np.isin(plan.labels, part) for part in split)
                yield Block(rows, Y, block.weight), train, test

        n_test = sum(int(np.isin(plan.labels, split.test).sum()) for split in plan.splits)
        return list(refitted_parts(self._solution, self._local_features(), parts(), n_test))

    def _source_in(self, source: Source, plan: Splits, split: Split) -> Source:
        """Return the rows of a source as `_seen_in` has them."""
        if self._split_table is None or not isinstance(source, ArraySource):
            return source
        return ArraySource(replace(source.block, X=self._seen_in(plan, split)))

    def _split_by_split(
        self, source: Source, plan: Splits, alphas: FloatArray
    ) -> tuple[dict[str, Array], list[Moments]]:
        """Find errors of splits that have few sums in common, with a pass for each.

        The moments of the training rows are kept, for the intervals, of as many splits as fit.
        """
        errors: list[Array] = []
        known: list[Moments] = []
        most = max(1, min(MOST_SPLITS, GROUP_BYTES // self._moment_bytes()))
        for number, split in enumerate(plan.splits):
            # Rows in neither part, the training part, the test part, both.
            labels = np.isin(plan.labels, split.train) + 2 * np.isin(plan.labels, split.test)
            rows = self._source_in(source, plan, split)
            parts = self._walk(rows, "_grouped_sums", self._merge, labels, 4)
            train, test = parts[1] + parts[3], parts[2] + parts[3]
            check_split(number, train, test)
            errors.append(HeldOut.of(train, test, self.fit_intercept).errors(alphas))
            known += [train] if number < most else []
        return summary(alphas, np.array(errors)), known

    def _moment_bytes(self) -> int:
        return int(8 * (len(self._shift_) + 1) ** 2)

    def _n_sums(self) -> int:
        plan = self._plan_
        if plan is None:
            return self._n_folds()
        return 1 if self._too_many_groups(plan) else plan.n_groups

    def _solve_cost(self) -> float:
        # A path of alphas has a tridiagonal form for each fold; one alpha, a Cholesky factor.
        return 0.8 * self._n_sums() if self.alpha == "cv" else 0.2

    def _n_folds(self) -> int:
        if self.alpha != "cv":
            return 1
        is_whole = isinstance(self.cv, Integral) and not isinstance(self.cv, bool)
        if is_whole and self._groups is None:
            return check_n_folds(int(self.cv))
        raise ValueError(
            "partial_fit, like a stream of more rows than are held in memory, assigns folds by row "
            f"number and needs an integer cv without groups, not {self.cv!r}; use fit on fewer "
            "rows for splitters and index pairs, or a number as alpha."
        )

    def _judging_splits(self, counting: npt.NDArray[np.intp]) -> list[trials.Split] | None:
        if self._plan_ is None:
            return None
        seen = None if self._split_table is None else self._split_table.rows
        return trials.splits_of(self._plan_, counting, seen)

    def _plan(self) -> Splits | None:
        return self._plan_

    def _given_alpha(self) -> float | None:
        return None if self.alpha == "cv" else float(self.alpha)

    def _solve(self, sums: Any) -> Any:
        self._check_parameters()
        if self._is_local_:
            return super()._solve(sums)
        groups = moments_of(sums)
        total = Moments.merged(groups)
        if self.alpha != "cv":
            return solve(total, float(self.alpha), self.fit_intercept)
        if len(groups) != self._n_folds():
            raise ValueError(
                f"The model holds {len(groups)} folds of rows, but alpha={self.alpha!r} and "
                f"cv={self.cv!r} now ask for {self._n_folds()}: fit it again."
            )
        splits = of_folds(len(groups))
        results = cross_validate(groups, splits, self._grid(total), self.fit_intercept)
        return self._best(total, results)

    def _posterior(self) -> RidgePosterior:
        """Return the posterior of the coefficients, found once from the moments."""
        solution = self._solution
        known: RidgePosterior | None = getattr(self, "_posterior_", None)
        if known is None or known.solution is not solution:
            known = RidgePosterior.of(
                self.moments_, solution, self.fit_intercept, self._left_out(self._sums_)
            )
            self._posterior_ = known
        return known

    def _best(self, total: Moments, results: dict[str, Array]) -> Solution:
        errors, alphas = results["mean_test_mse"], results["alpha"]
        if not np.isfinite(errors).all():
            raise ValueError(
                "The cross-validation errors are not finite: targets, features or weights are "
                "beyond the range of numbers. Scale them, or give a number as alpha."
            )
        variance = total.squares()[total.n_features :].mean() / total.weight
        alpha = best_alpha(alphas, errors, variance, total.precision)
        end = falling_end(alphas, errors, variance, total.precision)
        warn_of_end(end, alpha, given=self.alphas is not None)
        return solve(total, alpha, self.fit_intercept, results)

    def _grid(self, total: Moments) -> FloatArray:
        if self.alphas is None:
            return default_alphas(total)
        alphas = np.asarray(self.alphas, dtype=np.float64)
        if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas >= 0)).all():
            raise ValueError(f"alphas={self.alphas!r} must be numbers of at least 0.")
        return alphas

    def _scores(self, X: Any) -> Array:
        """Return Z β + β₀ for rows: [n, n_targets]."""
        solution = self._solution
        if isinstance(solution, LocalSolution):
            return self._predict_local(X)[0]
        return self._scores_at(self._check_rows(X, reset=False), solution)

    def _scores_at(self, X: Any, solution: Any) -> Array:
        """Return the same by a solution, for rows that are checked and encoded."""
        if isinstance(solution, LocalSolution):
            return solution.predict(self._local_rows(X), self._local_features())[0]
        form = self._space.narrow(_num_samples(X))
        coef = form.coefficients(solution.coef)

        def score(Z: Array) -> Array:
            return Z @ coef.astype(Z.dtype) + solution.intercept.astype(Z.dtype)

        return form.map(X, score)

    @property
    def importances_(self) -> dict[str, float]:
        """Shares of the columns in what predictions depend on, the largest first; sum to one.

        With an encoder by permutation: how far predictions move where the columns that encode a
        word, a date or a number come from another row. Of numbers alone by gradients, which tell
        the same to first order (`zonal.learners.importance` has the formulas). Both at up to 256
        of the rows, which a local part does not know then. On the scale of ``target_``, if any.
        """
        probes, solution = self._probes_, self._solution
        if probes is None:
            raise AttributeError(
                "Importances need rows of numbers: X was sparse, or a plain frame."
            )
        if hasattr(self, "encoder_"):
            if isinstance(solution, LocalSolution):
                most = len(solution.joint.residual) // PLACES_A_PROBE + 1
                probes = probes[sample_rows(len(probes), most)]
                solution = solution.without(self._local_rows(probes))
            predict = partial(self._scores_at, solution=solution)
            return permutation_shares(predict, probes, self.encoder_.groups_)
        gradients = self._gradient_at(probes, solution.coef, held_out=True)
        width = probes.shape[1]
        names = getattr(self, "feature_names_in_", [f"x{number}" for number in range(width)])
        return column_shares(gradients, probes, [str(name) for name in names])

    @property
    def alpha_(self) -> float:
        """The regularisation used."""
        return float(self._solution.alpha)

    @property
    def cv_results_(self) -> dict[str, Array]:
        """Alphas with their cross-validated errors (empty for a given alpha)."""
        results: dict[str, Array] = self._solution.cv_results
        return results


def _probes(X: Any) -> Array | None:
    """Return the rows at which importances are found, or None where there are no numbers."""
    if is_sparse(X) or not isinstance(X, np.ndarray):
        return None
    return X[sample_rows(len(X), PROBES)].copy()
