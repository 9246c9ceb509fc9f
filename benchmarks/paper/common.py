"""What the experiments share: the methods by name, and how a run is reported."""

import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import zonal

RESULTS = Path(__file__).parents[1] / "results"
PACKAGES = ("zonal", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")

#: The feature maps of the paper's tables under the names that they have there.
PUBLISHED_METHODS: dict[str, Any] = {
    "Nyström": zonal.NystroemFeatures,
    "Fourier": zonal.FourierFeatures,
    "FastFood": zonal.FastFoodFeatures,
    "Maclaurin": zonal.MaclaurinFeatures,
    "PolySketch": zonal.PolySketchFeatures,
    "Gegenbauer": zonal.GegenbauerFeatures,
}
#: Systems that the paper names and does not run, for the same kernels.
NAMED_METHODS: dict[str, Any] = {
    "TensorSketch": zonal.TensorSketchFeatures,
    "Adaptive Sketch": zonal.AdaptiveSketchFeatures,
}
#: Left out of quick runs.
SLOW = "Adaptive Sketch"
#: CPU seconds after which a sketch is given up.
MOST_SECONDS = 240
GIVEN_UP = "given up"

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Report:
    """The outcome of one experiment.

    Attributes
    ----------
    title : str
    setting : dict
        Every parameter that the numbers depend on, with the seeds.
    rows : list of dict
        The numbers, one row for each measurement or group of seeds.
    body : str
        The same as Markdown, for people.
    figure : Figure
        The same as a picture.
    """

    title: str
    setting: dict[str, Any]
    rows: list[dict[str, Any]]
    body: str
    figure: Figure

    def write(self, name: str, out: Path) -> list[Path]:
        """Write `name`.json, .md and .png into a folder."""
        out.mkdir(parents=True, exist_ok=True)
        paths = [out / f"{name}.{ending}" for ending in ("json", "md", "png")]
        where = environment()
        record = {"title": self.title, **where, "setting": self.setting, "rows": self.rows}
        paths[0].write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        paths[1].write_text(
            f"# {self.title}\n\n{self.body}\n\n![{self.title}]({name}.png)\n\n"
            f"Setting: {_listed(self.setting)}.\n\nMachine: {_listed(where['machine'])}.\n\n"
            f"Versions: {_listed(where['versions'])}.\n\nAll numbers: [{name}.json]({name}.json).\n"
        )
        self.figure.savefig(paths[2], dpi=110)
        return paths


def environment() -> dict[str, dict[str, Any]]:
    """The machine and the versions that a run depends on."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    models = {line.split(":")[1].strip() for line in lines if line.startswith("model name")}
    machine = {
        "processor": ", ".join(sorted(models)) or platform.processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        **{name: os.environ[name] for name in THREADS if name in os.environ},
    }
    versions = {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    return {"machine": machine, "versions": versions}


def mean_and_deviation(values: Iterable[float]) -> tuple[float, float]:
    """Mean and sample standard deviation (zero for one value)."""
    sample = np.array(list(values))
    return float(sample.mean()), float(sample.std(ddof=1)) if len(sample) > 1 else 0.0


def say(message: str) -> None:
    """Progress of a long run, apart from its results."""
    print(message, file=sys.stderr, flush=True)


def _listed(values: Mapping[str, Any]) -> str:
    return "; ".join(f"{key} {_plain(value)}" for key, value in values.items())


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{key}: {_plain(item)}" for key, item in value.items()) + ")"
    if isinstance(value, list | tuple):
        return ", ".join(_plain(item) for item in value)
    return f"{value:g}" if isinstance(value, float) else f"{value}"
