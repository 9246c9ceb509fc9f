"""python -m benchmarks.automatic [seconds | errors | peers | pilot | classes …]: all or some parts.

Each part's table goes to results/automatic.json when it is done, and all of them to automatic.md.
"""

import json
import sys
import warnings
from pathlib import Path

import zonal

from ..local.summary import summary
from ..measure import table
from . import classification, pilot, regression

RESULTS = Path(__file__).parents[1] / "results"
ABOUT = {
    "seconds": "## Seconds\n\nAllowed: 30 s or a third of the final fit, whichever is more.",
    "errors": "## Errors\n\nEvery single method at the bandwidth (of a grid of seven around the "
    "median distance) with the least cross-validation error on 10,000 training rows; Gaussian "
    "where no kernel is named. FastFood, Maclaurin and PolySketch at their own bandwidths are in "
    "the paper's Table 2 (table2.md).",
    "peers": "## The local part and what a reader would use instead\n\nTest MSE on the same split "
    "and on blocks of 10° × 10°, from local.md (`python -m benchmarks.local`); empty: not run, or "
    "not done after 15 minutes.",
    "pilot": "## The pilot and the whole\n\nMedian ratio of the pilot's error to the test error of "
    "a fit to all rows, over 18 candidates; and how much larger than the least the error of the "
    "candidate is that the pilot puts first. Continued: with the correction e(n) = e∞ + c/n.",
    "classes": "## Classification\n\n" + (classification.__doc__ or "").split("\n\n", 1)[1].strip(),
}


def measure(part: str) -> str:
    """The table of one part."""
    names = tuple(regression.GOALS)
    if part == "seconds":
        regression.cost(names[0])  # compiles
        return table([regression.cost(name) for name in names], regression.COST_HEADER)
    if part == "errors":
        rows = [row for name in names for row in regression.errors(name)]
        return table(rows, regression.HEADER)
    if part == "peers":
        return summary()
    if part == "pilot":
        return table([pilot.run(name) for name in names], pilot.HEADER)
    rows = [row for name in classification.NAMES for row in classification.run(name)]
    return table(rows, classification.HEADER)


def main() -> None:
    """Run the parts, and write what is known of all of them."""
    store = RESULTS / "automatic.json"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zonal.TruncationWarning)
        for part in sys.argv[1:] or ABOUT:
            tables = json.loads(store.read_text()) if store.exists() else {}
            tables[part] = measure(part)
            store.write_text(json.dumps(tables, indent=2, ensure_ascii=False) + "\n")
            text = [
                "# The automatic choice",
                "`python -m benchmarks.automatic`: D = 1,024, 90/10 split, seed 0, two cores.",
            ]
            for name, about in ABOUT.items():
                if name in tables:
                    text += [about, tables[name]]
            (RESULTS / "automatic.md").write_text("\n\n".join(text) + "\n")
            print(tables[part], flush=True)


if __name__ == "__main__":
    main()
