"""Rows in parts: small blocks, small cells, nothing gathered."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np

N = 6000
RNG = np.random.default_rng(0)
SPHERE = RNG.standard_normal((N, 3))
SPHERE /= np.linalg.norm(SPHERE, axis=1, keepdims=True)
FIELD = np.sin(5 * SPHERE[:, 0]) * np.cos(7 * SPHERE[:, 1]) + 0.3 * np.sin(20 * SPHERE[:, 2])
TARGET = FIELD + 0.1 * RNG.standard_normal(N)
QUERIES = RNG.standard_normal((400, 3))
QUERIES /= np.linalg.norm(QUERIES, axis=1, keepdims=True)


class Blocks:
    """A stream of rows, targets and more, cut into blocks."""

    def __init__(self, *columns, size=700):
        self.columns, self.size = columns, size

    def __iter__(self):
        for start in range(0, len(self.columns[0]), self.size):
            yield tuple(column[start : start + self.size] for column in self.columns)


@contextmanager
def parts(cell_rows: int = 800, head_rows: int = 500) -> Iterator[None]:
    """Sort rows into parts, however few they are."""
    with ExitStack() as stack:
        for name, value in {
            "zonal.partitions.staying.GATHERED_BYTES": 0,
            "zonal.partitions.sorting.CELL_ROWS": cell_rows,
            "zonal.partitions.fitting.HEAD_ROWS": head_rows,
        }.items():
            stack.enter_context(mock.patch(name, value))
        yield
