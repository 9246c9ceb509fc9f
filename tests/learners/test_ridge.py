import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import zonal
from zonal.features import space as feature_space
from zonal.model import ridge_path
from zonal.moments.folds import hashed_folds
from zonal.moments.ridge import solve_ridge
from zonal.rows import threads as blocks

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.standard_normal(400)
Y = np.column_stack([y, np.cos(X[:, 1])])
WEIGHT = RNG.uniform(0, 3, 400)


def oblivious(n_components=60, **kwargs):
    return zonal.GegenbauerFeatures(
        zonal.Gaussian(2.0),
        n_components,
        max_degree=8,
        n_radial=3,
        radial_basis="taylor",
        center=False,
        random_state=0,
        **kwargs,
    )


@pytest.mark.parametrize("target", [y, Y], ids=["one", "two"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_equals_ridge_on_the_explicit_features(target, weight, intercept, alpha):
    model = zonal.KernelRidge(oblivious(), alpha, fit_intercept=intercept)
    model.fit(X, target, sample_weight=weight)
    Z = oblivious().fit_transform(X)
    expected = Ridge(alpha, fit_intercept=intercept).fit(Z, target, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), expected.predict(Z), atol=1e-8)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-8)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=1e-8)
    assert model.alpha_ == alpha
    assert model.cv_results_ == {}


def brute_force(Z, target, splits, alphas, weight=None):
    errors = np.zeros((len(splits), len(alphas)))
    weight = np.ones(len(Z)) if weight is None else weight
    for k, (train, test) in enumerate(splits):
        for a, alpha in enumerate(alphas):
            model = Ridge(alpha).fit(Z[train], target[train], sample_weight=weight[train])
            errors[k, a] = mean_squared_error(
                target[test], model.predict(Z[test]), sample_weight=weight[test]
            )
    return errors


@pytest.mark.parametrize("target", [y, Y], ids=["one", "two"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "cv", [2, 5, KFold(3), "groups", ShuffleSplit(4, random_state=0)], ids=repr
)
def test_cross_validation_equals_brute_force(target, weight, cv, monkeypatch):
    alphas = np.geomspace(1e-4, 10, 6)
    if cv == "groups":
        blocks = np.floor(X[:, 0]).astype(int)
        cv = list(GroupKFold(3).split(X, groups=blocks))
    if isinstance(cv, int):
        folds = hashed_folds(0, 400, cv)
        splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(cv)]
    else:
        splits = cv if isinstance(cv, list) else list(cv.split(X))
    errors = brute_force(oblivious().fit_transform(X), target, splits, alphas, weight)
    for limit in (1 << 30, 0):  # all groups in one pass; a pass for each split
        monkeypatch.setattr(ridge_path, "GROUP_BYTES", limit)
        model = zonal.KernelRidge(oblivious(), cv=cv, alphas=alphas).fit(X, target, weight)
        results = model.cv_results_
        np.testing.assert_allclose(results["mean_test_mse"], errors.mean(axis=0), rtol=1e-8)
        for k in range(len(splits)):
            np.testing.assert_allclose(results[f"split{k}_test_mse"], errors[k], rtol=1e-8)
        assert model.alpha_ == alphas[errors.mean(axis=0).argmin()]


def test_default_grid():
    model = zonal.KernelRidge(oblivious()).fit(X, y)
    Z = oblivious().fit_transform(X)
    alphas = model.cv_results_["alpha"] / (np.trace(Z.T @ Z) / 60)
    np.testing.assert_allclose(alphas[-20:], np.geomspace(1e-10, 1, 20), rtol=1e-10)
    np.testing.assert_allclose(alphas[1:] / alphas[:-1], 10 ** (10 / 19))
    assert 2.2e-16 < alphas[0] < 1e-15  # as far down as float64 knows the mean eigenvalue


def chunks(n, sizes):
    start = 0
    while start < n:
        for size in sizes:
            if start < n:
                yield slice(start, min(start + size, n))
                start += size


@pytest.mark.parametrize("alpha", [0.1, "cv"])
@pytest.mark.parametrize("sizes", [[1], [7], [1000], [3, 100, 1, 50]], ids=str)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_partial_fit_equals_fit(sizes, alpha, weight):
    whole = zonal.KernelRidge(oblivious(), alpha, cv=3).fit(X, y, weight)
    parts = zonal.KernelRidge(oblivious(), alpha, cv=3)
    for rows in chunks(len(X), sizes):
        parts.partial_fit(X[rows], y[rows], None if weight is None else weight[rows])
    assert parts.n_rows_ == 400
    scale = np.abs(whole.coef_).max()
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-8 * scale)
    np.testing.assert_allclose(parts.alpha_, whole.alpha_, rtol=1e-10)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-8)


def test_merged_halves_equal_fit():
    whole = zonal.KernelRidge(oblivious(), 0.1).fit(X, y)
    one = zonal.KernelRidge(oblivious(), 0.1).partial_fit(X[:150], y[:150])
    two = zonal.KernelRidge(oblivious(), 0.1).partial_fit(X[150:], y[150:])
    one.moments_ = [one.moments_[0] + two.moments_[0]]
    np.testing.assert_allclose(one.predict(X), whole.predict(X), rtol=1e-8)


def test_blocks_do_not_matter(monkeypatch):
    expected = zonal.KernelRidge(oblivious()).fit(X, y).predict(X)
    monkeypatch.setattr(feature_space, "BLOCK_BYTES", 1)
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 1)
    np.testing.assert_allclose(zonal.KernelRidge(oblivious()).fit(X, y).predict(X), expected)


@pytest.mark.parametrize("features", [oblivious(), RBFSampler(random_state=0)], ids=repr)
def test_features_of_blocks_stay_apart(features, monkeypatch):
    """Blocks share the memory of their features, but nobody sees it."""
    model = zonal.KernelRidge(features, 1.0).fit(X, y)
    expected = model.features_.transform(X)
    monkeypatch.setattr(blocks, "BLOCK_SIZE", 1)
    space = feature_space.FeatureSpace(model.features_, model.n_columns_)
    np.testing.assert_allclose(space.map(X, lambda Z: Z), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("alpha", [0.0, 1e-10, 5e-8, 1e-6, 1e-4, 1.0])
@pytest.mark.parametrize("noise", [1e-7, 1e-9])
def test_one_alpha_on_a_matrix_with_rounding(alpha, noise):
    """Rank 5 of 30, and symmetric noise of known norm, as of sums in single precision."""
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.standard_normal((30, 30)))
    values = np.r_[1.0, 0.5, 0.2, 0.1, 0.05, np.zeros(25)]
    E = rng.standard_normal((30, 30))
    E = noise * (E + E.T) / np.linalg.norm(E + E.T, 2)
    rhs = Q[:, :5] @ rng.standard_normal((5, 2))
    solution = solve_ridge((Q * values) @ Q.T + E, rhs, alpha, np.finfo(np.float32).eps)
    exact = Q[:, :5] @ ((Q[:, :5].T @ rhs) / (values[:5, None] + alpha))
    # (S + E + α)⁻¹b - (S + α)⁻¹b = -(S + E + α)⁻¹ E x, whose first factor is at most 1/α, or 1/0.05
    # where the directions of the noise are left out, up to a factor of 2 for E itself.
    smallest = alpha if alpha > 2 * noise else 0.05
    bound = 2 * noise * np.linalg.norm(exact, axis=0) / smallest
    assert (np.linalg.norm(solution - exact, axis=0) <= bound).all()


@pytest.mark.parametrize("alpha", [0.0, 1e-300, "cv"])
def test_rank_deficient_systems_stay_finite(alpha):
    """More features than rows, equal rows, and features that repeat."""
    few = X[:20].repeat(2, axis=0)
    model = zonal.KernelRidge(oblivious(200), alpha).fit(few, y[:20].repeat(2))
    assert np.isfinite(model.coef_).all()
    assert np.abs(model.predict(few) - y[:20].repeat(2)).max() < (1e-5 if alpha != "cv" else 1)
    single = zonal.KernelRidge(oblivious(200), alpha).fit(few.astype(np.float32), y[:20].repeat(2))
    assert np.isfinite(single.predict(few.astype(np.float32))).all()


def test_constant_targets():
    model = zonal.KernelRidge(oblivious()).fit(X, np.full(400, 7.0))
    np.testing.assert_allclose(model.predict(X), 7)


def test_float32_end_to_end():
    model = zonal.KernelRidge(oblivious(), 1e-2).fit(X.astype(np.float32), y.astype(np.float32))
    prediction = model.predict(X.astype(np.float32))
    assert prediction.dtype == np.float32
    expected = zonal.KernelRidge(oblivious(), 1e-2).fit(X, y).predict(X)
    np.testing.assert_allclose(prediction, expected, atol=1e-3)
    assert model.moments_[0].gram.dtype == np.float64


def test_sparse_input():
    data = sp.csr_array(np.where(np.abs(X) > 1, X, 0))
    dense = zonal.KernelRidge(oblivious(), 0.1).fit(data.toarray(), y).predict(data.toarray())
    np.testing.assert_allclose(
        zonal.KernelRidge(oblivious(), 0.1).fit(data, y).predict(data), dense
    )
    assert zonal.KernelRidge(budget=64).fit(data, y).predict(data).shape == (400,)


def test_frames_and_other_transformers():
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.where(X[:, 0] > 0, "p", "q"))
    columns = ColumnTransformer(
        [
            ("f", RBFSampler(n_components=50, random_state=0), ["a", "b"]),
            ("k", OneHotEncoder(), ["kind"]),
        ]
    )
    model = zonal.KernelRidge(columns, 0.1).fit(frame, y)
    assert model.coef_.shape == (52,)
    assert model.predict(frame).shape == (400,)
    pipeline = make_pipeline(RBFSampler(n_components=50, random_state=0), Ridge(0.1)).fit(X, y)
    ours = zonal.KernelRidge(RBFSampler(n_components=50, random_state=0), 0.1).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), pipeline.predict(X), rtol=1e-7)
    for kind in (frame[["a", "b", "c"]], pl.from_pandas(frame[["a", "b", "c"]])):
        automatic = zonal.KernelRidge(budget=32, random_state=0).fit(kind, y)
        assert automatic.predict(kind).shape == (400,)


def test_automatic_features_scale_the_columns():
    units = X * [1e-6, 1.0, 1e6] + [0, 5, -1e7]
    model = zonal.KernelRidge(budget=200, random_state=0).fit(units, y)
    assert model.score(units, y) > 0.95


def test_progress_bar(capsys, monkeypatch):
    import tqdm

    monkeypatch.setattr(
        tqdm, "tqdm", lambda items, desc, delay: print(f"{desc} after {delay} s") or items
    )
    zonal.KernelRidge(oblivious(), 1.0, verbose=True).fit(X, y)
    assert "KernelRidge: rows after 2.0 s" in capsys.readouterr().out
    zonal.KernelRidge(oblivious(), 1.0).fit(X, y)
    assert capsys.readouterr().out == ""


def test_verbose_without_tqdm_goes_on_with_a_line(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)  # import fails
    zonal.KernelRidge(oblivious(), 1.0, verbose=True).fit(X, y)
    printed = capsys.readouterr().out
    assert "KernelRidge: rows ... (pip install 'zonal[progress]' for a bar)" in printed
    assert "solving ..." in printed


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"alpha": -1.0}, ValueError, "alpha=-1.0 must be 'cv' or a number"),
        ({"alpha": "best"}, ValueError, "alpha='best'"),
        ({"alphas": [1.0, -1.0]}, ValueError, "alphas="),
        ({"cv": 1}, ValueError, "cv=1 must be at least 2"),
        ({"cv": 500}, ValueError, "cv=500 folds need at least 500 rows, but n_samples=400"),
        ({"features": "fourier"}, ValueError, "features='fourier'"),
        ({"features": 3}, TypeError, "features=3 must be 'auto' or a transformer"),
        ({"features": "auto", "budget": 0}, ValueError, "budget=0"),
    ],
)
def test_clear_errors(kwargs, error, message):
    with pytest.raises(error, match=message):
        zonal.KernelRidge(**{"features": oblivious(), **kwargs}).fit(X, y)


def test_more_clear_errors():
    model = zonal.KernelRidge(oblivious())
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        _ = model.coef_
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="requires y"):
        model.fit(X, None)
    with pytest.raises(ValueError, match=r"(?i)sample weights.*zero"):
        model.fit(X, y, np.zeros(400))
    with pytest.raises(ValueError, match=r"(?i)negative"):
        model.fit(X, y, -np.ones(400))
    more = np.concatenate([X, X + 1]), np.concatenate([y, y])
    with pytest.raises(ValueError, match="no training rows of positive weight"):
        model.fit(*more, (hashed_folds(0, 800, 2) == 0).astype(float))
    with pytest.raises(ValueError, match="integer cv"):
        zonal.KernelRidge(oblivious(), cv=KFold(3)).partial_fit(X, y)
    streaming = zonal.KernelRidge(oblivious()).partial_fit(X, y)
    with pytest.raises(ValueError, match="2 features, but KernelRidge is expecting 3"):
        streaming.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="This chunk has 2 targets, but the first had 1"):
        streaming.partial_fit(X, Y)
    one_row = zonal.KernelRidge(oblivious()).partial_fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="Split 0 of the cross-validation has no training rows"):
        one_row.predict(X)


def test_folds():
    folds = hashed_folds(0, 10_000, 4)
    assert hashed_folds(0, 4, 4).tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(folds[1234:5000], hashed_folds(1234, 5000, 4))
    # Binomial(10,000, 1/4) has a standard deviation of 43.
    assert np.abs(np.bincount(folds) - 2500).max() < 5 * 43.3
    # Neighbours agree as often as independent labels do: 1/4, give or take 5 · 0.0043.
    assert abs(np.mean(folds[1:] == folds[:-1]) - 0.25) < 0.022
