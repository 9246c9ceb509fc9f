"""Gradients by central differences, with a bound on their own error."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

# Rounding ε/h and truncation h² are of one size at h = ε^{1/3}.
STEP = 2e-5


def central(f: Callable, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of f at rows X [n, d], on a last axis, and bounds on their errors.

    The truncation error of a step h is h²/6 f''' + O(h⁴), a third of the difference to the step
    2h; extrapolation takes it off, and all of the difference is the bound. Values are right to some
    ulps, which 1/h magnifies.
    """

    def quotient(h):
        return np.stack([(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(X.shape[1])], -1)

    fine, coarse = quotient(STEP), quotient(2 * STEP)
    rounding = 64 * np.finfo(float).eps * np.abs(f(X)).max() / STEP
    return fine + (fine - coarse) / 3, np.abs(fine - coarse) + rounding


def assert_gradient(
    gradient: np.ndarray, f: Callable, X: np.ndarray, atol: npt.ArrayLike = 0.0
) -> None:
    """Whether gradients agree with differences, up to the error of these (and `atol`)."""
    expected, bound = central(f, X)
    assert gradient.shape == expected.shape
    # The bound must leave no room for a wrong formula.
    assert np.median(bound) < 1e-5 * np.abs(expected).max()
    excess = np.abs(gradient - expected) - bound - atol
    assert excess.max() <= 0, f"off by {np.abs(gradient - expected).max():.3g}"
