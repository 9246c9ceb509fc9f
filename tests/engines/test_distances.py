"""Distances from differences, against SciPy."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from zonal.engines.distances import TILE, direct_distances


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 3, 9])
@pytest.mark.parametrize("n_others", [1, 7, TILE + 1])
def test_against_scipy(dtype, dim, n_others):
    rng = np.random.default_rng(0)
    rows, others = (rng.standard_normal((n, dim)).astype(dtype) for n in (5, n_others))
    found = direct_distances(rows, others)
    assert found.dtype == dtype
    expected = cdist(rows.astype(np.float64), others.astype(np.float64))
    # A difference, a square, a sum of d and a root: at most (d + 3)/2 roundings of the result.
    np.testing.assert_allclose(found, expected, rtol=(dim + 3) * np.finfo(dtype).eps)


def test_close_points_keep_their_digits():
    """Far from the origin, where the difference of squares has none left in float32."""
    rows = np.full((1, 3), 1000.0, np.float32)
    others = rows + np.float32(2**-10)
    expected = np.sqrt(3) * 2**-10
    np.testing.assert_allclose(direct_distances(rows, others), expected, rtol=1e-6)
    assert direct_distances(rows, rows)[0, 0] == 0
