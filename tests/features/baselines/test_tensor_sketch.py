"""TensorSketch features."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.utils.estimator_checks import parametrize_with_checks

import zonal
from zonal.features.baselines.tensor_sketch import TensorSketchFeatures

X = np.random.default_rng(0).standard_normal((30, 6)) / 3


@parametrize_with_checks(
    [
        TensorSketchFeatures(n_components=16),
        TensorSketchFeatures(zonal.Polynomial(2), n_components=8),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("sparse", [False, True])
def test_scikit_learn_with_the_same_hashes(sparse):
    """A homogeneous polynomial is one tensor power: with its buckets and signs, its features."""
    peer = PolynomialCountSketch(degree=3, gamma=0.7, coef0=0, n_components=64, random_state=0)
    expected = peer.fit_transform(X)
    features = TensorSketchFeatures(zonal.Polynomial(3, gamma=0.7, coef0=0.0), 64).fit(X)
    assert features.degrees_.tolist() == [3]
    tables = []
    for buckets, signs in zip(peer.indexHash_, peer.bitHash_, strict=True):
        tables.append(np.zeros((6, 64)))
        tables[-1][np.arange(6), buckets] = signs
    features.sketches_ = [replace(features.sketches_[0], matrix=sp.csr_array(np.hstack(tables)))]
    found = features.transform(sp.csr_array(X) if sparse else X)
    np.testing.assert_allclose(found, expected, atol=1e-13)


def variance(rows, series, widths):
    """The largest that the variance of Z Zᵀ can be, from the second moments of random signs.

    A degree j has E[⟨Cx, Cy⟩²] - ⟨x, y⟩^{2j} ≤ (Π - ⟨x, y⟩^{2j}) / width with
    Π = (‖x‖²‖y‖² + 2⟨x, y⟩² - 2 Σ x_i² y_i²)^j; different degrees are independent.
    """
    inner = rows @ rows.T
    squares = rows**2
    sizes = np.outer(squares.sum(1), squares.sum(1))
    one = sizes + 2 * inner**2 - 2 * squares @ squares.T
    total = np.zeros_like(inner)
    for number, (degree, width) in enumerate(zip(series.degrees, widths, strict=True)):
        if degree > 1:  # lower ones are exact here
            outer = series[number : number + 1](rows) / np.where(inner == 0, 1, inner) ** degree
            total += outer**2 * (one**degree - inner ** (2 * degree)) / width
    return total


@pytest.mark.parametrize(
    "kernel",
    [zonal.Gaussian(1.5), zonal.Exponential(1.5), zonal.Polynomial(4, gamma=0.5)],
    ids=repr,
)
def test_unbiased_with_the_variance_of_theory(kernel):
    n_seeds, grams = 200, []
    for seed in range(n_seeds):
        features = TensorSketchFeatures(kernel, 61, degree=4, center=False, random_state=seed)
        Z = features.fit_transform(X[:8])
        grams.append(Z @ Z.T)
    assert Z.shape == (8, 61)
    expected = features.series_(X[:8])
    bound = variance(X[:8], features.series_, features.widths_)
    # Five standard errors; they are small beside the kernel, or the test could not fail.
    error = np.sqrt(bound / n_seeds)
    assert (5 * np.diag(error) < 0.1 * np.diag(expected)).all()
    assert (np.abs(np.mean(grams, axis=0) - expected) <= 5 * error + 1e-12).all()
    # The mean over pairs of the sample variance, whose own deviation is a few per cent.
    ratio = np.var(grams, axis=0, ddof=1).mean() / bound.mean()
    assert 0.5 < ratio < 1.2


def test_exact_degrees_and_widths_that_are_folded():
    """Degrees 0 and 1 fit; a prime width has its buckets folded, and the columns all count."""
    features = TensorSketchFeatures(zonal.Polynomial(1), 19, random_state=0)
    Z = features.fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, zonal.Polynomial(1)(X), atol=1e-12)
    features = TensorSketchFeatures(zonal.Polynomial(2, coef0=0.0), 13, random_state=0).fit(X)
    assert features.sketches_[0].matrix.shape[1] > 2 * 13
    assert (np.abs(features.transform(X)).max(axis=0) > 0).all()


@pytest.mark.parametrize("kernel", [zonal.Gaussian(2.0), zonal.Polynomial(3)], ids=repr)
def test_sparse_rows_and_float32(kernel):
    features = TensorSketchFeatures(kernel, 50, center=False, random_state=0).fit(X)
    Z = features.transform(X)
    np.testing.assert_allclose(features.transform(sp.csr_array(X)), Z, atol=1e-13)
    single = features.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, Z, atol=20 * np.finfo(np.float32).eps)


def test_too_few_columns():
    with pytest.raises(ValueError, match="n_components=3 of TensorSketchFeatures is less"):
        TensorSketchFeatures(zonal.Gaussian(1.0), 3, degree=5).fit(X)
    with pytest.raises(ValueError, match="TensorSketchFeatures"):
        TensorSketchFeatures(zonal.Laplacian(1.0), 30).fit(X)
