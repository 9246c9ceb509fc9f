"""Moments of rows in a feature space, summed block by block on all cores."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._typing import Array, FloatArray
from ..moments import Moments
from ..rows import Block, sample_rows
from ..rows.block import take
from ..rows.buffers import Scratch
from ..rows.progress import progress
from ..rows.threads import ordered_map
from .space import SHIFT_ROWS, FeatureSpace

__all__ = ["moments_of_rows", "start_of_moments"]

# Products of features, in bytes, from which there is one at a time, by all threads of BLAS.
WIDE_BYTES = 1 << 28


def start_of_moments(space: FeatureSpace, X: Any, Y: Array) -> FloatArray:
    """Return the mean features and targets of some rows, the shift of all moments."""
    chosen = sample_rows(_num_samples(X), SHIFT_ROWS)
    return np.concatenate([space.mean(X), Y[chosen].mean(axis=0, dtype=np.float64)])


def moments_of_rows(
    space: FeatureSpace,
    block: Block,
    labels: npt.NDArray[np.intp] | None,
    shift: FloatArray,
    n_groups: int = 1,
    description: str = "",
) -> list[Moments]:
    """Sum the moments of rows, for each group of them.

    Parameters
    ----------
    space : FeatureSpace
    block : Block
        Checked rows, with targets [n, t].
    labels : ndarray of int, of shape (n,), or None
        The group of each row; None: all in the first.
    shift : ndarray of shape (n_columns + t,)
        What the moments are about.
    n_groups : int
    description : str
        Shown beside a progress bar, if not empty.

    Returns
    -------
    list of Moments
    """
    X, Y, weight = block.parts
    n_targets = Y.shape[1]
    form = space.narrow(len(block))
    own_shift = shift if form.mixing is None else start_of_moments(form, X, Y)
    groups = [Moments(own_shift, n_targets) for _ in range(n_groups)]
    scratch = Scratch(), Scratch()

    def work(job: tuple[int, npt.NDArray[np.intp]]) -> tuple[int, Array, Array]:
        group, chosen = job
        weights = None if weight is None else weight[chosen]
        Z = form.fill(_rows(X, chosen), scratch[0])
        rows = _augmented(Z, Y[chosen], weights, groups[group], scratch[1])
        return group, _products(rows), rows[:, -1].copy()

    # Each thread takes rows all the way from X to their products; the sums are taken in order,
    # so that they do not depend on the threads.
    shown = progress(_jobs(form, block, labels, n_groups), bool(description), description)
    # A few wide products at a time would fill the memory.
    n_threads = 1 if groups[0].gram.nbytes > WIDE_BYTES else form.n_threads
    for group, *products in ordered_map(work, shown, n_threads):
        groups[group].add(*products)
    if form.mixing is None:
        return groups
    return [part.mixed(form.mixing).shifted(shift) for part in groups]


def _jobs(
    space: FeatureSpace, block: Block, labels: npt.NDArray[np.intp] | None, n_groups: int
) -> list[tuple[int, npt.NDArray[np.intp]]]:
    """Cut rows into blocks of one group: smaller ones would have more products to add."""
    numbers = (
        [np.arange(len(block))]
        if labels is None
        else [np.flatnonzero(labels == group) for group in range(n_groups)]
    )
    jobs = [
        (group, chosen[rows])
        for group, chosen in enumerate(numbers)
        for rows in space.slices(block.X, block.y.shape[1], len(chosen))
    ]
    return sorted(jobs, key=lambda job: job[1][0])  # groups side by side, so that X is read once


def _augmented(
    Z: Array, Y: Array, weight: FloatArray | None, moments: Moments, scratch: Scratch
) -> Array:
    """Return rows (z - a, y - b, 1) √w, in one matrix.

    The features are not written to their place at once: compiled code is several times faster
    where rows follow each other in memory, and the shift has to be subtracted anyway.
    """
    width = moments.n_features
    if Z.shape[1] != width:
        raise ValueError(
            f"The features of this chunk have {Z.shape[1]} columns, but those of the first had "
            f"{width}: all chunks must have the same columns."
        )
    Y = Y - moments.shift[width:]
    dtype = Z.dtype if _is_moderate(Y) and _is_moderate(weight) else np.dtype(np.float64)
    rows = scratch.array((len(Z), len(moments.shift) + 1), dtype)
    np.subtract(Z, moments.shift[:width].astype(dtype), out=rows[:, :width])
    rows[:, width:-1] = Y
    rows[:, -1] = 1
    if weight is not None:
        rows *= np.sqrt(weight)[:, None].astype(dtype)
    return rows


def _products(rows: Array) -> Array:
    """Return the products of all columns; in float64 where they are beyond the range of float32."""
    with np.errstate(over="ignore", invalid="ignore"):
        products = rows.T @ rows
    if np.isfinite(products).all():
        return products
    with np.errstate(over="ignore", invalid="ignore"):
        products = rows.T.astype(np.float64) @ rows.astype(np.float64)
    if not np.isfinite(products).all():
        raise ValueError(
            f"Squares of features, targets or weights up to {np.abs(rows).max():.3g} overflow: "
            "scale the rows or the targets down."
        )
    return products


def _is_moderate(values: Array | None) -> bool:
    """Tell whether sums of squares of these numbers are well within the range of float32."""
    if values is None:
        return True
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    return bool(largest == 0 or 1e-12 < largest < 1e12)


def _rows(X: Any, numbers: npt.NDArray[np.intp]) -> Any:
    """Take rows by ascending numbers: a slice, which copies nothing, where none is left out."""
    first, last = int(numbers[0]), int(numbers[-1])
    if last - first + 1 == len(numbers):
        return take(X, slice(first, last + 1))
    return _safe_indexing(X, numbers)
