"""Masked values and dates are errors that say what to do, wherever they come in."""

import numpy as np
import pandas as pd
import pytest

import zonal

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 2))
MASKED = np.ma.MaskedArray(X, X > 2)
DATES = np.datetime64("2026-01-01") + np.arange(40)
FEATURES = zonal.FourierFeatures(zonal.Gaussian(), 8, random_state=0)

TAKES = {
    "kernel": lambda X: zonal.Gaussian()(X),
    "features": lambda X: zonal.FourierFeatures(zonal.Gaussian(), 8).fit(X),
    "landmarks": lambda X: zonal.NystroemFeatures(zonal.Gaussian(), 8).fit(X),
    "new rows": lambda rows: zonal.FourierFeatures(n_components=8).fit(X).transform(rows),
    "ridge": lambda rows: zonal.KernelRidge(FEATURES, 0.1, local=None).fit(rows, X[:, 0]),
    "automatic": lambda rows: zonal.KernelRidge().fit(rows, X[:, 0]),
    "kriging": lambda rows: zonal.NeighborKriging().fit(rows, X[:, 0]),
    "clusters": lambda rows: zonal.KernelKMeans(FEATURES, 2).fit(rows),
    "exact": lambda rows: zonal.ExactKernelRidge(zonal.Gaussian(), 0.1).fit(rows, X[:, 0]),
    "predictions": lambda rows: zonal.KernelRidge(FEATURES, 0.1).fit(X, X[:, 0]).predict(rows),
}
takes = pytest.mark.parametrize("take", TAKES.values(), ids=TAKES)


@takes
def test_masked_rows(take):
    assert MASKED.mask.any()
    with pytest.raises(ValueError, match=rf"X is .* {MASKED.mask.sum()} masked values.*X\.filled"):
        take(MASKED)


@takes
def test_gaps_in_arrays(take):
    rows = X.copy()
    rows[3, 1] = rows[7, 0] = np.nan
    with pytest.raises(ValueError, match=r"NaN"):
        take(rows)


def test_the_first_gap_is_named_and_who_fills_it():
    rows = X.copy()
    rows[3, 1] = rows[7, 0] = np.nan
    with pytest.raises(ValueError, match=r"NaN in X\[3, 1\] \(2 gaps.*a pandas or polars frame"):
        zonal.KernelRidge().fit(rows, X[:, 0])
    rows[9, 0], rows[7, 0], rows[3, 1] = np.inf, 0.0, 0.0
    with pytest.raises(ValueError, match="infinity"):
        zonal.KernelRidge().fit(rows, X[:, 0])


def test_words_as_numbers():
    labels = np.where(X[:, 0] > 0, "up", "down")
    for words in (labels, labels.astype(object), pd.Series(labels), labels.tolist()):
        with pytest.raises(ValueError, match=r"y has words, such as '(up|down)'.*RidgeClassifier"):
            zonal.KernelRidge().fit(X, words)


@takes
def test_rows_of_dates(take):
    with pytest.raises(ValueError, match=r"X has dates \(datetime64\[D\]\).*timedelta64\(1, 'D'\)"):
        take(np.column_stack([DATES, DATES]))


def test_frames_with_dates():
    frame = pd.DataFrame({"a": X[:, 0], "day": DATES})
    with pytest.raises(ValueError, match=r"X has dates in day\. .* zonal\.TableEncoder"):
        zonal.FourierFeatures(n_components=8).fit(frame)
    model = zonal.KernelRidge(budget=8, local=None, random_state=0).fit(frame, X[:, 1])
    assert np.isfinite(model.predict(frame)).all()  # learners with features="auto" encode them


def test_masked_targets_and_weights():
    model = zonal.KernelRidge(FEATURES, 0.1, local=None)
    with pytest.raises(ValueError, match="y is a masked array"):
        model.fit(X, np.ma.MaskedArray(X[:, 0], X[:, 0] > 1))
    with pytest.raises(ValueError, match=r"y has dates \(timedelta64"):
        model.fit(X, DATES - DATES[0])
    labels = np.ma.MaskedArray(np.arange(40) % 2, X[:, 0] > 1)
    with pytest.raises(ValueError, match="y is a masked array"):
        zonal.KernelRidgeClassifier(FEATURES, 0.1, local=None).fit(X, labels)
    weight = np.ma.MaskedArray(np.ones(40), X[:, 0] > 1)
    with pytest.raises(ValueError, match="sample_weight is a masked array"):
        model.fit(X, X[:, 0], weight)


def test_arrays_without_a_mask_are_arrays():
    whole = np.ma.MaskedArray(X)
    np.testing.assert_array_equal(zonal.Gaussian()(whole), zonal.Gaussian()(X))
