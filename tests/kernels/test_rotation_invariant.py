"""Kernels of a user's own function of both norms and the cosine."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import special_ortho_group
from sklearn.base import clone

import zonal

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((25, 3)), RNG.standard_normal((8, 3))


def gaussian(r, s, cos):
    return np.exp(-(r**2 + s**2 - 2 * r * s * cos) / 2)


def test_the_gaussian_as_a_users_function():
    kernel, exact = zonal.RotationInvariant(gaussian), zonal.Gaussian(1.0)
    np.testing.assert_allclose(kernel(X, Y), exact(X, Y), rtol=1e-12)
    np.testing.assert_allclose(kernel(X), exact(X), rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), 1, rtol=1e-12)
    np.testing.assert_allclose(kernel(sp.csr_array(X), sp.csr_array(Y)), exact(X, Y), rtol=1e-12)
    single = kernel(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact(X), atol=1e-6)
    np.testing.assert_array_equal(clone(kernel)(X), kernel(X))
    assert not kernel.shift_invariant


def test_rotations_change_nothing():
    kernel = zonal.RotationInvariant(lambda r, s, cos: np.tanh(r) * np.tanh(s) * cos**3)
    rotation = special_ortho_group.rvs(3, random_state=0)
    np.testing.assert_allclose(kernel(X @ rotation, Y @ rotation), kernel(X, Y), atol=1e-14)


def test_zero_rows_have_cosine_zero():
    rows = np.vstack([np.zeros(3), X])
    kernel = zonal.RotationInvariant(lambda r, s, cos: 1 + r * s + (cos == 0))
    K = kernel(rows)
    np.testing.assert_array_equal(K[0], 2)
    np.testing.assert_allclose(kernel.diag(rows), np.diag(K), rtol=1e-12)


def test_functions_of_fewer_arguments_and_constants():
    norms = np.linalg.norm(X, axis=1)
    kernel = zonal.RotationInvariant(lambda r, s, cos: r * s)
    np.testing.assert_allclose(kernel(X), np.outer(norms, norms), rtol=1e-12)
    np.testing.assert_array_equal(zonal.RotationInvariant(lambda r, s, cos: 3)(X, Y), 3.0)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda r, s, cos: cos[0], r"shape \(8,\) .* for arguments of shape \(25, 8\)"),
        (lambda r, s, cos: cos[..., None], r"shape \(25, 8, 1\)"),
        (lambda r, s, cos: cos + 1j, "type complex128"),
        (
            lambda r, s, cos: np.where(cos > 0.5, np.nan, cos),
            r"f\(.*\) of RotationInvariant is nan",
        ),
        (lambda r, s, cos: np.where(r > 2, np.inf, cos), r"is inf, but a kernel is finite"),
    ],
)
def test_bad_values(f, message):
    with pytest.raises(ValueError, match=message):
        zonal.RotationInvariant(f)(X, Y)


def test_the_message_names_the_arguments():
    def f(r, s, cos):
        return np.where((r == 0) & (s == 2), np.nan, 1.0)

    with pytest.raises(ValueError, match=r"f\(0, 2, 0\) of RotationInvariant is nan"):
        zonal.RotationInvariant(f)([[0.0, 0.0]], [[1.0, 0.0], [0.0, 2.0]])


def test_terms():
    (term,) = (3 * zonal.RotationInvariant(gaussian)).terms()
    assert term.slow
    np.testing.assert_allclose(term.total(np.array([0.0, 2.0])), 3)
    with pytest.raises(ValueError, match=r'RotationInvariant\(.*radial_basis="optimal"'):
        term.radial(3, 4, 2)


def test_saved_without_its_function(tmp_path):
    path = tmp_path / "kernel.zonal"
    with pytest.warns(UserWarning, match="not saved: gaussian"):
        zonal.save(2 * zonal.RotationInvariant(gaussian), path)
    with pytest.raises(ValueError, match=r"needs the functions \['gaussian'\]"):
        zonal.load(path)
    again = zonal.load(path, functions={"gaussian": gaussian})
    np.testing.assert_array_equal(again(X), 2 * zonal.RotationInvariant(gaussian)(X))
