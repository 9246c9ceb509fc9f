"""Which rows become landmarks of a Nyström approximation: three sampling schemes.

All of them see distinct rows i with weights w_i, and through these the kernel matrix
B = W^½ K W^½: what repeated rows would give. None ever forms an n × n matrix.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from .._validation import is_sparse
from ..rows import row_hash
from ..rows.threads import block_slices
from .kernel_blocks import KernelFunction, kernel_diag, kernel_values, over_blocks
from .pivoted_cholesky import pivots

__all__ = [
    "SAMPLING",
    "choose_landmarks",
    "distinct_rows",
    "draw",
    "inclusion",
    "leverage_scores",
    "ridge",
    "whitening",
]

Indices = npt.NDArray[np.intp]

#: The names of the schemes.
SAMPLING = ("recursive", "uniform", "rpcholesky")
#: Numbers in the Cholesky factor of "rpcholesky", 800 MB.
MAX_FACTOR = 10**8
# Eigenvalues below this share of the largest are not told from zero in float64.
CUTOFF = 1e-15


def choose_landmarks(
    sampling: str,
    kernel: KernelFunction,
    X: Any,
    weights: FloatArray,
    size: int,
    rng: np.random.Generator,
) -> Indices:
    """Choose `size` row numbers by a scheme; fewer if "rpcholesky" needs no more.

    Parameters
    ----------
    sampling : {"recursive", "uniform", "rpcholesky"}
    kernel : callable
        kernel(rows, others), a matrix.
    X : ndarray or CSR matrix of shape (n, d)
        Distinct rows, more than `size`.
    weights : ndarray of shape (n,)
        Positive.
    size : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, increasing
    """
    if sampling == "uniform":
        return draw(inclusion(weights, size), rng)
    if sampling == "recursive":
        return np.sort(_recursive(kernel, X, weights, size, rng))
    # Rows come in the order of a hash, so that the first ones are a sample.
    n_rows = min(X.shape[0], max(MAX_FACTOR // size, size))
    return np.sort(pivots(kernel, X[:n_rows], weights[:n_rows], size, rng))


def distinct_rows(X: Any, weights: FloatArray) -> tuple[Indices, FloatArray]:
    """Return the distinct rows of positive weight, and the sums of their weights.

    They come in the order of a 64-bit hash of their contents, so that what is drawn depends
    neither on the order of the rows nor on whether they are repeated or weighted, dense or sparse.

    Returns
    -------
    indices : ndarray of int of shape (n_distinct,)
        The number of the first of the equal rows.
    totals : ndarray of shape (n_distinct,)
    """
    positive = np.flatnonzero(weights > 0)
    if len(positive) < len(weights):
        X = X[positive]
    _, first, inverse = np.unique(_contents(X), return_index=True, return_inverse=True)
    return positive[first], np.bincount(inverse, weights[positive]).astype(np.float64)


def _contents(X: Any) -> npt.NDArray[np.uint64]:
    """Return a hash of every row, the sum of its entries' hashes; zeros do not count."""

    def mix(values: Array, columns: Array) -> npt.NDArray[np.uint64]:
        bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # + 0.0 makes -0.0 a zero
        return row_hash(row_hash(bits) * (2 * row_hash(columns + 1) + np.uint64(1)))

    if is_sparse(X):
        # Sums of integers wrap around, so that differences of cumulative sums are exact.
        sums = np.zeros(len(X.data) + 1, np.uint64)
        np.cumsum(mix(X.data, X.indices), out=sums[1:])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    hashes = np.empty(X.shape[0], np.uint64)
    for part in block_slices(*X.shape):
        block = np.ascontiguousarray(X[part])
        hashes[part] = mix(block, np.arange(X.shape[1])).sum(axis=1, dtype=np.uint64)
    return hashes


def inclusion(scores: FloatArray, size: int) -> FloatArray:
    """Return probabilities p_i = min(1, c · score_i) that add up to `size`."""
    # Rows of score zero come last, but they do come if there are no others.
    scores = scores + max(1e-12 * scores.mean(), np.finfo(float).tiny)
    largest = np.sort(scores)[::-1]
    rest = np.cumsum(largest[::-1])[::-1]  # the sum from each on
    # With j probabilities at one, the others share size - j: take the first j that fits;
    # the last always does.
    j = int(np.argmax(largest[:size] * np.arange(size, 0, -1) <= rest[:size]))
    return np.minimum(1.0, scores * ((size - j) / rest[j]))


def draw(probabilities: FloatArray, rng: np.random.Generator) -> Indices:
    """Draw row i with probability p_i, Σ p_i rows in all: systematic, in random order.

    Returns
    -------
    ndarray of int, increasing
    """
    order = rng.permutation(len(probabilities))
    size = round(probabilities.sum())
    edges = np.cumsum(probabilities[order])
    edges *= size / edges[-1]
    steps = np.floor(edges - (1 - rng.random())).clip(max=size - 1)  # from -1 on
    return np.sort(order[np.diff(steps, prepend=-1) > 0])


def _recursive(
    kernel: KernelFunction, X: Any, weights: FloatArray, size: int, rng: np.random.Generator
) -> Indices:
    """Draw by recursive ridge leverage scores (Musco and Musco 2017, Algorithm 3).

    The rows are halved, at random, down to `size`. On the way up each half gives the scores
    of the whole, and these the next, importance-weighted sample.
    """
    order = rng.permutation(X.shape[0])
    levels = [len(order)]
    while levels[-1] > size:
        levels.append(-(-levels[-1] // 2))
    chosen = order[: levels.pop()]
    scales = np.sqrt(weights[chosen])
    while levels:
        rows = order[: levels.pop()]
        lam, factor = ridge(kernel, X[chosen], scales, size)
        scores = leverage_scores(kernel, X[rows], weights[rows], X[chosen], factor, lam)
        probabilities = inclusion(scores, size)
        drawn = draw(probabilities, rng)
        chosen = rows[drawn]
        scales = np.sqrt(weights[chosen] / probabilities[drawn])
    return chosen


def ridge(
    kernel: KernelFunction, landmarks: Any, scales: FloatArray, size: int
) -> tuple[float, FloatArray]:
    r"""Return the regularisation of one level, and the landmarks whitened with it.

    .. math::

        \lambda = \frac1k \sum_{i>k} \sigma_i(S^\top K S), \qquad k = \frac{s}{4 \log s}

    for the k that a sample of s rows can serve: twice k, the scores' sum, times log s.

    Returns
    -------
    lam : float
    factor : ndarray of shape (m, m)
        M with M Mᵀ = S (Sᵀ K S + λ)⁻¹ Sᵀ.
    """
    rows = landmarks.astype(np.float64)
    values, vectors = _eigen(kernel, rows, scales)
    values = np.maximum(values, 0.0)
    k = math.ceil(size / (4 * math.log(size))) if size > 1 else 1
    # Below that, the scores would be rounding errors.
    lam = max(values[k:].sum(), 1e-12 * values.sum(), np.finfo(float).tiny) / k
    return lam, scales[:, None] * vectors / np.sqrt(values + lam)


def leverage_scores(
    kernel: KernelFunction,
    X: Any,
    weights: FloatArray,
    landmarks: Any,
    factor: FloatArray,
    lam: float,
) -> FloatArray:
    r"""Return approximate ridge leverage scores of rows, at most one.

    .. math::

        \tilde\ell_i = \min\Bigl(1, \frac{3}{2\lambda}
        \bigl(K - K S (S^\top K S + \lambda)^{-1} S^\top K\bigr)_{ii}\Bigr)

    With a good S, at least :math:`\ell_i = (K (K + \lambda)^{-1})_{ii}`.

    Parameters
    ----------
    kernel : callable
    X : ndarray or CSR matrix of shape (n, d)
    weights : ndarray of shape (n,)
    landmarks : ndarray or CSR matrix of shape (m, d)
    factor : ndarray of shape (m, m)
        M of `ridge`.
    lam : float

    Returns
    -------
    ndarray of shape (n,)
    """
    landmarks = landmarks.astype(np.float64)
    scores = kernel_diag(kernel, X)

    def block(part: slice) -> None:
        V = kernel_values(kernel, X[part].astype(np.float64), landmarks) @ factor
        scores[part] -= np.einsum("ij,ij->i", V, V)

    over_blocks(block, X.shape[0], 2 * len(factor))
    return np.clip(1.5 / lam * weights * scores, 0.0, 1.0)


def whitening(kernel: KernelFunction, landmarks: Any) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues λ of the landmarks' kernel matrix above rounding, and U λ^-½.

    Returns
    -------
    values : ndarray of shape (r,)
        Decreasing.
    factor : ndarray of shape (m, r)
        The sign of each column is such that its largest entry is positive.
    """
    rows = landmarks.astype(np.float64)
    values, vectors = _eigen(kernel, rows, np.ones(rows.shape[0]))
    if values[-1] < -1e-3 * values[0] or not values[0] > 0:
        raise ValueError(
            f"The kernel matrix of the landmarks has eigenvalues from {values[-1]:.3g} to "
            f"{values[0]:.3g}: there are no features Z with Z Zᵀ = K. Use a kernel that is "
            "positive definite, and not zero at all rows."
        )
    # No eigenvalue is negative but by rounding, and as large are the errors of all.
    keep = values > max(CUTOFF * values[0], -2 * values[-1])
    values, vectors = values[keep], vectors[:, keep]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))]
    return values, vectors * (np.sign(largest) / np.sqrt(values))


def _eigen(kernel: KernelFunction, rows: Any, scales: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues, decreasing, and eigenvectors of the scaled kernel matrix of rows."""
    matrix = scales[:, None] * kernel_values(kernel, rows, rows) * scales
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)  # unlike SciPy's, without the GIL
    return values[::-1], vectors[:, ::-1]
