"""The command of a comparison: run what is missing, then write the page."""

import argparse
import os
import runpy
from collections.abc import Callable
from pathlib import Path

from .cells import LIMIT, RESULTS, Method, known_cells, run_cells
from .page import missing, pages, standing

__all__ = ["main"]


def main(
    name: str,
    module: str,
    data: dict[str, list[str]],
    methods: dict[str, Method],
    about: Callable[[], str],
    score: str,
) -> None:
    """Run the cells that are asked for and not known, in turns, and write results/NAME.md.

    The first of `methods` is ours; the page begins with how it stands by `score`.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module.removesuffix('.cases')}")
    parser.add_argument("data", nargs="*", help=f"some of {', '.join(data)}; all if left out")
    parser.add_argument("--splits", type=int, default=3, help="how many splits of each dataset")
    parser.add_argument("--only", nargs="*", default=[], help="parts of the names of methods")
    parser.add_argument("--again", action="store_true", help="also cells that are known")
    parser.add_argument("--limit", type=int, default=LIMIT, help="CPU seconds a thread")
    parser.add_argument("--page", action="store_true", help="write the page, run nothing")
    parser.add_argument("--add", help="a Python file with METHODS of yours")
    asked = parser.parse_args()
    unknown = [title for title in asked.data if title not in data]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}: use some of {', '.join(data)}")
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    os.environ.setdefault("NUMBA_NUM_THREADS", os.environ["OMP_NUM_THREADS"])
    os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ["OMP_NUM_THREADS"])
    methods = methods | (runpy.run_path(asked.add)["METHODS"] if asked.add else {})
    path = None if asked.add is None else str(Path(asked.add).resolve())
    chosen = [m for m in methods if not asked.only or any(part in m for part in asked.only)]
    for number in range(0 if asked.page else asked.splits):
        wanted = [
            (title, data[title][number], method)
            for title in asked.data or data
            if number < len(data[title])
            for method in chosen
        ]
        run_cells(
            name, module, wanted, methods, again=asked.again, limit=asked.limit, file=path
        )  # fmt: skip
    cells = known_cells(name)
    lines = list(methods) + sorted({method for _, _, method in cells} - set(methods))
    given = sorted({str(cell["threads"]) for cell in cells.values()})
    threads = f"Threads of a cell: {' or '.join(given)}.\n"
    parts = [about(), standing(cells, data, lines[0], score), threads]
    parts += [missing(cells, data, lines), *pages(cells, data, lines)]
    (RESULTS / f"{name}.md").write_text("\n".join(filter(None, parts)))
