"""Tables of README and docs, made of the cells of `benchmarks/results`."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import zonal

from ..fields.titles import TITLES as FIELDS
from ..gp_suite.data import NAMES as SUITE
from ..paper.table2_setting import AUTOMATIC
from ..suite.cells import known_cells
from .reproduction import kmeans_cells, ridge_cells
from .rounding import rounded
from .sources import NUMBER, RESULTS, Cell, cell, cells, find

TABLES: dict[str, Callable[[], str]] = {}
ZONAL = "**zonal**, nothing set"


def quoted(function: Callable[[], str]) -> Callable[[], str]:
    """Make a table known under the name of its function."""
    TABLES[function.__name__] = function
    return function


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def text_or_empty(way: str, digits: int = 3) -> str:
    """Return the number of a cell, rounded, or nothing where a method was not run."""
    found = find(way)
    return rounded(found[0].value, digits) if found and NUMBER.search(found[0].text) else ""


def best(row: list[str]) -> list[str]:
    """Set the smallest number of a row in bold, and say where there is none."""
    known = [float(text.replace(",", "")) for text in row if text]
    return [
        f"**{text}**" if text and float(text.replace(",", "")) == min(known) else text or "not run"
        for text in row
    ]


DATA = {
    "elevation": "Earth's elevation, km²",
    "climate_berkeley": "land temperature, °C²",
    "climate": "mean land temperature, K²",
    "co2": "CO₂ emissions, log₁₀",
    "protein": "protein, Å²",
    "gaps_simulated": "simulated field, its holes",
}


def _local(name: str, how: str) -> list[str]:
    methods = (
        ZONAL,
        "k nearest rows (scikit-learn)",
        "LightGBM",
    )
    section = f"local.md > {name}, {how}"
    return [text_or_empty(f"{section} > {method} > test MSE") for method in methods]


def _coads(how: str) -> list[str]:
    section = (
        f"maps.md > Sea surface temperature of July (COADS, a grid with real holes), K²: {how}"
    )
    methods = ("**zonal** `KernelRidge()`", "verde `KNeighbors`", "LightGBM")
    return [text_or_empty(f"{section} > {method} > test MSE") for method in methods]


@quoted
def against() -> str:
    """Test errors beside what a reader would use instead."""
    header = ["test MSE", "`KernelRidge()`", "k nearest", "LightGBM"]
    rows = []
    for name in ("elevation", "climate_berkeley", "climate", "co2", "protein"):
        rows.append([f"{DATA[name]}: random rows", *best(_local(name, "random rows"))])
    rows.append(["sea surface temperature, K²: random places", *best(_coads("random places"))])
    for name in ("elevation", "climate_berkeley", "climate", "co2"):
        rows.append([f"{DATA[name]}: blocks", *best(_local(name, "blocks of 10°"))])
    rows.append(["sea surface temperature, K²: blocks", *best(_coads("blocks of 10°"))])
    rows.append([DATA["gaps_simulated"], *best(_local("gaps_simulated", "the holes"))])
    return markdown(header, rows)


@quoted
def seconds() -> str:
    """Seconds of the same fits on random rows."""
    header = ["fit, s", "`KernelRidge()`", "k nearest", "LightGBM"]
    methods = (ZONAL, "k nearest rows (scikit-learn)", "LightGBM")
    rows = []
    for name, how in (
        *((name, "random rows") for name in ("elevation", "climate_berkeley", "climate", "co2")),
        ("protein", "random rows"),
        *((name, "blocks of 10°") for name in ("elevation", "climate_berkeley", "climate", "co2")),
        ("gaps_simulated", "the holes"),
    ):
        label = DATA[name].split(",")[0] + ("" if how == "the holes" else f": {how}")
        section = f"local.md > {name}, {how}"
        rows.append([label, *(text_or_empty(f"{section} > {m} > fit, s", 2) for m in methods)])
    return markdown(header, rows)


def _seconds(cell: dict[str, Any]) -> str:
    return f"{cell['cpu']:.0f}" if "cpu" in cell else "–"


@quoted
def fields() -> str:
    """CRPS of fields beside GPBoost on the first split, the best bold.

    A method that was run on less than half of them has no column: its page says where it was run.
    """
    methods = {
        "**zonal** `KernelRidge()`": "`KernelRidge()`",
        "**zonal** `NeighborKriging()`": "`NeighborKriging()`",
        "GPBoost, Vecchia": "GPBoost",
        "GPBoost, VIF": "GPBoost, VIF",
    }
    cells = known_cells("fields")
    found = {
        title: {m: cells[title, "0", m] for m in methods if (title, "0", m) in cells}
        for title in FIELDS
    }
    # Without a peer there is nothing to compare with.
    found = {title: own for title, own in found.items() if any("zonal" not in m for m in own)}
    often = {m: 2 * sum(m in own for own in found.values()) >= len(found) for m in methods}
    methods = {method: title for method, title in methods.items() if often[method]}
    rows = []
    for title, own in found.items():
        least = min(cell["crps"] for cell in own.values() if "crps" in cell)  # also not shown
        row = [title]
        for method in methods:
            cell = own.get(method, {"reason": "not run"})
            text = rounded(cell["crps"], 3) if "crps" in cell else cell["reason"]
            row.append(f"**{text}**" if cell.get("crps") == least else text)
        row.append(" / ".join(_seconds(own.get(method, {})) for method in methods))
        rows.append(row)
    return markdown(["CRPS", *methods.values(), "CPU s"], rows)


@quoted
def gp_suite() -> str:
    """Negative log predictive densities on the suite: ours, and all that was run beside it."""
    cells, ours = known_cells("gp_suite"), "**zonal** `KernelRidge()`"
    names = {
        "GPBoost, Vecchia": "GPBoost",
        "GPyTorch SGPR": "SGPR",
        "GPyTorch SVGP": "SVGP",
        "scikit-learn, 1,000 rows": "scikit-learn on 1,000 rows",
        "CatBoost": "CatBoost",
    }
    rows = []
    for title in SUITE:
        own = cells[title, "0", ours]
        peers = [
            (cells[title, "0", m]["nlpd_normal"], shown, cells[title, "0", m]["cpu"])
            for m, shown in names.items()
            if "rmse" in cells.get((title, "0", m), {})
        ]
        peers.sort()
        shown = [f"{rounded(value, 3)} {name}" for value, name, _ in peers]
        value = rounded(own["nlpd_normal"], 3)
        if own["nlpd_normal"] <= peers[0][0]:
            value = f"**{value}**"
        else:
            shown[0] = f"**{shown[0]}**"
        late = [
            f"{name} {cells[title, '0', m]['reason']}"
            for m, name in names.items()
            if "not done" in cells.get((title, "0", m), {}).get("reason", "")
        ]
        seconds = " / ".join(f"{cpu:.0f}" for cpu in (own["cpu"], *(cpu for *_, cpu in peers)))
        rows.append([title, value, "; ".join([*shown, *late]), seconds])
    return markdown(["NLPD", "`KernelRidge()`", "others, the best first", "CPU s"], rows)


SPEED = [
    (
        "`GegenbauerFeatures.transform` / `RBFSampler.transform`",
        "GegenbauerFeatures.transform, d = 3, degree 20, s = 1",
        "RBFSampler.transform",
    ),
    (
        "`HarmonicFeatures.transform` / `RBFSampler.transform`",
        "HarmonicFeatures.transform, d = 3, Gaussian(bandwidth=0.15)",
        "RBFSampler.transform",
    ),
    (
        "`KernelRidge.fit` / (`RBFSampler` + `Ridge`).fit",
        "KernelRidge.fit, alpha = 1",
        "RBFSampler + Ridge",
    ),
    (
        "`KernelRidge.fit`, alpha by cross-validation / the bare BLAS product ZᵀZ",
        'KernelRidge.fit, degree 31, alpha = "cv", 2 folds',
        "ssyrk of the ready features",
    ),
    (
        "`KernelRidge.predict` / (`RBFSampler` + `Ridge`).predict",
        "KernelRidge.predict",
        "RBFSampler + Ridge",
    ),
    ("exact kernel matrix / `rbf_kernel`", "kernel(X, L), Gaussian, d = 3", "rbf_kernel"),
]


def _ratio(what: str, peer: str) -> Cell:
    """Return the ratio of a line of speed.md; the peer's cell also has its seconds."""
    (found,) = [
        each
        for each in find(f"speed.md > {what} > ratio")
        if any(text.startswith(f"{peer}, ") for text in each.row)
    ]
    return found


@quoted
def speed() -> str:
    """Ratios of times to scikit-learn's, in one run."""
    lines = [[name, _ratio(what, peer).text] for name, what, peer in SPEED]
    exact = cell("exact_peers.md > zonal.ExactKernelRidge > time ratio").text
    lines.append(
        ["`ExactKernelRidge` / scikit-learn's `KernelRidge`, 10,000 rows, one core", exact]
    )
    return markdown(["what", "ratio of times"], lines)


@quoted
def tables() -> str:
    """Root mean squared errors on tables beside boosted trees."""
    methods = ("zonal", "LightGBM", "CatBoost", "HistGradientBoosting")
    header = ["test RMSE (CPU s)", "rows", *methods]
    over_all = ("mean rank", "worst ratio to the best")
    every = [each for each in find("tables.md > table") if len(each.headings) == 1]  # the first
    names = [each.text for each in every if each.text not in over_all]
    rows = []
    for name in names:
        row = [cell(f"tables.md > {name} > {method}").text for method in methods]
        rows.append([name, cell(f"tables.md > {name} > rows").text, *row])
    for words in over_all:
        rows.append([words, "–", *(cell(f"tables.md > {words} > {m}").text for m in methods)])
    return markdown(header, rows)


@quoted
def maps() -> str:
    """Errors and scores of maps beside kriging and splines."""
    methods = {
        "`KernelRidge()`": "**zonal** `KernelRidge()`",
        "GPBoost": "GPBoost, Vecchia",
        "verde `KNeighbors`": "verde `KNeighbors`",
        "verde `Spline`": "verde `Spline` on blocks",
        "PyKrige": "PyKrige, 24 closest of 10,000",
    }
    headings = dict.fromkeys(each.headings[-1] for each in find("maps.md > method"))
    rows = []
    for heading in headings:
        found = [text_or_empty(f"maps.md > {heading} > {m} > test MSE") for m in methods.values()]
        rows.append([heading, *best(found)])
    return markdown(["test MSE", *methods], rows)


@quoted
def maps_best() -> str:
    """Ours beside the peer of the lowest error, on each field and split."""
    found = [each for each in cells("maps.md") if "Ours beside the best peer" in each.headings]
    return markdown(
        list(dict.fromkeys(each.column for each in found)),
        dict.fromkeys(each.row for each in found),
    )


@quoted
def coverage() -> str:
    """What 90 % intervals hold, and the CRPS."""
    rows = []
    for each in find("intervals.md > Regression > **zonal** > coverage, %"):
        data = each.row[0]
        crps = cell(f"intervals.md > Regression > {data} > **zonal** > CRPS").text
        rows.append([data.replace("-blocks", ", blocks of 10°"), each.text, crps])
    return markdown(["data", "90 % intervals hold, %", "CRPS"], rows)


@quoted
def paper() -> str:
    """The paper's Table 2, at each method's own bandwidth, and at bandwidth 1 for elevation."""
    names = {
        "Nyström": "Nyström",
        "Fourier": "Fourier",
        "FastFood": "FastFood",
        "Maclaurin (original)": "Maclaurin",
        "PolySketch (original)": "PolySketch",
        "Gegenbauer (paper)": "Gegenbauer, the paper's",
        "Maclaurin (zonal)": "ours: Maclaurin",
        "PolySketch (zonal)": "ours: PolySketch",
        "Gegenbauer (zonal)": "ours: Gegenbauer",
        "Harmonic": "ours: harmonic",
        "Product": "ours: product of sphere and time",
        "Auto": "ours: `KernelRidge(local=None)`",
        "Default": "ours: `KernelRidge()`, one seed",
    }
    headings = dict.fromkeys(each.headings[-1] for each in find("table2.md > MSE, own bandwidth"))
    data = [heading.split(":")[0] for heading in headings]
    first = next(iter(headings))
    rows = []
    for method, label in names.items():
        if method in AUTOMATIC:
            way = f"table2.md > The automatic choice > {method}"
            rows.append([label, "chooses", *(_error(f"{way} > {name}") for name in data)])
            continue
        published = [
            each.text
            for each in find(f"table2.md > {first} > {method} > published")
            if each.text.strip("– ")
        ]
        at_one = _error(f"table2.md > {first} > {method} > MSE, bandwidth 1")
        line = [at_one + (f" ({published[0]})" if published else "")]
        for heading in headings:
            line.append(_error(f"table2.md > {heading} > {method} > MSE, own bandwidth"))
        rows.append([label, *line])
    header = ["test MSE", f"{data[0]}, bandwidth 1 (published)", *(f"{name}, own" for name in data)]
    return markdown(header, rows)


def _error(way: str) -> str:
    """Return the error of a cell: in italics of an older version, or why there is none."""
    found = find(way)
    if not found:  # time is no column there
        return "no such product"
    if not NUMBER.match(found[0].text):
        return found[0].text.split(":")[0]
    number = rounded(found[0].value, 3)
    older = "(v" in found[0].text or (
        "The automatic choice" in found[0].headings and found[0].row[1] != zonal.__version__
    )
    return f"*{number}*" if older else number


DIFFERENCES = ("data", "method", "ours", "published", "difference", "reason")


@quoted
def ridge_differences() -> str:
    """Every published cell of the paper's Table 2 beside ours."""
    return markdown(DIFFERENCES, ridge_cells())


@quoted
def kmeans_differences() -> str:
    """Every published cell of the paper's Table 3 beside ours."""
    return markdown(DIFFERENCES, kmeans_cells())


@quoted
def machine() -> str:
    """The machine of the measurements of speed, and the versions."""
    about = json.loads((RESULTS / "speed.json").read_text())["machine"]
    return markdown(["", ""], [[name, re.sub(r"\s+", " ", text)] for name, text in about.items()])


@quoted
def history() -> str:
    """The ratios of every run of `make bench`."""
    rows = dict.fromkeys(each.row for each in find("history.md > date"))
    header = [each.column for each in cells("history.md")[: len(next(iter(rows)))]]
    return markdown(header, rows)
