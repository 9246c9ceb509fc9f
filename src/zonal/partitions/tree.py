"""A tree of boxes over the places of a part, kept in its files: finding a few reads few of them.

A tree that is made anew for every call costs as much as all places together, however few queries
there are. This one is made once, when a part is written. Node i has the children 2i + 1 and
2i + 2; of n places in their order, node j of level l holds those from n j / 2^l up to
n (j + 1) / 2^l, so that boxes are all that is kept of the nodes.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from .._typing import Array, FloatArray
from ..engines.correlation import FARTHEST

__all__ = ["Tree", "search"]

# Places of a leaf, at most.
LEAF = 32


class Tree(NamedTuple):
    """Places sorted into boxes.

    Attributes
    ----------
    order : ndarray of shape (n,), int32
        Numbers of places, leaf by leaf.
    boxes : ndarray of shape (2^(depth + 1) - 1, 2, d)
        The lowest and the highest coordinates of the places of each node.
    """

    order: npt.NDArray[np.int32]
    boxes: FloatArray

    @classmethod
    def of(cls, points: FloatArray) -> "Tree":
        """Cut the widest column of each node in the middle of its places.

        Parameters
        ----------
        points : ndarray of shape (n, d)
            In units of the length scales.

        Examples
        --------
        >>> import numpy as np
        >>> from zonal.partitions.tree import Tree
        >>> tree = Tree.of(np.arange(64.0)[:, None])
        >>> tree.boxes[:, :, 0].tolist()
        [[0.0, 63.0], [0.0, 31.0], [32.0, 63.0]]
        """
        n, dim = points.shape
        order = np.arange(n, dtype=np.int32)
        boxes = np.empty((cls.n_nodes(n), 2, dim))
        _cut(np.array(points, np.float64), order, boxes, len(boxes).bit_length() - 1)
        return cls(order, boxes)

    @staticmethod
    def n_nodes(n: int) -> int:
        """Return how many boxes n places have: two to a power, less one."""
        n_leaves = 1 << max(0, -(-n // LEAF) - 1).bit_length()
        return 2 * n_leaves - 1

    def fits(self, n: int, dim: int) -> bool:
        """Tell whether it is a tree of n places of so many columns."""
        n_nodes, n_places = len(self.boxes), len(self.order)
        return (
            self.order.dtype == np.int32
            and self.boxes.dtype == np.float64
            and self.order.shape == (n,)
            and self.boxes.shape[1:] == (2, dim)
            and (n_nodes + 1) & n_nodes == 0
            and n_nodes > 0
            and (not n_places or (self.order.min() >= 0 and self.order.max() < n))
        )


def search(
    tree: Tree,
    rows: Array,
    length_scale: FloatArray,
    queries: FloatArray,
    squares: FloatArray,
    numbers: npt.NDArray[np.int64],
    first: int,
) -> None:
    """Put the places of a part that are nearer than those known so far in their stead.

    Parameters
    ----------
    tree : Tree
    rows : ndarray of shape (n, d)
        The places of the part.
    length_scale : ndarray of shape (d,) or of no axes
        Their units.
    queries : ndarray of shape (q, d)
        In these units.
    squares : ndarray of shape (q, m)
        Squares of the distances to the nearest places so far, the nearest first; inf for none.
    numbers : ndarray of shape (q, m)
        What these places are called.
    first : int
        What the first place of the part is called; the others are counted from there.
    """
    scale = np.ascontiguousarray(np.broadcast_to(length_scale, rows.shape[1:]), np.float64)
    _search(tree.order, tree.boxes, rows, scale, queries, squares, numbers, first)


@njit(nogil=True, cache=True)
def _cut(points, order, boxes, depth):  # type: ignore[no-untyped-def]
    """Sort the order and the points with it, level by level, and find the boxes."""
    n, dim = points.shape
    for level in range(depth + 1):
        for j in range(1 << level):
            start, stop = (n * j) >> level, (n * (j + 1)) >> level
            box = boxes[(1 << level) - 1 + j]
            box[0], box[1] = np.inf, -np.inf
            for i in range(start, stop):
                for c in range(dim):
                    box[0, c] = min(box[0, c], points[i, c])
                    box[1, c] = max(box[1, c], points[i, c])
            if level < depth and stop - start > 1:
                middle = (n * (2 * j + 1)) >> (level + 1)
                _select(points, order, np.argmax(box[1] - box[0]), start, stop - 1, middle)


@njit(nogil=True, cache=True)
def _select(points, order, column, low, high, middle):  # type: ignore[no-untyped-def]
    """Select as Hoare does: nothing before the middle is larger than what is at or after it."""
    while low < high:
        pivot = points[(low + high) // 2, column]
        i, j = low, high
        while i <= j:
            while points[i, column] < pivot:
                i += 1
            while points[j, column] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                for c in range(points.shape[1]):
                    points[i, c], points[j, c] = points[j, c], points[i, c]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(nogil=True, cache=True)
def _away(box, query):  # type: ignore[no-untyped-def]
    """The square of the distance to a box."""
    total = 0.0
    for c in range(len(query)):
        outside = max(box[0, c] - query[c], query[c] - box[1, c], 0.0)
        total += outside * outside
    return total


@njit(nogil=True, cache=True)
def _search(order, boxes, rows, scale, queries, squares, numbers, first):  # type: ignore[no-untyped-def]
    n, dim = rows.shape
    n_inner, m = len(boxes) // 2, squares.shape[1]
    nodes, away = np.empty(64, np.int64), np.empty(64)
    for q in range(len(queries)):
        query, near, names = queries[q], squares[q], numbers[q]
        n_open = 1
        nodes[0], away[0] = 0, _away(boxes[0], query)
        while n_open:
            n_open -= 1
            node = nodes[n_open]
            if away[n_open] >= near[m - 1]:
                continue
            if node < n_inner:
                left, right = 2 * node + 1, 2 * node + 2
                a, b = _away(boxes[left], query), _away(boxes[right], query)
                if a < b:
                    left, right, a, b = right, left, b, a
                nodes[n_open], away[n_open] = left, a  # the farther one waits below
                nodes[n_open + 1], away[n_open + 1] = right, b
                n_open += 2
                continue
            leaf, n_leaves = node - n_inner, n_inner + 1
            for i in range(n * leaf // n_leaves, n * (leaf + 1) // n_leaves):
                total = 0.0
                for c in range(dim):
                    value = min(max(rows[order[i], c] / scale[c], -FARTHEST), FARTHEST)
                    total += (value - query[c]) ** 2
                if total < near[m - 1]:
                    k = m - 1
                    while k > 0 and near[k - 1] > total:
                        near[k], names[k] = near[k - 1], names[k - 1]
                        k -= 1
                    near[k], names[k] = total, first + order[i]
