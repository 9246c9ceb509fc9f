"""Cells of equal area on the sphere."""

import numpy as np
import pytest

from zonal.polynomials.cells import EqualAreaCells


@pytest.mark.parametrize("side", [3.0, 10.0, 45.0, 77.0, 180.0])
def test_areas_are_equal(side):
    """By Archimedes the area of a cell is 2π (difference of sines) / (cells of the band)."""
    cells = EqualAreaCells(side)
    areas = 2 * np.pi * np.diff(cells.edges) / cells.counts
    np.testing.assert_allclose(areas, 4 * np.pi / len(cells), rtol=1e-10)


def test_uniform_points_fill_cells_evenly():
    rng = np.random.default_rng(0)
    cells = EqualAreaCells(30.0)
    n_points = 200 * len(cells)
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, n_points)))
    counts = np.bincount(cells.number(lat, rng.uniform(-180, 540, n_points)))
    assert len(counts) == len(cells)
    # Pearson's statistic has mean N - 1 and variance 2 (N - 1).
    statistic = ((counts - 200) ** 2 / 200).sum()
    assert abs(statistic - (len(cells) - 1)) < 4 * np.sqrt(2 * (len(cells) - 1))


def test_sides_are_about_as_asked():
    cells = EqualAreaCells(10.0)
    assert abs(4 * np.pi / len(cells) / np.radians(10) ** 2 - 1) < 0.02
    heights = np.degrees(np.diff(np.arcsin(np.clip(cells.edges, -1, 1))))
    assert heights[1:-1].min() > 9
    assert heights[1:-1].max() < 11


def test_poles_the_date_line_and_turns():
    cells = EqualAreaCells(10.0)
    assert cells.number([90.0], [0.0]) == len(cells) - cells.counts[-1] + cells.counts[-1] // 2
    for lat in (-90.0, -33.0, 0.0, 90.0):
        lon = np.array([-180.0, 180.0, 540.0])
        assert len(set(cells.number([lat] * 3, lon).tolist())) == 1
    assert cells.number([5.0], [190.0]) == cells.number([5.0], [-170.0])
    # A longitude just below -180° belongs to the last cell of its band, not to the next band.
    assert cells.number([0.0], [np.nextafter(-180, -181)])[0] < len(cells)
