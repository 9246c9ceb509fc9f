"""Table 2: what is measured: methods, published numbers, data and grids."""

from dataclasses import dataclass
from typing import Any

import zonal

from .common import IMPROVED_METHODS, NAMED_METHODS, PUBLISHED_METHODS

MAPS: dict[str, Any] = {
    **PUBLISHED_METHODS,
    **IMPROVED_METHODS,
    **NAMED_METHODS,
    "Harmonic": zonal.HarmonicFeatures,
}
#: `KernelRidge(local=None)` and `KernelRidge()`, which choose their kernel themselves. They have a
#: table of their own: what they choose changes more often than what features are.
AUTOMATIC = ("Auto", "Default")
METHODS = (*MAPS, "Product", *AUTOMATIC)
OURS = ("Gegenbauer (zonal)", "Harmonic", "Product")
TIMED = ("co2", "climate")
# The paper states no degrees. At bandwidth 1 the target lives on terms that are far below what the
# kernel itself needs: sketches get the degree at which Figure 1 ends, and so does the paper's map.
DEGREE = 15
DEGREES: dict[str, dict[str, Any]] = {
    "PolySketch (original)": {"degree": DEGREE},
    "PolySketch (zonal)": {"degree": DEGREE},
    "TensorSketch": {"degree": DEGREE},
}
#: Small bandwidths take degrees of dozens, and the time of these grows with the degree squared.
SKETCHES = ("PolySketch (original)", "PolySketch (zonal)", *NAMED_METHODS)
PAPER = "Gegenbauer (paper)"
# Its order s, for which the paper states no number either, is chosen like a bandwidth.
ORDERS = (1, 2, 4, 8)
#: Mean squared error and seconds.
PUBLISHED: dict[str, dict[str, tuple[float, float]]] = {
    "elevation": {
        "Nyström": (1.14, 3.81),
        "Fourier": (1.30, 2.10),
        "FastFood": (1.35, 7.79),
        "Maclaurin": (1.90, 1.07),
        "PolySketch": (1.56, 7.65),
        "Gegenbauer": (1.15, 1.71),
    },
    "co2": {
        "Nyström": (0.533, 8.17),
        "Fourier": (0.548, 4.73),
        "FastFood": (0.551, 17.3),
        "Maclaurin": (0.593, 2.38),
        "PolySketch": (0.590, 16.4),
        "Gegenbauer": (0.532, 3.49),
    },
    "climate": {
        "Nyström": (3.14, 12.0),
        "Fourier": (3.15, 6.93),
        "FastFood": (3.16, 26.3),
        "Maclaurin": (3.18, 3.55),
        "PolySketch": (3.15, 23.5),
        "Gegenbauer": (3.13, 5.41),
    },
    "protein": {
        "Nyström": (18.9, 2.85),
        "Fourier": (19.8, 1.66),
        "FastFood": (19.8, 4.94),
        "Maclaurin": (25.9, 1.05),
        "PolySketch": (26.9, 4.96),
        "Gegenbauer": (21.0, 9.72),
    },
}
NOTES = {
    "elevation": "km²; cell means of ETOPO5 in place of ETOPO1",
    "co2": "log10 of Tg C; CDIAC by years in place of ODIAC by months",
    "climate": "K²; long-term means of ERA-Interim in place of Berkeley Earth, so that only the "
    "order can be compared with the paper (docs/theory/reproduction.md)",
    "protein": "Å²; the same data as the paper's",
}


@dataclass(frozen=True)
class Setting:
    """Columns, seeds, the largest number of rows, and the search for the bandwidth.

    The search takes at most `pilot` training rows of the first split; `bandwidths` are those on the
    sphere, `wide` those of protein's nine columns, `times` those of the product's time, and
    `orders` the s of the paper's Gegenbauer features. The automatic choice and adaptive sketches,
    which take most of the time of a quick run, are for the datasets `auto` and `slow`.
    """

    width: int
    seeds: tuple[int, ...]
    rows: int
    pilot: int
    bandwidths: tuple[float, ...]
    wide: tuple[float, ...]
    times: tuple[float, ...]
    orders: tuple[int, ...]
    auto: tuple[str, ...]
    slow: tuple[str, ...]


FULL = Setting(
    1024,
    (0, 1, 2, 3, 4),
    1 << 30,
    20_000,
    (0.04, 0.07, 0.12, 0.2, 0.35, 0.6, 1.0),
    (0.5, 1.0, 1.5, 2.5, 4.0, 6.0),
    (0.25, 0.5, 1.0, 2.0, 4.0),
    ORDERS,
    tuple(PUBLISHED),
    tuple(PUBLISHED),
)
QUICK = Setting(
    225, (0, 1), 2000, 800, (0.2, 0.6), (1.0, 3.5), (0.5, 1.0), (1, 4), ("elevation",), ()
)


def applies(method: str, dataset: str, own: bool, setting: Setting) -> bool:
    """Whether a method has a place in (a) or (b).

    Products need time, and the automatic choice its own kernel.
    """
    auto = own and dataset in setting.auto
    slow = dataset in setting.slow
    places = {"Product": dataset in TIMED, "Auto": auto, "Default": auto and slow}
    return {**places, "TensorSketch": slow or not own, "Adaptive Sketch": slow}.get(method, True)
