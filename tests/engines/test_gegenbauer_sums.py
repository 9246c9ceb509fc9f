import numpy as np
import pytest
from scipy.special import comb, eval_gegenbauer

from zonal.engines import numba_engine, numpy_engine
from zonal.rows.threads import map_rows


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("dim", "degree"), [(3, 20), (9, 12), (40, 3)])
def test_features_of_rows_are_the_formula(dtype, dim, degree):
    """√α_ℓ P_ℓ from SciPy, for more rows than a tile holds and for a row without a direction."""
    rng = np.random.default_rng(dim)
    counts = np.array([300, 257])
    n_rows = numba_engine.TILE_SIZE // 300 + 5
    units, directions = rng.standard_normal((n_rows, dim)), rng.standard_normal((dim, 300))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    directions /= np.linalg.norm(directions, axis=0)
    units[0] = directions[:, 0]
    units[-1] = 0
    units, directions = units.astype(dtype), directions.astype(dtype)
    coefficients = rng.standard_normal((n_rows, degree + 1, 2)) / np.arange(1, degree + 2)[:, None]

    cosines = np.clip(units.astype(np.float64) @ directions.astype(np.float64), -1, 1)
    expected = np.zeros((n_rows, 557))
    for ell in range(degree + 1):
        alpha = comb(ell + dim - 1, ell) - (comb(ell + dim - 3, ell - 2) if ell > 1 else 0)
        values = eval_gegenbauer(ell, dim / 2 - 1, cosines) / eval_gegenbauer(ell, dim / 2 - 1, 1.0)
        terms = coefficients[:, ell, :, None] * np.sqrt(alpha) * values[:, None, :]
        expected += np.hstack([terms[:, 0], terms[:, 1, :257]])
    out = np.full((n_rows, 557), np.nan, dtype)
    numba_engine.gegenbauer_features(units, directions, coefficients, counts, out)
    # As above: a rounding of the cosine counts ℓ² times near ±1.
    tolerance = 4 * np.finfo(dtype).eps * (degree + 1) ** 2 * np.abs(expected).max()
    np.testing.assert_allclose(out, expected, atol=tolerance)


@pytest.mark.parametrize(("dim", "degree"), [(3, 6), (200, 168)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_part_of_a_wider_matrix_is_filled_in_place(dim, degree, order):
    """In float32, and by way of float64 where the range of the weights needs it."""
    rng = np.random.default_rng(0)
    units = rng.standard_normal((6, dim)) / np.sqrt(dim)
    directions = rng.standard_normal((dim, 40)) / np.sqrt(dim)
    units, directions = units.astype(np.float32), directions.astype(np.float32)
    coefficients = np.full((6, degree + 1, 1), 1 / (degree + 1))
    counts, alone = np.array([40]), np.empty((6, 40), np.float32)
    numba_engine.gegenbauer_features(units, directions, coefficients, counts, alone)
    wide = np.zeros((6, 43), np.float32, order=order)
    numba_engine.gegenbauer_features(units, directions, coefficients, counts, wide[:, 2:42])
    np.testing.assert_array_equal(wide[:, 2:42], alone)
    np.testing.assert_array_equal(wide[:, [0, 1, 42]], 0)


def test_shapes_are_checked_before_compiled_code_runs():
    with pytest.raises(ValueError, match="do not belong to"):
        numba_engine.gegenbauer_sums(
            np.zeros((2, 8)), np.zeros((2, 3, 1)), np.array([8]), 3, np.empty((2, 4))
        )
    with pytest.raises(ValueError, match="do not belong to"):
        numba_engine.gegenbauer_features(
            np.zeros((2, 3)), np.zeros((3, 7)), np.zeros((2, 3, 1)), np.array([8]), np.empty((2, 8))
        )
    with pytest.raises(ValueError, match="must have as many columns"):
        numba_engine.gegenbauer_features(
            np.zeros((2, 3)), np.zeros((4, 8)), np.zeros((2, 3, 1)), np.array([8]), np.empty((2, 8))
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
