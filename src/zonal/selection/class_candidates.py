"""The two candidates of classes in columns: kriged indicators, and landmarks of an ANOVA kernel.

Nothing is dropped here: the log loss weighs both when they are fitted to all rows
(`zonal.model.class_blend`).
"""

import time

import numpy as np

from .._validation import is_sparse
from ..features.nystroem import NystroemFeatures
from ..model.class_kernel import class_kernel
from ..rows.progress import phase
from .judge import Candidate
from .ladder import Ladder, Weighed
from .rows import Rows

__all__ = ["class_candidates", "has_class_candidates"]


def has_class_candidates(rows: Rows) -> bool:
    """Tell whether rows are columns of numbers, of which a product of kernels makes sense."""
    return rows.sphere is None and not is_sparse(rows.pilot.rows)


def class_candidates(ladder: Ladder, budget: int, seed: int) -> Weighed:
    """Return both candidates, as if they had the same weight.

    Parameters
    ----------
    ladder : Ladder
        Of the rows.
    budget : int
        The number of landmarks.
    seed : int
    """
    local = ladder.nearest_rows()
    if not ladder.deadline.allows("a kernel of classes"):
        return Weighed((local,))
    return Weighed((local, _landmarks(ladder, budget, seed)), (0.5, 0.5))


def _landmarks(ladder: Ladder, budget: int, seed: int) -> Candidate:
    """Find the kernel on the pilot; its line gets an error when it is fitted to all rows."""
    phase("finding a kernel of classes")
    start, pilot = time.perf_counter(), ladder.rows.pilot
    kernel = class_kernel(pilot.rows, np.asarray(ladder.rows.pilot_y), pilot.weights)
    width = min(budget, len(np.unique(pilot.rows, axis=0)))
    features = NystroemFeatures(kernel, width, sampling="uniform", random_state=seed)
    features.fit(pilot.rows, sample_weight=pilot.weights)
    seconds = time.perf_counter() - start
    columns = len(features.get_feature_names_out())
    line = ladder.log.add(
        5,
        "nystroem, uniform",
        rows=len(pilot.rows),
        columns=columns,
        seconds=seconds,
        kernel="anova",
    )
    nothing = np.empty(0)
    return Candidate(
        "nystroem, uniform", nothing, nothing, (), features=features, seconds=seconds, line=line
    )
