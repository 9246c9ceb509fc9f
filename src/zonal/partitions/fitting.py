"""From rows that stay where they are to a model of parts.

Parameters and cells come from a sample. Then all rows are sorted into parts, and what comes back
are a few numbers a part and the first places of the order, which give the coefficients of features.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._typing import Array, FloatArray
from ..kriging.joint import Features, Joint, carried_by, fit_joint, n_first_rows
from ..kriging.marginal import Marginal, marginal
from ..kriging.process import LocalProcess
from ..kriging.search import Found
from ..kriging.warp import Warp
from ..model.from_rows import FromRows, local_map
from ..model.local_solution import JUDGED_ROWS, LocalSolution
from ..model.start import Start
from ..rows import Block, Source
from ..rows.copies import relative_weights
from ..rows.kept import KeptRows
from ..rows.progress import phase
from .around import Parts, located, name_of
from .cuts import Cuts
from .folder import Folder
from .from_parts import FromParts
from .part import LEFT, TARGETS, Part, write_array
from .sorting import Sorter, n_cells_of
from .sums import END, Whitener

__all__ = ["fit_parts"]

# The first places that are one part, where there are no features.
HEAD_ROWS = 1 << 15


def fit_parts(
    start: Start,
    pilot: Block,
    source: Source,
    prepared: Callable[[Block], KeptRows],
    reduce: Callable[..., Any],
    *,
    n_rows: int | None,
    verbose: bool = False,
) -> tuple[FromParts, int] | None:
    """Fit a model with a local part to rows that are not gathered.

    Parameters
    ----------
    start : Start
        The recipe, with its features fitted.
    pilot : Block
        A sample of the rows, with its targets.
    source : Source
        All rows.
    prepared : callable
        Makes of a block of checked rows those that the local part sees.
    reduce : callable
        Walks over the blocks of the source: reduce(function, merge).
    n_rows : int or None
        The number of all rows, where it is known.
    verbose : bool

    Returns
    -------
    (FromParts, int) or None
        The model and the number of rows; None where the kernel has no metric, by which rows could
        be sorted.
    """
    local = start.recipe.local
    assert local is not None
    sample = start.sums(pilot)
    assert isinstance(sample, KeptRows)
    found = start.parameters(sample, verbose)
    block = sample.joined()
    if found.warp is not None:
        block, prepared = _moved(found.warp, block), partial(_prepared, prepared, found.warp)
    features = local_map(start.recipe.features, start.n_columns)
    process = LocalProcess(
        np.asarray(block.X[:1]), np.ones(1), found.kernel, found.noise, local.n_neighbors,
        found.low, found.amplitude,
    )  # fmt: skip
    if process.length_scale is None:
        return None
    folder = Folder.temporary()
    points = located(np.asarray(block.X), process.length_scale)
    sorter = Sorter(
        folder, Cuts.of(points, n_cells_of(n_rows)), process.length_scale, _unit(block), local.seed
    )
    phase("sorting rows into parts", verbose)
    parts, offset, n_sorted = sorter.sort(source, prepared, reduce)
    phase("summing over parts", verbose)
    fit = _Fit(parts, source, process, features, found, offset, local.fit_neighbors)
    return fit.model(start), n_sorted


def _prepared(prepared: Callable[[Block], KeptRows], warp: Warp, block: Block) -> KeptRows:
    """Return what is prepared of a block, in the places that it is moved to."""
    return KeptRows(tuple(_moved(warp, one) for one in prepared(block).blocks))


def _moved(warp: Warp, block: Block) -> Block:
    return replace(block, X=warp.transform(block.X))


def _unit(block: Block) -> float:
    """Return the weight that counts as one, from those of a sample."""
    if block.weight is None:
        return 1.0
    relative = relative_weights(*block.parts, merge=True)
    own = np.asarray(block.weight, np.float64)
    counting = np.flatnonzero(own > 0) if relative is None else np.flatnonzero(relative > 0)
    first = int(counting[0])
    return float(own[first] / (1.0 if relative is None else relative[first]))


@dataclass(frozen=True)
class _Fit:
    """A fit to parts, with parameters that are known."""

    parts: Parts
    source: Source
    process: LocalProcess
    features: Features | None
    found: Found
    offset: FloatArray
    fit_neighbors: int | None

    def model(self, start: Start) -> FromParts:
        """Return the fitted model."""
        carried = self.found.low is not None or self.features is not None
        head = self._head(n_first_rows(self.process, self.features) if carried else HEAD_ROWS)
        m = min(self.process.n_neighbors, len(self.parts))
        process = LocalProcess(
            head.rows,
            head.weight,
            self.found.kernel,
            self.found.noise,
            m,
            self.found.low,
            self.found.amplitude,
        )
        solved = self._marginal(process, head)
        left = _Residual(self.parts, process, self.features, self.offset, solved)
        known = self.source.map(left.write, self.parts.cells)
        total, squares, rest, rest_squares = (sum(column) for column in zip(*known, strict=True))
        n_places = len(self.parts)
        spread = squares / n_places - (total / n_places) ** 2
        leaves = rest_squares / n_places - (rest / n_places) ** 2
        joint = Joint(process, solved, left.of(head))
        part = LocalSolution(joint, self.offset, self.found, spread)
        recipe = start.recipe
        rows = FromRows(recipe.columns, recipe.features, start.n_columns, part)
        in_space = start.in_space(head.rows.shape[1])
        for cell in self.parts.cells:  # what is left of them is all that predictions need
            (self.parts.folder / name_of(cell) / f"{TARGETS}.npy").unlink()
        asked, warp = start.asked, self.found.warp
        if asked is not None and warp is not None:
            asked = warp.transform(asked)
        return FromParts(rows, replace(self.parts, values=LEFT), leaves, in_space, asked)

    def _head(self, n_first: int) -> Part:
        """Return the first places of all, or all of them."""
        n_first = min(n_first, len(self.parts))
        share = n_first * (1 + 6 / math.sqrt(n_first)) / len(self.parts)
        bounds = [END] if share >= 1 else [int(share * END), END]
        for bound in bounds:  # the second is needed one time in 10⁹
            found = self.source.map(partial(_before, self.parts, bound), self.parts.cells)
            head = Part.joined(found)
            if len(head) >= n_first:
                break
        return head.take(slice(n_first))

    def _marginal(self, process: LocalProcess, head: Part) -> Marginal:
        """Solve for the coefficients, the mean and the scale."""
        n_targets = head.values.shape[1]
        # Coefficients are known from the first places.
        if self.found.low is not None or self.features is not None:
            locations, ratio = head.locations(self.offset), self.found.ratio
            return fit_joint(
                locations, process, self.features, ratio, n_neighbors=self.fit_neighbors
            ).found
        m = min(self.fit_neighbors or process.n_neighbors, len(self.parts) - 1)
        whitener = Whitener(self.parts, process, m, self.offset, head)
        sums = whitener.judging(self.source, JUDGED_ROWS).total(self.source)
        found = marginal(sums.gram, n_targets, sums.observed, self.found.ratio)
        return found.times(len(self.parts) / sums.n_places)


def _before(parts: Parts, bound: int, cell: int) -> Part:
    """Return the places of a cell whose hashes are below a bound."""
    return parts.part(cell).before(bound).take(slice(None))


@dataclass(frozen=True)
class _Residual:
    """What the mean and the features leave of the targets."""

    parts: Parts
    process: LocalProcess
    features: Features | None
    offset: FloatArray
    solved: Marginal

    def of(self, part: Part) -> FloatArray:
        """Return it at places that have their targets: [n, t]."""
        rows: Array = np.asarray(part.rows)
        known = carried_by(self.process, self.features, rows, self.solved.coef)
        return np.asarray(part.values - self.offset - self.solved.mean - known)

    def write(self, cell: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Put it beside the targets of a cell; return sums of both and of their squares."""
        part = self.parts.part(cell)
        targets, left = np.asarray(part.values) - self.offset, self.of(part)
        write_array(self.parts.folder / name_of(cell) / f"{LEFT}.npy", left)
        squares = (targets**2).sum(axis=0), (left**2).sum(axis=0)
        return targets.sum(axis=0), squares[0], left.sum(axis=0), squares[1]
