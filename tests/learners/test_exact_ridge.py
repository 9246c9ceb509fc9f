"""ExactKernelRidge against scikit-learn's KernelRidge and dense solutions."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.moments.folds import hashed_folds
from zonal.solvers import checkpoint as exact_checkpoint

RNG = np.random.default_rng(0)
N = 2100  # more than are solved in double precision throughout
X = RNG.uniform(-2, 2, (N, 3))
y = np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.3 * X[:, 2] + 0.1 * RNG.standard_normal(N)
Y = np.column_stack([y, X[:, 0] ** 2])
NEW = RNG.uniform(-2, 2, (200, 3))
KERNEL = zonal.Laplacian(1.5)


@parametrize_with_checks(
    [
        zonal.ExactKernelRidge(),
        zonal.ExactKernelRidge(alpha=0.1, fit_intercept=True, preconditioner=None, tol=1e-8),
        zonal.ExactKernelRidge("laplacian", alpha=0.1, centers=100, random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def rms(a, b):
    return np.sqrt(np.mean((a - b) ** 2) / np.mean(b**2))


@pytest.mark.parametrize("alpha", [1.0, 1e-2])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_solution_of_scikit_learn(alpha, weighted):
    weight = RNG.uniform(0, 3, N) if weighted else None
    peer = KernelRidge(alpha=alpha, kernel="rbf", gamma=0.5).fit(X, y, weight)
    model = zonal.ExactKernelRidge(zonal.Gaussian(1.0), alpha).fit(X, y, weight)
    assert rms(model.predict(NEW), peer.predict(NEW)) < 1e-4
    assert model.report_.converged
    assert model.report_.residual <= 1e-4


def test_targets_with_alphas_of_their_own():
    peer = KernelRidge(alpha=[0.1, 2.0], kernel="rbf", gamma=0.5).fit(X, Y)
    model = zonal.ExactKernelRidge(zonal.Gaussian(1.0), [0.1, 2.0]).fit(X, Y)
    assert model.dual_coef_.shape == (N, 2)
    assert rms(model.predict(NEW), peer.predict(NEW)) < 1e-4


@pytest.mark.parametrize(
    "preconditioner",
    [
        None,
        zonal.NystroemFeatures(KERNEL, 300, random_state=0),
        zonal.HarmonicFeatures(KERNEL, 200),
    ],
    ids=lambda p: type(p).__name__,
)
def test_the_preconditioner_does_not_change_the_answer(preconditioner):
    exact = KERNEL(NEW, X) @ np.linalg.solve(KERNEL(X) + 0.1 * np.eye(N), y)
    model = zonal.ExactKernelRidge(KERNEL, 0.1, preconditioner).fit(X, y)
    assert rms(model.predict(NEW), exact) < 1e-4
    assert model.n_iter_ == model.report_.n_iterations == len(model.report_.history)
    assert "converged" in str(model.report_)


def test_features_precondition():
    plain, with_features = (
        zonal.ExactKernelRidge(KERNEL, 0.01, p, random_state=0).fit(X, y) for p in (None, "auto")
    )
    assert with_features.n_iter_ < 0.25 * plain.n_iter_
    assert with_features.n_iter_ <= with_features.report_.predicted_iterations


def test_intercept():
    """The bordered system, dense."""
    A = np.ones((N + 1, N + 1))
    A[:N, :N] = KERNEL(X) + 0.1 * np.eye(N)
    A[N, N] = 0
    exact = np.linalg.solve(A, np.append(y + 100, 0))
    model = zonal.ExactKernelRidge(KERNEL, 0.1, fit_intercept=True).fit(X, y + 100)
    assert model.intercept_ == pytest.approx(exact[N], abs=1e-3)
    expected = KERNEL(NEW, X) @ exact[:N] + exact[N]
    assert rms(model.predict(NEW) - 100, expected - 100) < 2e-4


@pytest.mark.parametrize("intercept", [False, True])
def test_centers_solve_falkons_system(intercept):
    weight = RNG.uniform(0, 3, N)
    centers = X[:300]
    columns = np.column_stack([KERNEL(X, centers), np.ones(N)])[:, : 300 + intercept]
    A = columns.T @ (weight[:, None] * columns)
    A[:300, :300] += 0.1 * KERNEL(centers)
    exact = np.linalg.solve(A, columns.T @ (weight * y))
    model = zonal.ExactKernelRidge(KERNEL, 0.1, centers=centers, fit_intercept=intercept)
    model.fit(X, y, weight)
    new = np.column_stack([KERNEL(NEW, centers), np.ones(200)])[:, : 300 + intercept]
    assert rms(model.predict(NEW), new @ exact) < 5e-4
    assert model.X_fit_.shape == (300, 3)


def test_all_rows_as_centers_are_the_whole_system():
    whole = zonal.ExactKernelRidge(KERNEL, 0.1, tol=1e-6).fit(X[:600], y[:600])
    centers = zonal.ExactKernelRidge(KERNEL, 0.1, tol=1e-6, centers=600).fit(X[:600], y[:600])
    assert rms(centers.predict(NEW), whole.predict(NEW)) < 1e-4


@pytest.mark.parametrize("centers", [None, 200])
def test_cross_validation_finds_the_alpha_of_single_fits(centers):
    alphas = [1e-4, 1e-2, 1.0, 100.0]
    model = zonal.ExactKernelRidge(
        KERNEL, "cv", alphas=alphas, cv=3, centers=centers, random_state=0
    ).fit(X, y)
    errors = model.cv_results_["mean_test_mse"]
    assert model.alpha_ == alphas[int(np.argmin(errors))]
    if centers is not None:
        return
    folds, squares = hashed_folds(0, N, 3), []
    for k in range(3):
        train, test = np.flatnonzero(folds != k), np.flatnonzero(folds == k)
        dual = np.linalg.solve(KERNEL(X[train]) + np.eye(len(train)), y[train])
        squares.append(np.mean((KERNEL(X[test], X[train]) @ dual - y[test]) ** 2))
    assert errors[2] == pytest.approx(np.mean(squares), rel=0.02)


def test_float32_and_sparse_rows():
    exact = zonal.ExactKernelRidge(KERNEL, 0.1).fit(X, y).predict(NEW)
    single = zonal.ExactKernelRidge(KERNEL, 0.1).fit(X.astype(np.float32), y.astype(np.float32))
    assert single.predict(NEW.astype(np.float32)).dtype == np.float32
    assert rms(single.predict(NEW.astype(np.float32)), exact) < 2e-4
    sparse = zonal.ExactKernelRidge(KERNEL, 0.1).fit(sp.csr_array(X[:900]), y[:900])
    dense = zonal.ExactKernelRidge(KERNEL, 0.1).fit(X[:900], y[:900])
    assert rms(sparse.predict(sp.csr_array(NEW)), dense.predict(NEW)) < 1e-4


def test_says_so_when_it_did_not_converge_and_goes_on_from_there():
    model = zonal.ExactKernelRidge(KERNEL, 0.01, None, max_iter=20, warm_start=True)
    with pytest.warns(ConvergenceWarning, match="after 20 iterations the residual is"):
        model.fit(X, y)
    assert not model.report_.converged
    first = model.report_.residual
    model.set_params(max_iter=1000).fit(X, y)
    assert model.report_.converged
    assert model.report_.history[0] < 2 * first


class StopError(Exception):
    """Stands for whatever ends a run."""


@pytest.mark.parametrize("centers", [None, 300])
def test_a_killed_fit_goes_on(tmp_path, monkeypatch, centers):
    path = tmp_path / "coefficients"
    checkpoint = zonal.Checkpoint(path, every=5)
    model = zonal.ExactKernelRidge(KERNEL, 1e-3, centers=centers, random_state=0)
    whole = clone(model).fit(X, y)
    assert whole.n_iter_ > 12
    saved = []

    def save_twice(*args):
        zonal.save(*args)
        saved.append(args)
        if len(saved) == 2:
            raise StopError

    with monkeypatch.context() as patch:
        patch.setattr(exact_checkpoint, "save", save_twice)
        with pytest.raises(StopError):
            model.fit(X, y, checkpoint=checkpoint)
    with pytest.raises(ValueError, match="other data or with other parameters"):
        clone(model).fit(X, y + 1, checkpoint=path)
    model.fit(X, y, checkpoint=path)
    assert model.n_iter_ < whole.n_iter_
    assert model.report_.converged
    assert not path.exists()
    assert rms(model.predict(NEW), whole.predict(NEW)) < 5e-4


def test_saved_and_loaded(tmp_path):
    model = zonal.ExactKernelRidge(KERNEL, 0.1, fit_intercept=True).fit(X[:300], Y[:300])
    zonal.save(model, tmp_path / "model.zonal")
    again = zonal.load(tmp_path / "model.zonal")
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    assert again.report_ == model.report_


def test_rows_of_any_layout_are_loaded_to_the_last_bit(tmp_path):
    """Products of rows with gaps between their columns may round otherwise."""
    rng = np.random.default_rng(0)
    rows, new = rng.integers(-9, 9, (171, 72))[:, ::2] / 10, rng.integers(-9, 9, (40, 36)) / 10
    model = zonal.ExactKernelRidge(zonal.Matern(0.8, 6.0), 1e-3)
    model.fit(rows, np.sin(rows.sum(axis=1)))
    assert model.X_fit_.flags.c_contiguous
    zonal.save(model, tmp_path / "model.zonal")
    loaded = zonal.load(tmp_path / "model.zonal")
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))


@pytest.mark.parametrize("centers", [None, 300])
def test_dask(centers):
    model = zonal.ExactKernelRidge(KERNEL, 0.1, centers=centers, random_state=0)
    expected = clone(model).fit(X, y).predict(NEW)
    model.fit(da.from_array(X, chunks=(700, 3)), da.from_array(y, chunks=700))
    assert rms(model.predict(NEW), expected) < 3e-4
    lazy = model.predict(da.from_array(NEW, chunks=(60, 3)))
    np.testing.assert_allclose(lazy.compute(), model.predict(NEW))


def test_a_stream_of_blocks():
    blocks = [(X[i : i + 500], y[i : i + 500]) for i in range(0, N, 500)]

    class Again:
        def __iter__(self):
            return iter(blocks)

    model = zonal.ExactKernelRidge(KERNEL, 0.1, centers=300, random_state=0)
    expected = clone(model).fit(X, y).predict(NEW)
    assert rms(clone(model).fit(Again()).predict(NEW), expected) < 3e-4
    with pytest.raises(ValueError, match="read only once"):
        clone(model).fit(iter(blocks))
    model.set_params(centers=None)
    expected = clone(model).fit(X, y).predict(NEW)
    np.testing.assert_allclose(model.fit(iter(blocks)).predict(NEW), expected, atol=1e-3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, "alpha=0 of ExactKernelRidge must be a positive"),
        ({"alpha": [1.0, 2.0]}, "one for each of the 1 targets"),
        ({"alpha": "best"}, "must be 'cv', a positive number"),
        ({"alpha": "cv", "alphas": [0.0]}, "must be positive numbers"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"preconditioner": "nystrom"}, "must be 'auto', None or a feature map"),
        ({"centers": 3, "preconditioner": zonal.NystroemFeatures()}, "With centers"),
        ({"centers": 0}, "centers=0"),
        ({"kernel": "cubic"}, "cubic"),
    ],
    ids=str,
)
def test_mistakes(parameters, message):
    with pytest.raises(ValueError, match=message):
        zonal.ExactKernelRidge(**parameters).fit(X[:20], y[:20])
