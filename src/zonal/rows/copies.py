"""What weights mean, and rows that are given more than once.

A weight is a relative precision: the noise of row i has the variance σ²/w_i, where the weights have
the mean one over the rows that count. So constant weights change nothing. Rows that agree in
everything are copies, and one row with the sum of their weights: a copy is no second observation,
which would be proof that there is no noise. Targets such as ratings agree by chance, though: where
the targets of equal rows differ, those that agree are copies only if no other row has that target.
Intervals are for new rows that come as often as the known ones: weights that are whole multiples of
the least, which most rows have, are numbers of copies, of which one is left out.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import _num_samples

from .._typing import FloatArray
from .hashing import row_hash
from .levels import levels_of

__all__ = ["content_hash", "merge_copies", "one_of_many", "relative_weights", "seen"]

Hashes = npt.NDArray[np.uint64]

# Of weights that are multiples of each other.
ROUNDING = 1e-9


def merge_copies(X: Any, y: Any, weight: FloatArray | None = None) -> FloatArray | None:
    """Return weights in which the first of some copies has the weight of all, the others none.

    Parameters
    ----------
    X : array, CSR matrix or frame of shape (n, d)
    y : array of shape (n,) or (n, t)
        Numbers or labels.
    weight : ndarray of shape (n,), optional

    Returns
    -------
    ndarray of shape (n,) or None
        The weights as they were where no row of positive weight has a copy.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.rows.copies import merge_copies
    >>> merge_copies(np.array([[1.0], [2.0], [1.0], [3.0], [3.0]]), np.array([5, 5, 5, 6, 7]))
    array([2., 1., 0., 1., 1.])
    """
    n_rows = _num_samples(X)
    counting = np.arange(n_rows) if weight is None else np.flatnonzero(weight)
    content = content_hash(X)
    counting, others = _repeated(content, counting)
    if not len(counting):
        return weight
    place = np.unique(content[counting], return_inverse=True)[1]
    hashes = _hash_columns(np.asarray(y).reshape(n_rows, -1).T, n_rows)
    targets, target = np.unique(hashes[counting], return_inverse=True)
    elsewhere = np.bincount(_place_of(hashes[others], targets), minlength=len(targets) + 1)
    _, first, pair = np.unique(
        place * (target.max() + 1) + target, return_index=True, return_inverse=True
    )
    alone = np.bincount(place[first]) == 1  # places with one target
    once = np.bincount(target[first]) + elsewhere[:-1] == 1  # targets of one place
    copies = alone[place[first]] | once[target[first]]
    merged = np.ones(n_rows) if weight is None else np.array(weight, np.float64)
    together = np.bincount(pair, merged[counting])
    merged[counting[copies[pair]]] = 0.0
    merged[counting[first[copies]]] = together[copies]
    return merged if (merged[counting] == 0).any() else weight


def _repeated(content: Hashes, counting: npt.NDArray[np.intp]) -> tuple[Any, Any]:
    """Return the numbers of rows whose content occurs more than once, and of all others.

    Few do in most tables, and what follows takes much longer a row than this.
    """
    ordered = np.sort(content[counting])
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    again = _place_of(content[counting], twice) < len(twice)
    return counting[again], counting[~again]


def _place_of(values: Hashes, known: Hashes) -> npt.NDArray[np.intp]:
    """Return where values are among known ones, which are sorted; their number for all others."""
    if not len(known):
        return np.zeros(len(values), np.intp)
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[place] == values, place, len(known))


def content_hash(X: Any, seed: int = 0) -> Hashes:
    """A 64-bit hash of what is in each row, the same for float32 and float64: [n]."""
    n_rows = _num_samples(X)
    if not hasattr(X, "indptr"):
        return _hash_columns(_columns(X), n_rows, seed)
    entries = row_hash(row_hash(X.indices) + _bits(X.data))
    entries[X.data == 0] = 0
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return row_hash(sums[X.indptr[1:]] - sums[X.indptr[:-1]] + np.uint64(seed))


def relative_weights(
    X: Any, y: Any, weight: FloatArray | None = None, *, merge: bool = False
) -> FloatArray | None:
    """Return weights of mean one over the rows that count, of which copies are one.

    Copies keep their own weights, for whoever splits the rows, or are merged. None: all rows have
    the weight one.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.rows.copies import relative_weights
    >>> relative_weights(np.array([[1.0], [2.0], [3.0]]), np.zeros(3), np.array([0.0, 2.0, 6.0]))
    array([0. , 0.5, 1.5])
    """
    merged = merge_copies(X, y, weight)
    if merged is None:
        return None
    share = merged / merged.max()  # so that no sum of weights overflows
    positive = share[share > 0]
    # Exactly, so that constant weights change not even the rounding.
    unit = merged.max() * (1.0 if (positive == positive[0]).all() else positive.mean())
    own = merged if merge or weight is merged else weight
    found = (np.ones(len(merged)) if own is None else own) / unit
    return None if (found == 1).all() else found


def one_of_many(weight: FloatArray) -> float:
    """Return the weight of one copy where weights are numbers of copies: multiples of the least.

    Infinity where they are not, or where all are one, which is the mean of all rows: where those of
    a sample are less, rows that are many are not in it. Most rows must have the least weight: one
    row that counts half does not make all others two. (Of 150 rows, one of which had the weight .5
    and the others 1, intervals of 90 % from all copies but one held 65 to 73 %.)

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.rows.copies import one_of_many
    >>> one_of_many(np.array([0.5, 1.5, 0.5])), one_of_many(np.array([0.5, 0.8, 0.5]))
    (0.5, inf)
    >>> one_of_many(np.array([0.5, 1.0, 1.0]))
    inf
    """
    least = float(weight.min(initial=np.inf))
    if np.count_nonzero(weight <= least * (1 + ROUNDING)) < len(weight) / 2:
        return np.inf
    counts = weight / least
    whole = np.rint(counts)
    off = np.abs(counts - whole).max(initial=0.0)
    differ = abs(least - 1) > ROUNDING or whole.max(initial=1.0) > 1
    return least if differ and off <= ROUNDING * whole.max(initial=1.0) else np.inf


def seen(weight: FloatArray, total: float) -> FloatArray:
    """Return how much rows of a sample count, of all rows with a sum of weights.

    A share of n random rows is known to within 1/√n. A row that is a larger part of the sample is
    there by chance, and has the part of all rows that it is.

    Examples
    --------
    >>> import numpy as np
    >>> from zonal.rows.copies import seen
    >>> found = seen(np.array([1.0] * 99 + [250.0]), 1000.0)
    >>> found[:99].tolist() == [1.0] * 99, round(float(found[99] / found.sum()), 6)
    (True, 0.25)
    """
    part = float(weight.sum())
    large = weight > part / math.sqrt(max(len(weight), 1))
    if not large.any() or part >= total * (1 - ROUNDING):
        return weight
    others = float(weight[~large].sum()) / (total - float(weight[large].sum()))
    return np.where(large, weight * others, weight)


def _hash_columns(columns: Any, n_rows: int, seed: int = 0) -> Hashes:
    hashes = np.full(n_rows, seed, np.uint64)
    for column in columns:
        hashes = row_hash(hashes + _bits(column))
    return hashes


def _columns(X: Any) -> Iterator[Any]:
    """Yield the columns of an array, or of a frame of pandas, polars or pyarrow."""
    if hasattr(X, "iloc"):
        return (X.iloc[:, number] for number in range(X.shape[1]))
    if hasattr(X, "get_columns"):
        return iter(X.get_columns())
    return iter(X.itercolumns() if hasattr(X, "itercolumns") else np.asarray(X).T)


def _bits(column: Any) -> Hashes:
    """Return 64 bits for each value of a column, equal where the values are."""
    values = np.asarray(column)
    if values.dtype.kind in "fbiu" and values.dtype.itemsize <= 8:
        return (np.asarray(values, np.float64) + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    if values.dtype.kind in "mM":
        return values.astype(np.int64).view(np.uint64)
    listed = values.tolist()
    if set(map(type, listed)) != {str}:
        # Two values may be equal and not the same, as 1 and True are: their names tell them apart.
        # No string equals anything else.
        listed = [v if type(v) is str else (repr(v),) for v in listed]
    return levels_of(listed)[1].astype(np.uint64)
