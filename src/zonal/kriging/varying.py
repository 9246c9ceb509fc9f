"""Fields that are not the same everywhere: what varies is asked after a fit where nothing does.

First a standard deviation that varies with place (`amplitude_search`). Then, of what features leave
of the targets over it, whether places are moved (`warp_search`). Between places that are moved the
whole search is repeated, and the evidence of the same rows decides. That is the price of a warp:
what is left of a field may prefer one where the field does not, for its features are found anew.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from .._deadline import Deadline
from .amplitude_search import with_amplitude
from .effort import FEW_NEIGHBORS, FIRST_ROWS
from .locations import Locations
from .search import Found
from .unexplained import log_evidence
from .warp import n_moves
from .warp_search import find_warp

__all__ = ["varying"]


def varying(
    locations: Locations,
    search: Callable[[Locations], Found],
    n_neighbors: int,
    *,
    varies: bool,
    warps: bool,
    in_time: bool = False,
    verbose: bool = False,
    deadline: Deadline | None = None,
) -> Found:
    """Find parameters, and what varies with place where the evidence gains by it.

    Parameters
    ----------
    locations : Locations
        All rows, with targets that are about zero.
    search : callable
        Finds parameters that are the same everywhere.
    n_neighbors : int
        Of predictions.
    varies, warps : bool
        Whether the standard deviation may vary, and whether places may be moved.
    in_time : bool
        Whether the last column is a time. Then no place is moved: kernels of space and time have
        terms along the latitude.
    verbose : bool
    deadline : Deadline, optional
        How long it may take.
    """
    deadline = deadline or Deadline()

    def found_at(places: Locations) -> Found:
        found = search(places)
        if not varies or not deadline.allows("a standard deviation that varies with place"):
            return found
        return with_amplitude(places, found, n_neighbors, in_time=in_time, verbose=verbose)

    found = found_at(locations)
    if not warps or in_time or not deadline.allows("places that are moved"):
        return found
    warp = find_warp(locations, found, verbose=verbose)
    if warp is None:
        return found
    moved = locations.moved(warp.transform(locations.rows))
    other = found_at(moved)
    first, there = locations.head(FIRST_ROWS), moved.head(FIRST_ROWS)
    value = log_evidence(first, found, FEW_NEIGHBORS)
    price = n_moves(warp.surface) * math.log(len(first)) / 2  # Schwarz's
    gain = log_evidence(there, other, FEW_NEIGHBORS) - value - price
    if verbose:
        print(f"between places that are moved: {gain:.2f} beyond the price")
    return replace(other, warp=warp) if gain > 0 else found
