"""The two candidates of a likelihood in columns: what least squares chooses, and an ANOVA kernel.

Nothing is dropped here: the likelihood weighs both when they are fitted to all rows
(`zonal.model.class_blend`; of counts and amounts the larger evidence decides).
"""

import time

import numpy as np

from .._validation import is_sparse
from ..features.nystroem import NystroemFeatures
from ..model.anova_kernel import Latent, anova_kernel
from ..rows import Block
from ..rows.progress import phase
from .judge import Candidate
from .ladder import Ladder, Weighed
from .rows import Rows

__all__ = ["has_latent_candidates", "latent_candidates"]


def has_latent_candidates(rows: Rows) -> bool:
    """Tell whether rows are columns of numbers, of which a product of kernels makes sense."""
    return rows.sphere is None and not is_sparse(rows.pilot.rows)


def latent_candidates(
    ladder: Ladder, latent: Latent, pilot: Block, budget: int, seed: int
) -> Weighed:
    """Return both candidates, as if they had the same weight.

    Parameters
    ----------
    ladder : Ladder
        Of the rows.
    latent : Latent
        How latent functions are fitted.
    pilot : Block
        The rows of the pilot with what is observed of them.
    budget : int
        The number of landmarks.
    seed : int
    """
    found = list(ladder.weighed(ladder.columns(), blend=False).candidates)
    if ladder.deadline.allows("an ANOVA kernel"):
        found.append(_landmarks(ladder, latent, pilot, budget, seed))
    share = 1 / len(found)
    for candidate in found:
        assert candidate.line is not None
        ladder.log.choose(candidate.line, share, share, share)
    return Weighed(tuple(found), (share,) * len(found))


def _landmarks(ladder: Ladder, latent: Latent, pilot: Block, budget: int, seed: int) -> Candidate:
    """Find the kernel on the pilot; its line gets an error when it is fitted to all rows."""
    phase("finding an ANOVA kernel")
    start, rows = time.perf_counter(), ladder.rows.pilot.rows
    kernel = anova_kernel(latent, pilot)
    width = min(budget, len(np.unique(rows, axis=0)))
    features = NystroemFeatures(kernel, width, sampling="uniform", random_state=seed)
    features.fit(rows, sample_weight=ladder.rows.pilot.weights)
    seconds = time.perf_counter() - start
    columns = len(features.get_feature_names_out())
    line = ladder.log.add(
        5,
        "nystroem, uniform",
        rows=len(rows),
        columns=columns,
        seconds=seconds,
        kernel="anova",
    )
    nothing = np.empty(0)
    return Candidate(
        "nystroem, uniform", nothing, nothing, (), features=features, seconds=seconds, line=line
    )
