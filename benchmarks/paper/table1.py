"""Table 1: how many features spectral approximation takes, measured beside the stated bounds.

For rows drawn uniformly from the ball of radius r and the Gaussian kernel of bandwidth 1: the
smallest width at which features are an (ε, λ)-spectral approximation, how it grows with n/λ and
with r, and the time that features of that width take.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

import zonal
from zonal.theory.spectral import exact_error

from ..measure import limited
from .common import GIVEN_UP, MOST_SECONDS, SLOW, Ledger, Report, Rows, say
from .table1_page import body, draw
from .table1_setting import (
    BOUNDS,
    EPS,
    FULL,
    KERNEL,
    LARGEST,
    METHODS,
    QUICK,
    RADIUS,
    RATIO,
    STEPS,
    TIMES,
)


def ball(n: int, dim: int, radius: float) -> np.ndarray:
    """Rows uniform in a ball: the same rows for every radius, up to their scale."""
    rng = np.random.default_rng(dim)
    X = rng.standard_normal((n, dim))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return radius * X * rng.random((n, 1)) ** (1 / dim)


def smallest_width(
    reached: Callable[[int], bool], start: int = 4, largest: int = LARGEST
) -> int | None:
    """The smallest width of a geometric grid that is enough, if wider ones are enough, too.

    None, where even the largest is not.
    """
    width = start
    while not reached(width):
        width *= 2
        if width > largest:
            return None
    if width == start:
        return width
    low, high = 0, STEPS  # width / 2 · 2^(step / STEPS): the first is too little, the last enough
    while high - low > 1:
        middle = (low + high) // 2
        enough = reached(round(width / 2 * 2 ** (middle / STEPS)))
        low, high = (low, middle) if enough else (middle, high)
    return round(width / 2 * 2 ** (high / STEPS))


@dataclass(frozen=True)
class Cell:
    """One dataset and one ridge: rows, their kernel matrix, and n/λ."""

    dim: int
    ratio: float
    radius: float
    n: int
    timed: int

    @cached_property
    def rows(self) -> np.ndarray:
        return ball(self.n, self.dim, self.radius)

    @cached_property
    def matrix(self) -> np.ndarray:
        return KERNEL(self.rows)

    @property
    def lam(self) -> float:
        return self.n / self.ratio

    def choices(self, name: str) -> list[dict[str, Any]]:
        """What a method may be told of the problem; of several, what needs the fewest features."""
        if name.startswith("Modified Fourier"):  # made for one n/λ
            return [{"n_over_lam": self.ratio}]
        if name == "Gegenbauer (paper), theorem's q and s":
            # The theorem begins with three dimensions; two are three with a column of zeros.
            q, s = zonal.theory.degree_and_order(
                KERNEL, max(self.dim, 3), self.radius, self.n, self.lam, EPS
            )
            return [{"max_degree": q, "n_radial": s}]
        if name == "Gegenbauer (paper)":
            # What the theorem's proof asks of q and s: no entry off by more than ελ/(10n).
            cut = KERNEL.expand(self.dim, radii=[self.radius], tol=EPS / (10 * self.ratio))
            orders = range(1, cut.n_radial + 1)
            return [{"max_degree": cut.max_degree, "n_radial": order} for order in orders]
        return [{}]

    def width(
        self, name: str, options: dict[str, Any], seeds: tuple[int, ...], largest: int
    ) -> int | str | None:
        """The smallest width, of at most so many, whose median error is at most ε."""

        def reached(width: int) -> bool:
            good = bad = 0
            for seed in seeds:
                features = METHODS[name](KERNEL, width, random_state=seed, **options)
                with warnings.catch_warnings():
                    # Widths that are too small are what the search is about.
                    warnings.simplefilter("ignore", zonal.TruncationWarning)
                    Z = features.fit_transform(self.rows)
                enough = exact_error(self.matrix, Z, self.lam) <= EPS
                good, bad = good + enough, bad + (not enough)
                if 2 * max(good, bad) > len(seeds):  # the median is settled
                    break
            return good > bad

        start = max(4, options.get("n_radial", 0))
        if name != SLOW:
            return smallest_width(reached, start, largest)
        try:
            with limited(MOST_SECONDS):
                return smallest_width(reached, start, largest)
        except TimeoutError:
            return GIVEN_UP

    def microseconds(self, name: str, width: Any, options: dict[str, Any]) -> float | None:
        """CPU time a row of features of a width, on other rows of the same ball."""
        if not isinstance(width, int):
            return None
        rows = ball(self.timed, self.dim, self.radius)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", zonal.TruncationWarning)
            features = METHODS[name](KERNEL, width, random_state=0, **options).fit(self.rows)
        features.transform(rows[:100])  # compile before the clock starts
        times = []
        for _ in range(3):
            start = time.process_time()
            features.transform(rows)
            times.append(time.process_time() - start)
        return 1e6 * min(times) / len(rows)

    def measure(self, name: str, seeds: tuple[int, ...]) -> dict[str, Any]:
        """Width and time of one method."""
        width: int | str | None = None
        chosen: dict[str, Any] = {}
        for options in self.choices(name):
            most = width - 1 if isinstance(width, int) else LARGEST
            another = self.width(name, options, seeds, most)
            if another is not None and (not isinstance(another, int) or another <= most):
                width, chosen = another, options
        found = {"width": width, TIMES: self.microseconds(name, width, chosen), "told": chosen}
        say(f"table1: d = {self.dim}, n/λ = {self.ratio:g}, r = {self.radius:g}: {name} {found}")
        return {**found, "version": zonal.__version__}

    def bounds(self) -> dict[str, Any]:
        """What does not depend on a method."""
        values = np.maximum(eigvalsh(self.matrix), 0.0)
        s_lam = float((values / (values + self.lam)).sum())
        given = self.dim, self.radius, self.ratio, s_lam
        return {
            "d": self.dim,
            "n/λ": self.ratio,
            "r": self.radius,
            "s_λ": s_lam,
            # K + λ ⪯ (1 + ε)(ZZᵀ + λ) leaves no eigenvalue of K above ελ beyond the rank of Z.
            "least": int((values > EPS * self.lam).sum()),
            "stated": {name: bound(*given) for name, (_, bound) in BOUNDS.items()},
        }


def cells(rows: Rows) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The measurements in results, by the keys of a ledger."""
    return {
        (row["d"], row["n/λ"], row["r"], name): {
            "width": width,
            TIMES: row[TIMES].get(name),
            "version": row["version"].get(name),
        }
        for row in rows
        for name, width in row["measured"].items()
    }


def run(
    quick: bool = False,
    methods: list[str] | None = None,
    known: Rows | None = None,
    ledger: Ledger | None = None,
) -> Report:
    """Both sweeps in every dimension; of some methods only, with what is known of the others."""
    setting = QUICK if quick else FULL
    ledger = ledger or Ledger()
    asked = methods or setting.methods
    rows: Rows = []
    cells = [
        Cell(dim, ratio, radius, setting.n, setting.timed)
        for dim in setting.dims
        for ratio, radius in [
            *((ratio, RADIUS) for ratio in setting.ratios),
            *((RATIO, radius) for radius in setting.radii if radius != RADIUS),
        ]
    ]
    for cell in cells:
        before = _known(known or [], cell)
        rows.append({**cell.bounds(), **before})
    # Method by method: a run that is stopped has whole lines of the table.
    for name in asked:
        for row, cell in zip(rows, cells, strict=True):
            found = ledger.get(
                (cell.dim, cell.ratio, cell.radius, name),
                partial(cell.measure, name, setting.seeds),
            )
            if found is not None:
                row["measured"][name] = found["width"]
                row[TIMES][name] = found[TIMES]
                row["version"][name] = found["version"]
    shown = {
        "kernel": f"Gaussian of bandwidth {KERNEL.bandwidth:g}",
        "n": setting.n,
        "ε": EPS,
        "dimensions": setting.dims,
        "n/λ": setting.ratios,
        "r": setting.radii,
        "largest width tried": LARGEST,
        "seeds": setting.seeds,
        "rows of the times": setting.timed,
    }
    return Report(
        f"Table 1: features needed for ε = {EPS}, and their time, measured",
        shown,
        rows,
        body(rows, setting.dims),
        draw(rows, setting.dims),
    )


def _known(known: Rows, cell: Cell) -> dict[str, dict[str, Any]]:
    """What was measured before at one point, of methods that still have their names."""
    point = {"d": cell.dim, "n/λ": cell.ratio, "r": cell.radius}
    found: dict[str, dict[str, Any]] = {"measured": {}, TIMES: {}, "version": {}}
    for row in known:
        if point.items() <= row.items():
            for key, values in found.items():
                given = row.get(key, {})
                values.update({k: v for k, v in given.items() if k in METHODS})
    return found
