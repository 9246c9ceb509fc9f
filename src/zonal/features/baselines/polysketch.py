"""PolySketch features: tensor powers sketched by a binary tree of degree-two sketches."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._typing import Array, FloatArray
from ..._validation import check_choice
from ..training_sample import TrainingSample
from .sketch_tree import plan_tree
from .sketched_powers import SketchedPowers

__all__ = ["PolySketchFeatures"]


class PolySketchFeatures(SketchedPowers):
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
        always; degree 1 if d columns fit its share; and so on; see `exact`). If all degrees are
        exact, columns of zeros follow.
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
    exact : bool, default=True
        Whether degrees that fit into their columns are kept without any sketch. False is the
        original, which sketches all degrees but zero, at the leaves and at every node.
    center : bool, array-like of shape (n_features,) or "auto", default="auto"
        What is subtracted from the rows: nothing, their mean or a given point. ``"auto"`` is the
        mean for shift-invariant kernels on dense data, unless the rows lie on a sphere around
        zero, of which they are more than a small part.
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
        exact: bool = True,
        center: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.degree = degree
        self.base_sketch = base_sketch
        self.exact = exact
        self.center = center
        self.random_state = random_state

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        bases = ("auto", "count", "osnap", "srht")
        check_choice("base_sketch", self.base_sketch, bases, type(self).__name__)
        most = self.n_features_in_ if self.exact else self.n_components
        self._share_columns(sample, lambda degree: most**degree)
        base = "osnap" if self.base_sketch == "auto" else self.base_sketch
        self._tree = plan_tree(
            self.n_features_in_,
            self.degrees_.tolist(),
            self.widths_.tolist(),
            base,
            np.random.default_rng(seed),
            exact=bool(self.exact),
        )
        return int(self.widths_.sum())

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
