"""Checks of parameters and rows, with messages that say what to do next."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight, validate_data

from ._typing import Array, FloatArray

__all__ = [
    "as_frame",
    "canonical",
    "check_choice",
    "check_count",
    "check_positive",
    "check_time_limit",
    "check_values",
    "is_sparse",
    "norms_agree",
    "prediction_dtype",
    "row_norms",
    "spans_sphere",
    "spread_of",
    "valid_rows",
]


def check_positive(name: str, value: Any, owner: str, extra: str = "") -> float:
    """Return `value` as a float if it is a finite number above zero."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and 0 < float(value) < float("inf"):
        return float(value)
    raise ValueError(f"{name}={value!r} of {owner} must be a positive finite number{extra}.")


def check_count(name: str, value: Any, owner: str, minimum: int = 1, extra: str = "") -> int:
    """Return `value` as an int if it is a whole number of at least `minimum`."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if is_whole and int(value) >= minimum:
        return int(value)
    raise ValueError(
        f"{name}={value!r} of {owner} must be a whole number of at least {minimum}{extra}."
    )


def check_time_limit(seconds: Any) -> float | None:
    """Return a limit in seconds if it is a number above zero, or None for none."""
    is_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if seconds is None or (is_number and float(seconds) > 0):
        return None if seconds is None else float(seconds)
    raise ValueError(f"time_limit={seconds!r} must be seconds above zero, or None.")


def check_choice(name: str, value: Any, choices: tuple[str, ...], owner: str) -> str:
    """Return `value` if it is one of the choices."""
    if isinstance(value, str) and value in choices:
        return value
    raise ValueError(f"{name}={value!r} of {owner} is not one of {', '.join(map(repr, choices))}.")


def check_values(X: Any, name: str) -> None:
    """Raise ValueError for what NumPy would take for numbers, or refuse in riddles.

    Those are masked values, whose mask would be lost, and dates.
    """
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        count = int(np.ma.getmaskarray(X).sum())
        raise ValueError(
            f"{name} is a masked array with {count} masked values, which would "
            f"pass for numbers: fill them, {name}.filled(...), or leave out their rows."
        )
    if _is_date(getattr(X, "dtype", None)):
        raise ValueError(f"{name} has dates ({X.dtype}). {_NO_DATES}")
    kinds = getattr(X, "dtypes", None)
    if kinds is not None and hasattr(X, "columns"):
        dates = [
            str(column) for column, kind in zip(X.columns, kinds, strict=False) if _is_date(kind)
        ]
        if dates:
            raise ValueError(f"{name} has dates in {', '.join(dates)}. {_NO_DATES}")


_NO_DATES = (
    "Numbers are needed: make days of them, (t - t[0]) / np.timedelta64(1, 'D'), or pass the table "
    "to a learner with features='auto', which encodes dates, or through zonal.TableEncoder."
)


def check_weight(sample_weight: Any, n_rows: int, *, allow_zero: bool) -> FloatArray:
    """Return valid weights of rows: finite, at least zero, and not all of them zero if so asked."""
    check_values(sample_weight, "sample_weight")
    weight = np.asarray(sample_weight)
    if weight.shape == (n_rows,) and not weight.any():
        if allow_zero:
            return np.zeros(n_rows)
        raise ValueError("All sample weights are zero: at least one row must count.")
    rows = np.empty((n_rows, 0))
    return np.asarray(
        _check_sample_weight(weight, rows, dtype=np.float64, ensure_non_negative=True)
    )


def _is_date(kind: Any) -> bool:
    """Whether a type of NumPy, pandas or polars is that of dates or spans of time."""
    known = getattr(kind, "kind", None)
    return known in ("M", "m") or str(kind).startswith(("Date", "Duration"))


def as_frame(X: Any) -> Any:
    """Return a table or a batch of pyarrow as a pandas frame, and anything else as it is.

    scikit-learn takes frames of pandas and polars, by name and row; those of pyarrow go the way of
    pandas, so that the same table gives the same model whoever holds it.
    """
    if type(X).__module__.split(".")[0] != "pyarrow" or not hasattr(X, "schema"):
        return X
    try:
        return X.to_pandas()
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"A {type(X).__name__} of pyarrow is read by way of pandas: pip install "
            "'zonal[frames]'."
        ) from error


def is_plain(X: Any) -> bool:
    """Tell whether X is a finite float array already.

    To ask scikit-learn takes a millisecond, and a choice evaluates maps and kernels a thousand
    times.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in (np.float64, np.float32):
        return False
    with np.errstate(all="ignore"):
        return bool(X.size and np.isfinite(X.sum()))


def valid_rows(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """Validate rows as scikit-learn does, after `check_values`."""
    if options.get("reset") is False and isinstance(y, str) and is_plain(X):
        same = X.shape[1] == getattr(estimator, "n_features_in_", None)
        named, dtypes = hasattr(estimator, "feature_names_in_"), options.get("dtype")
        if same and not named and isinstance(dtypes, list) and X.dtype in dtypes:
            return X
    X = as_frame(X)
    check_values(X, "X")
    if not isinstance(y, str):
        check_values(y, "y")
    if options.get("ensure_all_finite", True) is True:
        _check_no_gaps(X, type(estimator).__name__)
    return validate_data(estimator, X, y, **options)


def _check_no_gaps(X: Any, owner: str) -> None:
    """Raise ValueError that names the first gap of an array, and who takes gaps."""
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if not isinstance(X, np.ndarray) or kind != "f" or X.ndim != 2:
        return
    if not np.isnan(X.min(initial=np.inf)):  # one pass without a copy: almost always the end
        return
    gaps = np.argwhere(np.isnan(X))
    if len(gaps):
        row, column = gaps[0]
        raise ValueError(
            f"{owner} got NaN in X[{row}, {column}] ({len(gaps):,} gaps in all). Learners with "
            "features='auto' fill the gaps of tables: pass a pandas or polars frame; or fill them "
            "yourself (sklearn.impute.SimpleImputer), or leave out their rows."
        )


def is_sparse(X: Any) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sp.issparse(X))


def row_norms(X: Any) -> FloatArray:
    """Euclidean norms of the rows of an array or CSR matrix, summed in float64."""
    if sp.issparse(X):
        return _sparse_row_norms(X)
    dense: Array = X
    norms = np.sqrt(np.einsum("ij,ij->i", dense, dense, dtype=np.float64))
    huge = ~np.isfinite(norms)
    if huge.any():  # the squares overflow, the norms need not
        norms[huge] = [math.hypot(*row) for row in dense[huge].tolist()]
    return norms


def canonical(X: Any) -> Any:
    """X, with duplicate entries of a sparse matrix summed."""
    matrix: Any = X
    if sp.issparse(X) and not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _sparse_row_norms(X: Any) -> FloatArray:
    squares = X.data.astype(np.float64) ** 2
    # reduceat has no notion of an empty row, and cumulative sums would cancel.
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.sqrt(np.bincount(rows, squares, minlength=X.shape[0]))


def spread_of(X: Any) -> float:
    """Root mean square of the distances of the rows from their mean."""
    size = float(row_norms(X).max(initial=0.0))
    if size == 0:
        return 0.0
    rows = X / size  # so that squares stay in range
    mean = np.asarray(rows.mean(axis=0)).ravel()
    if sp.issparse(X):
        return size * math.sqrt(max(float(np.mean(row_norms(rows) ** 2) - mean @ mean), 0.0))
    return size * float(np.sqrt(np.mean(row_norms(rows - mean) ** 2)))


def norms_agree(norms: FloatArray, spread: float, rtol: float = 1e-6) -> bool:
    """Whether at least two rows lie on one sphere around the origin.

    Norms differ by little beside what they are wherever rows are far from zero: they must differ
    by little beside the distances between rows.

    Parameters
    ----------
    norms : ndarray of shape (n,)
    spread : float
        The size of the distances: `spread_of` the rows, or the largest norm where only norms are
        known.
    rtol : float
    """
    return len(norms) >= 2 and bool(np.ptp(norms) <= rtol * spread)


def spans_sphere(X: Any) -> bool:
    """Whether rows lie on one sphere around the origin and are not just a small part of it.

    Harmonics of a sphere are for all of it: on a small part, few of them vary between rows. With
    200 columns, kernels whose length is a quarter to a sixteenth of the part are met better by
    harmonics about its mean from a spread of half the radius downwards in three dimensions, and
    from an eighth downwards on the circle; a quarter lies between the two.
    """
    norms, spread = row_norms(X), spread_of(X)
    return norms_agree(norms, spread) and spread >= norms.max() / 4


def prediction_dtype(X: Any, y_dtype: Any) -> np.dtype[Any]:
    """Return the precision of predictions: single only where rows and targets both are.

    Targets far from zero, such as 1.7e9 + 60 sin x, would be lost in the precision of the rows.
    """
    single = np.dtype(np.float32)
    both = getattr(X, "dtype", None) == single and np.dtype(y_dtype) == single
    return single if both else np.dtype(np.float64)
