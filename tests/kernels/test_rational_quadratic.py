"""The rational quadratic kernel against scikit-learn and its limits."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RationalQuadratic as Reference

import zonal

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((30, 4)), RNG.standard_normal((9, 4))


@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.0, 3.7, 100.0])
@pytest.mark.parametrize("length_scale", [0.4, 3.0])
def test_scikit_learn(alpha, length_scale):
    kernel = zonal.RationalQuadratic(length_scale, alpha)
    expected = Reference(length_scale, alpha)
    np.testing.assert_allclose(kernel(X, Y), expected(X, Y), rtol=1e-11)
    np.testing.assert_allclose(kernel(X), expected(X), rtol=1e-11)
    np.testing.assert_array_equal(kernel.diag(X), 1)


def test_large_alpha_tends_to_the_gaussian():
    """-α log(1 + v/α) = -v + v²/(2α) - …, and v² e^{-v} ≤ 4 e^{-2} < 0.55."""
    gaussian = zonal.Gaussian(2.0)(X, Y)
    for alpha in (1e3, 1e8, 1e15):
        gap = np.abs(zonal.RationalQuadratic(2.0, alpha)(X, Y) - gaussian).max()
        assert gap < 0.28 / alpha * (1 + 1e-2) + 1e-14


def test_heavy_tail():
    """k ~ (u²/(2α))^{-α} far away, and 1 - u²/2 near zero."""
    kernel = zonal.RationalQuadratic(1.0, 0.5)
    assert kernel([[0.0]], [[1e6]])[0, 0] == pytest.approx(1e-6, rel=1e-11)
    assert 1 - kernel([[0.0]], [[1e-4]])[0, 0] == pytest.approx(5e-9, rel=1e-6)


def test_shift_invariance_and_terms():
    kernel = zonal.RationalQuadratic(1.5, 0.7)
    assert kernel.shift_invariant
    np.testing.assert_allclose(kernel(X + 5, Y + 5), kernel(X, Y), rtol=1e-9)
    (term,) = kernel.terms()
    assert not term.slow
    np.testing.assert_array_equal(term.total(np.array([0.0, 2.0])), 1)
    with pytest.raises(ValueError, match=r'RationalQuadratic\(.*radial_basis="optimal"'):
        term.radial(3, 4, 2)
