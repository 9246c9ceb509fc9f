"""What the experiments share: the methods by name, and how a run is reported."""

import json
import os
import platform
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import zonal

RESULTS = Path(__file__).parents[1] / "results"
PACKAGES = ("zonal", "numpy", "scipy", "scikit-learn", "numba", "matplotlib")
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")

#: The feature maps of the paper's tables, under the names that they have there with what they are
#: here: the originals, and beside them what this library makes of them.
PUBLISHED_METHODS: dict[str, Any] = {
    "Nyström": zonal.NystroemFeatures,
    "Fourier": zonal.FourierFeatures,
    "FastFood": zonal.FastFoodFeatures,
    "Maclaurin (original)": partial(zonal.MaclaurinFeatures, exact=False, center=False),
    "PolySketch (original)": partial(zonal.PolySketchFeatures, exact=False, center=False),
    "Gegenbauer (paper)": zonal.GegenbauerFeatures.paper,
}
IMPROVED_METHODS: dict[str, Any] = {
    "Maclaurin (zonal)": zonal.MaclaurinFeatures,
    "PolySketch (zonal)": zonal.PolySketchFeatures,
    "Gegenbauer (zonal)": zonal.GegenbauerFeatures,
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
#: CPU seconds of one seed beyond which no further seeds are run.
SEED_SECONDS = 60

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


@dataclass
class Ledger:
    """Measurements that are kept as they are made, so that a run that is stopped goes on later.

    Attributes
    ----------
    path : Path or None
        Lines of JSON, one for each measurement; None keeps nothing. Those of another version are
        not read.
    measure : bool
        Whether what is not known is measured; else it is left out.
    """

    path: Path | None = None
    measure: bool = True
    known: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is not None and self.path.exists():
            for line in self.path.read_text().splitlines():
                record = json.loads(line)
                if record.get("version") == zonal.__version__:
                    self.known[record["key"]] = record["value"]

    def remember(self, cells: Mapping[tuple[Any, ...], Any], version: str) -> None:
        """Take over the measurements that one version made, so that they are not made again."""
        for key, value in cells.items():
            if value["version"] == version:
                self.known.setdefault(json.dumps(list(key), ensure_ascii=False), value)

    def get(self, key: Iterable[Any], find: Callable[[], Any]) -> Any:
        """The measurement of a key: from the file, or made now; None where none is made."""
        name = json.dumps(list(key), ensure_ascii=False)
        if name not in self.known and self.measure:
            self.known[name] = find()
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a") as file:
                    record = {"key": name, "value": self.known[name], "version": zonal.__version__}
                    file.write(json.dumps(record) + "\n")
        return self.known.get(name)


def published_name(method: str) -> str:
    """The name that a method has in the paper."""
    return method.removesuffix(" (paper)").removesuffix(" (original)")


def is_published(method: str) -> bool:
    """Whether a row is what the paper measured, so that its number stands beside it."""
    return method in PUBLISHED_METHODS


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
