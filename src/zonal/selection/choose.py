"""From rows of numbers to a recipe: features, a local part or both; or nothing to choose by."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._deadline import Deadline
from .._typing import Array, FloatArray
from ..features.columns.table.encoding import SplitTable
from ..model.recipe import MIN_ROWS, Local, Recipe
from ..moments.folds import Splits
from ..rows import sample_rows
from ..rows.copies import relative_weights
from ..rows.kept import KEPT_BYTES
from ..rows.survey import Survey
from .choice import select_model
from .search import select_features
from .trials import Split, splits_of

__all__ = ["BEYOND_MEMORY", "Question", "choose"]

# Among so many columns no row is near another; a local part that is asked for is fitted anyway.
MAX_COLUMNS = 100
BEYOND_MEMORY = f"more than {KEPT_BYTES >> 30} GB of rows"


@dataclass(frozen=True)
class Question:
    """What a choice is asked.

    Attributes
    ----------
    survey : Survey
        The rows as numbers, all of them or a sample.
    targets : ndarray of shape (n, t)
        Numbers, or indicators of classes.
    local : Local or None
        What is given of a local part; None: there must be none.
    budget : int
        The width of features.
    scaled : bool
        Whether the columns are on a common scale already, as an encoder leaves them.
    metric : bool
        Whether a learned metric is tried.
    seed : int
    deadline : Deadline
    plan : Splits or None
        The splits of a splitter, by which candidates are judged.
    table : SplitTable or None
        Rows as they are in each split.
    unheld : str
        Why rows are not all here, where a local part would want them.
    verbose : bool
    """

    survey: Survey
    targets: Array
    local: Local | None
    budget: int
    scaled: bool
    metric: bool
    seed: int
    deadline: Deadline
    plan: Splits | None = None
    table: SplitTable | None = None
    unheld: str = ""
    verbose: bool = False

    @property
    def weight(self) -> FloatArray | None:
        """Relative weights of the rows."""
        sample = self.survey.sample
        return relative_weights(sample.X, self.targets, sample.weight)

    def splits(self, counting: Any) -> list[Split] | None:
        """Return held-out rows of the kind that the model will meet; None: random ones."""
        if self.plan is None:
            return None
        return splits_of(self.plan, counting, None if self.table is None else self.table.rows)


def choose(question: Question) -> Recipe | None:
    """Choose a recipe; None where there are too few rows, or the targets are constant."""
    weight = question.weight
    Y = question.targets
    counting = np.arange(len(Y)) if weight is None else np.flatnonzero(weight)
    if len(counting) < MIN_ROWS or not np.ptp(Y, axis=0).any():
        return None
    local = question.local
    if local is None:
        return _features(question, weight, counting)
    unheld = "" if local.required else question.unheld or _unheld(question)
    if unheld or not question.survey.whole:
        found = _features(question, weight, counting)
        if local.required:
            return replace(found, local=local)
        if unheld:
            for record in found.records:
                record["local"] = f"not tried: {unheld}"
        return found
    sample = question.survey.sample
    return select_model(
        sample.X,
        sample.y,
        Y.astype(np.float64),
        weight,
        counting[sample_rows(len(counting))],
        n_components=question.budget,
        local=local,
        splits=question.splits(counting),
        scaled=question.scaled,
        seed=question.seed,
        verbose=question.verbose,
        metric=question.metric,
        deadline=question.deadline,
    )


def _unheld(question: Question) -> str:
    """Return why a local part is not tried, or nothing."""
    n_rows, n_columns = question.survey.sample.X.shape
    if not question.survey.whole:
        return ""
    if n_rows * (n_columns + question.targets.shape[1]) * 8 > KEPT_BYTES:
        return BEYOND_MEMORY
    return f"{n_columns:,} columns, more than {MAX_COLUMNS}" if n_columns > MAX_COLUMNS else ""


def _features(question: Question, weight: FloatArray | None, counting: Any) -> Recipe:
    """Choose features alone, on a pilot sample."""
    X, y = question.survey.sample.X, question.survey.sample.y
    pilot, held_out = counting[sample_rows(len(counting))], None
    splits = question.splits(counting)
    if splits:
        pilot, held_out = splits[0].of_pilot(pilot)
        X = X if splits[0].rows is None else splits[0].rows
    features, records = select_features(
        _safe_indexing(X, pilot),
        question.targets[pilot].astype(np.float64),
        np.ones(len(pilot)) if weight is None else weight[pilot],
        n_components=question.budget,
        n_rows=question.survey.n_counting,
        y=_safe_indexing(y, pilot),
        scaled=question.scaled,
        seed=question.seed,
        verbose=question.verbose,
        metric=question.metric,
        deadline=question.deadline,
        held_out=held_out,
    )
    return Recipe(features, records=tuple(records))
