"""Judging a model in blocks against scikit-learn's measures of all rows at once."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import zonal
from zonal.evaluation import Split, judge
from zonal.evaluation.interval_errors import LEVELS, IntervalErrors

RNG = np.random.default_rng(0)
N = 1200
X = RNG.standard_normal((N, 3)) * [1, 10, 100]
Y = 50 + np.sin(X[:, 0]) + 0.1 * X[:, 1] + 0.1 * RNG.standard_normal(N)
KIND = np.array(["low", "middle", "high"])[np.digitize(Y, [49.5, 50.5])]
SPLIT = Split(0.25, 1)
TEST = SPLIT.is_test(0, N)
FEATURES = zonal.FourierFeatures(zonal.Gaussian(3.0), n_components=64, random_state=0)


class Blocks:
    def __init__(self, size, *parts):
        self.size, self.parts = size, parts

    def __iter__(self):
        for first in range(0, N, self.size):
            yield tuple(part[first : first + self.size] for part in self.parts)


def kinds_of_rows(y):
    da = pytest.importorskip("dask.array")
    yield X, y
    yield X.tolist(), y.tolist()
    yield pd.DataFrame(X, columns=["x0", "x1", "x2"]).to_numpy(), pd.Series(y)
    yield (Blocks(97, X, y),)
    yield (iter(Blocks(500, X, y)),)
    yield da.from_array(X, chunks=(333, 3)), da.from_array(y, chunks=333)


@pytest.mark.parametrize(
    "model",
    [zonal.KernelRidge(FEATURES, 0.1), zonal.GaussianProcess(FEATURES, 0.1), Ridge()],
    ids=lambda model: type(model).__name__,
)
def test_numbers(model):
    pipeline = make_pipeline(StandardScaler(), model).fit(X[~TEST], Y[~TEST])
    for rows in kinds_of_rows(Y):
        found = judge(pipeline, *rows, split=SPLIT).measures()
        for part, chosen in (("test", TEST), ("train", ~TEST)):
            prediction = pipeline.predict(X[chosen])
            mse = mean_squared_error(Y[chosen], prediction)
            assert found[part]["mse"] == pytest.approx(mse, rel=1e-9)
            assert found[part]["r2"] == pytest.approx(r2_score(Y[chosen], prediction), rel=1e-9)
        constant = np.mean((Y[TEST] - Y[~TEST].mean()) ** 2)
        assert found["test"]["mse_of_constant"] == pytest.approx(constant, rel=1e-9)


@pytest.mark.parametrize(
    "model",
    [zonal.KernelRidgeClassifier(FEATURES, 0.1), LogisticRegression(), LinearSVC()],
    ids=lambda model: type(model).__name__,
)
def test_classes(model):
    pipeline = make_pipeline(StandardScaler(), model).fit(X[~TEST], KIND[~TEST])
    for rows in kinds_of_rows(KIND):
        found = judge(pipeline, *rows, split=SPLIT).measures()["test"]
        right = accuracy_score(KIND[TEST], pipeline.predict(X[TEST]))
        assert found["accuracy"] == pytest.approx(right, rel=1e-12)
        names, counts = np.unique(KIND[~TEST], return_counts=True)
        share = np.mean(KIND[TEST] == names[counts.argmax()])
        assert found["accuracy_of_commonest"] == pytest.approx(share, rel=1e-12)
        if hasattr(pipeline, "predict_proba"):
            loss = log_loss(KIND[TEST], pipeline.predict_proba(X[TEST]), labels=names)
            assert found["log_loss"] == pytest.approx(loss, rel=1e-9)
        else:
            assert np.isnan(found["log_loss"])


def test_rows_that_were_not_in_the_fit():
    """Without a split all rows are test rows, and there is no constant of training rows."""
    model = zonal.KernelRidge(FEATURES, 0.1).fit(X[~TEST], Y[~TEST])
    found = judge(model, X[TEST], Y[TEST])
    assert found.measures()["train"] == {}
    assert "mse_of_constant" not in found.measures()["test"]
    error = np.mean((model.predict(X[TEST]) - Y[TEST]) ** 2)
    assert found.test.measures()["mse"] == pytest.approx(error, rel=1e-9)
    assert found.shown["truth"].size == 0


def test_weights():
    weight = RNG.integers(0, 3, N)
    model = zonal.KernelRidge(FEATURES, 0.1).fit(X, Y)
    expected = mean_squared_error(Y, model.predict(X), sample_weight=weight)
    for rows in ((X, Y, weight), (Blocks(100, X, Y, weight),)):
        assert judge(model, *rows).test.measures()["mse"] == pytest.approx(expected, rel=1e-9)


def test_a_model_goes_on_learning_afterwards():
    """Judging leaves the sums of a model alone."""
    model = zonal.KernelRidge(FEATURES, 0.1).partial_fit(X[:600], Y[:600])
    judge(model, X, Y)
    model.partial_fit(X[600:], Y[600:])
    again = zonal.KernelRidge(FEATURES, 0.1).partial_fit(X[:600], Y[:600])
    again.partial_fit(X[600:], Y[600:])
    np.testing.assert_array_equal(model.coef_, again.coef_)


def test_errors():
    model = zonal.KernelRidge(FEATURES, 0.1).fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="one target is judged at a time"):
        judge(model, X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="y is missing"):
        judge(model, X)
    with pytest.raises(ValueError, match="0 rows"):
        judge(model, iter([]))


def test_interval_scores_follow_from_pinball_losses():
    """Against the definition, at 90 and 95 %."""
    rng = np.random.default_rng(0)
    y = rng.standard_normal(200)
    quantiles = np.sort(rng.standard_normal((200, len(LEVELS))), axis=1)
    found = IntervalErrors.of(y, quantiles).measures()
    for share, low, high in ((0.9, 1, -2), (0.95, 0, -1)):
        ends = quantiles[:, low], quantiles[:, high]
        expected = zonal.evaluation.interval_score(y, *ends, share)
        assert found[f"score_{100 * share:.0f}"] == pytest.approx(expected)
