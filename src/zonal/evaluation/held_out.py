"""The error of a fitted model on whole groups of rows that it has not seen."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold

from .._typing import Array
from ..rows.block import take
from .errors import ClassErrors, Errors

__all__ = ["errors_by_group"]

# Rows of all fits together; with more rows, fewer of the folds are fitted.
FITTED_ROWS = 240_000


def errors_by_group(
    model: Any, X: Any, y: Any, groups: Any, *, n_splits: int = 5, limit: int = FITTED_ROWS
) -> Errors | ClassErrors:
    """Fit a chosen model to folds of groups, and judge it on the groups left out.

    What was chosen (features, kernel, noise, alpha) stays; coefficients, the rows of a local part
    and what an encoder learns from targets are those of the other groups. Blocks of a map are
    groups: `BlockKFold.blocks`.

    Parameters
    ----------
    model : KernelRidge or KernelRidgeClassifier
        Fitted, of one target.
    X : array or frame of shape (n, d)
    y : array-like of shape (n,)
    groups : array-like of shape (n,)
        A label for each row.
    n_splits : int, default=5
        Folds of groups.
    limit : int
        Rows of all fits together. If there are more, only the first folds are fitted.

    Returns
    -------
    Errors or ClassErrors
        Sums over the test rows; ``measures()`` has the usual numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> from zonal.evaluation import errors_by_group
    >>> X = np.linspace(0, 20, 400)[:, None]
    >>> y = np.sin(X[:, 0])
    >>> features = zonal.FourierFeatures(zonal.Gaussian(1.0), 50, random_state=0)
    >>> model = zonal.KernelRidge(features).fit(X, y)
    >>> found = errors_by_group(model, X, y, np.floor(X[:, 0] / 2)).measures()
    >>> bool(found["mse"] > np.mean((model.predict(X) - y) ** 2))
    True
    """
    y, groups = np.asarray(y), np.asarray(groups)  # by row, whatever index a Series has
    n_rows = len(y)
    total: Any = None
    fitted = 0
    for train, test in GroupKFold(n_splits).split(np.empty(n_rows), groups=groups):
        if total is not None and fitted + len(train) > limit:
            break
        part = model.refitted(take(X, train), y[train])
        found = _errors(part, take(X, test), y[test])
        total = found if total is None else total + found
        fitted += len(train)
    return total


def _errors(model: Any, X: Any, y: Array) -> Errors | ClassErrors:
    if is_classifier(model):
        return ClassErrors.of(y, model.predict(X), model.classes_, model.predict_proba(X))
    return Errors.of(y, np.asarray(model.predict(X)))
