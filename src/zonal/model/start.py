"""A recipe whose features are fitted: what is summed or kept of the rows, and what follows."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._deadline import Deadline
from .._typing import Array
from ..features.columns.table.encoding import SplitTable
from ..features.space import FeatureSpace
from ..kernels import Kernel
from ..kriging.locations import locate
from ..kriging.search import Found
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
from .known_errors import KnownErrors
from .local_calibration import refitted_parts
from .local_solution import MOST_SPLITS, find_local, shrunk, solve_local
from .recipe import Recipe, varies_among
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
    errors : KnownErrors or None
        Where weights of rows are one over variances that are known.
    """

    recipe: Recipe
    cells: Cells
    n_columns: int
    summation: Summation | None
    asked: Any = None
    errors: KnownErrors | None = None

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
        rows = self._weighed(rows)
        return SampledSums(self.summation.folds(rows, title), Reservoir.of(rows))

    def _weighed(self, block: Block) -> Block:
        """Return rows whose weights are one over the variance of their noise, where it is known."""
        if self.errors is None or block.weight is None:
            return block
        return replace(block, weight=self.errors.weights(block.weight))

    def with_errors(
        self, errors: KnownErrors | None, X: Any = None, y: Any = None, precision: Any = None
    ) -> "Start":
        """Return the same for known errors, with what they leave found from rows of a sample."""
        if errors is not None and self.summation is not None:
            constant = self.recipe.noise is None
            if not constant:
                errors = replace(errors, extra=float(self.recipe.noise or 0.0), learnt=False)
            errors = errors.refined(self.summation.space, X, y, precision, constant)
        return replace(self, errors=errors)

    def asking(self, rows: Any) -> "Start":
        """Return the same, where it is known which rows will be asked, as numbers; None: not."""
        if rows is None or self.recipe.local is None:
            return self
        return replace(self, asked=local_rows(self.recipe.columns, rows))

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
            found_ = solve_folds(recipe, summation, sums, self.cells.classes is None)
            return replace(found_, errors=self.errors)
        moments, space = Moments.merged(sums.moments), summation.space
        if recipe.noise is None:
            evidence = Evidence(moments, constant=True)
            known = None if self.errors is None else np.full(moments.n_targets, 1 / moments.unit)
            alpha = evidence.best_alpha(known)
            missing = left_out(space, sums.rows.rows())
            noise = evidence.noise(alpha) if known is None else known
            found = evidence.posterior(alpha, noise, missing)
        else:
            evidence = Evidence(moments, constant=False)
            whole = recipe.noise if self.errors is None else 1 / moments.unit
            found = evidence.posterior(whole, np.full(moments.n_targets, whole), 0.0)
            _warn_if_useless(moments, found, recipe.noise)
        constant = recipe.noise is None
        return FromSums(space, sums, found.solution, constant, found, errors=self.errors)

    def solved_by_splits(
        self, block: Block, plan: Splits, table: SplitTable | None, verbose: bool = False
    ) -> FromSums | FromRows:
        """Return the same for rows that are all here, judged by the splits of a splitter."""
        rows = replace(block, y=self.cells.targets(block.y, len(block)))
        if self.summation is not None:
            weighed = self._weighed(rows)
            found_ = solve_splits(self.recipe, self.summation, weighed, plan, table)
            return replace(found_, errors=self.errors)
        kept = replace(rows, X=local_rows(self.recipe.columns, rows.X))
        found = self._with_local_part(kept, plan, verbose)
        if table is None:
            return found

        def splits() -> Any:
            Y, errors = np.asarray(rows.y, np.float64), found.part.errors
            weight = rows.weight if errors is None else errors.relative(rows.weight)[0]
            for split in plan.splits[:MOST_SPLITS]:
                train, test = (np.isin(plan.labels, part) for part in split)
                seen = local_rows(self.recipe.columns, seen_in(table, plan, split))
                yield Block(seen, Y, weight), train, test

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

    @property
    def learnt(self) -> bool:
        """Whether the columns that the local part sees were learnt from targets."""
        columns = self.recipe.columns
        return columns is not None and FeatureSpace(columns, 0).learnt

    def in_space(self, n_columns: int) -> bool:
        """Tell whether rows of so many columns are places, among which there are holes."""
        return not (self.learnt or self.cells.mixed) and n_columns <= PLACE_COLUMNS

    @property
    def _alpha(self) -> float | None:
        """The ridge, where it is given."""
        alpha = self.recipe.alpha
        return None if isinstance(alpha, str) else float(alpha)

    def parameters(self, sums: KeptRows, verbose: bool = False) -> Found:
        """Return the parameters of the local part: those that are known, or found from rows."""
        local = self.recipe.local
        assert local is not None
        block, kernel = self._resolved(sums.joined())
        if local.found is not None:
            return shrunk(local.found, self._alpha)
        X, Y, weight = block.parts
        places = locate(np.asarray(X), np.asarray(Y, np.float64), weight, local.seed, self.learnt)
        offset = np.average(places.targets, axis=0, weights=places.weight)
        places = replace(places, targets=places.targets - offset)
        free = self._free(kernel, block.X)
        found = find_local(
            places,
            local_map(self.recipe.features, self.n_columns),
            kernel=kernel,
            noise=local.noise,
            n_neighbors=local.n_neighbors,
            n_features=local.n_features,
            verbose=verbose,
            deadline=Deadline(local.seconds),
            periods=local.periods,
            varies=local.varies and free,
            warps=local.warps and free,
        )
        return shrunk(found, self._alpha)

    def _free(self, kernel: Kernel | None, rows: Array) -> bool:
        """Tell whether rows are places, enough of them, and nothing of the local part is given."""
        given = kernel is not None or self.recipe.features is not None or self.errors is not None
        return not given and self.in_space(rows.shape[1]) and varies_among(rows)

    def _resolved(self, block: Block) -> tuple[Block, Kernel | None]:
        """Return rows with weights of mean one, and the kernel that is given as numbers."""
        local = self.recipe.local
        assert local is not None
        if self.errors is None or block.weight is None:
            merge = self.cells.classes is None
            block = replace(block, weight=relative_weights(*block.parts, merge=merge))
        kernel = None
        if local.kernel is not None:
            kernel = local.kernel.resolve(block.X, block.weight)
            kernel(block.X[:1])  # length scales of another number of columns are an error here
        return block, kernel

    def _with_local_part(self, block: Block, plan: Splits | None, verbose: bool) -> FromRows:
        recipe, local = self.recipe, self.recipe.local
        assert local is not None
        errors = None if block.weight is None else self.errors
        block, kernel = self._resolved(block)
        free = self._free(kernel, block.X)
        part = solve_local(
            block,
            local_map(recipe.features, self.n_columns),
            local.found,
            kernel=kernel,
            noise=local.noise,
            alpha=self._alpha,
            n_neighbors=local.n_neighbors,
            n_features=local.n_features,
            fit_neighbors=local.fit_neighbors,
            plan=plan,
            seed=local.seed,
            learnt=self.learnt,
            in_space=self.in_space(block.X.shape[1]),
            varies=local.varies and free,
            warps=local.warps and free,
            queries=self.asked,
            verbose=verbose,
            deadline=Deadline(local.seconds),
            periods=local.periods,
            errors=errors,
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
