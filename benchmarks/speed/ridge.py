"""Ridge regression beside the bare product ZᵀZ, and beside RBFSampler + Ridge."""

from collections.abc import Iterator

from scipy.linalg.blas import ssyrk
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import zonal
from zonal.moments.ridge import solve

from ..measure import seconds
from .data import DEGREE, WIDTH, N, gegenbauer, peer, points, target
from .limits import Limits
from .line import Line

__all__ = ["ridge"]

# The features of degree 20 span 441 harmonics, in which learners sum; at degree 31 as many as there
# are columns, so that nothing can be saved.
NARROW = (DEGREE + 1) ** 2
FULL_DEGREE = 31
FOLDS = 2


def multiply_adds(features: float, width: int) -> float:
    """Of a row: the features, and half of its outer product."""
    return features + width * (width + 1) / 2


def ridge(limits: Limits) -> Iterator[Line]:
    """`fit` and `predict`, d = 3, degree 20, s = 1."""
    X = points(3)
    y = target(X)
    features = gegenbauer().fit(X)
    Z = features.transform(X)
    sums = zonal.KernelRidge(gegenbauer(), 1.0).partial_fit(X, y)
    whole = gegenbauer().set_params(max_degree=FULL_DEGREE)
    pipeline = make_pipeline(peer(), Ridge(1.0, solver="cholesky"))
    fixed, searched, full, full_searched, summed, bare, theirs = seconds(
        lambda: zonal.KernelRidge(gegenbauer(), 1.0).fit(X, y),
        lambda: zonal.KernelRidge(gegenbauer(), cv=FOLDS).fit(X, y),
        lambda: zonal.KernelRidge(whole, 1.0).fit(X, y),
        lambda: zonal.KernelRidge(whole, cv=FOLDS).fit(X, y),
        lambda: sums.partial_fit(X, y),
        lambda: ssyrk(1.0, Z.T),
        lambda: pipeline.fit(X, y),
        repeats=7,
    )
    form = features.narrow_form()
    assert form is not None
    H = form.transform(X)
    making, harmonics, products, solving = seconds(
        features.narrow_form,
        lambda: form.transform_into(X, H),
        lambda: ssyrk(1.0, H.T),
        lambda: solve(sums.moments_[0], 1.0, True),
        repeats=7,
    )
    parts = (
        f"alone, the form takes {1e3 * making:.0f} ms, the harmonics {1e3 * harmonics:.0f}, their "
        f"ssyrk {1e3 * products:.0f}, the solution {1e3 * solving:.0f}"
    )
    # Three multiply-adds for a harmonic; as in `transforms` for a column.
    once, bound = limits.ideal(N * multiply_adds(3 * NARROW, NARROW))
    wide, _ = limits.ideal(N * multiply_adds((2 * FULL_DEGREE + 3) * WIDTH, WIDTH))
    # An eigendecomposition takes at least its tridiagonal reduction, in float64, for each fold.
    path = limits.ideal(2 * FOLDS * (2 / 3) * WIDTH**3)[0]
    syrk = "ssyrk of the ready features"
    yield Line("moments (features and products)", syrk, summed, bare, None, once, bound, parts)
    yield Line(
        "KernelRidge.fit, alpha = 1",
        syrk,
        fixed,
        bare,
        1.25,
        once,
        bound,
        parts,
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
    for what, mine, goal, ideal in (
        ("alpha = 1", full, 1.1, wide),
        (f'alpha = "cv", {FOLDS} folds', full_searched, 2.0, wide + path),
    ):
        yield Line(
            f"KernelRidge.fit, degree {FULL_DEGREE}, {what}",
            syrk,
            mine,
            bare,
            goal,
            ideal,
            bound,
            "nothing to save by harmonics: features, the products of all columns, the solution",
        )
    yield Line(
        "KernelRidge.fit, alpha = 1", "RBFSampler + Ridge", fixed, theirs, 0.8, once, bound, parts
    )
    model = zonal.KernelRidge(gegenbauer(), 1.0).fit(X, y)
    mine, theirs = seconds(lambda: model.predict(X), lambda: pipeline.predict(X), repeats=7)
    ideal, bound = limits.ideal(N * 4 * NARROW)
    yield Line(
        "KernelRidge.predict",
        "RBFSampler + Ridge",
        mine,
        theirs,
        0.2,
        ideal,
        bound,
        f"alone, the form takes {1e3 * making:.0f} ms and the harmonics {1e3 * harmonics:.0f}, "
        "which the first-level cache bounds rather than arithmetic",
    )
