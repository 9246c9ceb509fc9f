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
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..._typing import FloatArray
from ...polynomials import log_harmonic_dimensions
from ..terms import NumericTerm
from .distribution import Distribution
from .energies import MAX_DEGREE
from .modes import ModeFunctions, OptimalRadial
from .pair_functions import PairFunctions
from .recent import recently

__all__ = ["NEGLIGIBLE", "MercerModes"]

# Eigenvalues below this share of the largest are rounding.
NEGLIGIBLE = 1e-15


class MercerModes:
    """Eigenvalues and eigenfunctions of k_ℓ under a distribution of the radii, for all degrees.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose parameters are numbers.
    dim : int
        d.
    radii : Distribution
        The distribution of ‖x‖, or of pairs of ‖x‖ and a time.
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
    hidden : bool
        Whether rounding hides the last degree, and so all above it.
    """

    def __init__(self, kernel: Any, dim: int, radii: Distribution, max_degree: int) -> None:
        self.kernel, self.dim, self.radii = kernel, dim, radii
        self.max_degree = 1 if dim == 1 else max_degree
        given = dim, self.max_degree, radii.nodes.tobytes(), radii.weights.tobytes()
        found = recently(self._solved, kernel, "modes", *given)
        self.diagonal, self.by_degree, values, self._vectors = found
        self.trace = float(radii.weights @ self.diagonal)
        self.log_dimensions = log_harmonic_dimensions(self.max_degree, dim)
        self.values: FloatArray = self._without_noise(values)

    def _solved(self) -> tuple[FloatArray, ...]:
        """Return k(r, r) and k_ℓ(r, r) at the nodes, eigenvalues and eigenvectors."""
        nodes = self.radii.nodes
        at_nodes = self.kernel.degree_kernels(self.dim, self.max_degree, nodes, nodes)
        with np.errstate(over="ignore"):  # an error follows
            diagonal = self.kernel.profile(nodes, nodes, np.ones(len(nodes)))
        if not (np.isfinite(at_nodes).all() and np.isfinite(diagonal).all()):
            raise ValueError(
                f"k(x, x) of {self.kernel!r} overflows at norms up to {nodes.max():.3g}: scale "
                "the rows down."
            )
        roots = np.sqrt(self.radii.weights)
        values, vectors = np.linalg.eigh(at_nodes * roots[:, None] * roots)
        by_degree = np.einsum("ljj->lj", at_nodes).copy()
        return diagonal, by_degree, values[:, ::-1], vectors[:, :, ::-1]

    def _without_noise(self, values: FloatArray) -> FloatArray:
        """Return eigenvalues with zeros for noise; raise an error where one is negative.

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
        self.hidden = not known[-1]
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
        """Return modes up to the first degree of 8, 16, 32, … that is enough."""
        degree = min(8, max_degree)
        limits = [term.degree_limit for term in kernel.terms()]
        if limits and None not in limits:
            degree = max_degree = max(limits)
        while True:
            modes = cls(kernel, dim, radii, degree)
            done = degree >= max_degree or dim == 1 or modes.hidden
            if done or modes.converged or enough(modes):
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
    def eigenvalues(self) -> FloatArray:
        """μ_{ℓ,i} / α_ℓ, the eigenvalues of the kernel: [max_degree + 1, n_nodes]."""
        return self.values * np.exp(-self.log_dimensions)[:, None]

    def at_nodes(
        self, degrees: npt.NDArray[np.int64], indices: npt.NDArray[np.int64]
    ) -> FloatArray:
        """Return u_{ℓ,i} of given degrees and indices at the nodes: [n_modes, n_nodes]."""
        return np.asarray(self._vectors[degrees, :, indices] / np.sqrt(self.radii.weights))

    def squares(self, degrees: npt.NDArray[np.int64], indices: npt.NDArray[np.int64]) -> FloatArray:
        """Return h_{ℓ,i}² of given degrees and indices at the nodes: [n_modes, n_nodes]."""
        return np.square(self.at_nodes(degrees, indices)) * self.values[degrees, indices][:, None]

    def residual(self, orders: npt.NDArray[np.intp]) -> FloatArray:
        """Return k(x, x) less the squares of the first `orders[ℓ]` functions, at each node."""
        kept = np.arange(self.values.shape[1]) < np.asarray(orders)[:, None]
        squares = np.square(self._vectors[: len(orders)]) / self.radii.weights[:, None]
        return self.diagonal - np.einsum("ljm,lm->j", squares, kept * self.values[: len(orders)])

    def functions(
        self,
        degrees: npt.NDArray[np.int64],
        indices: npt.NDArray[np.int64],
        low: Any,
        high: Any,
    ) -> Any:
        """Return h_{ℓ,i} of given degrees and indices, tabulated from `low` to `high`.

        `ModeFunctions` of radii from a number to another, or `PairFunctions` of pairs from a pair
        to another.
        """
        vectors = self._vectors[degrees, :, indices]  # [n_modes, n_nodes]
        # Signs are fixed, so that the functions do not depend on the library that found them.
        peaks = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
        roots = np.sqrt(self.values[degrees, indices])[:, None]
        weights = np.sign(peaks) * vectors * np.sqrt(self.radii.weights)
        weights = np.divide(weights, roots, out=np.zeros_like(weights), where=roots > 0)
        nodes = self.radii.nodes
        kind: Any = PairFunctions if nodes.ndim == 2 else ModeFunctions
        return kind.make(self.kernel, self.dim, degrees, nodes, weights, low, high)

    def radial(self, max_degree: int, n_radial: int, low: float, high: float) -> OptimalRadial:
        """Return the first functions of every degree, as the h of a generalized zonal kernel."""
        places = np.argwhere(self.values[: max_degree + 1, :n_radial] > 0)
        functions = self.functions(places[:, 0], places[:, 1], low, high)
        return OptimalRadial(functions, places, (max_degree + 1, n_radial))
