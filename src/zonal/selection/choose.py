"""From rows of numbers to a recipe: features, a local part or both; or nothing to choose by."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from .._deadline import Deadline
from .._typing import Array, FloatArray
from ..features.columns.ranker import Ranker
from ..features.columns.stretcher import Stretcher
from ..features.columns.table.encoding import SplitTable
from ..kriging.effort import FEW_COLUMNS
from ..model.anova_kernel import Latent
from ..model.recipe import MIN_ROWS, Local, Recipe, Share
from ..model.split_fits import FIT_NEIGHBORS
from ..moments.folds import Splits
from ..rows import Block, sample_rows
from ..rows.block import take
from ..rows.copies import relative_weights
from ..rows.kept import BEYOND_MEMORY, KEPT_BYTES, PILOT_ROWS
from ..rows.survey import Survey
from .features import FeatureSearch
from .judge import Candidate
from .ladder import Ladder, Weighed, is_places
from .latent_candidates import has_latent_candidates, latent_candidates
from .latent_columns import ranked_better
from .records import Log
from .rows import HeldOut, Rows, content_order, splits_of

__all__ = ["Question", "choose"]

#: Among so many columns no row is near another; a local part that is asked for is fitted anyway.
MAX_COLUMNS = 100
#: In many columns, 96 instead of 32 neighbours took diamonds from 555.6 to 548.4, bikeshare from
#: 32.16 to 31.72 and protein from 3.240 to 3.202 (RMSE).
MANY_NEIGHBORS = 96


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
        The splits of a splitter, by which candidates are scored.
    table : SplitTable or None
        Rows as they are in each split.
    unheld : str
        Why rows are not all here, where a local part would want them.
    verbose : bool
    blend : bool
        Whether a weighted mean of several candidates may be the answer.
    latent : Latent or None
        How latent functions are fitted to features, of classes or another likelihood, perhaps in
        columns of normal scores; None: by least squares.
    observed : Block or None
        Responses and weights as they were given, where targets stand for them.
    asked : ndarray of shape (q, d) or None
        Rows that will be asked, where they are known.
    timeless : bool
        Whether it was said that no column is a time.
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
    blend: bool = False
    latent: Latent | None = None
    observed: Block | None = None
    asked: Array | None = None
    timeless: bool = False

    @property
    def weight(self) -> FloatArray | None:
        """Relative weights of the rows."""
        sample = self.survey.sample
        return relative_weights(sample.X, self.targets, sample.weight)

    def splits(self, counting: Any) -> list[HeldOut] | None:
        """Return held-out rows of the kind that the model will meet; None: random ones."""
        if self.plan is None:
            return None
        return splits_of(self.plan, counting, None if self.table is None else self.table.rows)


def choose(question: Question) -> Recipe | None:
    """Choose a recipe; None where there are too few rows, or the targets are constant."""
    sample, weight, local = question.survey.sample, question.weight, question.local
    latent, observed = question.latent, question.observed
    if observed is None:
        observed = Block(None, sample.y, weight)
    Y = question.targets.astype(np.float64)
    counting = np.arange(len(Y)) if weight is None else np.flatnonzero(weight)
    if len(counting) < MIN_ROWS or not np.ptp(Y, axis=0).any():
        return None
    unheld = _unheld(question)
    alone = local is None or bool(unheld)
    if alone:  # of a stream there is no more than that
        counting = counting[sample_rows(len(counting))]
    # Samples are drawn in this order: how the rows are stored does not matter.
    counting = counting[content_order(_safe_indexing(sample.X, counting))]
    with config_context(transform_output="default"):
        splits = question.splits(np.sort(counting))
        X, y = sample.X, sample.y
        if len(counting) > PILOT_ROWS and splits is None:  # as of rows that stay in parts
            few, counting = counting[:PILOT_ROWS], np.arange(PILOT_ROWS)
            X, y, Y = (_safe_indexing(part, few) for part in (X, y, Y))
            weight = None if weight is None else weight[few]
            observed = Block(None, take(observed.y, few), take(observed.weight, few))
        asked = partial(
            Rows.of, X, y, Y, weight, counting, splits, question.scaled, question.survey.n_counting
        )
        rows = asked()
        places = is_places(rows, question.scaled)
        if (
            latent is not None
            and not places
            and ranked_better(rows, latent, _pilot(rows, observed))
        ):
            rows = asked(step=Ranker())
        log, deadline = Log(question.verbose), question.deadline
        search = FeatureSearch(rows, question.budget, question.seed, log, question.metric, deadline)
        if local is None or unheld:
            found = _features(rows, search)
        else:
            classes = latent is not None and question.observed is None
            ladder = Ladder(rows, local, search, log, deadline, question.scaled, classes)
            if places:
                weighed = ladder.places(question.blend, question.asked, question.timeless)
            elif latent is not None and question.survey.whole and has_latent_candidates(rows):
                pilot = _pilot(rows, observed)
                weighed = latent_candidates(ladder, latent, pilot, question.budget, question.seed)
            else:
                tried = ladder.columns(both_kinds=classes)
                weighed = ladder.weighed(tried, question.blend)
                if classes and question.survey.whole:
                    weighed = _of_both_kinds(weighed, tried)
            if rows.dim > FEW_COLUMNS and not local.required and not places:
                local = replace(local, n_neighbors=ladder.n_neighbors(MANY_NEIGHBORS, weighed))
            found = _built(rows, local, weighed)
        log.left_out(deadline.left_out)
    if unheld and local is not None and local.required:
        found = replace(found, local=local)
    elif unheld:
        for line in log.lines:
            line["local"] = f"not tried: {unheld}"
    return replace(found, records=tuple(log.lines))


def _pilot(rows: Rows, observed: Block) -> Block:
    """Return the rows of the pilot with what is observed of them."""
    return Block(rows.pilot.rows, take(observed.y, rows.chosen), take(observed.weight, rows.chosen))


def _unheld(question: Question) -> str:
    """Return why no local part is looked for, or nothing."""
    local, survey = question.local, question.survey
    if local is None:
        return ""
    if not (survey.whole or survey.pilot):
        return question.unheld or BEYOND_MEMORY
    n_rows, n_columns = survey.sample.X.shape
    if local.required:
        return ""
    if n_rows * (n_columns + question.targets.shape[1]) * 8 > KEPT_BYTES:
        return BEYOND_MEMORY
    return f"{n_columns:,} columns, more than {MAX_COLUMNS}" if n_columns > MAX_COLUMNS else ""


def _features(rows: Rows, search: FeatureSearch) -> Recipe:
    """Choose features alone, on the pilot."""
    best, metric = search.best()
    steps = [*_steps(rows, metric), ("features", search.fitted(best, metric))]
    line = search.log.line_of(best.map, best.words())
    search.log.choose(line, 1.0, 1.0, 1.0)
    return Recipe(Pipeline(steps))


def _of_both_kinds(alone: Weighed, tried: list[Candidate]) -> Weighed:
    """Add the best candidate of the other kind, features or neighbours; the log loss will weigh.

    Not one that is far behind: it would get little weight, and cost as much as the first.
    """
    first = alone.candidates[0]
    others = [c for c in tried if (c.found is None) != (first.found is None)]
    best = min(others, key=lambda c: c.loss, default=None)
    if best is None or 0.9 * best.loss > first.loss:
        return alone
    for candidate in (first, best):
        assert candidate.line is not None
        Log.choose(candidate.line, 0.5, 0.5, 0.5)
    return Weighed((first, best), (0.5, 0.5))


def _built(rows: Rows, local: Local, found: Weighed) -> Recipe:
    """Return the recipe of the first candidate, with shares of the others."""
    first, *others = (_recipe(rows, local, candidate) for candidate in found.candidates)
    shares = tuple(Share(w, r) for w, r in zip(found.weights[1:], others, strict=True))
    weighing = found.weighing if shares else None
    return replace(first, others=shares, spread=found.spread, weighing=weighing)


def _recipe(rows: Rows, local: Local, candidate: Candidate) -> Recipe:
    steps = _steps(rows, candidate.columns)
    columns = Pipeline(list(steps)) if steps else None
    features = None
    if candidate.features is not None:
        features = Pipeline([*steps, ("features", candidate.features)])
    if candidate.found is None:
        return Recipe(features)
    part = replace(local, found=candidate.found)
    if not local.required:
        part = replace(part, fit_neighbors=FIT_NEIGHBORS)
    return Recipe(features, columns, part)


def _steps(rows: Rows, metric: Any) -> list[tuple[str, Any]]:
    """Return what comes before a feature map or a local part."""
    steps = [] if rows.step is None else [("scale", rows.step)]
    if metric is not None:
        steps.append(("stretch" if isinstance(metric, Stretcher) else "metric", metric))
    return steps
