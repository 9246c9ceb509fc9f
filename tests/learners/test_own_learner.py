"""A learner of forty lines gets streams, Dask, checkpoints and progress for nothing."""

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, clone
from sklearn.neighbors import NearestCentroid

import zonal
from zonal.learners.base import Learner
from zonal.learners.targets import check_labels
from zonal.rows import blockwise


class ClassMeans(ClassifierMixin, Learner):
    """Predicts the class whose (weighted) mean is nearest."""

    def __init__(self, verbose=False):
        self.verbose = verbose

    def fit(self, X, y=None, sample_weight=None, *, checkpoint=None):
        return self._fit(X, y, sample_weight, checkpoint)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        return self._partial_fit(X, y, sample_weight, classes)

    def _check_y(self, y):
        return check_labels(y, type(self).__name__)

    def _learn(self, survey):
        self.classes_ = survey.classes

    def _sums(self, block):
        weight = np.ones(len(block)) if block.weight is None else block.weight
        members = (block.y[:, None] == self.classes_) * weight[:, None]
        return np.column_stack([members.T @ block.X, members.sum(axis=0)])

    def _solve(self, sums):
        return sums[:, :-1] / sums[:, -1:]

    @property
    def means_(self):
        return self._solution

    @blockwise
    def predict(self, X):
        X = self._check_rows(X, reset=False)
        distances = np.square(X[:, None, :] - self._solution).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


RNG = np.random.default_rng(0)
X = RNG.standard_normal((30_000, 2)) + RNG.integers(0, 3, 30_000)[:, None]
y = np.array(["low", "middle", "top"])[np.clip(np.rint(X.mean(axis=1)), 0, 2).astype(int)]
weight = RNG.integers(0, 3, 30_000).astype(float)


@pytest.fixture(scope="module")
def expected():
    """Means of the repeated rows, by scikit-learn."""
    rows = np.repeat(np.arange(len(X)), weight.astype(int))
    return NearestCentroid().fit(X[rows], y[rows]).centroids_


def blocks(size=7_000):
    for first in range(0, len(X), size):
        rows = slice(first, first + size)
        yield X[rows], y[rows], weight[rows]


def test_arrays_and_chunks(expected):
    model = ClassMeans().fit(X, y, weight)
    np.testing.assert_allclose(model.means_, expected, rtol=1e-12)
    chunked = ClassMeans()
    for number, (rows, labels, weights) in enumerate(blocks()):
        chunked.partial_fit(rows, labels, model.classes_ if number == 0 else None, weights)
    np.testing.assert_allclose(chunked.means_, expected, rtol=1e-12)
    assert chunked.n_rows_ == len(X)


def test_streams_with_progress(expected, capsys):
    model = ClassMeans(verbose=True).fit(blocks())
    np.testing.assert_allclose(model.means_, expected, rtol=1e-12)
    assert (model.predict(rows for rows, _, _ in blocks()) == model.predict(X)).all()


def test_dask(expected):
    da = pytest.importorskip("dask.array")
    parts = [da.from_array(part, chunks=(9_000, *part.shape[1:])) for part in (X, y, weight)]
    model = ClassMeans().fit(*parts)
    np.testing.assert_allclose(model.means_, expected, rtol=1e-12)
    assert (model.predict(parts[0]).compute() == model.predict(X)).all()


def test_checkpoints(expected, tmp_path, monkeypatch):
    monkeypatch.setattr(ClassMeans, "_block_rows", 2_000)

    class StopError(Exception):
        pass

    def stopping():
        for number, block in enumerate(blocks()):
            if number == 3:
                raise StopError
            yield block

    checkpoint = zonal.Checkpoint(tmp_path / "sums", every=1)
    with pytest.raises(StopError):
        ClassMeans().fit(stopping(), checkpoint=checkpoint)
    assert checkpoint.path.exists()
    model = clone(ClassMeans()).fit(blocks(), checkpoint=checkpoint)
    np.testing.assert_allclose(model.means_, expected, rtol=1e-12)
    assert not checkpoint.path.exists()
