"""Learners with a local part: y(x) = z(x)ᵀβ + u(x) + ε.

The features carry what is long-ranged, a Gaussian process u with a local kernel the rest, known by
the nearest rows (`zonal.NeighborKriging`). Such a model keeps its rows; all that is learnt from
them, the parameters by evidence included, is found when they are all there.
"""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._deadline import Deadline
from .._typing import Array, FloatArray
from .._validation import check_count, is_sparse
from ..features.chain_rule import features_gradient
from ..features.space import FeatureSpace
from ..kernels import as_kernel
from ..kriging.search import Found
from ..moments import Moments
from ..moments.folds import Splits
from ..rows import Block, Source, sample_rows
from ..rows.array import ArraySource
from ..rows.kept import KEPT_BYTES, KeptRows
from ..rows.reservoir import Reservoir
from ..rows.survey import Survey
from ..selection.choice import select_model
from ..selection.model import LocalOptions
from ..selection.search import MIN_ROWS
from ..selection.trials import FIT_NEIGHBORS, Split
from .feature_calibration import Folded, left_out_predictions
from .feature_learner import MomentLearner
from .local_solution import LocalGradient, LocalSolution, solve_local
from .neighbor_kriging import NeighborKriging
from .ridge_posterior import RidgePosterior, left_out
from .sampled_sums import SampledSums, moments_of

__all__ = ["LocalLearner"]

# Among so many columns no row is near another; a local part that is asked for is fitted anyway.
MAX_COLUMNS = 100
BEYOND_MEMORY = f"more than {KEPT_BYTES >> 30} GB of rows"


class LocalLearner(MomentLearner):
    """Base class of learners with the parameters `local`, `metric` and `time_limit`.

    Attributes
    ----------
    local_ : NeighborKriging or None
        The fitted local part.
    """

    local: Any
    metric: bool
    time_limit: float | None

    def _begin(self, source: Source) -> None:
        self._deadline = Deadline(self.time_limit)
        try:
            super()._begin(source)
        finally:
            del self._deadline

    def _open(self, X: Any, y: Any, weight: Any, resumable: bool) -> Source:
        source = super()._open(X, y, weight, resumable)
        if resumable or isinstance(source, ArraySource) or not self._may_be_local():
            return source
        held = source.hold(KEPT_BYTES)
        if held is None:
            self._not_tried_ = BEYOND_MEMORY
            return source
        return ArraySource(self._checked(held, first=True))

    def _may_be_local(self) -> bool:
        """Tell whether the model could get a local part."""
        if self.local is None:
            return False
        return not isinstance(self.local, str) or self.features is None or self._is_automatic()

    def _is_automatic(self) -> bool:
        return isinstance(self.features, str) and self.features == "auto"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        given = isinstance(self.local, NeighborKriging)
        if not (self.local is None or given or (self.local == "auto")):
            raise ValueError(
                f"local={self.local!r} must be 'auto', None or a zonal.NeighborKriging."
            )
        if self.features is None and self.local is None:
            raise ValueError(
                "features=None leaves a constant and the local part, but local=None: give one of "
                "them, or use the defaults."
            )
        if self._is_automatic():
            check_count("budget", self.budget, type(self).__name__)
        if not isinstance(self.metric, bool | np.bool_):
            raise ValueError(
                f"metric={self.metric!r} must be True or False: whether a learned metric is tried."
            )
        limit = self.time_limit
        if limit is not None and (not isinstance(limit, Real) or not limit > 0):
            raise ValueError(f"time_limit={limit!r} must be seconds above zero, or None.")

    def _learn(self, survey: Survey) -> None:
        self._is_local_ = False
        self._not_tried_ = getattr(self, "_not_tried_", "")
        self._columns_: Any = None
        self._found_: Found | None = None
        self._n_neighbors_, self._n_far_ = self._options().n_neighbors, 0
        sample = survey.sample
        if self._may_be_local() and is_sparse(sample.X):
            if isinstance(self.local, NeighborKriging) or self.features is None:
                raise ValueError(
                    "A local part needs dense rows, but X is sparse: use local=None, or pass a "
                    "dense array of fewer columns."
                )
        elif self.features is None:
            self._is_local_ = True
            self.features_, self.n_columns_ = None, 0
            return
        elif self._may_be_local() and self._is_automatic():
            if self._choose_model(survey):
                return
        elif isinstance(self.local, NeighborKriging):
            self._is_local_ = True
        super()._learn(survey)
        if self._is_local_:
            self._columns_ = FeatureSpace(self.features_, self.n_columns_).before
        if self._not_tried_:
            for record in getattr(self, "_selection_", []):
                record["local"] = f"not tried: {self._not_tried_}"

    def _choose_model(self, survey: Survey) -> bool:
        """Choose features, a local part or both; False where there is nothing to choose by."""
        sample = survey.sample
        self._announce_cost(survey)
        Y = self._targets(sample.y, _num_samples(sample.X))
        weight = sample.weight
        counting = np.arange(len(Y)) if weight is None else np.flatnonzero(weight)
        options = self._options()
        n_bytes = Y.shape[0] * (sample.X.shape[1] + Y.shape[1]) * 8
        n_columns = sample.X.shape[1]
        if not options.required and survey.whole:
            if n_bytes > KEPT_BYTES:
                self._not_tried_ = BEYOND_MEMORY
            elif n_columns > MAX_COLUMNS:
                self._not_tried_ = f"{n_columns:,} columns, more than {MAX_COLUMNS}"
        if self._not_tried_:
            return False
        if not survey.whole or len(counting) < MIN_ROWS or not np.ptp(Y, axis=0).any():
            self._is_local_ = options.required
            return False
        model = select_model(
            sample.X,
            sample.y,
            Y.astype(np.float64),
            weight,
            counting[sample_rows(len(counting))],
            n_components=self.budget,
            local=options,
            splits=self._judging_splits(counting),
            scaled=hasattr(self, "encoder_"),
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            verbose=self.verbose,
            metric=self.metric,
            deadline=self._deadline,
        )
        self._selection_ = model.records
        self._is_local_ = model.local is not None
        self._columns_, self._found_ = model.columns, model.local
        self._n_neighbors_, self._n_far_ = model.n_neighbors, model.n_far
        self.features_ = model.features
        self._start_sums(sample.X, Y)
        return True

    def _judging_splits(self, counting: Any) -> list[Split] | None:
        """Return held-out rows of the kind that the model will meet; None: random ones."""
        return None

    def _options(self) -> LocalOptions:
        """Return what is given of the local part."""
        part = self.local if isinstance(self.local, NeighborKriging) else NeighborKriging()
        kernel = None if isinstance(part.kernel, str) and part.kernel == "auto" else part.kernel
        noise = None if isinstance(part.noise, str) else float(part.noise)
        required = isinstance(self.local, NeighborKriging) or self.features is None
        return LocalOptions(
            None if kernel is None else as_kernel(kernel),
            noise,
            int(part.n_neighbors),
            required,
            int(part.n_features),
        )

    def _start_sums(self, X: Any, Y: Array) -> None:
        if self.features_ is None:
            self.n_columns_ = 0
        elif self._is_local_:
            self.n_columns_ = len(FeatureSpace(self.features_, 0).mean(X))
        else:
            super()._start_sums(X, Y)

    def _sums(self, block: Block) -> Any:
        if not self._is_local_:
            return SampledSums(self._moments(block), Reservoir.of(block))
        return KeptRows(
            (
                Block(
                    self._local_rows(block.X),
                    self._targets(block.y, len(block)),
                    block.weight,
                    block.start,
                ),
            )
        )

    def _moments(self, block: Block) -> list[Moments]:
        """Sum the moments of the rows of each fold."""
        return self._grouped_sums(block, None, 1)

    def _local_rows(self, X: Any) -> Array:
        """Return rows as the local part sees them."""
        rows = X if self._columns_ is None else FeatureSpace(self._columns_, 0).transform(X)
        return np.ascontiguousarray(rows)

    def _merge(self, left: Any, right: Any) -> Any:
        if isinstance(left, KeptRows):
            return left + right
        if not isinstance(left, SampledSums):
            return super()._merge(left, right)
        return SampledSums(super()._merge(left.moments, right.moments), left.rows + right.rows)

    def _n_summed(self, sums: Any) -> int:
        return len(sums) if isinstance(sums, KeptRows) else super()._n_summed(moments_of(sums))

    @property
    def _sampled_rows(self) -> Reservoir:
        """The rows that were kept beside the moments, to calibrate by."""
        if isinstance(self._sums_, SampledSums):
            return self._sums_.rows
        raise NotFittedError(  # a ValueError and an AttributeError: hasattr must work
            "Calibration needs a sample of the rows, which this copy of the model, or the version "
            "that fitted it, did not keep: use the model that was fitted, or fit it again."
        )

    def _posterior(self) -> RidgePosterior:
        """Return the posterior of the coefficients of a model without a local part."""
        raise NotImplementedError(f"{type(self).__name__} must define _posterior().")

    def _folded(self, posterior: RidgePosterior) -> Folded:
        """Return predictions for the sampled rows by all other rows."""
        rows = self._sampled_rows
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        Y = self._targets(rows.y, len(rows)).astype(np.float64)
        return left_out_predictions(posterior, self._space, rows.rows(), Y, weight)

    def _left_out(self, sums: Any) -> float:
        """Return the most variance that the features leave out at rows; 0 if none were kept."""
        return left_out(self._space, sums.rows.rows()) if isinstance(sums, SampledSums) else 0.0

    def _solve(self, sums: Any) -> Any:
        if not isinstance(sums, KeptRows):
            return super()._solve(sums)
        options = self._options()
        block = sums.joined()
        kernel = options.kernel
        if kernel is not None:
            kernel = kernel.resolve(block.X, block.weight)
        solution = solve_local(
            block,
            self._local_features(),
            self._found_,
            kernel=kernel,
            noise=options.noise,
            alpha=self._given_alpha(),
            n_neighbors=self._n_neighbors_,
            n_far=self._n_far_,
            n_features=options.n_features,
            fit_neighbors=None if options.required else FIT_NEIGHBORS,
            plan=self._plan(),
            learnt=self._columns_ is not None and FeatureSpace(self._columns_, 0).learnt,
            verbose=self.verbose,
        )
        self._found_ = solution.found  # parameters stay when rows are added
        return solution

    def _plan(self) -> Splits | None:
        """Return the splits of a splitter, if there is one."""
        return None

    def _given_alpha(self) -> float | None:
        """Return the ridge on whitened features, or None where the evidence decides."""
        return None

    def _local_features(self) -> Any:
        """Return the feature map of rows as the local part sees them, or None."""
        if self.features_ is None:
            return None
        return FeatureSpace(self._space.steps[-1], self.n_columns_).transform

    def _predict_local(self, X: Any, return_std: bool = False) -> tuple[Array, Array | None]:
        """Predict targets [n, t] and standard deviations with the local part."""
        solution: LocalSolution = self._solution
        rows = self._local_rows(self._check_rows(X, reset=False))
        return solution.predict(rows, self._local_features(), return_std)

    @property
    def moments_(self) -> Any:
        """The sums over the rows seen, for each fold; none where the rows are kept instead."""
        check_is_fitted(self)
        return [] if self._is_local_ else moments_of(self._sums_)

    @moments_.setter
    def moments_(self, moments: Any) -> None:
        sums = self._sums_
        kept = isinstance(sums, SampledSums)
        self._sums_ = SampledSums(moments, sums.rows) if kept else moments
        self._solution_ = None

    @property
    def local_(self) -> NeighborKriging | None:
        """The fitted local part, of what the features leave, or None."""
        solution = self._solution
        if not isinstance(solution, LocalSolution):
            return None
        return NeighborKriging.of(solution, self._single_target())

    @property
    def shares_(self) -> dict[str, float]:
        """Shares of the targets' variance that features, local part and noise explain."""
        solution = self._solution
        if not isinstance(solution, LocalSolution):
            raise AttributeError("There is no local part: local_ is None.")
        return solution.shares()

    def _single_target(self) -> bool:
        return bool(getattr(self, "_single_", False))

    def _gradient(self, X: Any, coef: FloatArray) -> Array:
        """Return gradients of the predictions, the local part included: [n, t, d]."""
        return self._gradient_at(self._check_rows(X, reset=False), coef)

    def _gradient_at(self, rows: Any, coef: FloatArray, held_out: bool = False) -> Array:
        """Return gradients at rows that are checked and encoded, or as if they were not known."""
        solution = self._solution
        if not isinstance(solution, LocalSolution):
            return self._space.gradient(rows, coef)
        before = [] if self._columns_ is None else FeatureSpace(self._columns_, 0).steps
        last = None if self.features_ is None else self._space.steps[-1]
        return features_gradient([*before, LocalGradient(solution, last, held_out)], rows, coef)
