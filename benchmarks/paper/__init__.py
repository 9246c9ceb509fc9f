"""The paper's figure and tables again, with the published numbers beside those measured here.

One module for each: `figure1`, `table1`, `table2`, `table3`. Run them with
``python -m benchmarks.paper {figure1,table1,table2,table3,all} [--quick]``.
"""

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import Any

import zonal

from . import figure1, table1, table2, table3
from .common import RESULTS, Ledger, Report, say

EXPERIMENTS: dict[str, Callable[..., Report]] = {
    "figure1": figure1.run,
    "table1": table1.run,
    "table2": table2.run,
    "table3": table3.run,
}
TABLES: dict[str, ModuleType] = {"table1": table1, "table2": table2, "table3": table3}


def main(
    name: str = "all",
    quick: bool = False,
    out: str | PathLike[str] | None = None,
    methods: Sequence[str] = (),
    measure: bool = True,
    missing: bool = False,
) -> list[Path]:
    """Run one experiment, or all, and write what it finds.

    Parameters
    ----------
    name : {"figure1", "table1", "table2", "table3", "all"}
        Which.
    quick : bool, default=False
        Fewer rows, seeds and values, about a minute for all four: to see that everything works.
    out : path-like, optional
        The folder of the results: by default ``benchmarks/results``, and for quick runs, which
        must not replace full ones, a new temporary folder.
    methods : sequence of str, optional
        Run these methods of a table only, and merge their rows into the results that are there.
    measure : bool, default=True
        False writes what a run that was stopped has measured so far, and measures nothing.
    missing : bool, default=False
        Measure only those cells of a table that its results do not have from this version.

    A full run keeps its measurements in ``*.partial.jsonl`` in the folder until all are made: run
    it again to go on where it was stopped.

    Returns
    -------
    list of Path
        The files: .json, .md and .png of each experiment.
    """
    if name != "all" and name not in EXPERIMENTS:
        raise ValueError(f"name={name!r} must be 'all' or one of {', '.join(EXPERIMENTS)}.")
    if methods and not name.startswith("table"):
        raise ValueError(f"methods={list(methods)} are for one table, not for name={name!r}.")
    if out is None:
        out = tempfile.mkdtemp(prefix="zonal-paper-") if quick else RESULTS
    paths = []
    for experiment in EXPERIMENTS if name == "all" else [name]:
        start = time.perf_counter()
        options: dict[str, Any] = {}
        partial = None if quick else Path(out) / f"{experiment}.partial.jsonl"
        if experiment in TABLES:
            options["ledger"] = Ledger(partial, measure)
        if experiment in TABLES and (methods or missing or not measure):
            written = Path(out) / f"{experiment}.json"
            rows = json.loads(written.read_text())["rows"] if written.exists() else []
            options |= {"methods": list(methods) or None, "known": rows}
            if missing:
                options["ledger"].remember(TABLES[experiment].cells(rows), zonal.__version__)
        report = EXPERIMENTS[experiment](quick, **options)
        paths += report.write(experiment, Path(out))
        if partial is not None and measure and not methods:  # all that it holds is in the results
            partial.unlink(missing_ok=True)
        say(f"{experiment}: {time.perf_counter() - start:.0f} s, {paths[-2]}")
    return paths
