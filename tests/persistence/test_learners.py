"""Learners that are saved and loaded again, to the last bit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

import zonal

from .common import LABELS, X, Y, again, assert_same, features, pipeline, y


def ridge_output(model, rows):
    return model.predict(rows), model.coef_, model.intercept_, model.alpha_, model.cv_results_


def classifier_output(model, rows):
    return (
        model.predict(rows),
        model.predict_proba(rows),
        model.decision_function(rows),
        model.classes_,
    )


def kmeans_output(model, rows):
    return model.predict(rows), model.transform(rows), model.labels_, model.inertia_


def pca_output(model, rows):
    return model.transform(rows), model.eigenvalues_, model.explained_variance_ratio_


def cca_output(model, rows):
    return model.transform(rows, rows**2), model.correlations_


def process_output(model, rows):
    return (
        model.predict(rows, return_std=True),
        model.sample_y(rows, 2, random_state=0),
        model.noise_,
        model.log_evidence_,
    )


# Model, targets, what it gives for rows.
LEARNERS = {
    "ridge": (lambda: zonal.KernelRidge(features(), 0.1), y, ridge_output),
    "ridge of two targets": (lambda: zonal.KernelRidge(features(), 0.1), Y, ridge_output),
    "ridge, cv": (lambda: zonal.KernelRidge(features(), cv=3), y, ridge_output),
    "ridge, cv, two targets": (lambda: zonal.KernelRidge(features()), Y, ridge_output),
    "ridge, automatic": (lambda: zonal.KernelRidge(budget=30, random_state=0), y, ridge_output),
    "ridge, sampler": (
        lambda: zonal.KernelRidge(RBFSampler(n_components=30, random_state=0), 0.1),
        y,
        ridge_output,
    ),
    "ridge, harmonic": (
        lambda: zonal.KernelRidge(zonal.HarmonicFeatures(zonal.Matern(), 30), 0.1),
        y,
        ridge_output,
    ),
    "ridge, pipeline": (lambda: zonal.KernelRidge(pipeline()), y, ridge_output),
    "ridge, own pipeline": (
        lambda: zonal.KernelRidge(make_pipeline(FunctionTransformer(np.tanh), features())),
        y,
        ridge_output,
    ),
    "ridge, encoder": (
        lambda: zonal.KernelRidge(make_pipeline(zonal.SphereEncoder(0, 1), features())),
        y,
        ridge_output,
    ),
    "ridge, learned metric": (
        lambda: zonal.KernelRidge(
            make_pipeline(zonal.LearnedMetric(n_components=40, random_state=0), features())
        ),
        y,
        ridge_output,
    ),
    "classifier": (lambda: zonal.KernelRidgeClassifier(features()), LABELS, classifier_output),
    "classifier, objects": (
        lambda: zonal.KernelRidgeClassifier(features(), 0.1),
        LABELS.astype(object),
        classifier_output,
    ),
    "classifier, numbers": (
        lambda: zonal.KernelRidgeClassifier(pipeline(), 0.1),
        (y > 0).astype(np.int32),
        classifier_output,
    ),
    "k-means": (lambda: zonal.KernelKMeans(features(), 3, random_state=0), None, kmeans_output),
    "pca": (lambda: zonal.KernelPCA(features(), 3), None, pca_output),
    "cca": (lambda: zonal.KernelCCA(features(), 2), X**2, cca_output),
    "cca, two transformers": (
        lambda: zonal.KernelCCA((features(), pipeline()), 2),
        X**2,
        cca_output,
    ),
    "process": (lambda: zonal.GaussianProcess(features()), y, process_output),
    "process, harmonic": (
        lambda: zonal.GaussianProcess(
            zonal.HarmonicFeatures(zonal.Gaussian(2.0), 30, reduce="pca", reduced_dim=2)
        ),
        y,
        process_output,
    ),
    "process of two targets": (lambda: zonal.GaussianProcess(features(), 0.1), Y, process_output),
}


learners = pytest.mark.parametrize(("make", "target", "output"), LEARNERS.values(), ids=LEARNERS)


@learners
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_learners_come_back_to_the_bit(make, target, output, dtype, path):
    rows = X.astype(dtype)
    model = make().fit(rows, target)
    expected = output(model, rows)
    loaded = again(model, path)
    assert type(loaded) is type(model)
    assert_same(output(loaded, rows), expected)
    assert_same(output(model, rows), expected)  # to save changes nothing


@learners
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_partial_fit_continues(make, target, output, dtype, path):
    rows = X.astype(dtype)
    target = np.zeros(len(X)) if target is None else target
    extra = {"classes": np.unique(target)} if hasattr(make(), "predict_proba") else {}
    model, untouched = (make().partial_fit(rows[:70], target[:70], **extra) for _ in range(2))
    loaded = again(model, path)
    for one in (loaded, model, untouched):
        one.partial_fit(rows[70:100], target[70:100])
    loaded = again(loaded, path)
    for one in (loaded, model, untouched):
        one.partial_fit(rows[100:], target[100:])
    assert_same(output(loaded, rows), output(untouched, rows))
    assert_same(output(model, rows), output(untouched, rows))


@learners
def test_unfitted_learners(make, target, output, path):
    loaded = again(make(), path)
    assert repr(loaded) == repr(make())
    with pytest.raises(NotFittedError):
        output(loaded, X)
    assert_same(output(loaded.fit(X, target), X), output(make().fit(X, target), X))


def test_frames(path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=LABELS)
    columns = ColumnTransformer([("f", features(), ["a", "b"]), ("k", OneHotEncoder(), ["kind"])])
    model = zonal.KernelRidge(columns, 0.1).fit(frame, y)
    loaded = again(model, path)
    assert_same(ridge_output(loaded, frame), ridge_output(model, frame))
    assert_same(loaded.feature_names_in_, model.feature_names_in_)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    "cv", [KFold(3), ShuffleSplit(2, random_state=0), RepeatedKFold(n_splits=2, n_repeats=2)]
)
def test_splitters(cv, path):
    model = zonal.KernelRidge(features(), cv=cv).fit(X, y)
    loaded = again(model, path)
    assert repr(loaded.cv) == repr(cv)
    assert_same(ridge_output(loaded, X), ridge_output(model, X))


def test_splits_given_as_rows(path):
    splits = list(GroupKFold(3).split(X, groups=np.arange(120) // 10))
    model = zonal.KernelRidge(features(), cv=splits, alphas=np.geomspace(0.1, 1, 3)).fit(X, y)
    loaded = again(model, path)
    assert_same(loaded.cv, splits)
    assert_same(ridge_output(loaded.fit(X, y), X), ridge_output(model, X))
