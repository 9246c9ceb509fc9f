"""How much of k(x, x) belongs to each degree and radial index of a series."""

import numpy as np

from ..._typing import FloatArray
from ..terms import Term
from .distribution import Distribution

__all__ = ["MAX_DEGREE", "SLOW_DEGREE", "Energies", "TermEnergies", "smallest_degree", "value_or"]

# The largest degree that is looked for, and that of series that decay too slowly to be cut.
MAX_DEGREE = 1024
SLOW_DEGREE = 200
MAX_ORDER = 512
# What sums of a few hundred shares differ by from their whole, and mean nothing by it.
ROUNDING = 1e-14


def smallest_degree(tails: FloatArray, tol: float) -> int:
    """Return the smallest degree whose tail is at most `tol`, the largest known if none is."""
    # Where the tolerance is out of reach, degrees that add nothing are of no use.
    return int(np.argmax(tails <= max(tol, tails[-1])))


def _sums_above(values: FloatArray) -> FloatArray:
    """Return for each place the sum of all values behind it."""
    return np.append(np.cumsum(values[:0:-1])[::-1], 0.0)


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
        """Return the share above each degree q, from zero on.

        Summed from above: differences of sums from below would end at their rounding.
        """
        by_degree = self.energy.sum(axis=1)
        missing = max(self.share - float(by_degree.sum()), 0.0)
        return _sums_above(by_degree) + (missing if missing > ROUNDING * self.share else 0.0)

    def order_tail(self, max_degree: int) -> FloatArray:
        """Return the share of degrees up to q that order s = 1, 2, … leaves out."""
        return _sums_above(self.energy[: max_degree + 1].sum(axis=0))

    def degree(self, tol: float) -> int:
        """Return the smallest degree whose tail is at most `tol`."""
        return smallest_degree(self.degree_tail(), tol)

    def order(self, max_degree: int, tol: float) -> int:
        """Return the smallest order whose tail is at most `tol`."""
        return 1 + int(np.argmax(self.order_tail(max_degree) <= tol))


class TermEnergies(Energies):
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
            degree = min(n_degrees - 1, top_degree, value_or(term.degree_limit, top_degree))
            order = value_or(term.fixed_order, n_radial)
            radial = term.radial(dim, degree, order)
            energy = sum(
                weight * np.square(radial(node[None])[0])
                for node, weight in zip(radii.nodes, radii.weights, strict=True)
            )
            self.energy: FloatArray = np.asarray(energy) / trace  # [degree, radial]
            missing = self.share - self.energy.sum()
            more_degrees = degree < min(top_degree, value_or(term.degree_limit, top_degree))
            more_radial = term.fixed_order is None and n_radial < MAX_ORDER
            if missing <= max(tol / 10, ROUNDING * self.share) or not (more_degrees or more_radial):
                return
            # Grow where the energy is still coming in: its last row or its last column.
            last_degree, last_order = self.energy[-1].sum(), self.energy[:, -1].sum()
            if more_degrees and (last_degree >= last_order or not more_radial):
                n_degrees = 2 * n_degrees - 1
            if more_radial and (last_order >= last_degree or not more_degrees):
                n_radial = 2 * n_radial


def value_or(value: int | None, default: int) -> int:
    """Return a value, or the default for none."""
    return default if value is None else value
