"""Random Gegenbauer features: the paper's feature map for generalized zonal kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from .._validation import check_choice, check_count, norms_agree, row_norms
from ..engines import gegenbauer_sums
from ..kernels import GeneralizedZonalKernel
from .centering import CenteredFeatures
from .directions import DIRECTIONS, best_directions, direction_table, direction_weights, share
from .learned import Learned, is_sparse
from .truncation import choose_expansion

__all__ = ["GegenbauerFeatures"]


class GegenbauerFeatures(CenteredFeatures):
    r"""Random Gegenbauer features of a generalized zonal kernel (Han, Zandieh and Avron, 2022).

    With directions :math:`w_1, \dots, w_m` uniform on the sphere, the feature of direction j and
    radial index i is

    .. math::

        z_{j,i}(x) = \frac{1}{\sqrt m} \sum_{\ell=0}^{q} \sqrt{\alpha_{\ell,d}}\,
        [h_\ell(\|x\|)]_i\, P_d^\ell\!\left(\frac{\langle x, w_j\rangle}{\|x\|}\right),
        \qquad \mathbb{E}[Z Z^\top] = K_{q,s} .

    The width is D = m · s, and so there is a trade-off. The degree q costs time but no width. The
    radial order s costs *directions*: at a fixed width more radial functions mean less bias, and
    fewer directions mean more variance. On a sphere (all rows of equal norm) s = 1 is exact.

    Parameters
    ----------
    kernel : Kernel, GeneralizedZonalKernel or str, default="gaussian"
        The kernel. ``"gaussian"`` is ``Gaussian("median")``; a `GeneralizedZonalKernel` is used as
        it is.
    n_components : int, default=1024
        The width D of the output. Where D is not a multiple of s, the numbers of directions
        m_i of the radial indices differ by one, with weights :math:`m_i^{-1/2}`: still unbiased.
    max_degree : int or "auto", default="auto"
        The largest degree q. ``"auto"`` is the smallest whose tail is below 1e-6 of k(x, x) if
        all harmonics up to it number at most D; else the smallest whose tail is below 1e-3, or
        the largest whose harmonics number at most D, whichever is higher. For slow series
        (ArcCosine, NTK) it is the degree up to 200 that minimises tail² + variance, since high
        degrees are heavy-tailed. Tails are averaged over the rows.
    n_radial : int or "auto", default="auto"
        The order s. ``"auto"`` is the smallest whose tail is below 1e-3, at most D.
    radial_basis : {"auto", "taylor"}, default="auto"
        The radial functions. ``"taylor"``: the paper's monomials. ``"auto"``: one function with
        the full coefficient if there are at least two rows and all norms agree to 1e-6,
        else "taylor".
    directions : {"auto", "iid", "orthogonal", "sobol", "fibonacci"}, default="auto"
        ``"iid"``: independent, as in the paper. ``"orthogonal"``: blocks of d orthonormal ones.
        ``"sobol"``: a scrambled low-discrepancy sequence. ``"fibonacci"``: a lattice, for d = 3.
        ``"auto"``: the best measured for d. All are unbiased.
    center : bool, array-like of shape (n_features,) or "auto", default="auto"
        What is subtracted from the rows: nothing, their mean or a given point. ``"auto"`` is the
        mean for shift-invariant kernels on dense data unless all norms agree to 1e-6.
    random_state : int, RandomState instance or None, default=None
        The seed of the directions, which depend on nothing else.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters resolved to numbers.
    expansion_ : GeneralizedZonalKernel
        What the features estimate: E[Z Zᵀ] = ``expansion_(X - center_)``.
    directions_ : ndarray of shape (m, n_features)
        The directions of radial index 0; index i uses the first m_i (a lattice of its own for
        ``"fibonacci"``).
    max_degree_, n_radial_ : int
        q and s.
    center_ : ndarray of shape (n_features,)
        The point subtracted from all rows (zeros for none).
    n_features_in_ : int
        d.

    Notes
    -----
    With explicit `max_degree`, `n_radial` and numeric kernel parameters, ``radial_basis="taylor"``
    and ``center=False``, nothing is learnt from data: the map depends on the number of columns and
    the seed only. With one column (d = 1) the sphere is {-1, +1}, and the features are exact from
    two per radial index on.

    References
    ----------
    I. Han, A. Zandieh and H. Avron, "Random Gegenbauer Features for Scalable Kernel Methods",
    ICML 2022.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> features = zonal.GegenbauerFeatures(zonal.Gaussian(2.0), n_components=512, random_state=0)
    >>> Z = features.fit_transform(X)
    >>> Z.shape
    (200, 512)
    >>> K = zonal.Gaussian(2.0)(X)
    >>> bool(np.linalg.norm(Z @ Z.T - K) < 0.02 * np.linalg.norm(K))
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int = 1024,
        *,
        max_degree: int | str = "auto",
        n_radial: int | str = "auto",
        radial_basis: str = "auto",
        directions: str = "auto",
        center: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.max_degree = max_degree
        self.n_radial = n_radial
        self.radial_basis = radial_basis
        self.directions = directions
        self.center = center
        self.random_state = random_state

    def _fit(self, learned: Learned, seed: int) -> int:
        self._check_parameters()
        dim = self.n_features_in_
        self.center_ = self._find_center(learned)
        norms = row_norms(self._centered(learned.rows))
        self.kernel_.check_norms(norms)
        self.expansion_ = self._find_expansion(norms, learned.weights)
        self.max_degree_, self.n_radial_ = self.expansion_.max_degree, self.expansion_.n_radial
        self._check_order(self.n_radial_)
        scheme = best_directions(dim) if self.directions == "auto" else self.directions
        counts = share(self.n_components, self.n_radial_)
        self.directions_ = direction_table(scheme, counts[0], dim, seed)
        self._groups = _groups(self.directions_, counts, scheme, seed)
        return int(counts.sum())

    def _check_parameters(self) -> None:
        name = type(self).__name__
        if self.max_degree != "auto":
            check_count("max_degree", self.max_degree, name, minimum=0, extra=', or "auto"')
        if self.n_radial != "auto":
            self._check_order(check_count("n_radial", self.n_radial, name, extra=', or "auto"'))
        check_choice("radial_basis", self.radial_basis, ("auto", "taylor"), name)
        check_choice("directions", self.directions, ("auto", *DIRECTIONS), name)

    def _check_order(self, n_radial: int) -> None:
        if n_radial > self.n_components:
            raise ValueError(
                f"n_radial={n_radial} exceeds n_components={self.n_components}: each radial "
                "function needs at least one column. Raise n_components or lower n_radial."
            )

    def _find_expansion(self, norms: FloatArray, weights: FloatArray) -> GeneralizedZonalKernel:
        if isinstance(self.kernel_, GeneralizedZonalKernel):
            return self.kernel_.expand(self.n_features_in_)
        return choose_expansion(
            self.kernel_,
            self.n_features_in_,
            norms,
            weights,
            n_components=self.n_components,
            max_degree=None if isinstance(self.max_degree, str) else int(self.max_degree),
            n_radial=None if isinstance(self.n_radial, str) else int(self.n_radial),
            on_sphere=self.radial_basis == "auto" and norms_agree(norms),
        )

    @property
    def _width(self) -> int:
        # Cosines, and the coefficients with the copies made of them.
        return len(self.directions_) + 3 * (self.max_degree_ + 1) * self.n_radial_

    def _evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        # [d, m] in C order, made once: a sparse product would copy any other for every block.
        tables = [np.ascontiguousarray(group.directions.T, dtype) for group in self._groups]

        def block(rows: Any, out: Array) -> None:
            rows = self._centered(rows)
            norms = row_norms(rows)
            self.kernel_.check_norms(norms)
            coefficients = self.expansion_.coefficients(norms)
            inverse = _inverse(norms, rows.dtype)[:, None]
            first = 0
            for group, table in zip(self._groups, tables, strict=True):
                cosines = rows @ table * inverse if is_sparse(rows) else (rows * inverse) @ table
                last = first + group.counts.sum()
                gegenbauer_sums(
                    cosines,
                    coefficients[:, :, group.radial] / np.sqrt(group.counts),
                    group.counts,
                    rows.shape[1],
                    out[:, first:last],
                )
                if rows.shape[1] == 1:
                    out[:, first:last] *= group.balance.astype(rows.dtype)
                first = last

        return block


def _inverse(norms: FloatArray, dtype: npt.DTypeLike) -> Array:
    """1 / norm, zero for zero, and no infinity where a float32 could not hold the inverse."""
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return np.minimum(inverse, float(np.finfo(dtype).max)).astype(dtype)


class _Group:
    """Radial indices that share one table of directions.

    Attributes
    ----------
    directions : ndarray of shape (m, d)
    radial : slice
        The radial indices.
    counts : ndarray of shape (n_radial_of_the_group,)
        How many directions each uses.
    balance : ndarray of shape (counts.sum(),)
        √(m_i · weight) of each column's direction: ones, except for d = 1.
    """

    def __init__(
        self,
        directions: FloatArray,
        radial: slice,
        counts: npt.NDArray[np.intp],
    ) -> None:
        self.directions = directions
        self.radial = radial
        self.counts = counts
        weights = [count * direction_weights(directions[:count]) for count in counts]
        self.balance = np.sqrt(np.concatenate(weights))


def _groups(
    directions: FloatArray,
    counts: npt.NDArray[np.intp],
    scheme: str,
    seed: int,
) -> list[_Group]:
    """One table for all radial indices; a lattice has no prefix, so one for each count."""
    if scheme != "fibonacci" or counts[0] == counts[-1]:
        return [_Group(directions, slice(0, len(counts)), counts)]
    split = int(np.argmax(counts < counts[0]))
    smaller = direction_table(scheme, counts[-1], directions.shape[1], seed)
    return [
        _Group(directions, slice(0, split), counts[:split]),
        _Group(smaller, slice(split, len(counts)), counts[split:]),
    ]
