"""Choosing rows by a fixed hash of their numbers, so that chunks and threads never matter."""

import numpy as np
import numpy.typing as npt

__all__ = ["LEARN_ROWS", "row_hash", "sample_rows"]

#: How many rows are looked at for whatever a map learns from data.
LEARN_ROWS = 10_000


def row_hash(numbers: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of row numbers (the finaliser of SplitMix64, Steele et al. 2014).

    Parameters
    ----------
    numbers : array-like of int
        Row numbers, counted from zero over all of the data.

    Returns
    -------
    ndarray of uint64

    Examples
    --------
    >>> from zonal.rows import row_hash
    >>> len(set((row_hash(range(1000)) % 2).tolist()))
    2
    """
    z = np.asarray(numbers, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def sample_rows(n_rows: int, size: int = LEARN_ROWS) -> npt.NDArray[np.intp]:
    """Row numbers of a sample: all rows if they are few, else those with the smallest hashes.

    A stream of unknown length keeps the same rows, whatever its chunks.

    Parameters
    ----------
    n_rows : int
        The number of rows there are.
    size : int
        The number of rows to take.

    Returns
    -------
    ndarray of int, increasing
    """
    if n_rows <= size:
        return np.arange(n_rows)
    return np.sort(np.argpartition(row_hash(np.arange(n_rows)), size)[:size])
