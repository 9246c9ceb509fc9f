"""Variances of observations that are given to `fit`, checked."""

from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._typing import FloatArray
from .._validation import check_values
from ..model.known_errors import KnownErrors

__all__ = ["check_one_target", "known_errors", "precisions", "variances"]


def known_errors(
    X: Any, sample_weight: Any, noise_variance: Any, extra_noise: bool
) -> tuple[Any, KnownErrors | None]:
    """Return what goes with the rows, weights or variances, and what these leave to be learnt.

    Parameters
    ----------
    X, sample_weight, noise_variance, extra_noise
        As `fit` takes them.
    """
    if not isinstance(extra_noise, bool | np.bool_):
        raise ValueError(
            f"extra_noise={extra_noise!r} must be True or False: whether noise beside "
            "noise_variance is learnt."
        )
    if noise_variance is None:
        if not extra_noise:
            raise ValueError(
                "extra_noise=False leaves the errors that noise_variance gives, but there is none: "
                "pass noise_variance."
            )
        return sample_weight, None
    if sample_weight is not None:
        raise ValueError(
            "noise_variance and sample_weight both tell how precise rows are: pass one of them "
            "(a row of weight w is one of the variance v/w)."
        )
    errors = KnownErrors(learnt=bool(extra_noise))
    if noise_variance is True:  # the third part of each block of a stream
        return None, errors
    if np.ndim(noise_variance) == 0:
        noise_variance = np.full(_num_samples(X), float(noise_variance))
    return noise_variance, errors


def variances(noise_variance: Any, n_rows: int, owner: str) -> FloatArray:
    """Return variances as positive numbers: [n]."""
    if noise_variance is None:
        raise ValueError(
            f"{owner} was told that the noise of rows is known, but got no variances: pass "
            "noise_variance of shape (n_samples,), or let a stream yield (X, y, noise_variance)."
        )
    check_values(noise_variance, "noise_variance")
    found = np.asarray(noise_variance, np.float64)
    if found.ndim == 0:
        found = np.full(n_rows, float(found))
    if found.shape != (n_rows,):
        raise ValueError(
            f"noise_variance has the shape {found.shape}; a variance for each of the {n_rows} rows "
            "is needed."
        )
    wrong = np.flatnonzero(~((found > 0) & (found < np.inf)))
    if len(wrong):
        raise ValueError(
            f"noise_variance is {found[wrong[0]]} in row {wrong[0]}: variances must be positive "
            "and finite (of a row that is exact, a very small one)."
        )
    return found


def precisions(noise_variance: Any, n_rows: int, owner: str) -> FloatArray:
    """Return one over the variances of rows: [n]."""
    return 1 / variances(noise_variance, n_rows, owner)


def check_one_target(y: Any) -> None:
    """Raise ValueError for several targets, which would need errors of their own."""
    if np.ndim(y) > 1 and np.shape(y)[1] > 1:
        raise ValueError(
            f"noise_variance is that of one target, but y has {np.shape(y)[1]} columns: fit a "
            "model for each of them."
        )
