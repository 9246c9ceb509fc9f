"""Coordinates of tensor powers by leverage scores."""

import decimal
import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from tests.properties.cases import Rows
from zonal.features.baselines.adaptive_sketch import _log_drawn
from zonal.features.baselines.tuple_sampling import MIX, TupleSampler

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 4))


@parametrize_with_checks(
    [
        zonal.AdaptiveSketchFeatures(n_components=16),
        zonal.AdaptiveSketchFeatures(zonal.Polynomial(2), n_components=8, n_rounds=1),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "kernel",
    [zonal.Polynomial(2), pytest.param(zonal.Gaussian(3.0), marks=pytest.mark.longest)],
    ids=repr,
)
def test_unbiased_for_its_series(kernel):
    n_seeds, grams = 250, []
    for seed in range(n_seeds):
        features = zonal.AdaptiveSketchFeatures(kernel, 40, n_rounds=2, random_state=seed)
        Z = features.fit_transform(X)
        grams.append(Z @ Z.T)
    expected = features.series_(X - features.center_)
    error = np.std(grams, axis=0, ddof=1) / np.sqrt(n_seeds)
    assert (np.abs(np.mean(grams, axis=0) - expected) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_tuples_are_drawn_with_the_probabilities_that_are_told(sparse):
    """All tuples of degree 2 by enumeration: frequencies, and leverage behind them."""
    rows = np.abs(X) / np.linalg.norm(X, axis=1, keepdims=True)
    rows[rows < 0.2] = 0
    rng = np.random.default_rng(1)
    # With sketches that are wide enough to be exact.
    sampler = TupleSampler(sp.csr_array(rows) if sparse else rows, 2, 16, rng)
    H = rng.standard_normal((30, 5))
    tuples, log_p = sampler.draw(H, 2, 20_000)
    told = {tuple(t): p for t, p in zip(tuples.tolist(), np.exp(log_p), strict=True)}
    assert sum(told.values()) <= 1 + 1e-9
    scores = {
        (i, j): np.square(H.T @ (rows[:, i] * rows[:, j])).sum()
        for i, j in itertools.product(range(4), repeat=2)
    }
    total = sum(scores.values())
    assert sampler.mass(H, 2) == pytest.approx(total)
    for pair, p in told.items():
        count = int((tuples == pair).all(axis=1).sum())
        assert abs(count - 20_000 * p) <= 5 * np.sqrt(20_000 * p * (1 - p)) + 1
        assert p >= (1 - MIX) ** 2 * scores[pair] / total * (1 - 1e-9)


def common_and_rare(rng):
    """280 rows share 10 words, 20 short rows have words of their own, among 10,000."""
    rows = sp.lil_array((300, 10_000))
    for number in range(280):
        rows[number, rng.choice(10, 6, replace=False)] = 3.0
    for number in range(280, 300):
        rows[number, 5000 + rng.choice(6, 2, replace=False)] = 1.0
    return rows.tocsr()


def test_rounds_find_what_squared_norms_miss():
    """Leverage scores, not norms: rare columns of short rows matter as much as common ones."""
    rows = common_and_rare(np.random.default_rng(0))
    kernel = zonal.Polynomial(2, gamma=1.0, coef0=0.0)
    K = kernel(rows)
    errors = {}
    for n_rounds in (1, 3):
        found = []
        for seed in range(3):
            features = zonal.AdaptiveSketchFeatures(
                kernel, 256, n_rounds=n_rounds, random_state=seed
            )
            Z = features.fit_transform(rows)
            found.append(float(zonal.theory.spectral_error(K, Z, 1.0)))
        errors[n_rounds] = np.mean(found)
    assert errors[3] < 0.5 * errors[1]


def test_tuples_that_are_sure_to_be_drawn_are_exact():
    """15 products of columns in 256 columns: what is left is the chance of a tuple to be missed.

    Draws with replacement, each with a weight of its own, would leave an error of some per cent.
    """
    kernel = zonal.Polynomial(2)
    Z = zonal.AdaptiveSketchFeatures(kernel, 256, random_state=0).fit_transform(X)
    K = kernel(X)
    assert (np.abs(Z).max(axis=0) > 0).sum() == 15
    assert np.linalg.norm(Z @ Z.T - K) < 1e-3 * np.linalg.norm(K)


@pytest.mark.parametrize("size", [10, 40])
def test_tuples_beyond_the_width_are_left_out_at_random(size):
    """Thirty tuples with squares of ones in ten columns: their sum stays, on the average."""
    features = zonal.AdaptiveSketchFeatures(n_components=size)
    found = [(np.arange(30).reshape(30, 1), np.zeros(30))]  # logs of ones
    sums = []
    for seed in range(200):
        features.series_ = [None]
        features._keep(found, np.random.default_rng(seed))
        assert features._counts.sum() == size
        kept = np.zeros(30)
        np.add.at(kept, features.tuples_[0][:, 0], features._factors[0] ** 2)
        sums.append(kept)
    error = np.std(sums, axis=0, ddof=1) / np.sqrt(200)
    assert (np.abs(np.mean(sums, axis=0) - 1) <= 5 * error + 1e-12).all()


def test_gradient_sparse_single_precision_and_saved(tmp_path):
    features = zonal.AdaptiveSketchFeatures(zonal.Polynomial(3), 40, random_state=0).fit(X)
    Z = features.transform(X)
    np.testing.assert_allclose(features.transform(sp.csr_array(X)), Z, atol=1e-10)
    single = features.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=1e-4 * np.abs(Z).max())
    gradient = features.gradient(X)
    for column, step in enumerate(1e-6 * np.eye(4)):
        difference = (features.transform(X + step) - features.transform(X - step)) / 2e-6
        np.testing.assert_allclose(
            gradient[:, :, column], difference, atol=1e-6 * np.abs(gradient).max()
        )
    zonal.save(features, tmp_path / "map.zonal")
    np.testing.assert_array_equal(zonal.load(tmp_path / "map.zonal").transform(X), Z)


def test_mistakes():
    with pytest.raises(ValueError, match="n_rounds=0"):
        zonal.AdaptiveSketchFeatures(n_rounds=0).fit(X)
    with pytest.raises(ValueError, match="Taylor"):
        zonal.AdaptiveSketchFeatures(zonal.Laplacian(1.0)).fit(X)


def test_a_round_that_finds_nothing():
    """The next one finds so much more that the ratio is beyond all numbers, but not its root."""
    rows = Rows(246, 1, "whole", 3, False, False, "float32", "csr", 1)
    features = zonal.AdaptiveSketchFeatures(zonal.Gaussian(), 1, random_state=78)
    with np.errstate(over="raise"):
        assert np.isfinite(features.fit_transform(rows.make())).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_long_tuples_are_unbiased(sparse):
    """E[φ_I φ_Iᵀ / p_I] is a power of X Xᵀ, also where columns are drawn several at a time."""
    degree, count = 24, 1000
    rows = np.abs(X[:6]) * (X[:6] > -0.5)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    if sparse:  # few entries that are not zero, so that they stay sparse
        rows = np.hstack([rows, np.zeros((6, 60))])
    sampler = TupleSampler(
        sp.csr_array(rows) if sparse else rows, degree, 16, np.random.default_rng(1)
    )
    tuples, log_p = sampler.draw(np.random.default_rng(2).standard_normal((6, 5)), degree, count)
    values = rows[:, tuples].prod(axis=2) * np.exp(-log_p / 2)
    each = values[:, None] * values
    error = each.std(axis=2, ddof=1) / np.sqrt(count)
    power = (rows @ rows.T) ** degree
    assert (np.abs(each.mean(axis=2) - power) <= 5 * error + 1e-6).all()  # smaller ones are rare
    assert np.median(error.diagonal()) < 0.2  # and not only by large errors


def test_long_tuples_take_few_steps(monkeypatch):
    """A prefix soon singles out a row, whose squares are the probabilities from there on."""
    steps = []
    plain = TupleSampler._next

    def counted(sampler, *args):
        steps.append(args)
        return plain(sampler, *args)

    monkeypatch.setattr(TupleSampler, "_next", counted)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    rng = np.random.default_rng(1)
    TupleSampler(rows, 200, 16, rng).draw(rng.standard_normal((30, 5)), 200, 20)
    assert len(steps) < 20 * 200 / 4


def test_factors_of_long_tuples_in_single_precision():
    """A tuple of 200 columns has a probability that no float32 holds, nor its factor."""
    rows = 4 * np.random.default_rng(0).standard_normal((20, 30)).astype(np.float32)
    features = zonal.AdaptiveSketchFeatures(zonal.Gaussian(2.2), 64, random_state=0).fit(rows)
    assert max(factors.max(initial=0) for factors in features._factors) > np.finfo(np.float32).max
    with np.errstate(over="raise", invalid="raise"):
        Z = features.transform(rows)
    whole = features.transform(rows.astype(float))
    assert np.abs(whole).max() > 1e-3
    np.testing.assert_allclose(Z, whole, rtol=0, atol=1e-3 * np.abs(whole).max())


def test_the_chance_to_be_drawn_at_all():
    """By 500 digits, down to probabilities that are below all numbers."""
    with decimal.localcontext(prec=500):
        for log_p, n in itertools.product([-1e-3, -1.0, -30.0, -40.0, -800.0], [1, 7, 4000]):
            missed = (1 - decimal.Decimal(log_p).exp()) ** n
            found = _log_drawn(np.array([log_p]), n)[0]
            assert found == pytest.approx(float((1 - missed).ln()), rel=1e-11, abs=1e-11)
    assert _log_drawn(np.zeros(1), 3)[0] == 0


def test_tuples_rarer_than_all_numbers():
    """Forty columns drawn 200 times: one over the probability of a tuple overflows."""
    rows = Rows(40, 40, "offset", seed=3).make()
    features = zonal.AdaptiveSketchFeatures(
        zonal.Gaussian(0.5 * np.sqrt(40)), 16, center=False, random_state=0
    )
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert np.isfinite(features.fit_transform(rows)).all()
