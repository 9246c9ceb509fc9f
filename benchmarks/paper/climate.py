"""Which target the paper's climate row has: temperatures, or what they differ from the usual.

Berkeley Earth, the paper's source, gives temperatures as anomalies, to which a climatology is
added. Here: land temperatures of 2020 from Berkeley Earth (65,976 cells and months), as they are,
and less the 1979-2014 mean of ERA-Interim at the nearest cell of the same month.
Writes results/climate_target.md. Run: python -m benchmarks.paper.climate
"""

import numpy as np
from sklearn.neighbors import NearestNeighbors

import zonal
from zonal.datasets import to_sphere

from ..measure import table
from . import table2
from .common import RESULTS, mean_and_deviation
from .table2_setting import FULL, PUBLISHED

METHODS = (
    "Fourier",
    "FastFood",
    "Maclaurin (original)",
    "Gegenbauer (paper)",
    "Gegenbauer (zonal)",
    "Nyström",
)
KELVIN = 273.15


def problems() -> dict[str, table2.Problem]:
    """The same rows with both targets."""
    X, y = (
        part.astype(np.float64) for part in zonal.datasets.load_climate_berkeley(return_X_y=True)
    )
    usual_X, usual = (
        part.astype(np.float64) for part in zonal.datasets.load_climate(return_X_y=True)
    )
    sphere, known = to_sphere(X[:, 0], X[:, 1]), to_sphere(usual_X[:, 0], usual_X[:, 1])
    expected = np.empty(len(y))
    for month in np.unique(X[:, 2]):
        here, there = X[:, 2] == month, usual_X[:, 2] == month
        nearest = NearestNeighbors(n_neighbors=1).fit(known[there])
        places = nearest.kneighbors(sphere[here], return_distance=False)[:, 0]
        expected[here] = usual[there][places] - KELVIN
    moment = (X[:, 2] - X[:, 2].min()) / np.ptp(X[:, 2])
    rows = np.column_stack([sphere, moment])
    return {
        "temperature": table2.Problem("climate", rows, y),
        "anomaly": table2.Problem("climate", rows, y - expected),
    }


def main() -> None:
    """All methods on both targets, at bandwidth 1."""
    found = problems()
    lines: list[tuple[str, ...]] = []
    for method in METHODS:
        cells = []
        for problem in found.values():
            row = table2.measure(method, problem, False, FULL)
            cells.append("{:.3f} ± {:.3f}".format(*mean_and_deviation(row["mse"])))
        published = PUBLISHED["climate"][method.split(" (")[0]][0]
        lines.append((method, *cells, "–" if "zonal" in method else f"{published:g}"))
        write(found, lines)


def write(found: dict[str, table2.Problem], lines: list[tuple[str, ...]]) -> None:
    """Write the page with the methods that are known."""
    variances = ", ".join(f"{name} {np.var(item.y):.2f}" for name, item in found.items())
    (RESULTS / "climate_target.md").write_text(
        "# The target of the paper's climate row\n\nMade by `python -m benchmarks.paper.climate`: "
        "test MSE in K² at bandwidth 1, as in Table 2, on land temperatures of 2020 by Berkeley "
        "Earth, and on these less the 1979-2014 mean of ERA-Interim at the nearest cell of the "
        f"same month. Variances of the targets: {variances}.\n\n"
        + table(lines, ("method", *found, "published"))
        + "\n"
    )


if __name__ == "__main__":
    main()
