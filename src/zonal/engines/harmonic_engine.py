"""Spherical harmonics times radial functions, fused over a block of rows."""

import numpy as np
import numpy.typing as npt
from numba import njit

from .._typing import Array
from ..polynomials.harmonics import HarmonicProgram
from .layout import flat_rows

__all__ = ["HarmonicEngine"]

# Rows handled side by side: with half or twice as many it takes 1.1 to 1.4 times as long.
TILE = 64
# Columns written at a time: with all rows of a tile they stay in the first-level cache.
PIECE = 64


class HarmonicEngine:
    """Runs a `HarmonicProgram` on rows in one precision.

    Parameters
    ----------
    program : HarmonicProgram
        The recurrences.
    blocks : ndarray of shape (n_modes, 2)
        For each mode its degree and the number of its columns: the first of that degree.
    dtype : dtype
        The precision of the features.
    """

    def __init__(
        self, program: HarmonicProgram, blocks: npt.NDArray[np.int64], dtype: npt.DTypeLike
    ) -> None:
        degrees, counts = blocks.T
        # Or compiled code would read beyond the end.
        if len(blocks) and not (
            0 <= degrees.min() <= degrees.max() < len(program.counts)
            and (counts >= 0).all()
            and (counts <= program.counts[degrees]).all()
        ):
            raise ValueError(f"The modes {blocks.tolist()} are not those of the program.")
        self._dim, self._n_modes = program.dim, len(blocks)
        edges = np.arange(len(program.counts) + 1)
        # Degree by degree: the recurrences need lower degrees only, and modes their own.
        step_degrees = np.searchsorted(program.offsets, program.steps[:, 1], "right") - 1
        step_order = np.argsort(step_degrees, kind="stable")
        mode_order = np.argsort(degrees, kind="stable")
        self._recurrences = (
            program.offsets[:-1],
            np.minimum(program.counts, 2),
            program.steps[step_order],
            np.searchsorted(step_degrees[step_order], edges),
        )
        self._modes = (
            np.column_stack([np.arange(len(counts)), np.cumsum(counts) - counts, counts])[
                mode_order
            ],
            np.searchsorted(degrees[mode_order], edges),
        )
        self._tables = tuple(table.astype(dtype) for table in (program.a, program.b, program.scale))
        self._n_columns = int(counts.sum())

    def __call__(self, directions: Array, radial: Array, out: Array) -> None:
        """Fill the columns of all modes, one mode after the other.

        Parameters
        ----------
        directions : ndarray of shape (n_rows, d)
            IN. Unit vectors in float64 (zeros where a row has none), d ≥ 2.
        radial : ndarray of shape (n_rows, n_modes)
            IN. What the harmonics of each mode are multiplied with.
        out : ndarray of shape (n_rows, n_columns)
            OUT.
        """
        n_rows = len(directions)
        if (  # or it would read and write beyond the end
            out.shape != (n_rows, self._n_columns)
            or directions.shape != (n_rows, self._dim)
            or radial.shape != (n_rows, self._n_modes)
        ):
            raise ValueError(
                f"Arrays of shapes {directions.shape}, {radial.shape} and {out.shape} do not "
                f"belong to {self._dim} dimensions, {self._n_modes} modes and "
                f"{self._n_columns} columns."
            )
        with flat_rows(out, self._tables[0].dtype) as (flat, pitch):
            _harmonics(
                directions, radial, self._recurrences, self._modes, self._tables, flat, pitch
            )


@njit(nogil=True, fastmath=True, cache=True)
def _harmonics(directions, radial, recurrences, modes, tables, out, pitch):  # type: ignore[no-untyped-def]
    """Fill `TILE` rows side by side: powers of x_1 + i x_2, the recurrences, the modes.

    Every operation is a loop over the rows of the tile, which is vectorised whatever the numbers
    of columns are. All slices are views, counted from zero: an index that might be negative would
    not be vectorised. The modes of a degree are written while it is in the cache.
    """
    firsts, widths, steps, step_edges = recurrences
    places, mode_edges = modes
    a, b, scale = tables
    n_rows, dim = directions.shape
    columns = np.empty((len(a), TILE), out.dtype)  # S, all degrees one after the other
    columns[0] = 1
    points, squares = np.zeros((dim, TILE), out.dtype), np.zeros((dim, TILE), out.dtype)
    x, y = np.zeros(TILE), np.zeros(TILE)
    re, im = np.empty(TILE), np.empty(TILE)
    for start in range(0, n_rows, TILE):
        n_tile = min(TILE, n_rows - start)
        for row in range(n_tile):
            total = 0.0
            for j in range(dim):
                total += directions[start + row, j] ** 2
                points[j, row] = directions[start + row, j]
                squares[j, row] = total
            x[row], y[row] = directions[start + row, 0], directions[start + row, 1]

        re[:], im[:] = 1, 0
        for ell in range(len(firsts)):
            if ell > 0:
                real = columns[firsts[ell]]
                for row in range(TILE):
                    power = re[row] * x[row] - im[row] * y[row]
                    im[row] = re[row] * y[row] + im[row] * x[row]
                    # Denormal numbers, close to the poles, are slow and count for nothing.
                    re[row] = power if abs(power) > 1e-30 else 0.0
                    im[row] = im[row] if abs(im[row]) > 1e-30 else 0.0
                    real[row] = re[row]
                if widths[ell] > 1:
                    imaginary = columns[firsts[ell] + 1]
                    for row in range(TILE):
                        imaginary[row] = im[row]

            for step in range(step_edges[ell], step_edges[ell + 1]):
                j, first, one, two, n_new, skip = steps[step]
                z, square = points[j], squares[j]
                new, lower = columns[first : first + n_new], columns[one : one + n_new]
                a_new = a[first : first + n_new]
                for c in range(skip):
                    for row in range(TILE):
                        new[c, row] = a_new[c] * z[row] * lower[c, row]
                if n_new > skip:
                    rest, lower, a_new = new[skip:], lower[skip:], a_new[skip:]
                    lowest = columns[two : two + n_new - skip]
                    b_new = b[first + skip : first + n_new]
                    for c in range(n_new - skip):
                        for row in range(TILE):
                            rest[c, row] = (
                                a_new[c] * z[row] * lower[c, row]
                                - b_new[c] * square[row] * lowest[c, row]
                            )

            for place in range(mode_edges[ell], mode_edges[ell + 1]):
                mode, first, count = places[place]
                for piece in range(0, count, PIECE):
                    width, source = min(PIECE, count - piece), firsts[ell] + piece
                    block, scales = columns[source : source + width], scale[source : source + width]
                    for row in range(n_tile):
                        factor = radial[start + row, mode]
                        at = (start + row) * pitch + first + piece
                        target = out[at : at + width]
                        for c in range(width):
                            target[c] = factor * scales[c] * block[c, row]
