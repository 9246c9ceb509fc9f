"""Learners on features: given ones, or those chosen on a pilot sample."""

from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._deadline import Deadline
from .._typing import Array, FloatArray
from .._validation import check_count
from ..features.default import default_features
from ..features.space import FeatureSpace
from ..features.sums import moments_of_rows, start_of_moments
from ..moments import Moments
from ..rows import Block, sample_rows
from ..rows.costs import announce_cost, eigen_seconds, sum_seconds
from ..rows.survey import Survey
from ..selection.search import MIN_ROWS, select_features
from ..selection.table import Records, selection_table
from .base import Learner
from .encoders import weight_arguments
from .targets import check_n_targets

__all__ = ["FeatureLearner", "MomentLearner"]


class FeatureLearner(Learner):
    """Base class of learners with the parameters `features`, `budget`, `random_state`, `verbose`.

    Attributes
    ----------
    features_ : transformer
        The fitted features.
    n_columns_ : int
        Their number D.
    """

    features: Any
    budget: int
    random_state: Any
    #: When the choice has to end, while it runs.
    _deadline: Deadline | None = None

    def _learn_features(self, survey: Survey, targets: FloatArray | None = None) -> None:
        """Fit a copy of the features to the sample, or choose some for the targets [n, t]."""
        sample = survey.sample
        self.features_ = self._fitted(
            self.features, sample.X, sample.y, sample.weight, targets, survey.n_counting
        )

    def _fitted(
        self,
        features: Any,
        X: Any,
        y: Any = None,
        weight: FloatArray | None = None,
        targets: FloatArray | None = None,
        n_rows: int = 0,
    ) -> Any:
        """Return features fitted to rows; for "auto" and targets, those that are best for them."""
        if isinstance(features, str):
            if features != "auto":
                raise ValueError(
                    f"features={features!r} must be 'auto' or a transformer such as "
                    "zonal.GegenbauerFeatures()."
                )
            check_count("budget", self.budget, type(self).__name__)
            chosen = None if targets is None else self._chosen(X, y, weight, targets, n_rows)
            if chosen is not None:
                return chosen
            own = default_features(self.budget)
        elif hasattr(features, "fit") and hasattr(features, "transform"):
            own = clone(features)
        else:
            raise TypeError(
                f"features={features!r} must be 'auto' or a transformer with fit and "
                "transform, such as zonal.GegenbauerFeatures()."
            )
        _seed(own, self.random_state)
        return own.fit(X, y, **weight_arguments(own, weight))

    def _chosen(
        self, X: Any, y: Any, weight: FloatArray | None, targets: FloatArray, n_rows: int
    ) -> Any:
        """Choose features on a pilot sample and fit them to it; None if nothing can be chosen."""
        counting = np.arange(_num_samples(X)) if weight is None else np.flatnonzero(weight)
        if len(counting) < MIN_ROWS or not np.ptp(targets, axis=0).any():
            return None
        pilot = counting[sample_rows(len(counting))]
        features, self._selection_ = select_features(
            _safe_indexing(X, pilot),
            targets[pilot].astype(np.float64),
            np.ones(len(pilot)) if weight is None else weight[pilot],
            n_components=self.budget,
            n_rows=n_rows,
            y=_safe_indexing(y, pilot),
            scaled=self._is_mixed,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            verbose=self.verbose,
            metric=getattr(self, "metric", True),
            deadline=self._deadline,
        )
        return features

    @property
    def _space(self) -> FeatureSpace:
        """The space of the fitted features."""
        if not hasattr(self, "n_columns_"):
            check_is_fitted(self)
        return FeatureSpace(self.features_, self.n_columns_)

    @property
    def _block_rows(self) -> int:
        return self._space.block_rows

    @property
    def selection_(self) -> Any:
        """What ``features="auto"`` tried, as a table: a pandas frame where pandas is installed."""
        check_is_fitted(self)
        if not hasattr(self, "_selection_"):
            raise AttributeError(
                "Nothing was chosen: features were given, there are no targets, or too few rows."
            )
        return selection_table(self._selection_)

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram, and below it the table of what was tried."""
        diagram = str(super()._html_repr())
        if not hasattr(self, "_selection_"):
            return diagram
        table = Records(self._selection_)._repr_html_()  # pandas would leave rows out
        return f"{diagram}<details><summary>What was tried</summary>{table}</details>"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        parts = self.features if isinstance(self.features, tuple | list) else [self.features]
        tags.input_tags.sparse = all(
            isinstance(part, str)
            or (hasattr(part, "__sklearn_tags__") and get_tags(part).input_tags.sparse)
            for part in parts
        )
        return tags


class MomentLearner(FeatureLearner):
    """Base class of learners that need no more of the rows than their moments.

    Attributes
    ----------
    moments_ : list of Moments
        The sums over the rows seen, for each fold.
    """

    def _targets(self, y: Any, n_rows: int) -> Array:
        """Return the columns that are summed beside the features: [n, t]."""
        return np.empty((n_rows, 0)) if y is None else np.asarray(y).reshape(n_rows, -1)

    def _learn(self, survey: Survey) -> None:
        sample = survey.sample
        self._announce_cost(survey)
        Y = self._targets(sample.y, _num_samples(sample.X))
        self._learn_features(survey, Y if Y.shape[1] else None)
        self._start_sums(sample.X, Y)

    def _announce_cost(self, survey: Survey) -> None:
        """Say what sums and systems of so many columns and targets take, before they are made."""
        width, n_sums = self._asked_width(), self._n_sums()
        n_targets = self._n_targets(survey.sample.y)
        solving = eigen_seconds(width, self._solve_cost())
        # Each sum, the whole, a copy and two of the eigendecomposition.
        n_bytes = 8.0 * (n_sums + 4) * (width + n_targets + 1) ** 2
        announce_cost(
            f"{type(self).__name__} with {width:,} features and {n_targets:,} targets",
            solving + sum_seconds(survey.n_rows, width + n_targets),
            n_bytes,
            "Lower budget or n_components; a number in the place of 'cv' needs fewer sums; labels "
            "in thousands of classes may be numbers, for KernelRidge.",
        )

    def _asked_width(self) -> int:
        """Return how many columns the features are asked for; zero where that is not known."""
        features = self.features
        if isinstance(features, Pipeline):
            features = features[-1]
        width = self.budget if isinstance(features, str) else getattr(features, "n_components", 0)
        return int(width) if isinstance(width, Integral) else 0

    def _n_targets(self, y: Any) -> int:
        """Return how many columns are summed beside the features."""
        return 0 if y is None else int(np.prod(np.shape(y)[1:], dtype=int))

    def _n_sums(self) -> int:
        """Return how many sums are taken side by side: one for each fold."""
        return 1

    def _solve_cost(self) -> float:
        """Return how long systems take once there are sums, in eigendecompositions of their size.

        Measured, and below one where a Cholesky factor or few eigenvectors are enough.
        """
        return 0.25

    def _start_sums(self, X: Any, Y: Array) -> None:
        """Learn the number of columns, and what moments are taken about."""
        self._shift_ = start_of_moments(FeatureSpace(self.features_, 0), X, Y)
        self.n_columns_ = len(self._shift_) - Y.shape[1]

    def _sums(self, block: Block) -> list[Moments]:
        return self._grouped_sums(block, None, 1)

    def _grouped_sums(
        self, block: Block, labels: npt.NDArray[np.intp] | None, n_groups: int
    ) -> list[Moments]:
        """Sum the moments of each group of rows."""
        Y = self._targets(block.y, len(block))
        check_n_targets(Y.shape[1], len(self._shift_) - self.n_columns_)
        rows = Block(block.X, Y, block.weight, block.start)
        title = self._title("rows")
        return moments_of_rows(self._space, rows, labels, self._shift_, n_groups, title)

    def _merge(self, left: list[Moments], right: list[Moments]) -> list[Moments]:
        return [a + b for a, b in zip(left, right, strict=True)]

    def _n_summed(self, sums: list[Moments]) -> int:
        return sum(moments.n_rows for moments in sums)

    @property
    def moments_(self) -> list[Moments]:
        """The sums over the rows seen, for each fold; none in a copy `without_sums`."""
        check_is_fitted(self)
        return self._sums_ or []

    @moments_.setter
    def moments_(self, moments: list[Moments]) -> None:
        self._sums_, self._solution_ = moments, None


def _seed(features: Any, random_state: Any) -> None:
    """Seed what the features leave to chance from the learner's own seed, if it has one."""
    parameters = features.get_params(deep=True) if hasattr(features, "get_params") else {}
    unset = sorted(
        name
        for name, value in parameters.items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    )
    if random_state is not None and unset:
        rng = check_random_state(random_state)
        seeds = {name: int(rng.randint(np.iinfo(np.int32).max)) for name in unset}
        features.set_params(**seeds)
