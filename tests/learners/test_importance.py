"""What matters: against closed forms and scikit-learn's permutation importance."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.inspection import permutation_importance

import zonal
from zonal.kriging.process import LocalProcess
from zonal.model.importance import column_shares, permutation_shares


def test_a_linear_function_in_closed_form():
    """Shares are β² Var(x); those of columns that encode one word are taken together."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4000, 3)) * [1.0, 2.0, 3.0]
    gradients = np.tile([[[3.0, 1.0, 0.0]]], (4000, 1, 1))
    shares = column_shares(gradients, rows, ["a", "b", "c"])
    assert list(shares) == ["a", "b", "c"]
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["a"] == pytest.approx(9 / 13, abs=0.02)
    # x and -x as two columns of one group: f = 3 x - 1 (-x) = 4 x.
    twins = np.column_stack([rows[:, 0], -rows[:, 0], rows[:, 1]])
    gradients = np.tile([[[3.0, -1.0, 1.0]]], (4000, 1, 1))
    shares = column_shares(gradients, twins, ["x", "x", "y"])
    assert shares["x"] == pytest.approx(16 / 20, abs=0.02)


def test_beside_permutation_importance():
    rng = np.random.default_rng(1)
    n = 900
    X = pd.DataFrame(
        {
            "x": rng.uniform(-1, 1, n),
            "kind": rng.choice(["a", "b", "c"], n),
            "nothing": rng.uniform(-1, 1, n),
        }
    )
    y = 3 * X["x"] + X["kind"].map({"a": -1.0, "b": 0.0, "c": 1.0})
    y = y.to_numpy() + 0.05 * rng.standard_normal(n)
    model = zonal.KernelRidge(budget=96, local=None, random_state=0).fit(X, y)
    ours = model.importances_
    assert list(ours) == ["x", "kind", "nothing"]
    assert sum(ours.values()) == pytest.approx(1)
    theirs = permutation_importance(model, X, y, n_repeats=3, random_state=0).importances_mean
    shares = dict(zip(X.columns, theirs / theirs.sum(), strict=True))
    # Variances 3 and 2/3 of the two terms: 0.82 and 0.18 for both.
    for name in X.columns:
        assert ours[name] == pytest.approx(shares[name], abs=0.06)


def test_arrays():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((200, 2))
    model = zonal.KernelRidge(zonal.FourierFeatures(n_components=64), random_state=0)
    assert next(iter(model.fit(X, np.sin(X[:, 1])).importances_)) == "x1"


def test_rows_of_the_fit_are_not_their_own_neighbours():
    rng = np.random.default_rng(3)
    rows, residual = rng.standard_normal((60, 2)), rng.standard_normal((60, 1))
    options = np.ones(60), zonal.Matern(2.5, 1.0), 0.01, 8
    found = LocalProcess(rows, *options).gradient(rows[:5], residual, held_out=True)
    for i in range(5):
        others = np.arange(60) != i
        without = LocalProcess(rows[others], np.ones(59), *options[1:])
        exact = without.gradient(rows[i : i + 1], residual[others])
        np.testing.assert_allclose(found[i], exact[0], rtol=1e-8)
    new = rng.standard_normal((3, 2))
    process = LocalProcess(rows, *options)
    plain = process.gradient(new, residual)
    np.testing.assert_allclose(process.gradient(new, residual, held_out=True), plain, rtol=1e-8)


def test_permutation_of_a_linear_function_in_closed_form():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((400, 4)) * [1.0, 2.0, 3.0, 1.0]
    coef = np.array([3.0, 1.0, 0.0, 1.0])
    shares = permutation_shares(lambda X: (X @ coef)[:, None], rows, ["a", "b", "c", "a"])
    assert list(shares) == ["a", "b", "c"]
    assert sum(shares.values()) == pytest.approx(1)
    # 9 + 1 and 4; the variance of 400 squares, permuted twice.
    assert shares["a"] == pytest.approx(10 / 14, abs=3 * np.sqrt(2 / 400))
    assert shares["c"] == 0
    even = permutation_shares(lambda X: np.zeros((len(X), 1)), rows, list("abcd"))
    assert set(even.values()) == {0.25}


KRIGING = zonal.KernelRidge(
    None, local=zonal.NeighborKriging(), encoder=zonal.TableEncoder(numbers="plain")
)


@pytest.mark.parametrize(
    "model", [zonal.KernelRidge(local=None, budget=128, random_state=0), KRIGING]
)
def test_levels_that_are_kept_apart_matter(model):
    """Between levels there is nothing, and no slope: only permutation tells."""
    rng = np.random.default_rng(0)
    effects = np.array([-1.5, -0.6, 0.0, 0.4, 1.0, 1.6])

    def drawn(n):
        x, level = rng.uniform(-2, 2, n), rng.integers(0, 6, n)
        X = pd.DataFrame({"x": x, "w": np.array(list("abcdef"))[level]})
        y = np.sin(3 * x + level) + effects[level]
        return X, y + 0.1 * rng.standard_normal(n)

    model = clone(model).fit(*drawn(500))
    X, y = drawn(1000)
    found = permutation_importance(
        model, X, y, scoring="neg_mean_squared_error", n_repeats=3, random_state=0
    ).importances_mean
    shares = dict(zip(X.columns, found / found.sum(), strict=True))
    assert shares["w"] > 2 * shares["x"]
    assert model.importances_["w"] == pytest.approx(shares["w"], abs=0.08)
