"""Features Z = H G of low rank: learners sum over the narrower H, and widen the result."""

from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from .._typing import FloatArray
from ..features import GegenbauerFeatures

__all__ = ["Compact", "compact"]

# Rows a column from which the narrower form pays: G has to be made, and moments to be widened.
ROWS_A_COLUMN = 16


class Compact(NamedTuple):
    """A map H and a matrix with Z = H G.

    Attributes
    ----------
    features : transformer
        H, or Z itself.
    n_columns : int
        The width of H.
    mixing : ndarray of shape (n_columns of H, n_columns of Z), or None
        G; None for the identity.
    """

    features: Any
    n_columns: int
    mixing: FloatArray | None

    def coefficients(self, coef: FloatArray) -> FloatArray:
        """G β, the coefficients on H of a function Z β."""
        return coef if self.mixing is None else self.mixing @ coef


def compact(features: Any, n_columns: int, n_rows: int) -> Compact:
    """The narrowest known form of fitted features, if there are enough rows for it to pay."""
    steps = features.steps if isinstance(features, Pipeline) else [("features", features)]
    last = steps[-1][1]
    form = None
    # Not for subclasses, whose formula may be another.
    if type(last) is GegenbauerFeatures and n_rows >= ROWS_A_COLUMN * n_columns:
        form = last.harmonic_form()
    if form is None:
        return Compact(features, n_columns, None)
    narrow = Pipeline([*steps[:-1], ("features", form)]) if len(steps) > 1 else form
    return Compact(narrow, len(form.mixing), form.mixing)
