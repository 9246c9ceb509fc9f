"""Every option of ``zonal fit`` and ``zonal predict`` on every kind of input: it works, or words.

``python -m tests.cli.option_table`` tries all cells and writes the page docs/reference/options.md,
which `test_option_table` keeps in step.
"""

import contextlib
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import rioxarray  # noqa: F401  # gives arrays their .rio
import xarray as xr
import zarr

from zonal.cli import processes
from zonal.cli.app import app

from .console import Done, zonal

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "options.md"
ROWS = 90
# What is learnt does not matter here: a small model, and nothing to choose.
SMALL = ("--features", "fourier", "--budget", 8, "--alpha", 1, "--local", "none")
WORKS = "✓"
PLACE = ("--lat", "lat", "--lon", "lon")


@dataclass(frozen=True)
class Kind:
    """A kind of input, with names of its columns.

    Attributes
    ----------
    data : str
        The file.
    target, classes : str
        Columns of numbers and of classes to predict.
    number, group : str
        Columns of numbers, one of which has few different ones.
    place, plane : tuple of str
        Options that name the columns of a place in degrees, and on a plane; none of a grid.
    options : tuple of str
        What goes with every fit.
    result : str
        The ending of predictions.
    """

    data: str
    target: str = "y"
    classes: str = "station"
    number: str = "size"
    group: str = "station"
    place: tuple[str, ...] = PLACE
    plane: tuple[str, ...] = ("--lat", "north", "--lon", "east")
    options: tuple[str, ...] = ()
    result: str = "csv"


ON_GRID = {"group": "longitude", "place": (), "plane": (), "result": "nc"}
KINDS = {
    "CSV, numbers": Kind("numbers.csv"),
    "CSV, words and gaps": Kind("words.csv"),
    "CSV, classes": Kind("words.csv", target="sold", classes="sold", options=("--classify",)),
    "CSV, places": Kind("numbers.csv", options=(*PLACE, "--input", "lat", "--input", "lon")),
    "Parquet, words and gaps": Kind("words.parquet"),
    "Parquet, a folder of numbers": Kind("parts"),
    "NPZ": Kind("numbers.npz"),
    "Zarr": Kind("numbers.zarr"),
    "NetCDF": Kind("grid.nc", classes="sea", number="depth", **ON_GRID),
    "GeoTIFF": Kind("grid.tif", "level", "level", "latitude", **ON_GRID),
}  # fmt: skip

Case = Callable[[Kind], tuple[Any, ...]]
FIT: dict[str, dict[str, Case]] = {
    "data": {"DATA": lambda k: ()},
    "target": {"--target COL": lambda k: ()},
    "out": {"--out FILE": lambda k: ("--out", "made.zonal")},
    "report": {"--report FILE": lambda k: ("--report", "made.html")},
    "classify": {"--classify": lambda k: ("--classify", "--target", k.classes)},
    "balanced": {"--balanced": lambda k: ("--classify", "--balanced", "--target", k.classes)},
    "inputs": {"--input COL": lambda k: ("--input", k.number)},
    "ignore": {"--ignore COL": lambda k: ("--ignore", k.number)},
    "categorical": {"--categorical COL": lambda k: ("--categorical", k.group)},
    "numeric": {"--numeric COL": lambda k: ("--numeric", k.number)},
    "lat": {"--lat COL --lon COL": lambda k: ("--lat", "lat", "--lon", "lon")},
    "lon": {"--lon COL alone": lambda k: ("--lon", "lon")},
    "crs": {"--crs CODE": lambda k: (*k.plane, "--crs", "EPSG:32633")},
    "height": {"--height": lambda k: (*k.place, "--height")},
    "time": {"--time none": lambda k: ("--time", "none")},
    "group": {"--group COL": lambda k: ("--group", k.group)},
    "noise_column": {"--noise-column COL": lambda k: ("--noise-column", k.number)},
    "noise_kind": {
        "--noise-kind variance": lambda k: (
            "--noise-column", k.number, "--noise-kind", "variance",
        ),
    },
    "exposure": {
        "--exposure COL": lambda k: (
            "--likelihood", "poisson", "--target", k.classes, "--exposure", k.number,
        ),
    },
    "offset": {
        "--offset COL": lambda k: ("--likelihood", "student", "--offset", k.number),
    },
    "trials": {
        "--trials COL": lambda k: (
            "--likelihood", "binomial", "--target", k.classes, "--trials", k.number,
        ),
        "--trials COL alone": lambda k: ("--trials", k.number),
    },
    "queries": {"--queries FILE": lambda k: ("--queries", k.data)},
    "drop_missing": {"--drop-missing": lambda k: ("--drop-missing",)},
    "likelihood": {
        "--likelihood student": lambda k: ("--likelihood", "student"),
        "--likelihood gamma": lambda k: ("--likelihood", "gamma", "--features", "auto"),
    },
    "features": {
        "--features auto": lambda k: ("--features", "auto"),
        "--features harmonic": lambda k: ("--features", "harmonic"),
    },
    "kernel": {"--kernel matern": lambda k: ("--kernel", "matern")},
    "bandwidth": {"--bandwidth 0.5": lambda k: ("--bandwidth", 0.5)},
    "budget": {"--budget 12": lambda k: ("--budget", 12)},
    "alpha": {"--alpha cv": lambda k: ("--alpha", "cv")},
    "local": {"--local auto": lambda k: ("--local", "auto")},
    "test_fraction": {"--test-fraction 0": lambda k: ("--test-fraction", 0)},
    "cv": {
        "--cv 3": lambda k: ("--cv", 3, "--alpha", "cv"),
        "--cv block:5deg": lambda k: ("--cv", "block:5deg", "--alpha", "cv", *k.place),
        "--cv block,COL:10": lambda k: ("--cv", f"block,{k.number}:10", "--alpha", "cv"),
    },
    "time_limit": {"--time-limit 5": lambda k: ("--time-limit", 5)},
    "seed": {"--seed 1": lambda k: ("--seed", 1)},
    "force": {"--force": lambda k: ("--force",)},
    "as_json": {"--json": lambda k: ("--json",)},
    "engine": {"--engine dask": lambda k: ("--engine", "dask")},
    "scheduler": {"--scheduler ADDRESS alone": lambda k: ("--scheduler", "tcp://10.0.0.1:8786")},
    "workers": {"--workers 1": lambda k: ("--engine", "dask", "--workers", 1)},
}  # fmt: skip
MAP = ("--grid", 30, "--out", "made.nc")
PREDICT: dict[str, dict[str, Case]] = {
    "model": {"MODEL": lambda k: (k.data,)},
    "data": {"DATA": lambda k: (k.data,)},
    "out": {
        "--out made.parquet": lambda k: (k.data, "--out", "made.parquet"),
        "--out made.nc": lambda k: (k.data, "--out", "made.nc"),
    },
    "grid": {"--grid 30": lambda k: MAP},
    "extent": {"--extent W,S,E,N": lambda k: (*MAP, "--extent", "0,40,60,70")},
    "time": {"--time 2020": lambda k: (*MAP, "--time", 2020)},
    "values": {"--set COL=VALUE": lambda k: (*MAP, "--set", f"{k.number}=5")},
    "rename": {"--rename VAR=COL": lambda k: (k.data, "--rename", f"depth={k.number}")},
    "max_distance": {"--max-distance 500": lambda k: (*MAP, "--max-distance", 500)},
    "coastlines": {"--coastlines": lambda k: (*MAP, "--coastlines")},
    "yes": {"--yes": lambda k: (*MAP, "--yes")},
    "std": {"--std": lambda k: (k.data, "--std")},
    "proba": {"--proba": lambda k: (k.data, "--proba")},
    "interval": {"--interval 0.9": lambda k: (k.data, "--interval", 0.9)},
    "keep": {"--keep COL": lambda k: (k.data, "--keep", k.number)},
    "drop_missing": {"--drop-missing": lambda k: (k.data, "--drop-missing")},
    "force": {"--force": lambda k: (k.data, "--force")},
    "as_json": {"--json": lambda k: (k.data, "--json")},
}  # fmt: skip
COMMANDS = {"fit": FIT, "predict": PREDICT}


def options_of(command: str) -> set[str]:
    """Return the arguments and options that a command has."""
    return {option.name for option in app.commands[command].params if not option.hidden} - {"help"}


def make_inputs(folder: Path) -> None:
    """Write a small table, and a small grid, in files of every kind."""
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(
        {
            "size": rng.gamma(3, 30, ROWS).round(1),
            "rooms": rng.integers(1, 7, ROWS).astype(float),
            "station": np.arange(ROWS) % 6,
            "lat": rng.uniform(40, 55, ROWS).round(3),
            "lon": rng.uniform(5, 20, ROWS).round(3),
            "north": rng.uniform(4.5e6, 6e6, ROWS).round(),
            "east": rng.uniform(3e5, 7e5, ROWS).round(),
        }
    )
    numbers["y"] = (
        0.1 * numbers["size"] + np.sin(numbers["lat"]) + rng.normal(0, 0.1, ROWS)
    ).round(3)
    words = numbers.assign(
        kind=rng.choice(["flat", "house", "loft"], ROWS),
        garden=rng.random(ROWS) < 0.3,
        built=pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9999, ROWS), "D"),
        sold=np.where(numbers["y"] > numbers["y"].median(), "yes", "no"),
    )
    words.loc[::10, "rooms"] = np.nan
    words.loc[3, "y"] = np.nan
    numbers.to_csv(folder / "numbers.csv", index=False)
    words.to_csv(folder / "words.csv", index=False)
    words.to_parquet(folder / "words.parquet")
    (folder / "parts").mkdir()
    for part in range(3):
        numbers[part::3].to_parquet(folder / "parts" / f"part.{part}.parquet")
    np.savez(folder / "numbers.npz", **{name: numbers[name].to_numpy() for name in numbers})
    array = zarr.create_array(
        folder / "numbers.zarr", shape=numbers.shape, chunks=(40, 4), dtype="f8"
    )
    array[:] = numbers.to_numpy(dtype=float)
    array.attrs["columns"] = list(numbers)
    lat, lon = np.arange(-75.0, 90, 30), np.arange(15.0, 360, 30)
    field = 20 * np.cos(np.radians(lat))[:, None] + 3 * np.sin(np.radians(lon))
    field[2, 3:5] = np.nan
    grid = xr.Dataset(
        {
            "y": (("lat", "lon"), field),
            "depth": (("lat", "lon"), rng.uniform(0, 5, field.shape)),
            "sea": (("lat", "lon"), (field > 10).astype(float)),
        },
        {"lat": lat, "lon": lon},
    )
    grid.to_netcdf(folder / "grid.nc")
    raster = grid["y"].rename("level").assign_attrs(long_name="level").rename(lat="y", lon="x")
    raster = raster.rio.write_crs("EPSG:4326").rio.write_nodata(np.nan)
    raster.rio.to_raster(folder / "grid.tif")


@contextlib.contextmanager
def no_cluster(*arguments: Any) -> Iterator[None]:
    """Stand for a cluster: Dask works in the threads of this process."""
    yield


@dataclass(frozen=True)
class Cell:
    """What became of a command.

    Attributes
    ----------
    done : Done or None
        None where it ended with an exception, which a person would see as a traceback.
    error : str
        The exception, or the words of the refusal.
    made : set of str
        The files that it left.
    """

    done: Done | None
    error: str
    made: set[str]

    @property
    def outcome(self) -> str:
        """A tick, or the words of the refusal."""
        return WORKS if self.done is not None and self.done.returncode == 0 else self.error


def run(folder: Path, *arguments: Any) -> Cell:
    """Run a command; whatever it leaves is removed."""
    before = set(folder.iterdir())
    try:
        with mock.patch.object(processes, "dask_cluster", no_cluster):
            done = zonal(*arguments, cwd=folder)
        error = said(done.stderr)
    except Exception as problem:  # the cell tells of it
        done, error = None, f"TRACEBACK {problem!r}"
    made = set(folder.iterdir()) - before
    for path in made:
        path.unlink()
    return Cell(done, error, {path.name for path in made})


def said(stderr: str) -> str:
    """Return what an error says, on one line."""
    if "Error: " in stderr:
        return " ".join(stderr.split("Error: ", 1)[1].split())
    return " ".join(stderr.strip(" \n").split())


def is_of_the_eighth(command: str, name: str, label: str) -> bool:
    """Tell whether a cell is among those that ``make test`` tries: an eighth, by their names."""
    return zlib.crc32(f"{command} {name} {label}".encode()) % 8 == 0


def cells(command: str, name: str, folder: Path, every: bool = True) -> dict[str, Cell]:
    """Try options of a command on one kind of input; the same words are tried once.

    Parameters
    ----------
    command, name : str
    folder : Path
        With the inputs.
    every : bool
        All of them, or those of `is_of_the_eighth`.
    """
    kind = KINDS[name]
    found: dict[str, Cell] = {}
    tried: dict[tuple[Any, ...], Cell] = {}
    base = ("fit", kind.data, "--target", kind.target, *kind.options, *SMALL)
    if command == "predict":
        model = folder / "model.zonal"
        fitted = zonal(*base, "--out", model.name, cwd=folder)
        assert fitted.returncode == 0, fitted.stderr
        base = ("predict", model.name, "--out", f"made.{kind.result}")
    for cases in COMMANDS[command].values():
        for label, options in cases.items():
            if not every and not is_of_the_eighth(command, name, label):
                continue
            words = (*base, *options(kind))
            if words not in tried:
                tried[words] = run(folder, *words)
            found[label] = tried[words]
    if command == "predict":
        model.unlink()
    return found


def page_of(tried: dict[str, dict[str, dict[str, str]]]) -> str:
    """Return the page of all cells: outcomes by command, kind of input and option."""
    lines = [
        "# Options and inputs",
        "",
        "Every option of `zonal fit` and `zonal predict` on every kind of input, as tried: "
        f"{WORKS} works, a number is the error that says why not. `make options` tries all of "
        "them again, `make test` a third, and fails if this page is out of step; "
        "`python -m tests.cli.option_table` writes it anew.",
        "",
    ]
    for command, kinds in tried.items():
        messages: dict[str, int] = {}
        labels = list(next(iter(kinds.values())))
        lines += [f"## zonal {command}", "", f"| option | {' | '.join(kinds)} |"]
        lines += [f"| --- |{' --- |' * len(kinds)}"]
        for label in labels:
            row = []
            for outcomes in kinds.values():
                outcome = outcomes[label]
                number = messages.setdefault(outcome, len(messages) + 1) if outcome != WORKS else 0
                row.append(f"{number}" if number else WORKS)
            lines.append(f"| `{label}` | {' | '.join(row)} |")
        lines += ["", *(f"{number}. `{text}`" for text, number in messages.items()), ""]
    return "\n".join(lines)


def read_page(text: str) -> dict[str, dict[str, dict[str, str]]]:
    """Return the outcomes on a page, by command, kind of input and option."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for section in text.split("\n## zonal ")[1:]:
        command, *lines = section.splitlines()
        table = [
            [part.strip() for part in line.strip("|").split("|")]
            for line in lines
            if line[:1] == "|"
        ]
        words = dict(line.split(". `", 1) for line in lines if line[:1].isdigit())
        header, _, *rows = table
        found[command] = {
            kind: {
                row[0].strip("`"): WORKS
                if row[place] == WORKS
                else words[row[place]].removesuffix("`")
                for row in rows
            }
            for place, kind in enumerate(header[1:], start=1)
        }
    return found


def main() -> None:
    """Try all cells and write the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_inputs(folder)
        tried = {
            command: {
                kind: {label: cell.outcome for label, cell in cells(command, kind, folder).items()}
                for kind in KINDS
            }
            for command in COMMANDS
        }
    PAGE.write_text(page_of(tried))
    print(PAGE)


if __name__ == "__main__":
    main()
