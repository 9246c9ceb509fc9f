"""Ridge regression beside the bare product ZᵀZ, and beside RBFSampler + Ridge."""

from collections.abc import Iterator

from scipy.linalg.blas import ssyrk
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import zonal

from ..measure import seconds
from .data import DEGREE, WIDTH, N, gegenbauer, peer, points, target
from .limits import Limits
from .line import Line

__all__ = ["ridge"]

# Multiply-adds of a row: the features (as in `transforms`), and half of its outer product.
FEATURES = (2 * DEGREE + 3) * WIDTH
PRODUCTS = WIDTH * (WIDTH + 1) / 2
FOLDS = 2


def ridge(limits: Limits) -> Iterator[Line]:
    """`fit` and `predict`, d = 3, degree 20, s = 1."""
    X = points(3)
    y = target(X)
    features = gegenbauer().fit(X)
    Z = features.transform(X)
    sums = zonal.KernelRidge(gegenbauer(), 1.0).partial_fit(X, y)
    pipeline = make_pipeline(peer(), Ridge(1.0, solver="cholesky"))
    fixed, searched, summed, bare, theirs = seconds(
        lambda: zonal.KernelRidge(gegenbauer(), 1.0).fit(X, y),
        lambda: zonal.KernelRidge(gegenbauer(), cv=FOLDS).fit(X, y),
        lambda: sums.partial_fit(X, y),
        lambda: ssyrk(1.0, Z.T),
        lambda: pipeline.fit(X, y),
        repeats=7,
    )
    once, bound = limits.ideal(N * (FEATURES + PRODUCTS))
    # An eigendecomposition takes at least its tridiagonal reduction, in float64, for each fold.
    path = limits.ideal(2 * FOLDS * (2 / 3) * WIDTH**3)[0]
    syrk = "ssyrk of the ready features"
    rest = "features that miss the peak rate of a matrix product"
    yield Line("moments (features and products)", syrk, summed, bare, None, once, bound, rest)
    yield Line(
        "KernelRidge.fit, alpha = 1",
        syrk,
        fixed,
        bare,
        1.25,
        once,
        bound,
        f"{rest}, one Cholesky factorisation",
    )
    yield Line(
        f'KernelRidge.fit, alpha = "cv", 20 alphas, {FOLDS} folds',
        syrk,
        searched,
        bare,
        2.0,
        once + path,
        bound,
        "the eigenvectors of each fold, half of them at the speed of memory",
    )
    yield Line(
        "KernelRidge.fit, alpha = 1", "RBFSampler + Ridge", fixed, theirs, 0.8, once, bound, rest
    )
    model = zonal.KernelRidge(gegenbauer(), 1.0).fit(X, y)
    mine, theirs = seconds(lambda: model.predict(X), lambda: pipeline.predict(X), repeats=7)
    ideal, bound = limits.ideal(N * (FEATURES + WIDTH))
    yield Line(
        "KernelRidge.predict",
        "RBFSampler + Ridge",
        mine,
        theirs,
        0.4,
        ideal,
        bound,
        "the features' pass through the second-level cache on their way to the product",
    )
