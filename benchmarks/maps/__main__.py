"""OMP_NUM_THREADS=1 python -m benchmarks.maps [coads climate elevation] [--folds 3].

Writes results/maps.json and results/maps.md after each run. Runs that are known stay, so that a
benchmark can be continued; --again repeats them.
"""

import argparse
import os
from pathlib import Path

from .data import NAMES, TITLES, kinds
from .methods import METHODS
from .page import write_page
from .runs import add_runs, known_runs, run_apart, with_runs


def main() -> None:
    """Run what is not known, methods in turns on each fold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--folds", type=int, default=1, help="how many of the ten")
    parser.add_argument("--only", default="", help="a part of the names of methods")
    parser.add_argument("--kind", default="", help="a part of the name of a split")
    parser.add_argument("--again", action="store_true", help="also what is known")
    parser.add_argument(
        "--add", nargs="*", metavar="JSON", help="take runs of other files, run nothing"
    )
    arguments = parser.parse_args()
    if arguments.add is not None:
        for file in arguments.add:
            add_runs(Path(file))
        write_page(known_runs())
        return
    if not os.environ.get("OMP_NUM_THREADS", "").isdigit():
        parser.error("set OMP_NUM_THREADS, so that all methods have the same number of threads")
    for fold in range(arguments.folds):
        for name in arguments.names:
            for kind, words in enumerate(kinds()):
                if arguments.kind not in words:
                    continue
                title = f"{TITLES[name]}: {words}"
                for method in METHODS:
                    known = known_runs().get(title, {}).get(method, {})
                    if arguments.only in method and (arguments.again or str(fold) not in known):
                        run = run_apart(name, kind, fold, method)
                        print(title, method, fold, run, sep=" | ", flush=True)
                        write_page(with_runs(title, method, fold, run))


if __name__ == "__main__":
    main()
