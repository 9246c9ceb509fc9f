r"""Where to cut the series: the largest degree q and the radial order s.

What is cut off is itself a positive definite kernel, so by Cauchy–Schwarz its entries are at most
its diagonal, the *tail*

.. math:: k(x,x) - k_{q,s}(x,x) = \sum_{\ell > q\ \text{or}\ i \ge s} h_{\ell,i}(\|x\|)^2 .

All tails are relative to k(x, x), both averaged over a distribution of radii.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import roots_legendre

from .._typing import FloatArray
from ..polynomials import gauss_gegenbauer, log_harmonic_dimensions, orthonormal_table
from .radial import Radial, StackedRadial
from .terms import Term

__all__ = [
    "MAX_DEGREE",
    "SLOW_DEGREE",
    "Distribution",
    "Energies",
    "Spectrum",
    "balanced_degree",
    "diagonal_variance",
    "n_harmonics",
    "split_order",
    "stack",
]

MAX_DEGREE = 1024
MAX_ORDER = 512
SLOW_DEGREE = 200


@dataclass(frozen=True)
class Distribution:
    """A distribution of the radii ‖x‖: a few nodes with weights that sum to one."""

    nodes: FloatArray
    weights: FloatArray

    @classmethod
    def point(cls, radius: float) -> "Distribution":
        """All mass at one radius."""
        return cls(np.array([radius], dtype=np.float64), np.ones(1))

    @classmethod
    def interval(cls, low: float, high: float, n_nodes: int = 64) -> "Distribution":
        """Uniform on an interval, as Gauss–Legendre nodes."""
        nodes, weights = roots_legendre(n_nodes)
        return cls(low + (high - low) * (1 + nodes) / 2, weights / 2)

    def mixed(self, other: "Distribution") -> "Distribution":
        """Half of the mass from each of two distributions."""
        return Distribution(
            np.concatenate([self.nodes, other.nodes]),
            np.concatenate([self.weights, other.weights]) / 2,
        )

    def with_ends(self, low: float, high: float, mass: float = 1e-4) -> "Distribution":
        """A little mass at both ends, so that functions and bounds know of them."""
        return Distribution(
            np.concatenate([[low], self.nodes, [high]]),
            np.concatenate([[mass], (1 - 2 * mass) * self.weights, [mass]]),
        )

    @classmethod
    def sample(cls, radii: FloatArray, weights: FloatArray, n_nodes: int = 32) -> "Distribution":
        """Quantiles of weighted radii: the mean over each of `n_nodes` bins of equal mass.

        A row that lies across the edge of a bin counts for both in part, so that a row of weight
        two is the same as two rows.
        """
        order = np.argsort(radii, kind="stable")
        share = weights[order] / weights.sum()
        mass = np.concatenate([[0.0], np.cumsum(share)])
        moment = np.concatenate([[0.0], np.cumsum(share * radii[order])])
        edges = np.linspace(0, mass[-1], n_nodes + 1)
        nodes = n_nodes * np.diff(np.interp(edges, mass, moment)) / mass[-1]
        # Rounding must not leave the range of the radii.
        nodes = np.clip(nodes, radii.min(), radii.max())
        return cls(nodes, np.full(n_nodes, 1 / n_nodes))


class Energies:
    """Energies by degree and radial index, as a share of a whole kernel's trace.

    Parameters
    ----------
    share : float
        What all degrees and indices have together.
    energy : ndarray of shape (n_degrees, n_radial)
        What each that is known has.
    """

    def __init__(self, share: float, energy: FloatArray) -> None:
        self.share = share
        self.energy = energy

    def degree_tail(self) -> FloatArray:
        """The share above each degree q, from zero on."""
        return np.maximum(self.share - np.cumsum(self.energy.sum(axis=1)), 0.0)

    def order_tail(self, max_degree: int) -> FloatArray:
        """The share of degrees up to q that order s = 1, 2, … leaves out."""
        by_order = self.energy[: max_degree + 1].sum(axis=0)
        return np.maximum(by_order.sum() - np.cumsum(by_order), 0.0)

    def degree(self, tol: float) -> int:
        """The smallest degree whose tail is at most `tol` (the largest known if none is)."""
        tail = self.degree_tail()
        # Where the tolerance is out of reach, degrees that add nothing are of no use.
        return int(np.argmax(tail <= max(tol, tail[-1])))

    def order(self, max_degree: int, tol: float) -> int:
        """The smallest order whose tail is at most `tol`."""
        return 1 + int(np.argmax(self.order_tail(max_degree) <= tol))


class Spectrum(Energies):
    """Energies of one term in the paper's monomials.

    Parameters
    ----------
    term : Term
        The summand.
    dim : int
        d.
    radii : Distribution
        The distribution of ‖x‖.
    trace : float
        The mean of k(x, x) of the whole kernel.
    tol : float
        Resolution: energies are found until less than a tenth of it is missing.
    """

    def __init__(self, term: Term, dim: int, radii: Distribution, trace: float, tol: float) -> None:
        if not np.isfinite(trace):
            raise ValueError(
                f"k(x, x) overflows at norms up to {radii.nodes.max():.3g}: scale the rows down."
            )
        self.share = float(radii.weights @ term.total(radii.nodes)) / trace
        n_degrees, n_radial = (2 if dim == 1 else 33), 16
        top_degree = 1 if dim == 1 else SLOW_DEGREE if term.slow else MAX_DEGREE
        while True:
            degree = min(n_degrees - 1, top_degree, _or(term.degree_limit, top_degree))
            order = _or(term.fixed_order, n_radial)
            radial = term.radial(dim, degree, order)
            energy = sum(
                weight * np.square(radial(node[None])[0])
                for node, weight in zip(radii.nodes, radii.weights, strict=True)
            )
            self.energy: FloatArray = np.asarray(energy) / trace  # [degree, radial]
            missing = self.share - self.energy.sum()
            more_degrees = degree < min(top_degree, _or(term.degree_limit, top_degree))
            more_radial = term.fixed_order is None and n_radial < MAX_ORDER
            if missing <= tol / 10 or not (more_degrees or more_radial):
                return
            # Grow where the energy is still coming in: its last row or its last column.
            last_degree, last_order = self.energy[-1].sum(), self.energy[:, -1].sum()
            if more_degrees and (last_degree >= last_order or not more_radial):
                n_degrees = 2 * n_degrees - 1
            if more_radial and (last_order >= last_degree or not more_degrees):
                n_radial = 2 * n_radial


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def split_order(terms: list[Term], n_radial: int, owner: str) -> list[int]:
    """Share an explicit radial order among the terms of a sum."""
    orders = [_or(term.fixed_order, 0) for term in terms]
    free = [position for position, term in enumerate(terms) if term.fixed_order is None]
    left = n_radial - sum(orders)
    if not free:
        return orders  # homogeneous kernels: one function each, always
    if left < len(free):
        raise ValueError(
            f"n_radial={n_radial} is too small for {owner}, a sum of {len(terms)} parts of "
            f"which each needs its own radial functions: use at least {sum(orders) + len(free)}."
        )
    for count, position in enumerate(free):
        orders[position] = left // len(free) + (count < left % len(free))
    return orders


def stack(terms: list[Term], dim: int, max_degree: int, orders: list[int]) -> Radial:
    """Radial functions of a sum of terms."""
    degrees = [min(max_degree, _or(term.degree_limit, max_degree)) for term in terms]
    parts = [
        term.radial(dim, degree, order)
        for term, degree, order in zip(terms, degrees, orders, strict=True)
    ]
    return parts[0] if len(parts) == 1 else StackedRadial(tuple(parts), max_degree + 1)


def n_harmonics(max_degree: int, dim: int) -> float:
    """The number of spherical harmonics up to a degree (infinity where it overflows)."""
    with np.errstate(over="ignore"):
        return float(np.exp(log_harmonic_dimensions(max_degree, dim)).sum())


def diagonal_variance(coefficients: FloatArray, dim: int) -> tuple[FloatArray, FloatArray]:
    r"""Mean and variance of :math:`\|\varphi(\langle x,w\rangle)\|^2` for every largest degree.

    With :math:`\varphi(t) = \sum_{\ell \le q} \sqrt{\alpha_\ell}\, h_\ell P_\ell(t)`, by
    one-dimensional quadrature, exact for polynomials of degree 4q.

    Parameters
    ----------
    coefficients : ndarray of shape (max_degree + 1, n_radial)
        h_ℓ at one radius.
    dim : int
        d.

    Returns
    -------
    mean, variance : ndarrays of shape (max_degree + 1,)
    """
    top = len(coefficients) - 1
    nodes, weights = gauss_gegenbauer(2 * top + 50, dim)
    table = orthonormal_table(top, dim, nodes)
    phi = np.zeros((len(nodes), coefficients.shape[1]))
    mean, variance = np.empty(top + 1), np.empty(top + 1)
    with np.errstate(over="ignore", invalid="ignore"):
        for ell in range(top + 1):
            phi += table[ell][:, None] * coefficients[ell]
            square = np.square(phi).sum(axis=1)
            mean[ell] = weights @ square
            variance[ell] = max(weights @ np.square(square) - mean[ell] ** 2, 0.0)
    return mean, np.where(np.isfinite(variance), variance, np.inf)


def balanced_degree(coefficients: FloatArray, total: float, dim: int, n_directions: float) -> int:
    r"""The degree that minimises bias² + variance for a series that decays slowly.

    The features estimate k(x, x) by the mean of :math:`\|\varphi(\langle x, w_j\rangle)\|^2` over
    m directions (see `diagonal_variance`); its squared error is
    :math:`\text{tail}^2 + \mathrm{Var}\|\varphi\|^2 / m`. The variance explodes with the degree:
    α_ℓ P_ℓ² is heavy-tailed.

    Parameters
    ----------
    coefficients : ndarray of shape (max_degree + 1, n_radial)
        h_ℓ at a typical radius.
    total : float
        k(x, x) there.
    dim : int
        d.
    n_directions : float
        m.
    """
    mean, variance = diagonal_variance(coefficients, dim)
    return int(np.argmin((total - mean) ** 2 + variance / n_directions))
