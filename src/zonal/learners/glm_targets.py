"""Responses with their offsets and trials, as one array that walks with the rows."""

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..likelihoods import Likelihood, Observed

__all__ = ["check_stream", "null_mean", "pack", "predicted_parts"]


def pack(
    likelihood: Likelihood, y: Any, offset: Any = None, exposure: Any = None, trials: Any = None
) -> Any:
    """Return responses [n, 3]: the response, the offset (with log exposure), the trials.

    Parameters
    ----------
    likelihood : Likelihood
    y : array or Dask array of shape (n,)
    offset, exposure, trials : arrays of shape (n,), optional
    """
    if type(y).__module__.split(".")[0] in ("dask", "dask_expr"):
        return _pack_dask(likelihood, y, offset, exposure, trials)
    if y is None:
        raise ValueError("KernelGLM requires y to be passed, but the target y is None.")
    values = np.asarray(y, np.float64)
    shift, count = predicted_parts(likelihood, len(values), offset, exposure, trials)
    if likelihood.name == "binomial":
        if trials is None:
            raise ValueError(
                "likelihood='binomial' needs trials, the number of trials of each row: "
                "fit(X, y, trials=n); for 0 and 1 use likelihood='bernoulli'."
            )
        bad = np.flatnonzero(values > count)
        if len(bad):
            raise ValueError(
                f"y[{bad[0]}] = {values[bad[0]]:g} is more than trials[{bad[0]}] = "
                f"{count[bad[0]]:g}: y counts the successes among the trials."
            )
    return np.column_stack([values, shift, count])


def predicted_parts(
    likelihood: Likelihood, n_rows: int, offset: Any, exposure: Any, trials: Any
) -> tuple[FloatArray, FloatArray]:
    """Return offsets (with log exposures) and trials of rows: [n], [n]."""
    shift = _column("offset", offset, n_rows, 0.0)
    if exposure is not None:
        if not likelihood.log_link:
            raise ValueError(
                f"exposure is for counts and amounts, whose mean is in proportion to it, not for "
                f"likelihood={likelihood.name!r}: leave it out, or use offset."
            )
        values = _column("exposure", exposure, n_rows, 1.0)
        bad = np.flatnonzero(~(values > 0))
        if len(bad):
            raise ValueError(
                f"exposure[{bad[0]}] = {values[bad[0]]:g} must be positive: leave out rows of no "
                "exposure."
            )
        shift = shift + np.log(values)
    if trials is not None and likelihood.name != "binomial":
        raise ValueError(
            f"trials is for likelihood='binomial', not for {likelihood.name!r}: leave it out."
        )
    count = _column("trials", trials, n_rows, 1.0)
    bad = np.flatnonzero((count < 1) | (count != np.floor(count)))
    if len(bad):
        raise ValueError(
            f"trials[{bad[0]}] = {count[bad[0]]:g} must be a whole number of at least 1."
        )
    return shift, count


def null_mean(
    likelihood: Likelihood, observed: Observed, offset: FloatArray, weight: FloatArray
) -> FloatArray:
    """Return latent values of a model that knows the mean response and the offsets only: [n]."""
    level = likelihood.level(observed, offset, weight)
    return np.asarray(likelihood.link(np.asarray(level)) + offset)


def _column(name: str, values: Any, n_rows: int, default: float) -> FloatArray:
    if values is None:
        return np.full(n_rows, default)
    found = np.asarray(values, np.float64)
    if found.ndim == 0:
        found = np.full(n_rows, float(found))
    if found.shape != (n_rows,):
        raise ValueError(
            f"{name} has the shape {found.shape}, but there are {n_rows} rows: give one number "
            "for each row."
        )
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        raise ValueError(f"{name}[{bad[0]}] = {found[bad[0]]} is not a finite number.")
    return found


def _pack_dask(likelihood: Likelihood, y: Any, offset: Any, exposure: Any, trials: Any) -> Any:
    """Stack columns of Dask chunk by chunk."""
    import dask.array as da

    column = getattr(y, "values", y)
    rest = [offset, exposure, trials]
    rest = [None if part is None else getattr(part, "values", part) for part in rest]
    given = [part for part in rest if part is not None]

    def stacked(values: Any, *parts: Any) -> Any:
        found = iter(parts)
        return pack(likelihood, values, *(None if part is None else next(found) for part in rest))

    return da.map_blocks(
        stacked,
        column,
        *(da.asarray(part).rechunk(column.chunks) for part in given),
        new_axis=1,
        chunks=(column.chunks[0], (3,)),
        dtype=np.float64,
        meta=np.empty((0, 3)),
    )


def check_stream(given: dict[str, Any]) -> None:
    """Raise an error for parts of responses that are given beside a stream."""
    for name, values in given.items():
        if values is not None:
            raise ValueError(
                f"{name} is given beside a stream of blocks: let the stream yield (X, Y) with "
                "three columns of Y, the response, the offset (or log exposure) and the trials."
            )
