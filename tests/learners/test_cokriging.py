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


def test_draws_have_the_moments_of_predictions_and_the_correlation_of_the_fields():
    model = zonal.CoKriging(KERNEL, n_features=0).fit(X, with_gaps(fields(0.9)))
    asked = np.vstack([X[-6:], RNG.uniform(0, 10, (6, 2))])
    n = 2000
    draws = model.sample_y(asked, n, random_state=0)
    assert draws.shape == (12, 2, n)
    mean, std = model.predict(asked, return_std=True)
    # Five standard errors, of 24 means and 24 standard deviations.
    assert (np.abs(draws.mean(axis=2) - mean) < 5 * std / n**0.5).all()
    assert (np.abs(draws.std(axis=2) / std - 1) < 5 / (2 * n) ** 0.5).all()
    # Far from all data both fields are drawn from the prior, with their correlation.
    far = model.sample_y(np.array([[1e6, 0.0]]), n, random_state=0)[0]
    assert abs(np.corrcoef(far)[0, 1] - model.correlation_[0, 1]) < 5 / n**0.5
    order = np.arange(12)[::-1]
    again = model.sample_y(asked[order], 3, random_state=0)
    np.testing.assert_allclose(again, draws[order][..., :3], rtol=1e-10, atol=1e-10)
    noisy = model.sample_y(asked, n, random_state=0, noise=True)
    lower, upper = model.predict_interval(asked, 0.9)
    held = np.mean((lower[..., None] < noisy) & (noisy < upper[..., None]), axis=2)
    assert (np.abs(held - 0.9) < 5 * (0.09 / n) ** 0.5).all()


def test_models_of_several_groups(tmp_path):
    # White numbers without any correlation: of random ones it is about 0.06, and more in part.
    white = np.linalg.qr(np.random.default_rng(1).standard_normal((N, 3)))[0] * N**0.5
    Y = ROOT @ white @ np.array([[1, 0, 0.9], [0, 1, 0], [0, 0, 0.44]])
    Y += 0.05 * np.linalg.qr(np.random.default_rng(2).standard_normal((N, 3)))[0] * N**0.5
    Y[:10, 2] = np.nan
    model = zonal.CoKriging(KERNEL, 8, n_features=8).fit(X, Y)
    assert model.groups_ == [[0, 2], [1]]
    assert model.correlation_[0, 1] == 0.0
    zonal.save(model, tmp_path / "model.zonal")
    loaded = zonal.load(tmp_path / "model.zonal")
    assert loaded.groups_ == model.groups_
    for answer in ("predict", "predict_interval"):
        one, other = (getattr(m, answer)(X[:9]) for m in (model, loaded))
        np.testing.assert_array_equal(one, other)
    draws = model.sample_y(X[-5:], 400, random_state=1)
    np.testing.assert_array_equal(loaded.sample_y(X[-5:], 400, random_state=1), draws)
    mean, std = model.predict(X[-5:], return_std=True)
    assert (np.abs(draws.mean(axis=2) - mean) < 5 * std / 20).all()
    # Groups know nothing of each other.
    for a, b in ((0, 1), (1, 2)):
        for row in draws:
            assert abs(np.corrcoef(row[a], row[b])[0, 1]) < 5 / 20


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
