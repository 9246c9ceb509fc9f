"""Normal scores or plain columns, by the log loss of classes."""

import numpy as np
import pytest

import zonal
from zonal.features.columns.ranker import Ranker


def drawn(power, n_rows=1200):
    """Return rows of four columns, and classes that ranks tell in smooth functions."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n_rows, 4))
    y = (np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.5 * rng.standard_normal(n_rows) > 0).astype(
        int
    )
    return np.sign(Z) * np.abs(Z) ** power, y


@pytest.mark.parametrize(("power", "ranked"), [(6, True), (1, False)])
def test_columns_of_heavy_tails_are_ranked(power, ranked):
    X, y = drawn(power)
    if not ranked:  # two lumps whose distance is what tells the classes: ranks lose it
        X = np.random.default_rng(1).standard_normal((1200, 4)) ** 2
        y = (np.linalg.norm(X, axis=1) > 2).astype(int)
    model = zonal.KernelRidgeClassifier(budget=64, metric=False, random_state=0).fit(X, y)
    recipe = model.recipe_
    steps = (recipe.features if recipe.features is not None else recipe.columns).steps
    assert isinstance(steps[0][1], Ranker) == ranked
    squared = zonal.KernelRidgeClassifier(
        budget=64, metric=False, local=None, loss="squared", random_state=0
    ).fit(X, y)
    assert not isinstance(squared.recipe_.features.steps[0][1], Ranker)
