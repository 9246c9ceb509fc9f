"""Rows of matrices as parts of one array."""

import numpy as np
import pytest

from zonal.engines.layout import flat_rows


def fill(out, dtype):
    """Write 1, 2, 3, … as a compiled loop would."""
    n_rows, n_columns = out.shape
    with flat_rows(out, dtype) as (flat, pitch):
        assert flat.dtype == dtype
        assert flat.flags.c_contiguous
        for row in range(n_rows):
            flat[row * pitch : row * pitch + n_columns] = np.arange(n_columns) + row * n_columns + 1
        return np.shares_memory(flat, out)


VIEWS = {
    "whole": (lambda base: base, True),
    "part of the columns": (lambda base: base[:, 2:5], True),
    "every other row": (lambda base: base[::2, 1:], True),
    "one row": (lambda base: base[3:4, :2], True),
    "every other column": (lambda base: base[:, ::2], False),
    "rows backwards": (lambda base: base[::-1], False),
    "transposed": (lambda base: base.T, False),
}


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_is_filled_and_nothing_else(name):
    """In place where the numbers of a row are neighbours."""
    view, in_place = VIEWS[name]
    base = np.zeros((6, 7), np.float32)
    out = view(base)
    assert fill(out, np.float32) == in_place
    np.testing.assert_array_equal(out.ravel(), np.arange(out.size) + 1)
    assert np.count_nonzero(base) == out.size


def test_another_type_is_copied():
    out = np.zeros((3, 4), np.float32)
    assert not fill(out, np.float64)
    np.testing.assert_array_equal(out.ravel(), np.arange(12) + 1)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0), (0, 0)])
def test_nothing_to_fill(shape):
    with flat_rows(np.empty(shape), np.float64) as (flat, _):
        assert flat.size == 0


def test_errors_leave_the_matrix_alone():
    def fail(out):
        with flat_rows(out, np.float64) as (flat, _):
            flat[:] = 1
            raise ZeroDivisionError

    out = np.zeros((3, 4), order="F")
    with pytest.raises(ZeroDivisionError):
        fail(out)
    np.testing.assert_array_equal(out, 0)
