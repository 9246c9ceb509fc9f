"""Sketches of tensor powers by a binary tree of degree-two sketches, drawn once for all rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.fft
import scipy.sparse as sp
from numba import njit

from ..._loaded import check_array, check_kind
from ..._typing import Array
from ..._validation import is_sparse

__all__ = ["Node", "SketchTree", "base_matrix", "fold", "hash_products", "pair_sketch", "plan_tree"]

# Non-zero entries of OSNAP in every row.
OSNAP_ENTRIES = 4
# Up to this many products u_i v_j a bucket, each is hashed on its own. It takes at most twice the
# time of three Fourier transforms there, and has a third of the variance.
DIRECT = 16
# Width of the inner nodes beside the widest degree: it costs time, but no columns.
INNER = 2


@dataclass(frozen=True, eq=False)
class _Leaf:
    """A base sketch of the rows: [b, d] to [b, width]."""

    width: int
    matrix: Any  # [d, width], or None for the rows themselves

    def fill(self, rows: Any, values: list[Array], out: Array) -> None:
        if self.matrix is None:
            out[:, rows.shape[1] :] = 0
            out[:, : rows.shape[1]] = rows.toarray() if is_sparse(rows) else rows
            return
        product = rows @ self.matrix
        out[:] = product.toarray() if is_sparse(product) else product


@dataclass(frozen=True, eq=False)
class _One:
    """The tensor power of degree zero."""

    width: int

    def fill(self, rows: Any, values: list[Array], out: Array) -> None:
        out[:] = 0
        out[:, 0] = 1


@dataclass(frozen=True, eq=False)
class _Direct:
    """u ⊗ v with its own bucket and sign for every product u_i v_j."""

    width: int
    left: int
    right: int
    buckets: npt.NDArray[np.int32]  # [n_left, n_right]
    signs: npt.NDArray[np.float32]

    def fill(self, rows: Any, values: list[Array], out: Array) -> None:
        hash_products(values[self.left], values[self.right], self.buckets, self.signs, out)

    def _check_loaded(self) -> None:
        check_array(self, "buckets", "i", (None, None), 0, self.width - 1)


@dataclass(frozen=True, eq=False)
class _TensorSketch:
    """u ⊗ v with buckets h(i) + g(j) modulo a length: the convolution of two count sketches.

    The length is one that Fourier transforms like, and the few buckets beyond the width are folded
    back: what shares a bucket still does, so that the sketch stays unbiased.
    """

    width: int
    left: int
    right: int
    length: int
    buckets: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]  # [1, n_left], [1, n_right]
    signs: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]

    def fill(self, rows: Any, values: list[Array], out: Array) -> None:
        one = np.ones((len(out), 1), out.dtype)
        counts = np.empty((len(out), self.length), out.dtype)
        hash_products(one, values[self.left], self.buckets[0], self.signs[0], counts)
        spectrum = scipy.fft.rfft(counts, axis=1)
        hash_products(one, values[self.right], self.buckets[1], self.signs[1], counts)
        spectrum *= scipy.fft.rfft(counts, axis=1)
        fold(scipy.fft.irfft(spectrum, self.length, axis=1, overwrite_x=True), out)

    def _check_loaded(self) -> None:
        for part in check_kind(self, "buckets", tuple):
            check_array(self, "buckets", "i", (1, None), 0, self.length - 1, value=part)


def fold(buckets: Array, out: Array) -> None:
    """Add the buckets beyond the width to the first ones: [b, length] to [b, width]."""
    width = out.shape[1]
    out[:] = buckets[:, :width]
    out[:, : buckets.shape[1] - width] += buckets[:, width:]


Node = _Leaf | _One | _Direct | _TensorSketch


@dataclass(frozen=True, eq=False)
class SketchTree:
    """Sketches of x^{⊗p} for several degrees p.

    Attributes
    ----------
    nodes : list
        The leaves and inner nodes that the roots share, children before their parents, who know
        them by their position.
    roots : list
        One node for every degree, whose values are the features.
    """

    nodes: list[Node]
    roots: list[Node]

    @property
    def n_numbers(self) -> int:
        """Intermediate numbers a row: all nodes, and the Fourier transforms of one."""
        return sum(node.width for node in self.nodes) + 4 * max(node.width for node in self.roots)

    def astype(self, dtype: npt.DTypeLike) -> "SketchTree":
        """Convert all base sketches to one precision, so that no block has to."""

        def cast(node: Node) -> Node:
            if not isinstance(node, _Leaf) or node.matrix is None:
                return node
            return _Leaf(node.width, node.matrix.astype(dtype, copy=False))

        return SketchTree([cast(node) for node in self.nodes], [cast(node) for node in self.roots])

    def fill(self, rows: Any, out: Array) -> None:
        """Fill the sketches [b, n_columns] of rows [b, d], degree after degree."""
        values: list[Array] = []
        for node in self.nodes:
            value = np.empty((rows.shape[0], node.width), rows.dtype)
            node.fill(rows, values, value)
            values.append(value)
        start = 0
        for root in self.roots:
            root.fill(rows, values, out[:, start : start + root.width])
            start += root.width

    def derivative(self, rows: Array, column: int) -> Array:
        """Return the sketches' derivatives with respect to one column: [b, n_columns]."""
        towards = np.zeros_like(rows)
        towards[:, column] = 1
        values: list[Array] = []
        slopes: list[Array] = []
        for node in self.nodes:
            slopes.append(_slope(node, towards, values, slopes))
            values.append(np.empty((len(rows), node.width), rows.dtype))
            node.fill(rows, values, values[-1])
        return np.concatenate([_slope(root, towards, values, slopes) for root in self.roots], 1)


def _slope(node: Node, towards: Array, values: list[Array], slopes: list[Array]) -> Array:
    """Return a node's derivative: a leaf is linear in the rows, a node in each child."""
    out = np.zeros((len(towards), node.width), towards.dtype)
    if isinstance(node, _Leaf):
        node.fill(towards, values, out)
    elif not isinstance(node, _One):
        pair, part = replace(node, left=0, right=1), np.empty_like(out)
        for children in (
            [slopes[node.left], values[node.right]],
            [values[node.left], slopes[node.right]],
        ):
            pair.fill(towards, children, part)
            out += part
    return out


def plan_tree(
    dim: int,
    degrees: list[int],
    widths: list[int],
    base: str,
    rng: np.random.Generator,
    *,
    exact: bool = True,
) -> SketchTree:
    """Draw all sketches.

    A node (start, length) stands for the leaves start, …, start + length - 1. It joins its largest
    proper subtree of 2ᵏ leaves with the rest, so that the degrees p, the nodes (0, p), have their
    subtrees in common, while no leaf serves two factors of one degree. A power that fits into an
    inner node is exact and the same for all starts: its start is -1.

    Parameters
    ----------
    dim : int
        d.
    degrees, widths : lists of int
        The degrees and the number of columns of each.
    base : {"count", "osnap", "srht"}
        The base sketch.
    rng : numpy.random.Generator
    exact : bool, default=True
        Whether powers that fit into their node are kept as they are; else all are sketched.
    """
    inner_width = int(scipy.fft.next_fast_len(INNER * max(widths), real=True))
    nodes: list[Node] = []
    positions: dict[tuple[int, int], int] = {}

    def node(start: int, length: int, width: int) -> Node:
        if length == 0:
            return _One(width)
        if length == 1:
            fits = exact and dim <= width
            return _Leaf(width, None if fits else base_matrix(base, dim, width, rng))
        half = 1 << ((length - 1).bit_length() - 1)
        left, right = inner(start, half), inner(start + half, length - half)
        sizes = nodes[left].width, nodes[right].width
        return pair_sketch(sizes, width, rng, (left, right), exact=exact)

    def inner(start: int, length: int) -> int:
        size = dim**length if exact else inner_width + 1
        key = (-1 if size <= inner_width else start, length)
        if key not in positions:
            nodes.append(node(*key, min(size, inner_width)))
            positions[key] = len(nodes) - 1
        return positions[key]

    roots = [node(0, degree, width) for degree, width in zip(degrees, widths, strict=True)]
    return SketchTree(nodes, roots)


def pair_sketch(
    sizes: tuple[int, int],
    width: int,
    rng: np.random.Generator,
    places: tuple[int, int] = (0, 1),
    *,
    exact: bool = True,
) -> Node:
    """Draw a sketch of u ⊗ v: exact if it fits, else with a bucket for each product, or by FFT.

    Parameters
    ----------
    sizes : tuple of int
        The lengths of u and v.
    width : int
        Of the sketch.
    rng : numpy.random.Generator
    places : tuple of int
        Where u and v are in the list of values that the node's `fill` gets.
    exact : bool, default=True
        Whether a product that fits is kept as it is.
    """
    if exact and sizes[0] * sizes[1] <= width:
        each = np.arange(sizes[0] * sizes[1], dtype=np.int32).reshape(sizes)
        return _Direct(width, *places, each, np.ones(sizes, np.float32))
    if sizes[0] * sizes[1] <= DIRECT * width:
        return _Direct(width, *places, *_hash(sizes, width, rng))
    n_buckets = int(scipy.fft.next_fast_len(width, real=True))
    (h, s), (g, t) = (_hash((1, size), n_buckets, rng) for size in sizes)
    return _TensorSketch(width, *places, n_buckets, (h, g), (s, t))


def base_matrix(kind: str, dim: int, width: int, rng: np.random.Generator) -> Any:
    """Draw a matrix S [d, width] with E[S Sᵀ] = I, sparse or (``"srht"``) dense."""
    if kind == "srht":
        # Random columns of the Hadamard matrix, whose entry (i, j) is the parity of i & j.
        n_columns = 1 << (dim - 1).bit_length()
        columns = rng.choice(n_columns, width, replace=width > n_columns)
        parity = np.arange(dim)[:, None] & columns
        for shift in (32, 16, 8, 4, 2, 1):
            parity ^= parity >> shift
        parity &= 1
        signs = rng.choice([-1.0, 1.0], (dim, 1)) / np.sqrt(width)
        return signs * (1.0 - 2.0 * parity)
    n_entries = min(OSNAP_ENTRIES, width) if kind == "osnap" else 1
    # The buckets of a row lie in different blocks of columns, so that none coincide.
    edges = np.linspace(0, width, n_entries + 1).astype(np.int64)
    buckets = rng.integers(edges[:-1], edges[1:], (dim, n_entries))
    values = rng.choice([-1.0, 1.0], (dim, n_entries)) / np.sqrt(n_entries)
    starts = np.arange(0, dim * n_entries + 1, n_entries)
    return sp.csr_array((values.ravel(), buckets.ravel(), starts), shape=(dim, width))


def _hash(
    shape: tuple[int, int], width: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Draw independent buckets and signs."""
    buckets = rng.integers(width, size=shape, dtype=np.int32)
    return buckets, rng.choice(np.array([-1.0, 1.0], np.float32), shape)


def hash_products(left: Array, right: Array, buckets: Array, signs: Array, out: Array) -> None:
    """Sum signs[i, j] left[r, i] right[r, j] over all (i, j) in a bucket: out[r, bucket].

    Releases the GIL. `left` is [b, n_left], `right` [b, n_right], `out` [b, width].
    """
    if (  # or compiled code would read and write beyond the end
        buckets.shape != (left.shape[1], right.shape[1])
        or signs.shape != buckets.shape
        or not len(left) == len(right) == len(out)
        or (buckets.size and not 0 <= buckets.min() <= buckets.max() < out.shape[1])
    ):
        raise ValueError(
            f"Buckets of shape {buckets.shape} and signs of shape {signs.shape} do not belong to "
            f"arrays of shapes {left.shape}, {right.shape} and {out.shape}."
        )
    _hash_products(left, right, buckets, signs, out)


@njit(nogil=True, fastmath=True, cache=True)
def _hash_products(left, right, buckets, signs, out):  # type: ignore[no-untyped-def]
    for row in range(left.shape[0]):
        for k in range(out.shape[1]):
            out[row, k] = 0
        for i in range(left.shape[1]):
            factor = left[row, i]
            for j in range(right.shape[1]):
                out[row, buckets[i, j]] += factor * signs[i, j] * right[row, j]
