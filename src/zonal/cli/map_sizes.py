"""What a map will take, before it is made."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..rows.costs import duration
from .console import Screen
from .errors import CommandError

__all__ = ["announce_map", "check_bytes", "thinned"]

# Below so many cells a map takes seconds: the globe at 0.25°, four times as many, takes 15 to 60 s.
SMALL = 1 << 18
# What a person wants to be asked about.
LONG_SECONDS, LARGE_BYTES = 600.0, 1e9
# Cells of two samples by which the time is measured: their difference leaves out what every call
# costs. Of the first alone, 1,038,240 cells that took 10 s were estimated at 5 minutes.
FEW, MANY = 100, 20_000


def thinned(grid: Any, dims: Any, n_cells: int) -> Any:
    """Return a grid with about so many evenly spaced cells."""
    sizes = dict.fromkeys(dims, 1)
    left, budget = sorted(dims, key=lambda dim: int(grid.sizes[dim])), float(n_cells)
    for place, dim in enumerate(left):  # short dimensions leave more to the others
        sizes[dim] = min(int(grid.sizes[dim]), max(1, round(budget ** (1 / (len(left) - place)))))
        budget /= sizes[dim]
    return grid.isel({
        dim: np.unique(np.linspace(0, grid.sizes[dim] - 1, size).round().astype(int))
        for dim, size in sizes.items()
    })  # fmt: skip


def check_bytes(what: str, n_cells: int, n_bytes: float, *, yes: bool, advice: str) -> None:
    """Raise an error for a large result that is not known to be wanted; see `announce_map`."""
    if not yes and n_bytes > LARGE_BYTES:
        raise CommandError(
            f"{what} has {n_cells:,} cells, {_size(n_bytes)} before compression. {advice} Or add "
            "--yes if that is what you want."
        )


def announce_map(
    screen: Screen,
    what: str,
    n_cells: int,
    n_bytes: float,
    sample: Callable[[int], Any],
    *,
    yes: bool,
    advice: str,
) -> None:
    """Say how many cells a map has and what it takes; a large one needs to be wanted.

    Parameters
    ----------
    screen : Screen
    what : str
        The beginning of the sentence, such as "The map".
    n_cells : int
        The cells that are predicted.
    n_bytes : float
        The size of the result, not compressed.
    sample : callable
        Predicts about so many cells of the map and returns them, to measure the time.
    yes : bool
        Whether a large map is wanted.
    advice : str
        How it could be smaller.
    """
    if n_cells <= SMALL:
        return
    with screen.stage("Estimating"):
        sample(FEW)  # whatever is found or compiled once is not counted
        times: dict[int, float] = {}
        sizes: dict[int, int] = {}
        for count in (FEW, MANY, FEW):
            start = time.perf_counter()
            sizes[count] = int(sample(count).size)
            times[count] = min(time.perf_counter() - start, times.get(count, np.inf))
        rate = max(times[MANY] - times[FEW], 0.0) / max(sizes[MANY] - sizes[FEW], 1)
        seconds = max(rate * n_cells, 1.0)  # less is not measured
    cost = (
        f"{what} has {n_cells:,} cells: about {duration(seconds)}, and {_size(n_bytes)} before "
        "compression."
    )
    if not yes and (seconds > LONG_SECONDS or n_bytes > LARGE_BYTES):
        raise CommandError(f"{cost} {advice} Or add --yes if that is what you want.")
    screen.note(cost)


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.0f} MB"
