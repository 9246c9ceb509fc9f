"""The compiled harmonics against their NumPy reference."""

import numpy as np
import pytest

from zonal.engines.harmonic_engine import TILE, HarmonicEngine
from zonal.polynomials import harmonic_dimension, uniform_sphere
from zonal.polynomials.harmonics import HarmonicProgram, full_program, solid_harmonics


def unit_vectors(n, dim, seed=0):
    """Random ones and the coordinate axes."""
    random = uniform_sphere(n, dim, np.random.default_rng(seed))
    return np.vstack([random, np.eye(dim), -np.eye(dim)])


def degree_of_budget(dim, budget=20_000):
    """The largest degree whose harmonics, with all lower ones, fit a number of columns."""
    total, degree = 1, 0
    while total + harmonic_dimension(degree + 1, dim) <= budget:
        degree += 1
        total += harmonic_dimension(degree, dim)
    return degree


def reference(program, blocks, directions, radial):
    """Columns of all modes, by the formula."""
    columns = solid_harmonics(program, directions) * program.scale
    return np.hstack(
        [
            radial[:, [mode]] * columns[:, program.offsets[degree] :][:, :count]
            for mode, (degree, count) in enumerate(blocks)
        ]
    )


def run(program, blocks, directions, radial, dtype):
    out = np.full((len(directions), blocks[:, 1].sum()), np.nan, dtype)
    HarmonicEngine(program, blocks, dtype)(directions, radial.astype(dtype), out)
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [2, 3, 4, 9, 20])
@pytest.mark.parametrize("n", [1, TILE - 1, TILE, TILE + 1, 3 * TILE + 5])
def test_agrees_with_the_reference(dim, n, dtype):
    """Modes in any order, a degree more than once or in part or not at all."""
    rng = np.random.default_rng(n)
    max_degree = {2: 9, 3: 9, 4: 6, 9: 4, 20: 2}[dim]
    degrees = rng.integers(0, max_degree + 1, 7)
    blocks = np.column_stack(
        [degrees, [rng.integers(1, harmonic_dimension(int(ell), dim) + 1) for ell in degrees]]
    )
    counts = np.zeros(degrees.max() + 1, np.int64)
    np.maximum.at(counts, degrees, blocks[:, 1])
    program = HarmonicProgram.of(dim, counts)
    directions = uniform_sphere(n, dim, rng)
    radial = rng.standard_normal((n, 7))
    expected = reference(program, blocks, directions, radial)
    # Every degree adds a rounding or two of numbers as large as the harmonics.
    tolerance = 10 * (max_degree + 1) * np.finfo(dtype).eps * np.abs(expected).max()
    np.testing.assert_allclose(
        run(program, blocks, directions, radial, dtype), expected, atol=tolerance
    )


@pytest.mark.parametrize(
    ("dim", "max_degree"), [(3, 100), *((dim, degree_of_budget(dim)) for dim in (4, 9, 20))]
)
def test_float32_at_high_degrees(dim, max_degree):
    """One rounding error for each degree, not more: 1e-5 at degree 100.

    By the addition theorem Σ_k Y_k² = α_ℓ everywhere, so that the error of a degree is measured
    against √α_ℓ. To round x itself, by ε/2, moves the values by up to about ℓ ε/2 of that.
    """
    program = full_program(max_degree, dim)
    blocks = np.column_stack([np.arange(max_degree + 1), program.counts])
    directions = unit_vectors(40, dim)
    ones = np.ones((len(directions), max_degree + 1))
    single = run(program, blocks, directions, ones, np.float32)
    expected = reference(program, blocks, directions, ones)
    assert np.isfinite(single).all()
    for degree, (first, alpha) in enumerate(zip(program.offsets[:-1], program.counts, strict=True)):
        error = np.linalg.norm((single - expected)[:, first : first + alpha], axis=1).max()
        assert error <= np.finfo(np.float32).eps * (degree + 1) * np.sqrt(alpha)


def test_zero_rows_have_degree_zero_only():
    program = full_program(4, 3)
    blocks = np.column_stack([np.arange(5), program.counts])
    directions = np.vstack([np.zeros(3), uniform_sphere(3, 3, np.random.default_rng(0))])
    out = run(program, blocks, directions, np.full((4, 5), 2.0), np.float64)
    np.testing.assert_array_equal(out[0], [2] + [0] * 24)


def test_rows_do_not_depend_on_their_neighbours():
    """A tile that is filled in part holds old rows, which must not matter."""
    program = full_program(6, 4)
    blocks = np.column_stack([np.arange(7), program.counts])
    directions = uniform_sphere(TILE + 3, 4, np.random.default_rng(0))
    radial = np.random.default_rng(1).standard_normal((TILE + 3, 7))
    together = run(program, blocks, directions, radial, np.float32)
    for start in (0, 1, TILE):
        alone = run(program, blocks, directions[start:], radial[start:], np.float32)
        np.testing.assert_array_equal(alone, together[start:])


def test_wide_outputs_are_filled_in_place():
    program = full_program(2, 3)
    blocks = np.column_stack([np.arange(3), program.counts])
    directions, ones = uniform_sphere(5, 3, np.random.default_rng(0)), np.ones((5, 3))
    wide = np.zeros((5, 11))
    HarmonicEngine(program, blocks, np.float64)(directions, ones, wide[:, 1:10])
    np.testing.assert_allclose(wide[:, 1:10], reference(program, blocks, directions, ones))
    np.testing.assert_array_equal(wide[:, [0, 10]], 0)


def test_shapes_are_checked_before_compiled_code_runs():
    program = full_program(2, 3)
    engine = HarmonicEngine(program, np.array([[2, 5]]), np.float64)
    for directions, radial, out in (
        ((4, 3), (4, 1), (4, 9)),
        ((4, 2), (4, 1), (4, 5)),
        ((4, 3), (4, 2), (4, 5)),
        ((4, 3), (3, 1), (4, 5)),
    ):
        with pytest.raises(ValueError, match="do not belong to 3 dimensions, 1 modes and 5 col"):
            engine(np.zeros(directions), np.ones(radial), np.empty(out))
    for blocks in ([[3, 1]], [[-1, 1]], [[2, 6]], [[2, -1]]):
        with pytest.raises(ValueError, match="are not those of the program"):
            HarmonicEngine(program, np.array(blocks), np.float64)
