"""Errors of observations that are known, against dense Gaussian processes."""

import dask.array as da
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import zonal

RNG = np.random.default_rng(0)
N = 120
X = RNG.uniform(0, 4, (N, 2))
FIELD = np.sin(2 * X[:, 0]) * np.cos(X[:, 1])
V = np.exp(RNG.uniform(-6, 0, N))
Y = 3 + FIELD + np.sqrt(V) * RNG.standard_normal(N)
NEW = RNG.uniform(0, 4, (20, 2))
KERNEL = zonal.Matern(1.5, 1.2)


def dense(K, C, prior, noise, y, new=None):
    """Mean, standard deviation and log evidence of a process with a constant of flat prior.

    The evidence is that at the best constant.
    """
    V = K + np.diag(noise)
    ones = np.ones(len(y))
    solve = np.linalg.solve
    mu = ones @ solve(V, y) / (ones @ solve(V, ones))
    mean = mu + C.T @ solve(V, y - mu)
    gap = 1 - ones @ solve(V, C)
    variance = prior - np.sum(C * solve(V, C), axis=0) + gap**2 / (ones @ solve(V, ones))
    rest = y - mu
    fit = rest @ solve(V, rest) + np.linalg.slogdet(2 * np.pi * V)[1]
    return mean, np.sqrt(variance), -fit / 2


def evidence_at(log_scale, extra):
    scale = np.exp(log_scale)
    return dense(scale * KERNEL(X), scale * KERNEL(X, NEW), scale, V + extra, Y)[2]


@pytest.mark.parametrize("n_features", [0, 16])
@pytest.mark.parametrize("extra_noise", [False, True])
def test_kriging_is_the_dense_process(extra_noise, n_features):
    model = zonal.NeighborKriging(KERNEL, N, n_features=n_features)
    model.fit(X, Y, noise_variance=V, extra_noise=extra_noise)
    scale, extra = model.scale_, model.extra_noise_
    assert extra_noise or extra == 0
    expected = dense(scale * KERNEL(X), scale * KERNEL(X, NEW), scale, V + extra, Y)
    mean, std = model.predict(NEW, return_std=True)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-8)
    np.testing.assert_allclose(std, expected[1], rtol=1e-8)
    assert model.log_evidence_ == pytest.approx(expected[2], rel=1e-8)
    # The scale is the best one, and so is the common part.
    best = minimize_scalar(lambda log: -evidence_at(log, extra), bounds=(-4, 4), method="bounded")
    assert expected[2] > -best.fun - 0.02
    if extra_noise:
        for other in (0.0, 0.01, 0.1):
            assert expected[2] > evidence_at(np.log(scale), other) - 0.02


def test_kriging_with_a_given_common_part():
    model = zonal.NeighborKriging(KERNEL, N, noise=0.2, n_features=0).fit(X, Y, noise_variance=V)
    assert model.extra_noise_ == pytest.approx(0.2 * model.scale_, rel=1e-9)
    scale = model.scale_
    noise = V + 0.2 * scale
    mean, std, _ = dense(scale * KERNEL(X), scale * KERNEL(X, NEW), scale, noise, Y)
    np.testing.assert_allclose(model.predict(NEW), mean, rtol=1e-8)
    np.testing.assert_allclose(model.predict(NEW, return_std=True)[1], std, rtol=1e-8)


def features():
    return zonal.FourierFeatures(zonal.Gaussian(1.0), 40, random_state=0)


@pytest.mark.parametrize("extra_noise", [False, True])
def test_features_are_the_dense_process(extra_noise):
    model = zonal.GaussianProcess(features(), local=None)
    model.fit(X, Y, noise_variance=V, extra_noise=extra_noise)
    Z, new = model.features_.transform(X), model.features_.transform(NEW)
    a, noise = model.amplitude_, V + model.extra_noise_
    mean, std, _ = dense(a * Z @ Z.T, a * Z @ new.T, a * np.square(new).sum(axis=1), noise, Y)
    np.testing.assert_allclose(model.predict(NEW), mean, rtol=1e-8)
    # A constant is known a little worse than the mean of the rows about which sums are taken.
    missing = np.maximum(model.predict(NEW, return_std=True)[1] ** 2 - std**2, 0)
    np.testing.assert_allclose(missing, 0, atol=0.02 * a)


def test_a_given_prior():
    model = zonal.GaussianProcess(features(), 0.03, local=None).fit(X, Y - 3, noise_variance=V)
    Z, new = model.features_.transform(X), model.features_.transform(NEW)
    expected = new @ np.linalg.solve(
        Z.T @ (Z / (V + 0.03)[:, None]) + np.eye(40), Z.T @ ((Y - 3) / (V + 0.03))
    )
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-8)
    assert model.extra_noise_ == 0.03


def test_blocks_and_dask_are_the_same_fit():
    model = zonal.GaussianProcess(features(), local=None).fit(X, Y, noise_variance=V)
    parts = [slice(0, 50), slice(50, 90), slice(90, N)]
    stream = [(X[part], Y[part], V[part]) for part in parts]
    again = zonal.GaussianProcess(features(), local=None).fit(iter(stream), noise_variance=True)
    np.testing.assert_allclose(again.predict(NEW), model.predict(NEW), rtol=1e-6)
    assert again.extra_noise_ == pytest.approx(model.extra_noise_)
    chunks = [da.from_array(part, chunks=(40, *part.shape[1:])) for part in (X, Y, V)]
    lazy = zonal.GaussianProcess(features(), local=None)
    lazy.fit(*chunks[:2], noise_variance=chunks[2])
    np.testing.assert_allclose(lazy.predict(NEW), model.predict(NEW), rtol=1e-6)
    local = zonal.KernelRidge(None, local=zonal.NeighborKriging(KERNEL, N))
    held = local.fit(iter(stream), noise_variance=True).predict(NEW)
    np.testing.assert_allclose(held, local.fit(X, Y, noise_variance=V).predict(NEW), rtol=1e-9)


def test_observations_of_given_errors():
    model = zonal.NeighborKriging(KERNEL, N, n_features=0).fit(X, Y, noise_variance=V)
    exact = model.predict_interval(NEW, noise_variance=1e-12)
    rough = model.predict_interval(NEW, noise_variance=np.full(20, 4.0))
    _, latent = model.predict(NEW, return_std=True)
    wide = np.sqrt((latent**2 + model.extra_noise_ + 4) / (latent**2 + model.extra_noise_))
    np.testing.assert_allclose((rough[1] - rough[0]) / (exact[1] - exact[0]), wide, rtol=1e-6)
    low, high = np.moveaxis(model.predict_quantiles(NEW, [0.05, 0.95], noise_variance=4.0), 1, 0)
    np.testing.assert_allclose((low, high), rough)


def test_the_common_part_is_found():
    """Simulated noise of known and unknown part, in one run of 2,000 rows."""
    rng = np.random.default_rng(1)
    rows = rng.uniform(0, 10, (2000, 2))
    v = np.exp(rng.uniform(-6, 0, 2000))
    noise = np.sqrt(v + 0.05) * rng.standard_normal(2000)
    y = np.sin(rows[:, 0]) * np.cos(rows[:, 1]) + noise
    kriging = zonal.NeighborKriging(zonal.Matern(2.5, 1.5), 12, n_features=0)
    found = kriging.fit(rows, y, noise_variance=v).extra_noise_
    # Relative standard error of s from n rows of variance v + s: √(2 / Σ (s/(v + s))²).
    error = np.sqrt(2 / np.sum((0.05 / (v + 0.05)) ** 2))
    assert abs(found / 0.05 - 1) < 4 * error
    features = zonal.FourierFeatures(zonal.Gaussian(1.0), 100, random_state=0)
    process = zonal.GaussianProcess(features, local=None).fit(rows, y, noise_variance=v)
    assert abs(process.extra_noise_ / 0.05 - 1) < 6 * error


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise_variance": V, "sample_weight": V}, "pass one of them"),
        ({"noise_variance": V[:5]}, r"shape \(5,\); a variance for each of the 120 rows"),
        ({"noise_variance": np.where(np.arange(N) == 7, -1, V)}, "-1.0 in row 7"),
        ({"noise_variance": True}, "got no variances"),
        ({"extra_noise": False}, "pass noise_variance"),
        ({"noise_variance": V, "extra_noise": 3}, "extra_noise=3 must be True or False"),
    ],
)
def test_mistakes(options, words):
    with pytest.raises(ValueError, match=words):
        zonal.NeighborKriging(KERNEL).fit(X, Y, **options)


def test_one_target_only():
    with pytest.raises(ValueError, match="y has 2 columns"):
        zonal.NeighborKriging(KERNEL).fit(X, np.column_stack([Y, Y]), noise_variance=V)
    with pytest.raises(AttributeError, match="no noise_variance was given"):
        zonal.NeighborKriging(KERNEL).fit(X, Y).extra_noise_  # noqa: B018
