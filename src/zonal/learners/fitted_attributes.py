"""What a fitted model tells of itself: coefficients, shares, what was chosen and why."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._typing import Array, FloatArray
from ..calibration.intervals import Calibration
from ..model.fitted import Fitted
from ..model.from_rows import FromRows
from ..model.importance import importances
from ..model.recipe import Recipe
from ..partitions import FromParts
from ..selection.table import selection_table
from .base import Learner

__all__ = ["FittedAttributes"]


class FittedAttributes(Learner):
    """The attributes of learners that are a face over a fitted model.

    They read ``_cells_``, ``_start_`` and ``_solution`` (see `ModelLearner`), and change nothing.
    """

    #: The class of ``local_``: `NeighborKriging`, which is itself a subclass.
    _local_class: Any
    # Known once rows were seen.
    _cells_: Any = None
    _start_: Any = None
    _probes_: Any = None

    @property
    def _model(self) -> Fitted:
        """The fitted model."""
        solution = self._solution  # or an error that there is none
        return Fitted(self._cells_, solution)

    def _each(self, values: Any) -> Any:
        """Return values of targets [n, t, ...] or [t] without their axis, where t is one."""
        if not self._known(self._cells_).single:
            return values
        return values[:, 0] if np.ndim(values) > 1 else float(values[0])

    def _known(self, value: Any) -> Any:
        """Return a value that `fit` learns early on; raise NotFittedError if it is None."""
        if value is None:
            check_is_fitted(self)
        return value

    @property
    def recipe_(self) -> Recipe:
        """What was fitted; it prints itself in five lines."""
        solution = self._solution
        recipe: Recipe = self._start_.knowing(solution).recipe
        return recipe

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
        return self._known(self._start_).recipe.features

    @property
    def n_columns_(self) -> int:
        """The number of features D."""
        return int(self._known(self._start_).n_columns)

    @property
    def encoder_(self) -> Any:
        """The fitted encoder of a table that needed one."""
        encoder = self._known(self._cells_).encoder
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
    def coef_(self) -> FloatArray:
        """The coefficients β of the features: [D] or [n_targets, D]."""
        return np.asarray(self._each(self._solution.coef.T[None])[0])

    @property
    def intercept_(self) -> Any:
        """The constant β₀, the prediction where all features are zero."""
        return self._each(self._solution.intercept)

    @property
    def alpha_(self) -> float:
        """The regularisation α used."""
        return float(self._solution.alpha)

    @property
    def cv_results_(self) -> dict[str, Array]:
        """Alphas with their cross-validated errors; empty for a given alpha."""
        results: dict[str, Array] = self._solution.cv_results
        return results

    @property
    def calibration_(self) -> Calibration:
        """What intervals are calibrated by: scores of rows that are left out of the fit.

        The first call of `predict_interval`, `predict_quantiles` or this attribute finds it, and
        the fitted model keeps it: predictions without intervals do not have to wait for it.
        """
        calibration: Calibration = self._solution.calibration()
        return calibration

    @property
    def moments_(self) -> Any:
        """The sums over the rows seen, for each fold; none where the rows are kept instead."""
        check_is_fitted(self)
        sums = self._sums_
        return [] if sums is None else sums.moments

    @moments_.setter
    def moments_(self, moments: Any) -> None:
        self._sums_, self._solution_ = replace(self._sums_, moments=moments), None

    @property
    def local_(self) -> Any:
        """The local part, fitted to what the features leave; or None."""
        solution = self._solution
        if solution.part is None:
            return None
        alone = (
            solution.alone()
            if isinstance(solution, FromParts)
            else FromRows(None, None, 0, solution.part.without_features())
        )
        return self._local_class.of(alone, self._cells_.single)

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
        solution, probes = self._solution, self._probes_
        if probes is None:
            raise AttributeError(
                "Importances need rows of numbers: X was sparse, or a plain frame."
            )
        names = vars(self).get("feature_names_in_")
        return importances(solution, self._cells_.encoder, probes, names, self.n_features_in_)
