import numpy as np
import pytest

from zonal.moments.moments import Moments


def rows(n, width, seed=0):
    return np.random.default_rng(seed).standard_normal((n, width)) + np.arange(width)


def moments_of(V, shift, n_targets=1, weight=None, dtype=np.float64):
    moments = Moments(shift, n_targets)
    block = np.column_stack([V - shift, np.ones(len(V))]).astype(dtype)
    if weight is not None:
        block *= np.sqrt(weight)[:, None].astype(dtype)
    moments.update(np.ascontiguousarray(block))
    return moments


@pytest.mark.parametrize("shift", [np.zeros(4), np.array([0.0, 1.0, 2.0, 3.0])])
def test_against_numpy(shift):
    V = rows(50, 4)
    weight = np.random.default_rng(1).uniform(0.1, 2, 50)
    moments = moments_of(V, shift, weight=weight)
    assert moments.n_rows == 50
    assert moments.weight == pytest.approx(weight.sum())
    np.testing.assert_allclose(moments.mean(), np.average(V, axis=0, weights=weight))
    covariance = np.cov(V.T, aweights=weight, ddof=0)
    np.testing.assert_allclose(moments.products() / weight.sum(), covariance, atol=1e-12)
    raw = moments.products(np.zeros(4))
    np.testing.assert_allclose(raw, (V * weight[:, None]).T @ V, rtol=1e-12)
    np.testing.assert_allclose(moments.squares(np.zeros(4)), weight @ V**2, rtol=1e-12)
    np.testing.assert_allclose(moments.squares(), weight.sum() * np.diag(covariance), rtol=1e-10)


def test_merging_in_any_order_and_about_any_point():
    V = rows(60, 3)
    whole = moments_of(V, np.zeros(3))
    parts = [
        moments_of(V[:10], np.ones(3)),
        moments_of(V[10:11], np.zeros(3)),
        moments_of(V[11:], V[0]),
    ]
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        merged = parts[order[0]] + parts[order[1]] + parts[order[2]]
        assert merged.n_rows == 60
        np.testing.assert_allclose(merged.products(), whole.products(), rtol=1e-11)
        np.testing.assert_allclose(merged.mean(), whole.mean())


def test_different_widths_do_not_merge():
    with pytest.raises(ValueError, match=r"2 features and 1 targets cannot be merged.*3 and 1"):
        moments_of(rows(5, 3), np.zeros(3)) + moments_of(rows(5, 4), np.zeros(4))


def test_single_precision_is_summed_in_double():
    """Across blocks the sums are float64: the error stays that of one block, not of all rows."""
    n = 60_005
    V = np.random.default_rng(0).uniform(0, 1, (n, 3)).astype(np.float32)
    moments = Moments(np.zeros(3), 0)
    block = np.column_stack([V, np.ones(n, np.float32)])
    for start in range(0, n, 1000):
        moments.update(block[start : start + 1000])
    exact = V.astype(np.float64).T @ V.astype(np.float64)
    assert moments.precision == np.finfo(np.float32).eps
    np.testing.assert_allclose(moments.products(np.zeros(3)), exact, rtol=2e-6)
    assert moments.weight == n


def test_shift_saves_digits():
    """Columns far from zero with a small variance, in float32."""
    V = 100 + np.random.default_rng(0).standard_normal((5000, 3)).astype(np.float32)
    exact = np.cov(V.astype(np.float64).T, ddof=0) * len(V)
    far = moments_of(V, np.zeros(3), 0, dtype=np.float32).products()
    near = moments_of(V, np.full(3, 100.0), 0, dtype=np.float32).products()
    assert np.abs(near - exact).max() < 1e-2 * np.abs(far - exact).max()


def test_rows_that_count_and_weights_of_mean_one():
    rng = np.random.default_rng(5)
    rows, weight = rng.standard_normal((30, 3)), rng.integers(0, 4, 30).astype(float)
    block = np.column_stack([rows, np.ones(30)]) * np.sqrt(weight)[:, None]
    found = Moments(np.zeros(3), 1)
    found.update(block[:10])
    found.update(block[10:])
    counting = int((weight > 0).sum())
    assert (found.n_rows, found.n_counting) == (30, counting)
    assert found.unit == pytest.approx(weight.sum() / counting)
    one = found.shifted(np.ones(3)).of_mean_weight_one()
    assert one.weight == pytest.approx(counting)
    np.testing.assert_allclose(one.mean(), np.average(rows, axis=0, weights=weight))
    # Files of earlier versions do not tell.
    state = {name: value for name, value in vars(found).items() if name != "n_counting"}
    old = Moments.__new__(Moments)
    old.__setstate__(state)
    assert old.n_counting == 30
