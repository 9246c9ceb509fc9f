"""Normal scores or plain columns, by the log loss of classes."""

import numpy as np
import pytest

import zonal
from zonal.features.columns.ranker import Ranker
from zonal.model.log_loss import LogLoss
from zonal.rows import Block
from zonal.selection.latent_columns import ranked_better
from zonal.selection.rows import Rows


def ranks(X, y):
    rows = Rows.of(X, y, np.eye(2)[y], None, np.arange(len(y)))
    return ranked_better(rows, LogLoss.of(y), Block(rows.pilot.rows, y[rows.chosen]))


def skewed():
    """Return rows over many orders of magnitude, and classes that are smooth in their ranks."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((1000, 4))
    y = np.sin(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + 0.5 * rng.standard_normal(1000) > 0
    return np.exp(3 * Z), y.astype(np.intp)


def test_ranks_where_they_tell_more():
    X, y = skewed()
    assert ranks(X, y)
    Z = np.random.default_rng(1).standard_normal((1000, 4)) ** 2
    assert not ranks(Z, (np.linalg.norm(Z, axis=1) > 2).astype(np.intp))
    on_sphere = Z / np.linalg.norm(Z, axis=1, keepdims=True)
    assert not ranks(on_sphere, y)


@pytest.mark.parametrize("loss", ["log", "squared"])
def test_the_classifier_ranks_columns_for_the_log_loss(loss):
    model = zonal.KernelRidgeClassifier(
        budget=64, metric=False, local=None, loss=loss, random_state=0
    ).fit(*skewed())
    assert isinstance(model.features_.steps[0][1], Ranker) == (loss == "log")


def test_classes_chosen_by_a_sample_of_many_rows(monkeypatch):
    """Neighbours of predictions are judged by candidates that have predicted something."""
    monkeypatch.setattr("zonal.selection.choose.PILOT_ROWS", 600)
    rng = np.random.default_rng(2)
    X = rng.standard_normal((900, 8))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0).astype(int)
    model = zonal.KernelRidgeClassifier(budget=64, metric=False, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8
