"""One fitted model in many threads and processes: the answers of a single one, and no hang."""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import zonal

RNG = np.random.default_rng(0)
X = RNG.standard_normal((600, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.standard_normal(600)
TIMEOUT = 60


def features():
    return zonal.GegenbauerFeatures(zonal.Gaussian(2.0), 40, random_state=0)


def kriging():
    return zonal.NeighborKriging(zonal.Matern(1.5, 2.0), 8, noise=0.1)


MODELS = {
    "ridge": zonal.KernelRidge(features(), local=None),
    "local": zonal.KernelRidge(features(), 0.1, local=kriging()),
    "process": zonal.GaussianProcess(features(), 0.01, local=None),
    "kriging": kriging(),
}


@pytest.fixture(scope="module")
def ridge():
    return clone(MODELS["ridge"]).fit(X, y)


@pytest.mark.parametrize("name", MODELS)
def test_eight_threads(name):
    model = clone(MODELS[name]).fit(X, y)
    parts = [X[i::8] for i in range(8)]
    expected = [model.predict(part) for part in parts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            futures = [pool.submit(model.predict, part) for part in parts]
            for future, serial in zip(futures, expected, strict=True):
                np.testing.assert_array_equal(future.result(TIMEOUT), serial)


def test_what_is_found_late_is_found_in_eight_threads():
    """Chunks are solved, and intervals calibrated, when they are first asked for."""
    whole = zonal.KernelRidge(features(), local=None).fit(X, y)
    expected = whole.predict_interval(X)
    again = zonal.KernelRidge(features(), local=None).fit(X, y)
    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(again.predict_interval, X) for _ in range(8)]:
            np.testing.assert_array_equal(future.result(TIMEOUT), expected)


def test_eight_threads_fit(ridge):
    with ThreadPoolExecutor(8) as pool:
        fits = [pool.submit(clone(ridge).fit, X, y) for _ in range(8)]
        for model in (future.result(TIMEOUT) for future in fits):
            np.testing.assert_array_equal(model.predict(X), ridge.predict(X))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_child_processes(ridge, method):
    expected = ridge.predict(X)  # threads have been at work here before the fork
    with multiprocessing.get_context(method).Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply_async(ridge.predict, (X,)).get(TIMEOUT), expected)
        again = pool.apply_async(clone(ridge).fit, (X, y)).get(TIMEOUT)
    np.testing.assert_array_equal(again.predict(X), expected)


def test_joblib_workers(ridge):
    parts = np.array_split(X, 4)
    found = joblib.Parallel(n_jobs=2, timeout=TIMEOUT)(
        joblib.delayed(ridge.predict)(part) for part in parts
    )
    for one, part in zip(found, parts, strict=True):
        np.testing.assert_array_equal(one, ridge.predict(part))
