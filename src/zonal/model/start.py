"""A recipe whose features are fitted: what is summed or kept of the rows, and what follows."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._deadline import Deadline
from ..features.columns.table.encoding import SplitTable
from ..features.space import FeatureSpace
from ..moments import Moments
from ..moments.folds import Splits
from ..rows import Block
from ..rows.copies import relative_weights
from ..rows.kept import KeptRows
from ..rows.reservoir import Reservoir
from .cells import Cells
from .evidence import Evidence
from .from_rows import FromRows, local_map, local_rows
from .from_sums import FromSums
from .local_calibration import refitted_parts
from .local_solution import MOST_SPLITS, solve_local
from .recipe import Recipe
from .ridge_path import seen_in, solve_folds, solve_splits
from .ridge_posterior import RidgePosterior, left_out
from .sampled_sums import SampledSums
from .summation import Summation

__all__ = ["Start"]

# Rows of more columns are no places: in six a ball of a fiftieth of a cube has a radius of 0.4 of
# its side, so that there are no holes but the whole.
PLACE_COLUMNS = 6


@dataclass(frozen=True)
class Start:
    """What must be fixed before rows are summed; workers that hold rows receive a copy.

    Attributes
    ----------
    recipe : Recipe
        Its features are fitted.
    cells : Cells
    n_columns : int
        The number of features.
    summation : Summation or None
        None where rows are kept, for a local part.
    asked : ndarray of shape (q, d) or None
        Rows that will be asked, as the local part sees them, where they are known.
    """

    recipe: Recipe
    cells: Cells
    n_columns: int
    summation: Summation | None
    asked: Any = None

    @classmethod
    def of(cls, recipe: Recipe, cells: Cells, X: Any, y: Any, n_folds: int = 1) -> "Start":
        """Learn the width of the features, and what sums are about, from rows of a sample."""
        if recipe.local is not None:
            features = recipe.features
            width = 0 if features is None else len(FeatureSpace(features, 0).mean(X))
            return cls(recipe, cells, width, None)
        Y = cells.targets(y, _num_samples(X))
        summation = Summation.of(recipe.features, X, Y, n_folds)
        return cls(recipe, cells, summation.n_columns, summation)

    @property
    def block_rows(self) -> int:
        """Rows of a stream's block that keep all threads busy."""
        return FeatureSpace(self.recipe.features, self.n_columns).block_rows

    def sums(self, block: Block, title: str = "") -> SampledSums | KeptRows:
        """Return the moments of rows and a sample of them, or the rows."""
        rows = replace(block, y=self.cells.targets(block.y, len(block)))
        if self.summation is None:
            return KeptRows((replace(rows, X=local_rows(self.recipe.columns, block.X)),))
        return SampledSums(self.summation.folds(rows, title), Reservoir.of(rows))

    def merged(self, left: Any, right: Any) -> Any:
        """Return the sums over the rows of both."""
        if isinstance(left, KeptRows):
            return left + right
        self._check_folds(left)
        moments = [a + b for a, b in zip(left.moments, right.moments, strict=True)]
        return SampledSums(moments, left.rows + right.rows)

    def _check_folds(self, sums: SampledSums) -> None:
        """Raise ValueError if sums were taken over other folds than are asked for now."""
        have, asked = len(sums.moments), 1 if self.summation is None else self.summation.n_folds
        if have != asked:
            raise ValueError(
                f"The model holds {have} folds of rows, but alpha={self.recipe.alpha!r} and cv now "
                f"ask for {asked}: fit it again."
            )

    def solved(self, sums: Any, verbose: bool = False) -> FromSums | FromRows:
        """Return what follows from the sums, or from the rows that were kept."""
        if self.summation is None:
            return self._with_local_part(sums.joined(), None, verbose)
        self._check_folds(sums)
        recipe, summation = self.recipe, self.summation
        if recipe.alpha != "evidence":
            return solve_folds(recipe, summation, sums, self.cells.classes is None)
        moments, space = Moments.merged(sums.moments), summation.space
        if recipe.noise is None:
            evidence = Evidence(moments, constant=True)
            alpha = evidence.best_alpha()
            missing = left_out(space, sums.rows.rows())
            found = evidence.posterior(alpha, evidence.noise(alpha), missing)
        else:
            evidence = Evidence(moments, constant=False)
            given = np.full(moments.n_targets, recipe.noise)
            found = evidence.posterior(recipe.noise, given, 0.0)
            _warn_if_useless(moments, found, recipe.noise)
        return FromSums(space, sums, found.solution, recipe.noise is None, found)

    def solved_by_splits(
        self, block: Block, plan: Splits, table: SplitTable | None, verbose: bool = False
    ) -> FromSums | FromRows:
        """Return the same for rows that are all here, judged by the splits of a splitter."""
        rows = replace(block, y=self.cells.targets(block.y, len(block)))
        if self.summation is not None:
            return solve_splits(self.recipe, self.summation, rows, plan, table)
        kept = replace(rows, X=local_rows(self.recipe.columns, rows.X))
        found = self._with_local_part(kept, plan, verbose)
        if table is None:
            return found

        def splits() -> Any:
            Y = np.asarray(rows.y, np.float64)
            for split in plan.splits[:MOST_SPLITS]:
                train, test = (np.isin(plan.labels, part) for part in split)
                seen = local_rows(self.recipe.columns, seen_in(table, plan, split))
                yield Block(seen, Y, rows.weight), train, test

        n_test = sum(int(np.isin(plan.labels, split.test).sum()) for split in plan.splits)
        parts = list(refitted_parts(found.part, found.map, splits(), n_test))
        # Now: later there are no rows of splits any more.
        return found.calibrated_by(parts, self.cells.classes is not None)

    def knowing(self, found: FromSums | FromRows) -> "Start":
        """Return the same with the parameters of a local part that were found before."""
        local = self.recipe.local
        if local is None or found.part is None:
            return self
        known = replace(self.recipe, local=replace(local, found=found.part.found))
        return replace(self, recipe=known)

    def shrunk_as(self, shrink: Recipe, n_folds: int) -> "Start":
        """Return the same with coefficients that are shrunk as another recipe says."""
        recipe = self.recipe.shrunk_as(shrink)
        summation = None if self.summation is None else replace(self.summation, n_folds=n_folds)
        return replace(self, recipe=recipe, summation=summation)

    def keeping(self, found: FromSums | FromRows) -> "Start":
        """Return the same with everything that was found, the regularisation too."""
        summation = None if self.summation is None else replace(self.summation, n_folds=1)
        known = self.knowing(found)
        return replace(known, recipe=replace(known.recipe, alpha=found.alpha), summation=summation)

    def with_cells(self, cells: Cells) -> "Start":
        """Return the same for other cells."""
        return replace(self, cells=cells)

    def _with_local_part(self, block: Block, plan: Splits | None, verbose: bool) -> FromRows:
        recipe, local = self.recipe, self.recipe.local
        assert local is not None
        merge = self.cells.classes is None
        block = replace(block, weight=relative_weights(*block.parts, merge=merge))
        kernel = None
        if local.kernel is not None:
            kernel = local.kernel.resolve(block.X, block.weight)
            kernel(block.X[:1])  # length scales of another number of columns are an error here
        learnt = recipe.columns is not None and FeatureSpace(recipe.columns, 0).learnt
        part = solve_local(
            block,
            local_map(recipe.features, self.n_columns),
            local.found,
            kernel=kernel,
            noise=local.noise,
            alpha=None if isinstance(recipe.alpha, str) else float(recipe.alpha),
            n_neighbors=local.n_neighbors,
            n_far=local.n_far,
            n_features=local.n_features,
            fit_neighbors=local.fit_neighbors,
            plan=plan,
            seed=local.seed,
            learnt=learnt,
            in_space=not (learnt or self.cells.mixed) and block.X.shape[1] <= PLACE_COLUMNS,
            queries=self.asked,
            verbose=verbose,
            deadline=Deadline(local.seconds),
        )
        return FromRows(recipe.columns, recipe.features, self.n_columns, part)


def _warn_if_useless(moments: Moments, found: RidgePosterior, noise: float) -> None:
    """Warn if a prior that was given fits the targets worse than a constant."""
    width = moments.n_features
    products = moments.products(np.zeros_like(moments.shift))
    gram, cross = products[:width, :width], products[:width, width:]
    coef = found.solution.coef
    left = np.diag(products)[width:] - np.sum(coef * (2 * cross - gram @ coef), axis=0)
    if (left > moments.squares()[width:] * (1 + 1e-6)).any():
        warnings.warn(
            f"GaussianProcess(noise={noise:g}) explains less of y than a constant: its prior has "
            'the mean zero and the amplitude one. Standardise y, or use noise="evidence", which '
            "finds both.",
            UserWarning,
            stacklevel=7,
        )
