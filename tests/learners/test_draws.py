"""Draws of every regressor: joint, by seed, whatever the blocks."""

import numpy as np
import pandas as pd
import pytest

import zonal
from zonal.model.target_scale import TargetScale
from zonal.rows.threads import one_thread

RNG = np.random.default_rng(0)
X = RNG.uniform(0, 4, (150, 2))
Y = np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.1 * RNG.standard_normal(150)
NEW = RNG.uniform(0, 4, (30, 2))
KERNEL = zonal.Matern(1.5, 1.0)


def kriging(n_features=0):
    return zonal.NeighborKriging(KERNEL, 200, noise=0.05, n_features=n_features)


def features():
    return zonal.FourierFeatures(zonal.Gaussian(1.0), 32, random_state=0)


MODELS = {
    "ridge": lambda: zonal.KernelRidge(features()),
    "ridge with a local part": lambda: zonal.KernelRidge(features(), local=kriging()),
    "local part alone": lambda: zonal.KernelRidge(None, local=kriging()),
    "process": lambda: zonal.GaussianProcess(features()),
    "process with a local part": lambda: zonal.GaussianProcess(features(), local=kriging()),
    "kriging": kriging,
    "split kriging": lambda: kriging(16),
}


@pytest.mark.parametrize("name", MODELS)
def test_mean_and_covariance_of_draws_are_those_of_predictions(name):
    model = MODELS[name]().fit(X, Y)
    n = 4000
    draws = model.sample_y(NEW, n, random_state=1)
    mean, std = model.predict(NEW, return_std=True)
    # Five standard errors: σ/√n of a mean, σ²√(2/n) of a variance.
    assert (np.abs(draws.mean(axis=1) - mean) < 5 * std / np.sqrt(n)).all()
    assert (np.abs(draws.var(axis=1) / std**2 - 1) < 5 * np.sqrt(2 / n)).all()
    noisy = model.sample_y(NEW, n, random_state=1, noise=True) - draws
    noise = np.mean(noisy**2)
    assert noise > 0
    assert abs(np.mean(noisy**4) / noise**2 - 3) < 5 * np.sqrt(96 / noisy.size)


def test_draws_are_those_of_a_dense_process():
    """Covariances between rows, against the textbook; a flat prior of the mean."""
    model = kriging().fit(X, Y)
    n = 20_000
    draws = model.sample_y(NEW[:4], n, random_state=0)
    K, C = KERNEL(X) + 0.05 * np.eye(len(X)), KERNEL(X, NEW[:4])
    gap = 1 - np.linalg.solve(K, C).sum(axis=0)
    expected = KERNEL(NEW[:4]) - C.T @ np.linalg.solve(K, C)
    expected += np.outer(gap, gap) / np.linalg.solve(K, np.ones(len(X))).sum()
    expected *= model.scale_
    # Wishart: the variance of an entry is (s_ab² + s_aa s_bb) / n.
    error = np.sqrt((expected**2 + np.outer(np.diag(expected), np.diag(expected))) / n)
    assert (np.abs(np.cov(draws) - expected) < 5 * error).all()


@pytest.mark.parametrize("name", ["process", "split kriging"])
def test_the_same_seed_gives_the_same_field(name, monkeypatch):
    model = MODELS[name]().fit(X, Y)
    draws = model.sample_y(NEW, 6, random_state=3)
    order = np.random.default_rng(1).permutation(len(NEW))
    tolerance = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(model.sample_y(NEW[order], 6, 3), draws[order], **tolerance)
    np.testing.assert_allclose(model.sample_y(NEW, 2, 3), draws[:, :2], **tolerance)
    with one_thread():
        np.testing.assert_array_equal(model.sample_y(NEW, 6, 3), draws)
    monkeypatch.setattr("zonal.kriging.sequential.PREDICTED_ROWS", 7)
    monkeypatch.setattr("zonal.kriging.sequential.DRAWN_COLUMNS", 4)
    monkeypatch.setattr("zonal.model.drawing.NUMBERS", 40)
    np.testing.assert_allclose(model.sample_y(NEW, 6, 3), draws, **tolerance)
    assert np.abs(model.sample_y(NEW, 6, 4) - draws).max() > 1e-3
    twice = model.sample_y(np.vstack([NEW, NEW]), 6, 3)
    np.testing.assert_array_equal(twice[:30], twice[30:])


def test_targets_and_precision():
    both = np.column_stack([Y, -3 * Y]).astype(np.float32)
    model = kriging(16).fit(X.astype(np.float32), both)
    draws = model.sample_y(NEW.astype(np.float32), 5, random_state=0)
    assert draws.shape == (30, 2, 5)
    assert draws.dtype == np.float32
    wide = model.sample_y(NEW, 2000, random_state=0)
    spread = wide.std(axis=2)
    np.testing.assert_allclose(spread[:, 1] / spread[:, 0], 3, rtol=5 / np.sqrt(2000))
    # Targets are independent.
    one, other = (wide[:, k] - wide[:, k].mean(axis=1, keepdims=True) for k in (0, 1))
    assert np.abs((one * other).mean(axis=1) / spread.prod(axis=1)).max() < 5 / np.sqrt(2000)


def test_a_scale_of_the_targets_is_undone(monkeypatch):
    scale = TargetScale("logarithm", 0.0, np.array([-1.0, 1.0]), 0.1)
    monkeypatch.setattr("zonal.model.cells.choose_scale", lambda *_: scale)
    frame = pd.DataFrame({"x": np.tile(X[:, 0], 3), "kind": np.tile(["a", "b", "b"], 150)})
    size = np.exp(np.sin(frame["x"]) + 0.1 * np.random.default_rng(1).standard_normal(450))
    model = zonal.KernelRidge(budget=32, local=None, random_state=0).fit(frame, size.to_numpy())
    assert model.target_.name == "logarithm"
    new = frame[:20]
    draws = model.sample_y(new, 2000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=1), model.predict(new), rtol=0.02)
    noisy = model.sample_y(new, 2000, random_state=0, noise=True)
    assert (noisy > 0).all()
    # The noise of the logarithm, 0.1 to within its own error and that of the fit.
    assert abs(np.log(noisy).std(axis=1).mean() - 0.1) < 0.02


def test_mistakes():
    model = kriging().fit(X, Y)
    with pytest.raises(ValueError, match="n_samples=0"):
        model.sample_y(NEW, 0)
