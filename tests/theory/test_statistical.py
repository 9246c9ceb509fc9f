"""The statistical dimension."""

import pickle

import numpy as np
import pytest

import zonal
from zonal.theory import Estimate, statistical_dimension


@pytest.mark.parametrize("lam", [1e-6, 1e-2, 1.0, 100.0])
@pytest.mark.parametrize("kernel", [zonal.Gaussian(), zonal.NTK(1), zonal.Polynomial(2)])
def test_against_the_inverse(kernel, lam):
    X = np.random.default_rng(0).standard_normal((60, 3))
    K = kernel(X)
    expected = np.trace(K @ np.linalg.inv(K + lam * np.eye(60)))
    # Solving with K + λ loses ε_mach ‖K‖ / λ in each of 60 diagonal entries.
    tolerance = 60 * 2.3e-16 * np.linalg.norm(K, 2) / lam + 1e-11
    for value in (statistical_dimension(K, lam), statistical_dimension(kernel, lam, X=X)):
        assert value == pytest.approx(expected, abs=tolerance)
        assert value.error == 0


def test_float32_and_names():
    X = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    exact = statistical_dimension("gaussian", 0.1, X=X.astype(np.float64))
    assert statistical_dimension("gaussian", 0.1, X=X) == pytest.approx(exact, rel=1e-4)
    K = zonal.Gaussian()(X)
    assert K.dtype == np.float32
    assert statistical_dimension(K, 0.1) > 1


def test_estimate_is_a_float():
    estimate = Estimate(2.5, 0.125)
    assert isinstance(estimate, float)
    assert estimate + 1 == 3.5
    assert repr(estimate) == str(estimate) == "2.5 ± 0.12"
    assert repr(Estimate(1.0)) == "1.0"
    copy = pickle.loads(pickle.dumps(estimate))
    assert (copy, copy.error) == (2.5, 0.125)


@pytest.mark.parametrize("lam", [0, -1.0, np.nan, np.inf, "1", True])
def test_bad_lam(lam):
    with pytest.raises(ValueError, match=r"lam=.* must be a positive finite number"):
        statistical_dimension(np.eye(2), lam)


def test_bad_matrices():
    with pytest.raises(ValueError, match="not symmetric"):
        statistical_dimension([[1.0, 0.5], [0.4, 1.0]], 1.0)
    with pytest.raises(ValueError, match=r"not positive semi-definite.*-1"):
        statistical_dimension([[1.0, 2.0], [2.0, 1.0]], 1.0)
    with pytest.raises(ValueError, match="square"):
        statistical_dimension(np.ones((2, 3)), 1.0)
    with pytest.raises(ValueError, match="NaN"):
        statistical_dimension([[np.nan]], 1.0)
    with pytest.raises(ValueError, match="both a matrix K and rows X"):
        statistical_dimension(np.eye(2), 1.0, X=np.eye(2))
    with pytest.raises(ValueError, match="no rows"):
        statistical_dimension(zonal.Gaussian(), 1.0)
    with pytest.raises(ValueError, match="method='fast'"):
        statistical_dimension(np.eye(2), 1.0, method="fast")
    with pytest.raises(ValueError, match="takes a kernel and X"):
        statistical_dimension(np.eye(2), 1.0, method="sampled")
    with pytest.raises(ValueError, match="n_probes=1"):
        statistical_dimension(np.eye(2), 1.0, n_probes=1)
