r"""Series of kernels by degree ℓ and radial index i, as yet uncut.

What is cut off is itself a positive definite kernel, so by Cauchy–Schwarz its entries are at most
its diagonal, the *tail*

.. math:: k(x,x) - k_{q,s}(x,x) = \sum_{\ell > q\ \text{or}\ i \ge s} h_{\ell,i}(\|x\|)^2 .

All tails are shares of k(x, x).
"""

from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..._typing import FloatArray
from ..radial import Radial, StackedRadial
from ..terms import Term
from .distribution import Distribution
from .energies import (
    MAX_DEGREE,
    SLOW_DEGREE,
    Energies,
    TermEnergies,
    smallest_degree,
    value_or,
)
from .mercer import MercerModes

__all__ = ["ModeSeries", "Series", "TermSeries", "WorstModeSeries"]


class Series(Protocol):
    """An expansion of a kernel that has not been cut yet."""

    #: The largest degree that there is, or none.
    top: int | None

    def degree(self, tol: float) -> int:
        """Return the smallest degree that leaves out less than a share of k(x, x)."""
        ...

    def orders(self, max_degree: int, tol: float) -> list[int]:
        """Return the smallest orders, one for each part, that leave out less than a share."""
        ...

    def split(self, n_radial: int) -> list[int]:
        """Share a given order among the parts."""
        ...

    def kept(self, max_degree: int, orders: list[int]) -> float:
        """Return the share of the mean k(x, x) that a degree and orders keep."""
        ...

    def missing(self) -> float:
        """Return what even the last degree and order that were looked for leave out."""
        ...

    def radial(self, max_degree: int, orders: list[int]) -> Radial:
        """Return the functions h."""
        ...

    def at(self, radius: float, max_degree: int, orders: list[int]) -> FloatArray:
        """Return h at one radius, which costs less than the functions: [max_degree + 1, s]."""
        ...


class TermSeries:
    """The paper's monomials, for each term of the kernel.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose parameters are numbers.
    terms : list of Term
        Its merged terms, all with a closed form.
    dim : int
        d.
    radii : Distribution
        The distribution of ‖x‖ over which shares are averaged. All shares grow with the radius:
        at the largest, they are those of the worst case.
    tol : float
        The smallest tolerance that will be asked for.
    """

    def __init__(
        self, kernel: Any, terms: list[Term], dim: int, radii: Distribution, tol: float
    ) -> None:
        self.kernel, self.terms, self.dim, self.radii, self.tol = kernel, terms, dim, radii, tol
        self.top = 1 if dim == 1 else None

    @cached_property
    def energies(self) -> list[TermEnergies]:
        """The shares of each term; they are not needed where degree and order are given."""
        radii = self.radii
        trace = float(sum(radii.weights @ term.total(radii.nodes) for term in self.terms))
        return [TermEnergies(term, self.dim, radii, trace or 1.0, self.tol) for term in self.terms]

    def degree(self, tol: float) -> int:
        return max(part.degree(tol / len(self.terms)) for part in self.energies)

    def orders(self, max_degree: int, tol: float) -> list[int]:
        return [part.order(max_degree, tol / len(self.terms)) for part in self.energies]

    def split(self, n_radial: int) -> list[int]:
        orders = [value_or(term.fixed_order, 0) for term in self.terms]
        free = [place for place, term in enumerate(self.terms) if term.fixed_order is None]
        left = n_radial - sum(orders)
        if not free:
            return orders  # homogeneous kernels: one function each, always
        if left < len(free):
            raise ValueError(
                f"n_radial={n_radial} is too small for {self.kernel!r}, a sum of "
                f"{len(self.terms)} parts of which each needs its own radial functions: use at "
                f"least {sum(orders) + len(free)}."
            )
        for count, place in enumerate(free):
            orders[place] = left // len(free) + (count < left % len(free))
        return orders

    def kept(self, max_degree: int, orders: list[int]) -> float:
        pairs = zip(self.energies, orders, strict=True)
        kept = sum(part.energy[: max_degree + 1, :order].sum() for part, order in pairs)
        # A kernel that vanishes at all rows leaves out nothing.
        return float(kept) if any(part.share for part in self.energies) else 1.0

    def missing(self) -> float:
        return float(sum(part.share - part.energy.sum() for part in self.energies))

    def radial(self, max_degree: int, orders: list[int]) -> Radial:
        degrees = [min(max_degree, value_or(term.degree_limit, max_degree)) for term in self.terms]
        parts = [
            term.radial(self.dim, degree, order)
            for term, degree, order in zip(self.terms, degrees, orders, strict=True)
        ]
        return parts[0] if len(parts) == 1 else StackedRadial(tuple(parts), max_degree + 1)

    def at(self, radius: float, max_degree: int, orders: list[int]) -> FloatArray:
        return np.asarray(self.radial(max_degree, orders)(np.array([radius]))[0])


class ModeSeries:
    """The eigenfunctions of the kernel as a whole; shares are averaged over the radii.

    Parameters
    ----------
    kernel : Kernel
        A kernel whose parameters are numbers.
    dim : int
        d.
    radii : Distribution
        The distribution of ‖x‖.
    low, high : float
        The smallest and the largest radius that the functions are tabulated for.
    tol : float
        The smallest tolerance that will be asked for.
    max_degree : int, optional
        The degree where it is given, else as many are found as the tolerance needs.
    n_harmonics : int, default=0
        Degrees whose harmonics, with those of all degrees below, number at most so many are found
        beyond the tolerance, until rounding hides them.
    """

    def __init__(
        self,
        kernel: Any,
        dim: int,
        radii: Distribution,
        low: float,
        high: float,
        tol: float,
        max_degree: int | None = None,
        n_harmonics: int = 0,
    ) -> None:
        self.low, self.high = low, high
        self.searched = max_degree is None
        if max_degree is None:
            top = SLOW_DEGREE if any(term.slow for term in kernel.terms()) else MAX_DEGREE

            def enough(modes: MercerModes) -> bool:
                tail = float(self._tails(modes)[-1])
                all_fit = np.exp(modes.log_dimensions).sum() <= n_harmonics
                return tail <= (0.0 if all_fit else tol / 10)

            self.modes = MercerModes.until(kernel, dim, radii, enough, top)
        else:
            self.modes = MercerModes(kernel, dim, radii, max_degree)
        self.top: int | None = self.modes.max_degree

    def _tails(self, modes: MercerModes) -> FloatArray:
        """Return what each degree q leaves out."""
        return self._energies(modes).degree_tail()

    @staticmethod
    def _energies(modes: MercerModes) -> Energies:
        return Energies(1.0, modes.values / (modes.trace or 1.0))

    def degree(self, tol: float) -> int:
        return smallest_degree(self._tails(self.modes), tol)

    def orders(self, max_degree: int, tol: float) -> list[int]:
        return [self._energies(self.modes).order(max_degree, tol)]

    def split(self, n_radial: int) -> list[int]:
        return [n_radial]

    def kept(self, max_degree: int, orders: list[int]) -> float:
        kept = self._energies(self.modes).energy[: max_degree + 1, : orders[0]].sum()
        return float(kept) if self.modes.trace else 1.0

    def missing(self) -> float:
        return float(self._tails(self.modes)[-1]) if self.searched else 0.0

    def radial(self, max_degree: int, orders: list[int]) -> Radial:
        return self.modes.radial(max_degree, orders[0], self.low, self.high)

    def at(self, radius: float, max_degree: int, orders: list[int]) -> FloatArray:
        return self.modes.radial(max_degree, orders[0], radius, radius)(np.array([radius]))[0]


class WorstModeSeries(ModeSeries):
    """The same eigenfunctions; shares are of the largest k(x, x), at the worst of the radii."""

    def _tails(self, modes: MercerModes) -> FloatArray:
        rest = modes.diagonal - np.cumsum(modes.by_degree, axis=0)
        return np.asarray(rest.max(axis=1) / (modes.diagonal.max() or 1.0))

    def orders(self, max_degree: int, tol: float) -> list[int]:
        n_nodes = self.modes.values.shape[1]

        def left_out(order: int) -> float:
            orders = np.full(max_degree + 1, order)
            return float(self.modes.residual(orders).max() / (self.modes.diagonal.max() or 1.0))

        limit = left_out(n_nodes) + tol
        enough = (order for order in range(1, n_nodes) if left_out(order) <= limit)
        return [next(enough, n_nodes)]
