"""PolySketch features: tensor powers sketched by a binary tree of degree-two sketches."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.fft
import scipy.sparse as sp
from numba import njit

from ..._typing import Array, FloatArray
from ..._validation import check_choice, check_count, is_sparse
from ...kernels.expansion.cut import average_taylor
from ...kernels.expansion.taylor import TaylorSeries, taylor_series
from ..training_sample import TrainingSample
from .taylor import TaylorFeatures, mean_square_radius, warn_if_cut

__all__ = ["PolySketchFeatures"]

# What the series may lose of k(x, x), averaged over the rows. The last degrees cost columns and
# noise: below this, an error of D^{-1/2} hides what they would add.
TOL = 1e-4
# Non-zero entries of OSNAP in every row.
OSNAP_ENTRIES = 4
# Up to this many products u_i v_j a bucket, each is hashed on its own. It takes at most twice the
# time of three Fourier transforms there, and has a third of the variance.
DIRECT = 16
# Width of the inner nodes beside the widest degree: it costs time, but no columns.
INNER = 2


class PolySketchFeatures(TaylorFeatures):
    r"""Oblivious sketches of all tensor powers of a kernel's Taylor series (Ahle et al., 2020).

    For :math:`k(x,y) = e^{-\beta(\|x\|^2+\|y\|^2)} \sum_j a_j \langle x,y\rangle^j` with
    :math:`a_j \ge 0`, the features are, for every degree j up to a cut-off,

    .. math::

        \sqrt{a_j}\; e^{-\beta\|x\|^2}\; \Pi^{(j)} x^{\otimes j}, \qquad
        \mathbb{E} \langle \Pi^{(j)} x^{\otimes j}, \Pi^{(j)} y^{\otimes j} \rangle
        = \langle x, y\rangle^j .

    :math:`\Pi^{(j)} x^{\otimes j}` is never formed: base sketches of x are the leaves of a binary
    tree, and each inner node is a sketch of the tensor product of its two children, so that the
    variance grows linearly with the degree (random Maclaurin features: exponentially). All
    sketches are independent of each other, and the degrees share the leaves and inner nodes.

    Parameters
    ----------
    kernel : Kernel or str, default="gaussian"
        A kernel with a Taylor series in ⟨x, y⟩: Gaussian, Exponential, Polynomial, DotProduct,
        their sums and products. Summands with different radial factors share the columns.
    n_components : int, default=1024
        The width D of the output, shared among the degrees in proportion to a_j R^{2j}, R² the
        mean squared norm of the rows, with at least one column each. No degree gets more than
        the dʲ that its tensor power has: with these it is *exact*, without any sketch (degree 0
        always; degree 1 if d columns fit its share; and so on). If all degrees are exact,
        columns of zeros follow.
    degree : int or "auto", default="auto"
        The largest degree. ``"auto"``: the smallest whose tail is below 1e-4 of the mean k(x, x),
        or the last that earns half a column, if that is lower; where there are more degrees than
        columns, those that matter most. An explicit degree needs as many columns as there are
        degrees.
    base_sketch : {"auto", "count", "osnap", "srht"}, default="auto"
        The sketches of x at the leaves. ``"count"``: one entry ±1 for each column of X.
        ``"osnap"``: four entries ±1/2. ``"srht"``: random signs and random columns of a Hadamard
        matrix, as a dense matrix: for dense rows. ``"auto"``: OSNAP, which takes time
        proportional to the non-zero entries. Leaves and inner nodes are twice as wide as the
        widest degree; up to that many columns of X need no base sketch, and have none.
    center : bool, array-like of shape (n_features,) or "auto", default="auto"
        What is subtracted from the rows: nothing, their mean or a given point. ``"auto"`` is the
        mean for shift-invariant kernels on dense data unless all norms agree to 1e-6.
    random_state : int, RandomState instance or None, default=None
        The seed.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters resolved to numbers.
    series_ : TaylorSeries
        What the features estimate without bias: E[Z Zᵀ] = ``series_(X - center_)``.
    degrees_ : ndarray of shape (n_pieces,)
        The degrees, ascending (twice where two summands of the kernel have different decay).
    widths_ : ndarray of shape (n_pieces,)
        The number of columns of each; their sum is `n_components`.
    center_ : ndarray of shape (n_features,)
        The point subtracted from all rows (zeros for none).
    n_features_in_ : int
        d.

    Notes
    -----
    A node whose children have few entries hashes all their products (a CountSketch of the tensor
    product); any other is a TensorSketch, by fast Fourier transforms. Learnt from data: the
    centre, the widths through R², and the cut-off unless `degree` is given.

    References
    ----------
    T. Ahle, M. Kapralov, J. Knudsen, R. Pagh, A. Velingker, D. Woodruff and A. Zandieh,
    "Oblivious Sketching of High-Degree Polynomial Kernels", SODA 2020.

    N. Pham and R. Pagh, "Fast and Scalable Polynomial Kernels via Explicit Feature Maps",
    KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((200, 20))
    >>> features = zonal.PolySketchFeatures(zonal.Gaussian(6.0), 512, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> features.degrees_, features.widths_
    (array([0, 1, 2, 3, 4]), array([  1,  20, 400,  79,  12]))
    >>> K = zonal.Gaussian(6.0)(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.01 * np.linalg.norm(K))
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 1024,
        *,
        degree: int | str = "auto",
        base_sketch: str = "auto",
        center: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.degree = degree
        self.base_sketch = base_sketch
        self.center = center
        self.random_state = random_state

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        name = type(self).__name__
        check_choice("base_sketch", self.base_sketch, ("auto", "count", "osnap", "srht"), name)
        if self.degree != "auto":
            check_count("degree", self.degree, name, minimum=0, extra=', or "auto"')
        norms = self._norms(sample)
        self.series_ = self._find_series(norms, sample.weights)
        self.degrees_ = self.series_.degrees
        self.widths_ = share_widths(
            self.series_.shares(mean_square_radius(norms, sample.weights)),
            [self.n_features_in_ ** int(degree) for degree in self.degrees_],
            self.n_components,
        )
        base = "osnap" if self.base_sketch == "auto" else self.base_sketch
        self._tree = plan_tree(
            self.n_features_in_,
            self.degrees_.tolist(),
            self.widths_.tolist(),
            base,
            np.random.default_rng(seed),
        )
        self._counts, self._log_scales = self.widths_, np.zeros(len(self.series_))
        return int(self.widths_.sum())

    def _find_series(self, norms: FloatArray, weights: FloatArray) -> TaylorSeries:
        name = type(self).__name__
        if not isinstance(self.degree, str):
            series = taylor_series(self.kernel_, int(self.degree), name)
            if len(series) > self.n_components:
                raise ValueError(
                    f"n_components={self.n_components} of {name} is less than the {len(series)} "
                    f"degrees up to degree={self.degree}, each of which needs a column: raise "
                    'n_components, lower degree, or use degree="auto".'
                )
            return series
        series, energy = average_taylor(self.kernel_, norms, weights, TOL, name)
        # Beyond the last degree that earns half a column there is nothing worth a sketch: a few
        # rows of large norm would else ask for a hundred degrees, each with a tree of its own.
        earned = series.degrees[energy * self.n_components >= 0.5]
        if len(earned):
            inside = series.degrees <= earned.max()
            series, energy = series[inside], energy[inside]
        largest = np.sort(np.argsort(-energy, kind="stable")[: self.n_components])
        series, energy = series[largest], energy[largest]
        warn_if_cut(self.kernel_, series, 1 - energy.sum(), self.n_components)
        return series

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        return self.n_columns + self._tree.n_numbers

    def _unit_features(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        return self._tree.astype(dtype).fill

    def _unit_gradients(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        tree = self._tree.astype(np.float64)
        values = np.empty((len(rows), self.n_columns))
        tree.fill(rows, values)
        gradients = np.empty((*values.shape, rows.shape[1]))
        for j in range(rows.shape[1]):
            gradients[:, :, j] = tree.derivative(rows, j)
        return values, gradients


def share_widths(shares: FloatArray, sizes: list[int], n_components: int) -> npt.NDArray[np.intp]:
    """Divide columns in proportion to shares, at least one each and no more than their sizes.

    Whatever is left when all have their size goes to the last.

    Examples
    --------
    >>> from zonal.features.baselines.polysketch import share_widths
    >>> share_widths([0.4, 0.4, 0.2], [1, 3, 9], 8)
    array([1, 3, 4])
    """
    shares = np.maximum(np.asarray(shares, dtype=np.float64), 1e-300)
    # One column each, and the rest in proportion; what one cannot use, the others share again.
    room = np.array([min(size, n_components) - 1 for size in sizes])
    extra = np.zeros(len(room))
    left = n_components - len(room)
    is_open = room > 0
    while is_open.any():
        extra[is_open] = left * shares[is_open] / shares[is_open].sum()
        full = is_open & (extra >= room)
        if not full.any():
            break
        extra[full] = room[full]
        left -= int(room[full].sum())
        is_open &= ~full
    widths = 1 + np.floor(extra).astype(np.intp)
    missing = n_components - int(widths.sum())
    if is_open.any():
        largest = np.argsort(np.floor(extra) - extra, kind="stable")[:missing]
        widths[largest] += 1
    else:
        widths[-1] += missing
    return widths


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
        product = scipy.fft.irfft(spectrum, self.length, axis=1, overwrite_x=True)
        out[:] = product[:, : self.width]
        out[:, : self.length - self.width] += product[:, self.width :]


_Node = _Leaf | _One | _Direct | _TensorSketch


@dataclass(frozen=True, eq=False)
class _Tree:
    """Sketches of x^{⊗p} for several degrees p.

    Attributes
    ----------
    nodes : list
        The leaves and inner nodes that the roots share, children before their parents, who know
        them by their position.
    roots : list
        One node for every degree, whose values are the features.
    """

    nodes: list[_Node]
    roots: list[_Node]

    @property
    def n_numbers(self) -> int:
        """Intermediate numbers a row: all nodes, and the Fourier transforms of one."""
        return sum(node.width for node in self.nodes) + 4 * max(node.width for node in self.roots)

    def astype(self, dtype: npt.DTypeLike) -> "_Tree":
        """Convert all base sketches to one precision, so that no block has to."""

        def cast(node: _Node) -> _Node:
            if not isinstance(node, _Leaf) or node.matrix is None:
                return node
            return _Leaf(node.width, node.matrix.astype(dtype, copy=False))

        return _Tree([cast(node) for node in self.nodes], [cast(node) for node in self.roots])

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


def _slope(node: _Node, towards: Array, values: list[Array], slopes: list[Array]) -> Array:
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
    dim: int, degrees: list[int], widths: list[int], base: str, rng: np.random.Generator
) -> _Tree:
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
    """
    inner_width = int(scipy.fft.next_fast_len(INNER * max(widths), real=True))
    nodes: list[_Node] = []
    positions: dict[tuple[int, int], int] = {}

    def node(start: int, length: int, width: int) -> _Node:
        if length == 0:
            return _One(width)
        if length == 1:
            return _Leaf(width, None if dim <= width else base_matrix(base, dim, width, rng))
        half = 1 << ((length - 1).bit_length() - 1)
        left, right = inner(start, half), inner(start + half, length - half)
        sizes = nodes[left].width, nodes[right].width
        if sizes[0] * sizes[1] <= width:
            each = np.arange(sizes[0] * sizes[1], dtype=np.int32).reshape(sizes)
            return _Direct(width, left, right, each, np.ones(sizes, np.float32))
        if sizes[0] * sizes[1] <= DIRECT * width:
            return _Direct(width, left, right, *_hash(sizes, width, rng))
        n_buckets = int(scipy.fft.next_fast_len(width, real=True))
        (h, s), (g, t) = (_hash((1, size), n_buckets, rng) for size in sizes)
        return _TensorSketch(width, left, right, n_buckets, (h, g), (s, t))

    def inner(start: int, length: int) -> int:
        size = dim**length
        key = (-1 if size <= inner_width else start, length)
        if key not in positions:
            nodes.append(node(*key, min(size, inner_width)))
            positions[key] = len(nodes) - 1
        return positions[key]

    roots = [node(0, degree, width) for degree, width in zip(degrees, widths, strict=True)]
    return _Tree(nodes, roots)


def base_matrix(kind: str, dim: int, width: int, rng: np.random.Generator) -> Any:
    """Draw a matrix S [d, width] with E[S Sᵀ] = I, sparse or (``"srht"``) dense."""
    if kind == "srht":
        # Random columns of the Hadamard matrix, whose entry (i, j) is the parity of i & j.
        columns = rng.choice(1 << (dim - 1).bit_length(), width, replace=False)
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


@njit(nogil=True, fastmath=True, cache=True)
def hash_products(left: Array, right: Array, buckets: Array, signs: Array, out: Array) -> None:
    """Sum signs[i, j] left[r, i] right[r, j] over all (i, j) in a bucket: out[r, bucket].

    Releases the GIL. `left` is [b, n_left], `right` [b, n_right], `out` [b, width].
    """
    for row in range(left.shape[0]):
        for k in range(out.shape[1]):
            out[row, k] = 0
        for i in range(left.shape[1]):
            factor = left[row, i]
            for j in range(right.shape[1]):
                out[row, buckets[i, j]] += factor * signs[i, j] * right[row, j]
