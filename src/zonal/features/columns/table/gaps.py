"""Gaps in new rows of a table that had none: the means of the columns stand for them."""

import warnings
from typing import Any

import numpy as np

from .cells import columns_of

__all__ = ["column_means", "filled"]


def column_means(X: Any) -> dict[str, float]:
    """Return the means of the columns of a frame of numbers."""
    return {name: float(cells.values.mean()) for name, cells in columns_of(X).items()}


def filled(X: Any, means: dict[str, float]) -> Any:
    """Return a frame of pandas or polars without gaps, with a warning if there were any.

    Parameters
    ----------
    X : frame of shape (n, d)
    means : dict of str to float
        What stands for the gaps of each column.
    """
    found = columns_of(X)
    numbers = {name: cells.values for name, cells in found.items() if cells.kind == "number"}
    gaps = {name: int(np.isnan(values).sum()) for name, values in numbers.items()}
    gaps = {name: count for name, count in gaps.items() if count and name in means}
    if not gaps:
        return X
    told = ", ".join(f"{name!r} ({count:,})" for name, count in gaps.items())
    warnings.warn(
        f"Numbers are missing in {told}, but fit met no gaps: the means of these columns stand for "
        "them. A model that is to judge rows with gaps must have seen some.",
        UserWarning,
        stacklevel=2,
    )
    if hasattr(X, "with_columns"):  # polars
        columns = [X[name].cast(float).fill_null(means[name]) for name in gaps]
        return X.with_columns([c.fill_nan(means[c.name]) for c in columns])
    return X.astype(dict.fromkeys(gaps, float)).fillna({name: means[name] for name in gaps})
