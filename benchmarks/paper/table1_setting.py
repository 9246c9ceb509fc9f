"""Table 1: what is measured: methods, bounds as stated, and the two sweeps."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import zonal

from .common import NAMED_METHODS, PUBLISHED_METHODS, SLOW

KERNEL = zonal.Gaussian(1.0)
EPS = 0.5
# The common point of the two sweeps.
RATIO, RADIUS = 100.0, 1.0
# The search doubles the width, then divides the last step into this many.
STEPS = 4
LARGEST = 1 << 15

TIMES = "µs a row"

METHODS: dict[str, Any] = {
    "Fourier": zonal.FourierFeatures,
    "Modified Fourier": partial(zonal.ModifiedFourierFeatures, mixture=0.0),
    "Modified Fourier, half of it plain": zonal.ModifiedFourierFeatures,
    "Nyström": zonal.NystroemFeatures,
    "PolySketch (original)": PUBLISHED_METHODS["PolySketch (original)"],
    "PolySketch (zonal)": zonal.PolySketchFeatures,
    **NAMED_METHODS,
    "Gegenbauer (paper)": zonal.GegenbauerFeatures.paper,
    "Gegenbauer (paper), theorem's q and s": zonal.GegenbauerFeatures.paper,
    "Gegenbauer (zonal)": zonal.GegenbauerFeatures,
    "Harmonic": zonal.HarmonicFeatures,
}

# The paper's column "feature dimension" for dimension d, radius r, n/λ and s_λ; powers of log n and
# constants are left out there, and so they are here.
Bound = Callable[[int, float, float, float], float]
BOUNDS: dict[str, tuple[str, Bound]] = {
    "Fourier": ("n/λ", lambda d, r, ratio, s: ratio),
    "Modified Fourier": (
        "(248r)^d log(n/λ)^(d/2) + (200 log(n/λ))^(2d)",
        lambda d, r, ratio, s: (
            (248 * r) ** d * math.log(ratio) ** (d / 2) + (200 * math.log(ratio)) ** (2 * d)
        ),
    ),
    "Nyström": ("s_λ", lambda d, r, ratio, s: s),
    "PolySketch (original)": ("r¹⁰ s_λ", lambda d, r, ratio, s: r**10 * s),
    "Adaptive Sketch": ("s_λ", lambda d, r, ratio, s: s),
    "Gegenbauer (paper)": (
        "((2 log(n/λ))^d + (1.93r)^(2d)) / (d-1)!",
        lambda d, r, ratio, s: (
            ((2 * math.log(ratio)) ** d + (1.93 * r) ** (2 * d)) / math.factorial(d - 1)
        ),
    ),
}


@dataclass(frozen=True)
class Setting:
    """Rows, dimensions, the two sweeps, seeds of the features, methods, and rows that are timed."""

    n: int
    dims: tuple[int, ...]
    ratios: tuple[float, ...]
    radii: tuple[float, ...]
    seeds: tuple[int, ...]
    methods: tuple[str, ...]
    timed: int = 10_000


FULL = Setting(
    500,
    (2, 3, 4, 5, 6),
    (10.0, 100.0, 1e3, 1e4),
    (0.5, 1.0, 2.0, 3.0),
    (0, 1, 2, 3, 4),
    tuple(METHODS),
)
QUICK = Setting(
    150,
    (2, 3),
    (10.0, 100.0, 1e3),
    (0.5, 1.0, 2.0),
    (0,),
    # Few of the frequencies of a box are of use, and the search goes far.
    tuple(name for name in METHODS if name not in (SLOW, "Modified Fourier")),
    timed=500,
)
