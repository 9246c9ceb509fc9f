"""Does the pilot stand for the whole? Its errors beside those of fits to all rows.

Candidates are scored on the pilot twice: as they are, and continued to all n rows (the law of
zonal.selection.pilot). Both are compared with the test error of a fit to all rows.
"""

import numpy as np

import zonal
from zonal.features import Standardizer
from zonal.kernels.bandwidth import median_distance
from zonal.selection.candidates import Candidate, Scales
from zonal.selection.pilot import Pilot

from .data import load, split

HEADER = (
    "data",
    "rows",
    "pilot / all rows",
    "pilot, continued / all rows",
    "regret of the choice",
    "regret, continued",
)
WIDTH, N_PILOT = 1024, 10_000
CANDIDATES = [
    Candidate(family, width, name)
    for family in ("gaussian", "matern 3/2")
    for width in (1.0, 0.5, 0.25)
    for name in ("nystroem, uniform", "fourier", "harmonic")
]


def run(name: str) -> tuple[str, ...]:
    """A row of the table: medians over the candidates, and what choosing by each score costs."""
    X, y = load(name)
    train, test, y_train, y_test = split(X, y)
    scale = Standardizer(keep=() if name == "protein" else (0, 1, 2)).fit(train)
    A, B = scale.transform(train), scale.transform(test)
    chosen = np.random.default_rng(0).choice(len(A), N_PILOT, replace=False)
    pilot = Pilot(A[chosen], y_train[chosen, None], np.ones(N_PILOT), len(A))
    scales = Scales(median_distance(A))
    scores = []
    for candidate in CANDIDATES:
        features = candidate.features(WIDTH, scales, None, A.shape[1], 0)
        found = [pilot.error(features, extrapolate=e) for e in (False, True)]
        model = zonal.KernelRidge(features.fit(A[chosen])).fit(A, y_train)
        scores.append([*found, np.mean((model.predict(B) - y_test) ** 2)])
        print(name, candidate, *(f"{e:.4g}" for e in scores[-1]), flush=True)
    plain, continued, whole = np.array(scores).T
    ratios = [f"{np.median(e / whole):.2f}" for e in (plain, continued)]
    regrets = [f"{whole[e.argmin()] / whole.min() - 1:.1%}" for e in (plain, continued)]
    return (name, f"{len(A):,}", *ratios, *regrets)
