"""python -m benchmarks.automatic [dataset …] [--auto-only]: writes results/automatic.md."""

import sys
import warnings
from pathlib import Path

import zonal

from ..measure import table
from . import classification, pilot, regression

RESULT = Path(__file__).parents[1] / "results" / "automatic.md"


def main() -> None:
    """Run all parts; those of named datasets are only shown."""
    names = [name for name in sys.argv[1:] if not name.startswith("-")]
    auto_only = "--auto-only" in sys.argv
    errors, costs, stands, classes = [], [], [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zonal.TruncationWarning)
        for name in regression.GOALS:
            if not names or name in names:
                rows, cost = regression.run(name, auto_only)
                errors += rows
                costs.append(cost)
                if not auto_only:
                    stands.append(pilot.run(name))
        for name in classification.NAMES:
            if not names or name in names:
                classes += classification.run(name)
    header = ("data", "training rows", "choice, s", "final fit, s", "allowed, s")
    text = "\n\n".join(
        (
            "# The automatic choice",
            "`python -m benchmarks.automatic`: D = 1,024, 90/10 split, seed 0, two cores.",
            "## Errors\n\nEvery single method at the bandwidth (of a grid of seven around the median "
            "distance) with the least cross-validation error on 20,000 training rows; Gaussian "
            "where no kernel is named.",
            table(errors, regression.HEADER),
            "## Seconds\n\nAllowed: 30 s or a third of the final fit, whichever is more.",
            table(costs, header),
            "## The pilot and the whole\n\nMedian ratio of the pilot's error to the test error of "
            "a fit to all rows, over 18 candidates; and how much larger than the least the error "
            "of the candidate is that the pilot puts first. Continued: with the correction "
            "e(n) = e∞ + c/n.",
            table(stands, pilot.HEADER),
            "## Classification\n\n" + (classification.__doc__ or "").split("\n\n", 1)[1].strip(),
            table(classes, classification.HEADER),
        )
    )
    print(text)
    if not names and not auto_only:
        RESULT.write_text(text + "\n")


if __name__ == "__main__":
    main()
