r"""Mercer's eigenfunctions of a rotation-invariant kernel.

Under a uniform direction and an independent radius the kernel of degree ℓ separates,

.. math::

    k_\ell(r, s) = \sum_i \mu_{\ell,i}\, u_{\ell,i}(r)\, u_{\ell,i}(s), \qquad
    k(x, y) = \sum_{\ell,i,k} \frac{\mu_{\ell,i}}{\alpha_\ell}\,
    u_{\ell,i}(\|x\|) Y_{\ell,k}(\hat x)\; u_{\ell,i}(\|y\|) Y_{\ell,k}(\hat y),

with u orthonormal under the distribution of the radii. So the best s radial functions of a degree
are :math:`h_{\ell,i} = \sqrt{\mu_{\ell,i}}\, u_{\ell,i}`, and the best D features are those of the
largest :math:`\mu_{\ell,i}/\alpha_\ell`. Off the nodes the functions are their Nyström extension,

.. math:: h_{\ell,i}(r) = \mu_{\ell,i}^{-1/2} \sum_j w_j\, k_\ell(r, r_j)\, u_{\ell,i}(r_j).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray
from ..engines.interpolation import interpolate, interpolate_derivative
from ..polynomials import log_harmonic_dimensions
from .terms import NumericTerm
from .truncation import MAX_DEGREE, Distribution, Energies

__all__ = ["MercerModes", "ModeFunctions", "OptimalRadial"]

# Eigenvalues below this share of the largest are rounding.
NEGLIGIBLE = 1e-15
# Grids of radii for interpolation: until it is this accurate, or this long. (On the line a kernel
# may need hundreds of functions that oscillate, and quadrature costs nothing. Rough kernels are
# never known to many digits, and dear.)
GRID, GRID_TOL = 129, 1e-8
MAX_GRID, MAX_GRID_ROUGH, MAX_GRID_LINE = 513, 257, 4097
# New rows may lie a little outside of the radii that were seen: the table reaches this much beyond.
MARGIN = 0.1
# Rows of k_ℓ(r, ·) for all degrees that are held at once.
BLOCK = 1 << 21


@dataclass(frozen=True, eq=False)
class ModeFunctions:
    """Radial functions h_m, each belonging to a degree: radii [n] to values [n, n_modes].

    Between the smallest and the largest radius that they were made for they are interpolated in a
    table; beyond, the Nyström extension is evaluated itself.

    Attributes
    ----------
    kernel : Kernel
        The kernel.
    dim : int
        d.
    degrees : ndarray of shape (n_modes,)
        ℓ of every function.
    nodes : ndarray of shape (n_nodes,)
        The radii of the eigenproblem.
    weights : ndarray of shape (n_modes, n_nodes)
        What k_ℓ(r, nodes) is multiplied with.
    low, high : float
        The ends of the table; one radius, if they agree.
    table : ndarray of shape (n_grid, n_modes)
        Values at equally spaced radii.
    """

    kernel: Any
    dim: int
    degrees: npt.NDArray[np.int64]
    nodes: FloatArray
    weights: FloatArray
    low: float
    high: float
    table: FloatArray

    @classmethod
    def make(
        cls,
        kernel: Any,
        dim: int,
        degrees: npt.NDArray[np.int64],
        nodes: FloatArray,
        weights: FloatArray,
        low: float,
        high: float,
    ) -> Self:
        """Functions with a table that is as fine as they need."""

        def values(radii: FloatArray) -> FloatArray:
            return extension(kernel.degree_kernels, dim, degrees, nodes, weights, radii)

        if low == high or not len(degrees):  # nothing to interpolate
            return cls(kernel, dim, degrees, nodes, weights, low, high, values(np.array([low])))
        margin = MARGIN * (high - low)
        low, high = max(low - margin, 0.0), high + margin
        table = values(np.linspace(low, high, GRID))
        rough = any(term.slow for term in kernel.terms())
        longest = MAX_GRID_LINE if dim == 1 else MAX_GRID_ROUGH if rough else MAX_GRID
        while len(table) < longest:
            finer = np.linspace(low, high, 2 * len(table) - 1)
            between = values(finer[1::2])
            error = np.abs(interpolate(finer[1::2], low, high, table) - between).max(axis=0)
            merged = np.empty((len(finer), table.shape[1]))
            merged[::2], merged[1::2] = table, between
            enough = (error <= GRID_TOL * np.abs(table).max()).all()
            table = merged
            if enough:
                break
        return cls(kernel, dim, degrees, nodes, weights, low, high, table)

    def __call__(self, radii: FloatArray) -> FloatArray:
        """Values at radii."""
        radii = np.asarray(radii, dtype=np.float64)
        slack = 1e-6 * self.high
        inside = (radii >= self.low - slack) & (radii <= self.high + slack)
        if inside.all():
            return self._inside(radii)
        out = np.empty((len(radii), len(self.degrees)))
        out[inside] = self._inside(radii[inside])
        modes = self.dim, self.degrees, self.nodes, self.weights
        out[~inside] = extension(self.kernel.degree_kernels, *modes, radii[~inside])
        return out

    def derivative(self, radii: FloatArray) -> FloatArray:
        """Derivatives of what is computed at radii: [n, n_modes] (zero if there is one radius)."""
        radii = np.asarray(radii, dtype=np.float64)
        slack = 1e-6 * self.high
        inside = (radii >= self.low - slack) & (radii <= self.high + slack)
        out = np.zeros((len(radii), len(self.degrees)))
        if len(self.table) > 1:
            out[inside] = interpolate_derivative(radii[inside], self.low, self.high, self.table)
        if not inside.all():
            slopes = self.kernel.degree_slopes
            modes = self.dim, self.degrees, self.nodes, self.weights
            out[~inside] = extension(slopes, *modes, radii[~inside])
        return out

    def _inside(self, radii: FloatArray) -> FloatArray:
        if len(self.table) == 1:
            return np.repeat(self.table, len(radii), axis=0)
        return interpolate(radii, self.low, self.high, self.table)


def extension(
    degree_kernels: Callable[[int, int, FloatArray, FloatArray], FloatArray],
    dim: int,
    degrees: npt.NDArray[np.int64],
    nodes: FloatArray,
    weights: FloatArray,
    radii: FloatArray,
) -> FloatArray:
    """The Nyström extension Σ_j k_ℓ(r, r_j) weights_j of functions: [n, n_modes].

    With `degree_slopes` of a kernel in the place of its `degree_kernels`, their derivatives.
    """
    out = np.empty((len(radii), len(degrees)))
    if not len(degrees):
        return out
    max_degree = int(degrees.max())
    members = [np.flatnonzero(degrees == ell) for ell in range(max_degree + 1)]
    step = max(1, BLOCK // ((max_degree + 1) * len(nodes)))
    for start in range(0, len(radii), step):
        rows = slice(start, start + step)
        values = degree_kernels(dim, max_degree, radii[rows], nodes)
        for ell, modes in enumerate(members):
            out[rows, modes] = values[ell] @ weights[modes].T
    return out


@dataclass(frozen=True, eq=False)
class OptimalRadial:
    """The best radial functions: radii [n] to [n, max_degree + 1, n_radial].

    Attributes
    ----------
    functions : ModeFunctions
        Those that are not zero.
    places : ndarray of shape (n_modes, 2)
        Degree and radial index of each.
    shape : tuple of int
        (max_degree + 1, n_radial).
    """

    functions: ModeFunctions
    places: npt.NDArray[np.int64]
    shape: tuple[int, int]

    def __call__(self, radii: FloatArray) -> FloatArray:
        """Values at radii."""
        out = np.zeros((len(radii), *self.shape))
        out[:, self.places[:, 0], self.places[:, 1]] = self.functions(radii)
        return out

    def derivative(self, radii: FloatArray) -> FloatArray:
        """Derivatives, of the same shape."""
        out = np.zeros((len(radii), *self.shape))
        out[:, self.places[:, 0], self.places[:, 1]] = self.functions.derivative(radii)
        return out


class MercerModes:
    """Eigenvalues and eigenfunctions of k_ℓ under a distribution of the radii, for all degrees.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose parameters are numbers.
    dim : int
        d.
    radii : Distribution
        The distribution of ‖x‖.
    max_degree : int
        q.

    Attributes
    ----------
    values : ndarray of shape (max_degree + 1, n_nodes)
        μ_{ℓ,i}, in descending order for every degree, zero where they are rounding.
    log_dimensions : ndarray of shape (max_degree + 1,)
        log α_ℓ.
    trace : float
        The mean of k(x, x).
    """

    def __init__(self, kernel: Any, dim: int, radii: Distribution, max_degree: int) -> None:
        self.kernel, self.dim, self.radii = kernel, dim, radii
        self.max_degree = 1 if dim == 1 else max_degree
        at_nodes = kernel.degree_kernels(dim, self.max_degree, radii.nodes, radii.nodes)
        with np.errstate(over="ignore"):  # an error follows
            diagonal = kernel.profile(radii.nodes, radii.nodes, np.ones(len(radii.nodes)))
        if not (np.isfinite(at_nodes).all() and np.isfinite(diagonal).all()):
            raise ValueError(
                f"k(x, x) of {kernel!r} overflows at norms up to {radii.nodes.max():.3g}: scale "
                "the rows down."
            )
        self.diagonal: FloatArray = diagonal
        self.by_degree: FloatArray = np.einsum("ljj->lj", at_nodes)  # k_ℓ(r, r) at the nodes
        self.trace = float(radii.weights @ diagonal)
        self.log_dimensions = log_harmonic_dimensions(self.max_degree, dim)
        roots = np.sqrt(radii.weights)
        values, vectors = np.linalg.eigh(at_nodes * roots[:, None] * roots)
        self.values: FloatArray = self._without_noise(values[:, ::-1])
        self._vectors = vectors[:, :, ::-1]

    def _without_noise(self, values: FloatArray) -> FloatArray:
        """Zero where eigenvalues can not be told from zero; an error where one is negative.

        Only a kernel that is known by its values may turn out not to be positive definite. For
        all others, negative eigenvalues are rounding, which grows with d inside the logarithms.
        """
        # Quadrature multiplies rounding with √α; where even that is a visible share of the
        # kernel, nothing is known of a degree, not even a sign.
        size = max(float(np.abs(values).max()), self.trace, 1e-300)
        numeric = any(isinstance(term, NumericTerm) for term in self.kernel.terms())
        magnified = np.exp(np.minimum(self.log_dimensions / 2, 60)) if numeric else 1.0
        noise = np.broadcast_to(64 * np.finfo(float).eps * magnified, len(values))
        known = noise <= 1e-6
        lowest = np.where(known, values[:, -1] / (size * np.maximum(noise, 1e-12)), 0.0)
        if numeric and (lowest < -1).any():
            worst = int(np.argmin(lowest))
            raise ValueError(
                f"{self.kernel!r} is not positive definite in dimension {self.dim}: its kernel of "
                f"the radii at degree {worst} has the eigenvalue {values[worst, -1]:.6g}, and all "
                "must be at least zero. Use another function, or fewer columns."
            )
        floor = size * np.maximum(NEGLIGIBLE, noise if numeric else 0.0)
        return np.where(known[:, None] & (values > np.reshape(floor, (-1, 1))), values, 0.0)

    @classmethod
    def until(
        cls,
        kernel: Any,
        dim: int,
        radii: Distribution,
        enough: Callable[["MercerModes"], bool],
        max_degree: int = MAX_DEGREE,
    ) -> Self:
        """Modes up to the first degree of 8, 16, 32, … that is enough."""
        degree = min(8, max_degree)
        limits = [term.degree_limit for term in kernel.terms()]
        if limits and None not in limits:
            degree = max_degree = max(limits)
        while True:
            modes = cls(kernel, dim, radii, degree)
            if degree >= max_degree or dim == 1 or modes.converged or enough(modes):
                return modes
            degree = min(2 * degree, max_degree)

    @property
    def converged(self) -> bool:
        """Whether the upper half of the degrees adds nothing."""
        upper = self.values[len(self.values) // 2 :].sum()
        return bool(upper <= NEGLIGIBLE * self.trace and self.tail <= 1e-12 * self.trace)

    @property
    def tail(self) -> float:
        """What all degrees above q have of the trace."""
        return max(self.trace - float(self.values.sum()), 0.0)

    @property
    def energies(self) -> Energies:
        """The shares of the trace by degree and radial index."""
        return Energies(1.0, self.values / (self.trace or 1.0))

    @property
    def eigenvalues(self) -> FloatArray:
        """μ_{ℓ,i} / α_ℓ, the eigenvalues of the kernel: [max_degree + 1, n_nodes]."""
        return self.values * np.exp(-self.log_dimensions)[:, None]

    def squares(self, degrees: npt.NDArray[np.int64], indices: npt.NDArray[np.int64]) -> FloatArray:
        """h_{ℓ,i}² of given degrees and indices at the nodes: [n_modes, n_nodes]."""
        vectors = self._vectors[degrees, :, indices]
        return np.square(vectors) / self.radii.weights * self.values[degrees, indices][:, None]

    def residual(self, orders: npt.NDArray[np.intp]) -> FloatArray:
        """k(x, x) less the squares of the first `orders[ℓ]` functions, at each node."""
        kept = np.arange(self.values.shape[1]) < np.asarray(orders)[:, None]
        squares = np.square(self._vectors[: len(orders)]) / self.radii.weights[:, None]
        return self.diagonal - np.einsum("ljm,lm->j", squares, kept * self.values[: len(orders)])

    def functions(
        self,
        degrees: npt.NDArray[np.int64],
        indices: npt.NDArray[np.int64],
        low: float,
        high: float,
    ) -> ModeFunctions:
        """The functions h_{ℓ,i} of given degrees and indices, tabulated from `low` to `high`."""
        vectors = self._vectors[degrees, :, indices]  # [n_modes, n_nodes]
        # Signs are fixed, so that the functions do not depend on the library that found them.
        peaks = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
        roots = np.sqrt(self.values[degrees, indices])[:, None]
        weights = np.sign(peaks) * vectors * np.sqrt(self.radii.weights) / roots
        return ModeFunctions.make(
            self.kernel, self.dim, degrees, self.radii.nodes, weights, low, high
        )

    def radial(self, max_degree: int, n_radial: int, low: float, high: float) -> OptimalRadial:
        """The first functions of every degree, as the h of a generalized zonal kernel."""
        places = np.argwhere(self.values[: max_degree + 1, :n_radial] > 0)
        functions = self.functions(places[:, 0], places[:, 1], low, high)
        return OptimalRadial(functions, places, (max_degree + 1, n_radial))
