"""How close features come to their kernel, against the number of columns."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from .._typing import Array
from .._validation import is_sparse
from ..features import KernelFeatures
from ..features.space import FeatureSpace
from ..rows import sample_rows

__all__ = ["SAMPLE_ROWS", "approximation_curve", "relative_error"]

SAMPLE_ROWS = 800


def relative_error(features: Any, rows: Array) -> float:
    r"""Return the error ‖Z Zᵀ - K‖ / ‖K‖ (Frobenius) of fitted features at rows.

    Parameters
    ----------
    features : KernelFeatures
        A fitted map, with ``kernel_``.
    rows : ndarray of shape (n, d)
        n² kernel values are found.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> features = zonal.HarmonicFeatures(zonal.Gaussian(2.0), n_components=128).fit(X)
    >>> bool(zonal.evaluation.relative_error(features, X) < 1e-3)
    True
    """
    Z = features.transform(rows)
    Z = np.asarray(Z.toarray() if is_sparse(Z) else Z, dtype=np.float64)
    K = np.asarray(features.kernel_(rows), dtype=np.float64)
    return float(np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(K))


def approximation_curve(features: Any, X: Array, n_components: int) -> list[tuple[int, float]]:
    """Return the errors of maps like a fitted one, at widths of up to `n_components`.

    Parameters
    ----------
    features : transformer
        A fitted map of this library, alone or as the last step of a pipeline.
    X : ndarray of shape (n, d)
        Rows that go into it: the maps learn from all, and errors are taken at a few of them.
    n_components : int
        The largest width; the others are smaller by powers of two.

    Returns
    -------
    list of (width, error)
        Empty for features that do not belong to one kernel.

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> features = zonal.HarmonicFeatures(zonal.Gaussian(1.0), n_components=64).fit(X)
    >>> curve = zonal.evaluation.approximation_curve(features, X, 64)
    >>> [width for width, _ in curve]
    [8, 16, 32, 64]
    """
    X = X.astype(np.float64)
    *before, features = FeatureSpace(features, n_components).steps
    for step in before:
        X = step.transform(X)
    if not isinstance(features, KernelFeatures) or not hasattr(features, "kernel_"):
        return []
    rows = X[sample_rows(len(X), SAMPLE_ROWS)]
    widths = [n_components >> shift for shift in range(5, -1, -1) if n_components >> shift >= 8]
    curve = []
    for width in widths:
        smaller = clone(features).set_params(kernel=features.kernel_, n_components=width)
        if "random_state" in smaller.get_params() and smaller.random_state is None:
            smaller.set_params(random_state=0)
        try:
            smaller.fit(X)
        except ValueError as error:
            # Too few columns for what was asked of the map, such as its n_radial.
            warnings.warn(f"No error is shown for {width} features: {error}", stacklevel=2)
            continue
        curve.append((width, relative_error(smaller, rows)))
    return curve
