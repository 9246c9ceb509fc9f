"""The chain rule through whatever linear comes before the features."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from .._typing import Array, FloatArray

__all__ = ["features_gradient", "linear_map"]


def features_gradient(steps: Sequence[Any], X: Any, coef: FloatArray) -> Array:
    """Return the gradients of Σ_c coef_c z_c with respect to rows that features are applied to.

    Parameters
    ----------
    steps : sequence of transformers
        Fitted; the last is a feature map of this library (it has a method
        ``contract_gradient(X, coef)``), the others are linear: `Standardizer`, scikit-learn's
        scalers, and whatever has a method ``linear_map()`` that returns factors of the columns
        [d] or the matrix A [d_out, d] of x ↦ A x + b; or they map each column by itself, and have
        a method ``slopes(X)`` that returns the derivatives [n, d]; or they have a method
        ``pull(X, gradient)`` that applies the chain rule themselves.
    X : array, CSR matrix or frame of shape (n, d)
        Rows.
    coef : ndarray of shape (n_columns, t)
        Coefficients of t functions.

    Returns
    -------
    ndarray of shape (n, t, d)
    """
    *before, last = steps
    # All are looked at before any work is done.
    maps = [None if _own_rule(step) else linear_map(step) for step in before]
    if not hasattr(last, "contract_gradient"):
        raise NotImplementedError(
            f"The gradient of features={last!r} is not known: use a feature map of this "
            "library, such as zonal.FourierFeatures, alone or after linear steps in a Pipeline."
        )
    inputs = [X]
    for step in before:
        inputs.append(step.transform(inputs[-1]))
    gradient: Array = last.contract_gradient(inputs.pop(), coef)
    for step, linear, rows in reversed(list(zip(before, maps, inputs, strict=True))):
        if hasattr(step, "pull"):
            gradient = step.pull(rows, gradient)
        elif linear is None:
            gradient = gradient * step.slopes(rows).astype(gradient.dtype)[:, None, :]
        elif linear.ndim == 1:
            gradient = gradient * linear.astype(gradient.dtype)
        else:
            gradient = gradient @ linear.astype(gradient.dtype)
    return gradient


def _own_rule(step: Any) -> bool:
    """Tell whether a step that is not linear knows its derivatives."""
    return hasattr(step, "slopes") or hasattr(step, "pull")


def linear_map(step: Any) -> FloatArray:
    """Return factors of the columns [d], or the matrix [d_out, d], of a linear transformer."""
    if hasattr(step, "linear_map"):
        return np.asarray(step.linear_map(), dtype=np.float64)
    if isinstance(step, StandardScaler | RobustScaler | MaxAbsScaler):
        return np.ones(step.n_features_in_) if step.scale_ is None else 1 / step.scale_
    if isinstance(step, MinMaxScaler) and not step.clip:
        return np.asarray(step.scale_)
    raise NotImplementedError(
        f"The step {step!r} in front of the features has no linear map that is known, which a "
        "gradient with respect to its input needs: use zonal.features.Standardizer or a scaler of "
        "scikit-learn, or give the step a method linear_map() that returns factors of the columns "
        "or a matrix of shape (n_columns_out, n_columns)."
    )
