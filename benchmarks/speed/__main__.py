"""Measure the limits, then every line, and print them as one table.

Writes results/speed.md and results/speed.json, and adds a line to results/history.md.
Run: python -m benchmarks.speed
"""

import json
import platform
import time
import warnings
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import numba
import numpy
import scipy
import sklearn
from threadpoolctl import threadpool_info

import zonal

from ..measure import table
from .data import WIDTH, N
from .equal_error import equal_error
from .history import remember
from .kernels import kernel_blocks
from .limits import measure_limits
from .line import HEADER, Line
from .ridge import ridge
from .startup import startup
from .transforms import transforms

RESULTS = Path(__file__).parents[1] / "results"
OTHERS = (
    "speed.memory",
    "baselines",
    "automatic",
    "harmonic",
    "scale",
    "theory",
    "paper all",
)


def machine() -> dict[str, str]:
    blas = [i for i in threadpool_info() if i["user_api"] == "blas"]
    versions = {m.__name__: m.__version__ for m in (zonal, numpy, scipy, sklearn, numba)}
    return {
        "processor": processor(),
        "threads": f"{numba.get_num_threads()} (Numba), "
        + ", ".join(f"{i['num_threads']} ({i['internal_api']} {i['version']})" for i in blas),
        "Python": platform.python_version(),
        **versions,
    }


def processor() -> str:
    """The name of the processor, where Linux tells it."""
    info = Path("/proc/cpuinfo")
    names = [
        line.split(":", 1)[1].strip()
        for line in (info.read_text().splitlines() if info.exists() else [])
        if line.startswith("model name")
    ]
    return f"{names[0]}, {len(names)} cores" if names else platform.processor()


def main() -> None:
    start = time.perf_counter()
    print("Limits of this machine ...", flush=True)
    limits = measure_limits(N, WIDTH)
    print(f"\n{limits}\n", flush=True)
    lines: list[Line] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zonal.TruncationWarning)  # speed is the question here
        for line in chain(
            transforms(limits),
            ridge(limits),
            kernel_blocks(limits),
            equal_error(limits),
            startup(),
        ):
            lines.append(line)
            print(*(cell for cell in line.cells()[:4] if cell), sep=", ", flush=True)
    rows = table([line.cells() for line in lines], HEADER)
    about = machine()
    notes = "\n".join(f"- {line.what}: {line.rest}." for line in lines if line.rest)
    (RESULTS / "speed.md").write_text(
        "\n\n".join(
            [
                "# Speed",
                "`make bench`: float32, "
                f"n = {N:,}, D = {WIDTH:,}, medians of 7 repetitions in which ours and the peer "
                "take turns. The bound is the time that the arithmetic takes at the best measured "
                "rate, or the writing of the result at the best measured bandwidth.",
                table(list(about.items()), ("machine", "")),
                str(limits),
                rows,
                "Where the time beyond the bound goes:",
                notes,
            ]
        )
        + "\n"
    )
    record = {
        "machine": about,
        "limits": asdict(limits),
        "lines": [asdict(line) | {"judged": line.judged, "met": line.met} for line in lines],
    }
    (RESULTS / "speed.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    remember(lines)
    print(f"\n{rows}\n")
    print(f"{time.perf_counter() - start:.0f} s; written to {RESULTS / 'speed.md'}. Also:")
    for name in OTHERS:
        print(f"  python -m benchmarks.{name}")


if __name__ == "__main__":
    main()
