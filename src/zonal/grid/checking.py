"""How well holes are filled: values that are known, hidden in the shape of the holes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._typing import Array
from ..rows.block import take
from .cells import Field, blocks_of
from .matching import match

__all__ = ["HiddenCheck", "check_holes"]

# Shifts of the holes that are tried, the largest share of the known cells that may be hidden, and
# the most hidden cells that are predicted. Fewer than so many cells tell nothing.
SHIFTS, SHARE, MOST, LEAST = 24, 0.2, 5000, 20
# With more rows the second fit would take as long as the first.
MAX_ROWS = 240_000


@dataclass(frozen=True)
class HiddenCheck:
    """What a model says of known cells that it has not seen.

    Attributes
    ----------
    n_hidden : int
        The cells that were hidden and predicted.
    rmse : float
        The root of the mean squared error there.
    inside : float or None
        The share of them inside their intervals.
    shape : str
        What was hidden.
    """

    n_hidden: int
    rmse: float
    inside: float | None
    shape: str


def check_holes(
    field: Field, model: Any, coverage: float, where: Any = None, seed: int = 0
) -> HiddenCheck | str:
    """Hide known cells, fit again to the others with everything kept that was chosen, and compare.

    The holes of the grid, moved by a random step along its last two dimensions, say which cells
    are hidden: as many and as wide as what is filled. Where there are too few such cells, a tenth
    of all known ones is drawn at random.

    Parameters
    ----------
    field : Field
    model : fitted estimator
        One with ``refitted``, as `KernelRidge` has, alone or after an encoder.
    coverage : float
        The probability of the intervals.
    where : xarray.DataArray of bool, optional
        The cells that are wanted, along some dimensions.
    seed : int

    Returns
    -------
    HiddenCheck or str
        Why it is not known, if it is not.
    """
    learner = model[-1] if isinstance(model, Pipeline) else model
    if not hasattr(learner, "refitted"):
        return f"a {type(learner).__name__} cannot be fitted again to fewer cells"
    known = _known(field)
    if known.sum() > MAX_ROWS:
        return f"{int(known.sum()):,} cells are more than {MAX_ROWS:,}"
    whole = field.cells.block(field.cells.data.compute())
    _, plan = match(model, field.cells.data.drop_vars(field.target), field.cells.dims)
    rows = plan.rows(model, whole, known)
    values = whole.array(field.target)[known].astype(np.float64)
    holes = ~known
    if where is not None:
        wanted = where.broadcast_like(field.values).transpose(*field.cells.dims).values
        holes &= wanted
    hidden, shape = _hidden(known, holes, np.random.default_rng(seed))
    if hidden.sum() < LEAST:
        return f"only {int(known.sum()):,} cells have a value"
    gone = hidden[known]
    X = model[:-1].transform(rows) if isinstance(model, Pipeline) and len(model) > 1 else rows
    part = learner.refitted(take(X, np.flatnonzero(~gone)), values[~gone])
    test = np.flatnonzero(gone)
    if len(test) > MOST:
        test = np.sort(np.random.default_rng(seed).choice(test, MOST, replace=False))
    truth, there = values[test], take(X, test)
    error = np.asarray(part.predict(there), np.float64) - truth
    lower, upper = part.predict_interval(there, coverage)
    inside = float(np.mean((lower <= truth) & (truth <= upper)))
    return HiddenCheck(len(test), float(np.sqrt(np.mean(error**2))), inside, shape)


def _known(field: Field) -> Array:
    """Tell which cells have a value, and covariates: [*shape]."""
    cells = field.cells
    known = np.zeros(tuple(cells.data.sizes[dim] for dim in cells.dims), dtype=bool)
    for index, block in blocks_of(cells.data, cells.dims):
        place = tuple(index[dim] for dim in cells.dims)
        known[place] = cells.block(block).known([field.target, *cells.covariates])
    return known


def _hidden(known: Array, holes: Array, rng: Any) -> tuple[Array, str]:
    """Return known cells in the shape of the holes, or a tenth of them at random."""
    axes = tuple(range(max(0, known.ndim - 2), known.ndim))
    best = np.zeros_like(known)
    most = SHARE * known.sum()
    for _ in range(SHIFTS if holes.any() else 0):
        steps = tuple(int(rng.integers(known.shape[axis])) for axis in axes)
        hidden = np.roll(holes, steps, axes) & known
        if best.sum() < hidden.sum() <= most:
            best = hidden
    if best.sum() >= LEAST:
        return best, "the shape of the holes, moved"
    chosen = known & (rng.random(known.shape) < 0.1)
    return chosen, "a tenth at random"
