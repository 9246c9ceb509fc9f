"""The sampled estimates of `zonal.theory` at n = 4,000 (against the exact ones) and n = 100,000.

Writes benchmarks/results/theory.md. Run: python -m benchmarks.theory
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import zonal
from zonal.theory import Estimate, spectral_error, statistical_dimension

from .measure import peak_memory, table

RESULTS = Path(__file__).parent / "results" / "theory.md"
KERNEL = zonal.Gaussian(1.0)
WIDTH = 512
HEADER = ("n", "function", "method", "result", "time", "memory added")
# A block of 32 vectors needs fewer passes over the kernel matrix, which cost the most here.
SAMPLED = {"method": "sampled", "random_state": 0}
SPECTRAL = {**SAMPLED, "tol": 0.1, "n_probes": 32}
CASES: list[tuple[int, dict[str, Any], dict[str, Any]]] = [
    (4_000, {"method": "exact"}, {"method": "exact"}),
    (4_000, SAMPLED, SPECTRAL),
    (100_000, SAMPLED, SPECTRAL),
]


def measured(function: Callable[[], Estimate]) -> tuple[Estimate, float, int]:
    """The result of one call, its seconds and the bytes that it adds at its peak."""
    results = []
    start = time.perf_counter()
    memory = peak_memory(lambda: results.append(function()))
    return results[0], time.perf_counter() - start, memory


def line(n: int, name: str, method: str, function: Callable[[], Estimate]) -> tuple[str, ...]:
    value, seconds, memory = measured(function)
    shown = f"{float(value):.4g} ± {value.error:.1g}" if value.error else f"{float(value):.4g}"
    return f"{n:,}", name, method, shown, f"{seconds:.1f} s", f"{memory / 1e6:,.0f} MB"


def write(lines: list[tuple[str, ...]]) -> str:
    text = (
        "# Estimates without the n × n matrix\n\n"
        f"Made by `python -m benchmarks.theory` with {KERNEL!r} on standard normal rows in three "
        f"dimensions, λ = n / 1,000; `spectral_error` of {WIDTH} Gegenbauer features, sampled with "
        f"tol={SPECTRAL['tol']} and n_probes={SPECTRAL['n_probes']}. The matrix of 100,000 rows "
        "alone would take 80 GB.\n\n" + table(lines, HEADER) + "\n"
    )
    RESULTS.write_text(text)
    return text


def main() -> None:
    lines: list[tuple[str, ...]] = []
    for n, dimension_options, error_options in CASES:
        X, lam = np.random.default_rng(0).standard_normal((n, 3)), n / 1000
        features = zonal.GegenbauerFeatures(KERNEL, WIDTH, random_state=0).fit(X)

        def dimension(X=X, lam=lam, options=dimension_options) -> Estimate:  # type: ignore[no-untyped-def]
            return statistical_dimension(KERNEL, lam, X=X, **options)

        def error(X=X, lam=lam, options=error_options, features=features) -> Estimate:  # type: ignore[no-untyped-def]
            return spectral_error(KERNEL, features, lam, X=X, **options)

        for function, name in ((dimension, "statistical_dimension"), (error, "spectral_error")):
            lines.append(line(n, name, dimension_options["method"], function))
            write(lines)
    print(write(lines))


if __name__ == "__main__":
    main()
