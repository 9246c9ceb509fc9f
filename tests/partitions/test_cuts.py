"""Cells of equal counts."""

import numpy as np
import pytest

from zonal.partitions.cuts import Cuts

POINTS = np.random.default_rng(0).standard_normal((4096, 3)) * [1.0, 5.0, 0.1]


@pytest.mark.parametrize("n_cells", [1, 2, 7, 16])
def test_cells_of_the_sample_have_equal_counts(n_cells):
    cuts = Cuts.of(POINTS, n_cells)
    assert len(cuts) == 1 << (n_cells - 1).bit_length()
    counts = np.bincount(cuts.cell_of(POINTS), minlength=len(cuts))
    assert (counts == len(POINTS) / len(cuts)).all()


def test_cells_are_boxes():
    """No point of another cell lies in the box of a cell."""
    cuts = Cuts.of(POINTS, 8)
    cells = cuts.cell_of(POINTS)
    for cell in range(8):
        low, high = POINTS[cells == cell].min(axis=0), POINTS[cells == cell].max(axis=0)
        inside = ((low <= POINTS) & (high >= POINTS)).all(axis=1)
        assert (cells[inside] == cell).all()


def test_equal_points_are_in_one_cell():
    points = np.repeat(POINTS[:3], 50, axis=0)
    cells = Cuts.of(points, 16).cell_of(points)
    assert all(len(set(cells[start : start + 50].tolist())) == 1 for start in (0, 50, 100))


def test_far_queries_have_a_cell():
    found = Cuts.of(POINTS, 8).cell_of(np.array([[1e9, -1e9, 0.0], [-1e9, 1e9, 1e9]]))
    assert ((found >= 0) & (found < 8)).all()
