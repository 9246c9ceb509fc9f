"""Where Mercer's series is cut if each function is a column: the leading eigenfunctions."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..._typing import FloatArray
from ...polynomials import n_harmonics
from .mercer import NEGLIGIBLE, MercerModes

__all__ = ["Chosen", "LeadingByNumber", "LeadingByTolerance"]

# More columns than this are not chosen by a tolerance, only by name.
MAX_COLUMNS = 20_000
# From this degree on, a series ends where twice as many degrees have brought no column.
MANY_DEGREES = 16

#: Degree, radial index and number of columns of the modes that are used.
Chosen = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


@dataclass(frozen=True)
class LeadingByNumber:
    """The functions of the largest eigenvalues: what is left out is the least on average.

    Attributes
    ----------
    n_columns : int
        The largest number of columns D.
    """

    n_columns: int

    def enough(self, modes: MercerModes) -> bool:
        """Whether no degree above those that are known can have a column."""
        flat = np.sort(modes.eigenvalues, axis=None)[::-1]
        sizes = np.exp(modes.log_dimensions)
        degrees = np.argsort(modes.eigenvalues, axis=None)[::-1] // modes.eigenvalues.shape[1]
        full = np.searchsorted(np.cumsum(sizes[degrees]), self.n_columns)
        last = flat[full] if full < len(flat) else 0.0
        # Even if one function had all of the trace that is left; or, as slow series would never
        # get there, if twice as many degrees have brought nothing.
        upper = modes.eigenvalues[len(modes.eigenvalues) // 2 :].max()
        nothing_new = modes.max_degree >= MANY_DEGREES and upper <= last
        return bool(modes.tail / sizes[-1] <= last or nothing_new)

    def select(self, modes: MercerModes) -> Chosen:
        """Return the modes that are used; the last one may be used in part."""
        degrees, indices, sizes = _by_eigenvalue(modes)
        before = np.concatenate([[0.0], np.cumsum(sizes)[:-1]])
        counts = np.minimum(sizes, self.n_columns - before)
        used = counts > 0.5
        return degrees[used], indices[used], np.rint(counts[used]).astype(np.int64)


@dataclass(frozen=True)
class LeadingByTolerance:
    """As many of them as leave out a share of the largest k(x, x) at the worst radius.

    Attributes
    ----------
    tol : float
        The share.
    """

    tol: float

    def enough(self, modes: MercerModes) -> bool:
        """Whether the degrees that are known reach the tolerance, or never will."""
        rest = modes.diagonal - modes.by_degree.sum(axis=0)
        reached = rest.max() <= self.tol / 2 * modes.diagonal.max()
        # One function of every degree would be too many columns already.
        return bool(reached or n_harmonics(modes.max_degree, modes.dim) > MAX_COLUMNS)

    def select(self, modes: MercerModes) -> Chosen:
        """Return the modes that are used, each as a whole."""
        degrees, indices, sizes = _by_eigenvalue(modes)
        squares = modes.squares(degrees, indices)  # [n_modes, n_nodes]
        rest = modes.diagonal - np.cumsum(squares, axis=0)
        done = rest.max(axis=1) <= self.tol * modes.diagonal.max()
        if not done.any():
            raise ValueError(
                f"tol={self.tol} is out of reach: {len(degrees)} radial functions up to degree "
                f"{modes.max_degree} leave out {rest[-1].max() / modes.diagonal.max():.2g} of "
                "k(x, x). Raise tol, or give n_components instead."
            )
        used = np.arange(len(degrees)) <= int(np.argmax(done))
        if sizes[used].sum() > MAX_COLUMNS:
            raise ValueError(
                f"tol={self.tol} needs {sizes[used].sum():.3g} columns, more than "
                f"{MAX_COLUMNS}. Raise tol, widen the kernel, or give n_components instead."
            )
        return degrees[used], indices[used], np.rint(sizes[used]).astype(np.int64)


def _by_eigenvalue(
    modes: MercerModes,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], FloatArray]:
    """Return degree, radial index and number of harmonics of all modes, the largest first.

    Where all are rounding there is one, the first of degree zero, which is zero then.
    """
    eigenvalues = modes.eigenvalues
    order = np.argsort(-eigenvalues, axis=None, kind="stable")
    floor = NEGLIGIBLE * eigenvalues.max(initial=0.0)
    order = order[: max(1, int((eigenvalues > floor).sum()))]
    degrees, indices = np.unravel_index(order, eigenvalues.shape)
    return degrees, indices, np.exp(modes.log_dimensions[degrees])
