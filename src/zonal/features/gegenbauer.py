"""Random Gegenbauer features: the paper's feature map for generalized zonal kernels."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .._typing import Array, FloatArray
from .._validation import check_choice, check_count, is_sparse, norms_agree, row_norms, spread_of
from ..engines import gegenbauer_features, gegenbauer_sums
from ..kernels import GeneralizedZonalKernel
from ..kernels.expansion.zonal_sums import angular_radial
from ..kernels.points import inverse_norms
from ..kernels.slopes import Slopes, inverse
from ..polynomials import n_harmonics
from .bias_variance import worthwhile_expansion
from .direction_groups import direction_groups
from .directions import DIRECTIONS, best_directions, direction_table, share
from .gradients import AnchoredFeatures
from .harmonic_form import HarmonicForm, mixing_matrix
from .leverage import draw_by_leverage
from .reduction import ReducedFeatures
from .training_sample import TrainingSample

__all__ = ["GegenbauerFeatures"]


class GegenbauerFeatures(AnchoredFeatures, ReducedFeatures):
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
        The largest degree q. ``"auto"``: all degrees above rounding (a tail of 1e-15 of k(x, x)),
        as far as their harmonics number at most D. If these leave out more than 1e-3: the degree
        that minimises tail² + variance, since high degrees are heavy-tailed. For slow series
        (ArcCosine, NTK, Matérn): that degree, or the last whose harmonics number at most the
        directions, if that is higher, up to 200. Tails are averaged over the rows.
    n_radial : int or "auto", default="auto"
        The order s. ``"auto"`` is the smallest whose tail is below 1e-3, at most D; a finer one,
        down to a tail of 1e-15, as far as the functions up to degree and order number at most D/2.
    radial_basis : {"auto", "taylor", "optimal"}, default="auto"
        The radial functions. ``"taylor"``: the paper's monomials. ``"optimal"``: the eigenfunctions
        of each degree under the distribution of the norms, which are fewer for the same accuracy;
        kernels without a Taylor series have these only. ``"auto"``: one function with the full
        coefficient if there are at least two rows and they lie on one sphere; else "taylor"
        if both `max_degree` and `n_radial` are given; else "optimal".
    directions : {"auto", "iid", "orthogonal", "sobol", "fibonacci", "leverage"}, default="auto"
        ``"iid"``: independent, as in the paper. ``"orthogonal"``: blocks of d orthonormal ones.
        ``"sobol"``: a scrambled low-discrepancy sequence. ``"fibonacci"``: a lattice, for d = 3.
        ``"leverage"``: independent, half of them uniform and half by their ridge leverage scores
        on 1,000 of the rows at λ = n k(x, x)/1000, weighted so that nothing is biased; it looks
        at the rows. ``"auto"``: the best measured for d. All are unbiased.
    center : bool, array-like of shape (n_features,) or "auto", default="auto"
        What is subtracted from the rows: nothing, their mean or a given point. ``"auto"`` is the
        mean for shift-invariant kernels on dense data, unless the rows lie on a sphere around
        zero, of which they are more than a small part.
    reduce : {"pca", "jl"} or None, default=None
        Fewer columns first: the leading principal axes, or a random projection.
    reduced_dim : int or "auto", default="auto"
        How many; ``"auto"`` is the number with the smallest error of the kernel matrix of a
        few hundred rows, at this `n_components`.
    random_state : int, RandomState instance or None, default=None
        The seed of the directions, which depend on nothing else, and of the random projection.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with all parameters resolved to numbers.
    expansion_ : GeneralizedZonalKernel
        What the features estimate: E[Z Zᵀ] = ``expansion_(X - center_)``, or
        ``expansion_((X - center_) @ reduction_)`` with a reduction.
    directions_ : ndarray of shape (m, n_features), or (m, reduced_dim)
        The directions of radial index 0; index i uses the first m_i (a lattice of its own for
        ``"fibonacci"``).
    direction_weights_ : ndarray of shape (m,)
        What each counts in the mean over directions; with ``"leverage"`` only.
    max_degree_, n_radial_ : int
        q and s.
    center_ : ndarray of shape (n_features,)
        The point subtracted from all rows (zeros for none).
    reduction_ : ndarray of shape (n_features, reduced_dim) or None
        The matrix that rows are multiplied with after that.
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
        reduce: str | None = None,
        reduced_dim: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.max_degree = max_degree
        self.n_radial = n_radial
        self.radial_basis = radial_basis
        self.directions = directions
        self.center = center
        self.reduce = reduce
        self.reduced_dim = reduced_dim
        self.random_state = random_state

    @classmethod
    def paper(
        cls,
        kernel: Any,
        n_components: int,
        max_degree: int,
        n_radial: int,
        random_state: Any = None,
    ) -> Self:
        r"""Return the paper's features as they are written there, with nothing of ours added.

        Independent directions, the monomials of the Taylor series as radial functions, and rows
        that are not centred: `n_components` = m · s columns with the degree q and the order s as
        given. Nothing is learnt from data. Kernels in place of the paper's
        families (Matérn, for example) have no Taylor series, and keep the eigenfunctions that
        they have everywhere.

        Parameters
        ----------
        kernel : Kernel, GeneralizedZonalKernel or str
            The kernel: a Gaussian, a dot-product kernel, an NTK, or a `GeneralizedZonalKernel`
            with radial functions of your own.
        n_components : int
            The width m · s, the paper's “final feature dimension”. Where it is no multiple of s,
            the numbers of directions differ by one.
        max_degree, n_radial : int
            q and s. `zonal.theory.degree_and_order` has those of the theorems.
        random_state : int, RandomState instance or None, default=None
            The seed of the directions.

        Returns
        -------
        GegenbauerFeatures
            Not fitted yet.

        Examples
        --------
        >>> import numpy as np
        >>> import zonal
        >>> X = np.random.default_rng(0).standard_normal((200, 3))
        >>> kernel = zonal.Gaussian(2.0)
        >>> q, s = zonal.theory.degree_and_order(kernel, dim=3, radius=4.0, n=200, lam=1.0, eps=0.5)
        >>> features = zonal.GegenbauerFeatures.paper(kernel, 4096, q, s, random_state=0)
        >>> features.fit_transform(X).shape, q, s
        ((200, 4096), 15, 15)
        """
        return cls(
            kernel,
            n_components,
            max_degree=max_degree,
            n_radial=n_radial,
            radial_basis="taylor",
            directions="iid",
            center=False,
            random_state=random_state,
        )

    def _fit(self, sample: TrainingSample, seed: int) -> int:
        self._check_parameters()
        rows = self._prepare(sample, seed)
        self._check_range(sample)
        self.expansion_ = self._find_expansion(rows, sample.weights)
        self.max_degree_, self.n_radial_ = self.expansion_.max_degree, self.expansion_.n_radial
        self._check_order(self.n_radial_)
        scheme = best_directions(self._dim) if self.directions == "auto" else self.directions
        self._drawn_by = scheme, seed, int(self.n_components)
        if scheme == "leverage" and self._dim > 1:
            rows = self._prepared(sample.rows)
            m = int(share(self.n_components, self.n_radial_)[0])
            found = draw_by_leverage(self.expansion_, rows, sample.weights, m, seed)
            self.directions_, self.direction_weights_ = found
        return self._draw()

    def _draw(self) -> int:
        """Draw the directions, which the seed alone decides; return the number of columns."""
        scheme, seed, width = self._drawn_by
        counts = share(width, self.n_radial_)
        weights = None
        if scheme == "leverage" and self._dim > 1:
            weights = self.direction_weights_
        else:
            self.directions_ = direction_table(scheme, counts[0], self._dim, seed)
        self._groups = direction_groups(self.directions_, counts, scheme, seed, weights)
        return int(counts.sum())

    def sent_state(self) -> dict[str, Any]:
        """Return the state without the tables that `_draw` makes of the seed."""
        drawn: tuple[str, ...] = ()
        if hasattr(self, "_drawn_by"):
            by_seed = self._drawn_by[0] != "leverage"
            drawn = ("directions_", "_groups") if by_seed else ("_groups",)
        return {name: value for name, value in vars(self).items() if name not in drawn}

    def restore_state(self, state: dict[str, Any]) -> None:
        """Take over a state, and draw the directions anew."""
        super().restore_state(state)
        if hasattr(self, "_drawn_by"):
            self._draw()

    def _check_parameters(self) -> None:
        name = type(self).__name__
        if self.max_degree != "auto":
            check_count("max_degree", self.max_degree, name, minimum=0, extra=', or "auto"')
        if self.n_radial != "auto":
            self._check_order(check_count("n_radial", self.n_radial, name, extra=', or "auto"'))
        check_choice("radial_basis", self.radial_basis, ("auto", "taylor", "optimal"), name)
        check_choice("directions", self.directions, ("auto", *DIRECTIONS, "leverage"), name)

    def _check_order(self, n_radial: int) -> None:
        if n_radial > self.n_components:
            raise ValueError(
                f"n_radial={n_radial} exceeds n_components={self.n_components}: each radial "
                "function needs at least one column. Raise n_components or lower n_radial."
            )

    def _find_expansion(self, rows: Any, weights: FloatArray) -> GeneralizedZonalKernel:
        if isinstance(self.kernel_, GeneralizedZonalKernel):
            return self.kernel_.expand(self._dim)
        norms = row_norms(rows)
        return worthwhile_expansion(
            self.kernel_,
            self._dim,
            norms,
            weights,
            n_components=self.n_components,
            max_degree=None if isinstance(self.max_degree, str) else int(self.max_degree),
            n_radial=None if isinstance(self.n_radial, str) else int(self.n_radial),
            basis=self._basis(norms, spread_of(rows)),
        )

    def _basis(self, norms: FloatArray, spread: float) -> str:
        if self.radial_basis != "auto":
            return self.radial_basis
        if norms_agree(norms, spread):
            return "sphere"
        given = self.max_degree != "auto" and self.n_radial != "auto"
        return "taylor" if given else "optimal"

    @property
    def scratch_width(self) -> int:
        """Intermediate numbers a row."""
        # Cosines, which only sparse rows have all at once, and the coefficients with their copies.
        return len(self.directions_) // 4 + 3 * (self.max_degree_ + 1) * self.n_radial_

    def narrow_form(self) -> HarmonicForm | None:
        """Return the same functions in fewer columns, or None where there are none fewer."""
        width = self.n_radial_ * n_harmonics(self.max_degree_, self._dim)
        unequal = not all(group.balanced for group in self._groups)
        if self._dim < 2 or width >= self.n_columns or unequal:
            return None
        tables = [(group.directions, group.counts) for group in self._groups]
        return HarmonicForm.of(self, mixing_matrix(self.max_degree_, tables))

    def evaluator(self, dtype: npt.DTypeLike) -> Callable[[Any, Array], None]:
        """Return a function that fills the sums over degrees for all directions."""
        # [d, m] in C order, made once: a sparse product would copy any other for every block.
        tables = [np.ascontiguousarray(group.directions.T, dtype) for group in self._groups]

        def block(rows: Any, out: Array) -> None:
            rows = self._prepared(rows)
            norms = row_norms(rows)
            self.kernel_.check_norms(norms)
            coefficients = self.expansion_.coefficients(norms)
            inverse = inverse_norms(norms, rows.dtype)[:, None]
            first = 0
            for group, table in zip(self._groups, tables, strict=True):
                last = first + group.counts.sum()
                radial = coefficients[:, :, group.radial] / np.sqrt(group.counts)
                target = out[:, first:last]
                if is_sparse(rows):
                    cosines = rows @ table
                    cosines *= inverse
                    gegenbauer_sums(cosines, radial, group.counts, rows.shape[1], target)
                else:
                    gegenbauer_features(rows * inverse, table, radial, group.counts, target)
                if not group.balanced:
                    out[:, first:last] *= group.balance.astype(rows.dtype)
                first = last

        return block

    def _column_slopes(self, rows: FloatArray) -> tuple[Slopes, FloatArray]:
        norms = row_norms(rows)
        self.kernel_.check_norms(norms)
        per_norm = inverse(norms)[:, None]
        dim = rows.shape[1]
        ratio, slope = angular_radial(
            self.expansion_.coefficients(norms), self.expansion_.derivative(norms), norms
        )
        along = np.empty((len(rows), self.n_columns))
        across = np.zeros_like(along)
        columns, first = [], 0
        for group in self._groups:
            last = first + group.counts.sum()
            columns.append(np.concatenate([np.arange(count) for count in group.counts]))
            cos = (rows * per_norm) @ group.directions.T
            scale = np.sqrt(group.counts)
            a, b = along[:, first:last], across[:, first:last]
            gegenbauer_sums(cos, slope[:, :, group.radial] / scale, group.counts, dim, a)
            if self.max_degree_ > 0:
                # √α_ℓ P_ℓ' is a multiple of √α P of degree ℓ - 1 in dimension d + 2.
                weights = _derivative_weights(self.max_degree_, dim)[:, None]
                lower = weights * ratio[:, 1:, group.radial] / scale
                gegenbauer_sums(cos, lower, group.counts, dim + 2, b)
            # The gradient of the cosine is (w - cos x/‖x‖) / ‖x‖, and 1/‖x‖ is in the ratio.
            a -= b * cos[:, columns[-1]] * per_norm
            if not group.balanced:
                a *= group.balance
                b *= group.balance
            first = last
        anchors = [g.directions[places] for g, places in zip(self._groups, columns, strict=True)]
        return Slopes(along, across), np.concatenate(anchors)


def _derivative_weights(max_degree: int, dim: int) -> FloatArray:
    r"""Return the factors from √α P of degree ℓ - 1 in dimension d + 2 to √α_ℓ P_ℓ' in d.

    .. math::

        \sqrt{\alpha_{\ell,d}}\, P_d^{\ell\prime}
        = \sqrt{\ell (\ell+d-2) \tfrac{d}{d-1}}\; \sqrt{\alpha_{\ell-1,d+2}}\, P_{d+2}^{\ell-1},

    both sides orthogonal with weight :math:`1-t^2` on top of that of dimension d.
    """
    ell = np.arange(1, max_degree + 1, dtype=np.float64)
    if dim == 1:  # P_1 = t is all there is
        return np.ones_like(ell)
    return np.sqrt(ell * (ell + dim - 2) * dim / (dim - 1))
