import numpy as np
import pytest

from zonal.polynomials import random_rotation, uniform_sphere


@pytest.mark.parametrize("dim", [1, 2, 3, 10])
def test_uniform_sphere_moments(dim):
    n = 20_000
    points = uniform_sphere(n, dim, np.random.default_rng(0))
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1)
    # Var of a coordinate is 1/d, of a square 2(d-1)/(d²(d+2)).
    assert np.abs(points.mean(axis=0)).max() < 5 * np.sqrt(1 / dim / n)
    error = np.abs((points**2).mean(axis=0) - 1 / dim).max()
    assert error <= 5 * np.sqrt(2 * (dim - 1) / (dim**2 * (dim + 2)) / n) + 1e-12


def test_more_points_append():
    few = uniform_sphere(5, 4, np.random.default_rng(1))
    many = uniform_sphere(9, 4, np.random.default_rng(1))
    np.testing.assert_array_equal(many[:5], few)


@pytest.mark.parametrize("dim", [2, 3, 7])
def test_rotations_are_haar(dim):
    """Haar's measure has mean trace 0 and mean squared trace 1; plain QR fails the first."""
    rng = np.random.default_rng(2)
    n = 4000
    rotations = [random_rotation(dim, rng) for _ in range(n)]
    np.testing.assert_allclose(rotations[0] @ rotations[0].T, np.eye(dim), atol=1e-14)
    traces = np.array([np.trace(rotation) for rotation in rotations])
    assert abs(traces.mean()) < 5 / np.sqrt(n)
    # The fourth moment of the trace is at most 3 + small, so Var[trace²] is at most about 3.
    assert abs((traces**2).mean() - 1) < 5 * np.sqrt(3 / n)
    assert abs(np.mean([np.linalg.det(r) for r in rotations])) < 5 / np.sqrt(n)
