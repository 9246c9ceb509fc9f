"""Which rows are gathered, and which stay where they are: the one place that decides it.

A model with a local part needs its rows. Few are gathered; more stay, and are sorted into parts;
where the model cannot be one of parts (a splitter, errors of each row, a kernel without a metric),
more are gathered, and what is too much for one place is an error.
"""

from typing import Any

import numpy as np

from ..rows import Block, Source, source_of
from ..rows.kept import GATHERED_BYTES, KEPT_BYTES, n_bytes
from ..rows.large import LargeSource
from ..rows.progress import phase

__all__ = ["check_gathering", "gathered", "left_in_place", "refuse_gathering"]


def left_in_place(X: Any, y: Any, weight: Any) -> LargeSource | None:
    """Return the rows of an array as a source where they stay; None where they are few enough.

    Parameters
    ----------
    X, y, weight
        As `fit` takes them.
    """
    if not isinstance(X, np.ndarray) or X.nbytes <= KEPT_BYTES:
        return None
    return LargeSource(source_of(X, np.asarray(y), weight))


def gathered(source: Source, stays: bool, verbose: bool = False) -> Block | Source:
    """Return all rows as one block, or a source of rows that are too many for that.

    Parameters
    ----------
    source : Source
    stays : bool
        Whether the model may be one of parts, so that little has to be gathered.
    verbose : bool
        Whether what is gathered is said.
    """
    held = source.hold(GATHERED_BYTES if stays else KEPT_BYTES)
    if held is None:
        return LargeSource(source) if stays else source
    phase(f"gathered {len(held):,} rows, {n_bytes(held) / 1e6:,.1f} MB", verbose)
    return held


def refuse_gathering(owner: str) -> None:
    """Raise ValueError: rows are too many for a local part that cannot be one of parts.

    Parameters
    ----------
    owner : str
        The class of the learner.
    """
    raise ValueError(
        f"The local part of {owner} keeps all rows in memory, but they take more than "
        f"{KEPT_BYTES / 2**30:.3g} GB. Classes, other likelihoods, splitters as cv and "
        "noise_variance are not fitted in parts: use fewer rows or local=None."
    )


def check_gathering(pilot: Block, n_rows: int, verbose: bool = False) -> None:
    """Raise ValueError if rows are too many for a model that cannot be one of parts.

    Parameters
    ----------
    pilot : Block
        A sample of the rows.
    n_rows : int
        How many there are in all.
    verbose : bool
        Whether what is gathered is said.
    """
    size = n_bytes(pilot) * n_rows // len(pilot)
    if size > KEPT_BYTES:
        raise ValueError(
            f"A local part whose kernel has no metric keeps all rows in memory, but they take "
            f"{size / 1e9:.1f} GB: use local=None, or another kernel."
        )
    phase(f"gathering {n_rows:,} rows, {size / 1e6:,.1f} MB", verbose)
