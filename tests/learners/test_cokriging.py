"""Several targets with gaps: what one tells of another."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal

RNG = np.random.default_rng(0)
N = 300
X = RNG.uniform(0, 10, (N, 2))
KERNEL = zonal.Matern(1.5, 1.5)
ROOT = np.linalg.cholesky(KERNEL(X) + 1e-9 * np.eye(N))


def fields(correlation, noise=0.1, seed=1):
    """Two fields of that correlation, with noise."""
    rng = np.random.default_rng(seed)
    mixing = np.linalg.cholesky([[1, correlation], [correlation, 1]])
    return ROOT @ rng.standard_normal((N, 2)) @ mixing.T + noise * rng.standard_normal((N, 2))


def with_gaps(Y):
    """Half of the second target, and a little of the first, missing."""
    holes = Y.copy()
    holes[N // 2 :, 1] = np.nan
    holes[:10, 0] = np.nan
    return holes


@parametrize_with_checks([zonal.CoKriging(zonal.Matern(1.5, 1.0), 4, n_features=0)])
def test_is_an_estimator(estimator, check):
    check(estimator)


def test_a_row_with_one_target_informs_the_other():
    Y = fields(0.95)
    model = zonal.CoKriging(random_state=0).fit(X, with_gaps(Y))
    hidden = slice(N // 2, None)
    together = np.mean((model.predict(X)[hidden, 1] - Y[hidden, 1]) ** 2)
    alone = zonal.NeighborKriging().fit(X[: N // 2], Y[: N // 2, 1]).predict(X[hidden])
    assert together < 0.7 * np.mean((alone - Y[hidden, 1]) ** 2)
    assert model.correlation_[0, 1] > 0.8
    lower, upper = model.predict_interval(X)
    held = np.mean((lower < Y) & (upper > Y), axis=0)[1]
    # Of 150 hidden rows that know their own first target; half of them are not hidden.
    assert 0.85 < held < 0.99


def test_unrelated_targets_stay_so():
    Y = fields(0.0, seed=2)
    model = zonal.CoKriging().fit(X, with_gaps(Y))
    hidden = slice(N // 2, None)
    together = np.mean((model.predict(X)[hidden, 1] - Y[hidden, 1]) ** 2)
    alone = zonal.NeighborKriging().fit(X[: N // 2], Y[: N // 2, 1]).predict(X[hidden])
    # The correlation of fields of so many places is found to about 0.1, whose square is lost.
    assert together < 1.05 * np.mean((alone - Y[hidden, 1]) ** 2)


def test_units_and_order_do_not_matter():
    Y = with_gaps(fields(0.9))
    model = zonal.CoKriging(KERNEL, n_features=0).fit(X, Y)
    mean, std = model.predict(X[:20], return_std=True)
    other = zonal.CoKriging(KERNEL, n_features=0).fit(X, Y * [1e3, 1] + [5, -7])
    again, spread = other.predict(X[:20], return_std=True)
    np.testing.assert_allclose(again, mean * [1e3, 1] + [5, -7], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(spread, std * [1e3, 1], rtol=1e-6)
    order = np.random.default_rng(3).permutation(N)
    shuffled = zonal.CoKriging(KERNEL, n_features=0).fit(X[order], Y[order])
    np.testing.assert_allclose(shuffled.predict(X[:20]), mean, rtol=1e-8, atol=1e-8)


def test_files(tmp_path):
    model = zonal.CoKriging(KERNEL, n_features=8).fit(X, with_gaps(fields(0.9)))
    zonal.save(model, tmp_path / "model.zonal")
    loaded = zonal.load(tmp_path / "model.zonal")
    np.testing.assert_array_equal(loaded.predict(X[:9]), model.predict(X[:9]))


@pytest.mark.parametrize(
    ("Y", "words"),
    [
        (np.full((N, 2), np.nan), "Column 0 of y has no observation"),
        (np.full((N, 2), np.inf), "infinity"),
        (np.where(np.arange(N) == 3, np.nan, 1.0), "only gaps in one of several"),
        (np.zeros((N, 2, 2)), r"y has the shape \(300, 2, 2\)"),
    ],
)
def test_mistakes(Y, words):
    with pytest.raises(ValueError, match=words):
        zonal.CoKriging(KERNEL).fit(X, Y)
