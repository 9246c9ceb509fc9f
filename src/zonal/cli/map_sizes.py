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
# Cells along each dimension by which the time is measured.
SAMPLE = 40


def thinned(grid: Any, dims: Any) -> Any:
    """Return a grid with a few evenly spaced entries along its dimensions."""
    return grid.isel({
        dim: np.unique(np.linspace(0, grid.sizes[dim] - 1, SAMPLE).round().astype(int))
        for dim in dims
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
    sample: Callable[[], Any],
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
        Predicts some cells of the map and returns them, to measure the time.
    yes : bool
        Whether a large map is wanted.
    advice : str
        How it could be smaller.
    """
    if n_cells <= SMALL:
        return
    with screen.stage("Estimating"):
        sample()  # whatever is found or compiled once is not counted
        start = time.perf_counter()
        n_sampled = int(sample().size)
        seconds = (time.perf_counter() - start) / n_sampled * n_cells
    cost = (
        f"{what} has {n_cells:,} cells: about {duration(seconds)}, and {_size(n_bytes)} before "
        "compression."
    )
    if not yes and (seconds > LONG_SECONDS or n_bytes > LARGE_BYTES):
        raise CommandError(f"{cost} {advice} Or add --yes if that is what you want.")
    screen.note(cost)


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.0f} MB"
