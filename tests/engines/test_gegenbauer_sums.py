import numpy as np
import pytest

from zonal.engines import map_rows, numba_engine, numpy_engine


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [1, 2, 3, 9, 1000])
@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5, 20, 100])
def test_compiled_engine_agrees_with_the_reference(dtype, dim, degree):
    degree = min(degree, 1) if dim == 1 else degree
    rng = np.random.default_rng(degree)
    # 300 directions: more than one buffer, and not a whole number of them.
    projections = rng.standard_normal((7, 300))
    projections /= np.sqrt(projections**2 + rng.chisquare(max(dim - 1, 1), (7, 300)))
    if dim == 1:
        projections = np.sign(projections)
    elif dim < 100:
        projections[0, :3] = [1, -1, 0]
    projections = projections.astype(dtype)
    coefficients = rng.standard_normal((7, degree + 1, 3)) / np.arange(1, degree + 2)[:, None]
    counts = np.array([300, 257, 256])
    expected, out = np.empty((7, 813)), np.empty((7, 813), dtype)
    numpy_engine.gegenbauer_sums(projections, coefficients, counts, dim, expected)
    numba_engine.gegenbauer_sums(projections, coefficients, counts, dim, out)
    # Rounding grows with the square of the degree near ±1 (the derivative of P_ℓ).
    tolerance = 4 * np.finfo(dtype).eps * (degree + 1) ** 2 * np.abs(expected).max()
    np.testing.assert_allclose(out, expected, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("dim", "degree"), [(200, 168), (784, 109), (100_000, 200), (500, 1024)])
def test_no_overflow_in_high_dimension(dtype, dim, degree):
    """√α_ℓ is beyond float32, and beyond float64 in the third case; the sums are not."""
    rng = np.random.default_rng(0)
    projections = (rng.standard_normal((5, 40)) / np.sqrt(dim)).astype(dtype)
    coefficients = np.full((5, degree + 1, 1), 1 / np.sqrt(degree + 1))
    expected, out = np.empty((5, 40)), np.empty((5, 40), dtype)
    numpy_engine.gegenbauer_sums(projections, coefficients, np.array([40]), dim, expected)
    numba_engine.gegenbauer_sums(projections, coefficients, np.array([40]), dim, out)
    assert np.isfinite(out).all()
    tolerance = (1e-2 if dtype == np.float32 else 1e-8) * np.abs(expected).max()
    np.testing.assert_allclose(out, expected, atol=tolerance)


def test_shapes_are_checked_before_compiled_code_runs():
    with pytest.raises(ValueError, match="do not belong to"):
        numba_engine.gegenbauer_sums(
            np.zeros((2, 8)), np.zeros((2, 3, 1)), np.array([8]), 3, np.empty((2, 4))
        )


def test_projections_are_clipped():
    """Rounding may leave [-1, 1], where high degrees explode."""
    projections = np.array([[1 + 1e-3, -1 - 1e-3]])
    out = np.empty((1, 2))
    coefficients = np.zeros((1, 101, 1))
    coefficients[0, 100] = 1
    numba_engine.gegenbauer_sums(projections, coefficients, np.array([2]), 3, out)
    np.testing.assert_allclose(out, np.sqrt([[201, 201]]), rtol=1e-12)


def test_map_rows_passes_errors_on():
    def function(rows, out):
        raise ZeroDivisionError("inside a block")

    with pytest.raises(ZeroDivisionError, match="inside a block"):
        map_rows(function, np.ones((5000, 2)), np.empty((5000, 1000)))


def test_map_rows_handles_few_rows():
    def double(rows, out):
        out[:] = 2 * rows

    for n in (1, 7, 1000):
        X = np.arange(3.0 * n).reshape(n, 3)
        np.testing.assert_array_equal(map_rows(double, X, np.empty_like(X)), 2 * X)
