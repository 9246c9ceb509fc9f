"""The median distance, by sorting all pairs."""

import numpy as np
import pytest

from zonal.kernels.bandwidth import median_distance


@pytest.mark.parametrize("seed", range(20))
def test_weights_are_copies_of_rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    rows = rng.integers(0, 5, (n, 2)).astype(float) if seed % 2 else rng.standard_normal((n, 2))
    weight = rng.integers(1, 4, n)
    copies = np.repeat(rows, weight, axis=0)
    pairs = np.linalg.norm(copies[:, None] - copies, axis=2)[np.triu_indices(len(copies), 1)]
    apart = np.sort(pairs[pairs > 1e-7 * np.linalg.norm(rows, axis=1).max()])
    if not len(apart):
        pytest.skip("all rows are equal")
    expected = apart[int(np.ceil(0.5 * len(apart))) - 1]
    assert median_distance(rows, weight) == pytest.approx(expected, rel=1e-9)
