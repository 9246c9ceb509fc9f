"""The page with the figures of `make fuzz` and `make torture`."""

import collections
import json
import re
from pathlib import Path
from typing import Any

from ..measure import table

RESULTS = Path(__file__).parent.parent / "results"
DATA, PAGE = RESULTS / "reliability.json", RESULTS / "reliability.md"


def kept(part: str) -> dict[str, Any]:
    """Return the figures of one of the two, if there are any."""
    figures: dict[str, Any] = json.loads(DATA.read_text()) if DATA.exists() else {}
    return figures.get(part, {})


def keep(part: str, found: dict[str, Any], dry: bool = False) -> None:
    """Keep the figures of one of the two, and write the page of both."""
    figures = {name: kept(name) for name in ("fuzz", "torture") if kept(name)}
    figures[part] = found
    text = page(figures)
    print(text)
    if not dry:
        DATA.write_text(json.dumps(figures, indent=1) + "\n")
        PAGE.write_text(text)


def page(figures: dict[str, Any]) -> str:
    parts = ["# Reliability\n"]
    if "fuzz" in figures:
        parts.append(fuzz_section(figures["fuzz"]))
    if "torture" in figures:
        parts.append(torture_section(figures["torture"]))
    return "\n".join(parts)


def fuzz_section(found: dict[str, Any]) -> str:
    properties = found["properties"]
    rows = [
        (
            name.replace("_", " "),
            f"{one['cases']:,}",
            f"{sum(one['empty'].values()):,}",
            str(len(one["failures"])),
            str(len(one["slow"])),
            f"{one['seconds']:.0f}",
        )
        for name, one in properties.items()
    ]
    total = [sum(int(row[i].replace(",", "")) for row in rows) for i in range(1, 6)]
    rows.append(("**all**", *(f"{number:,}" for number in total)))
    header = ("property", "cases", "show nothing", "failures", "slower than 12 s", "CPU seconds")
    reasons: collections.Counter[str] = collections.Counter()
    for one in properties.values():
        reasons.update(one["empty"])
    said = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())
    text = (
        "## Random cases\n\n"
        "`make fuzz`: the properties of `tests/properties` on random rows (1 to 300 of 1 to 40 "
        "columns, float32 and float64, C, Fortran, strided and CSR, scales 1e-12 to 1e12, heavy "
        "tails, repeated rows, constant columns), kernels, maps, learners and encoders, and of "
        "model files with one array or number altered, loaded in a child process: 10,000 "
        "cases, or as many as 20 minutes are enough for, in one process for each core. This run "
        f"(seed {found['seed']}) had {total[0]:,} cases, which took {total[4] / 60:.0f} minutes of "
        f"CPU, and {found['minutes']:g} minutes with {found.get('workers', 1)} processes. "
        "A case shows nothing where the library refuses it in words or where "
        "rounding of the input alone changes the answer by a tenth"
        f"{f' ({said})' if said else ''}. `reliability.json` has every case that failed or was "
        f"slow, with all that it takes to make it again.{_note(found)}\n\n"
        + table(rows, header)
        + "\n"
    )
    kinds = collections.Counter(
        (name.replace("_", " "), _kind(failure["case"]), _short(failure["error"]))
        for name, one in properties.items()
        for failure in one["failures"]
    )
    if kinds:
        cells = [(*kind, str(count)) for kind, count in kinds.most_common()]
        text += "\nFailures:\n\n" + table(cells, ("property", "of", "error", "cases")) + "\n"
    return text


def _note(found: dict[str, Any]) -> str:
    """Return what is to be known of a run, such as that it was cut off."""
    return f" {found['note']}" if "note" in found else ""


def _kind(case: str) -> str:
    """Return the class of the learner and of the map that a case has."""
    names = re.findall(r"\b(Kernel\w+|\w+Features|\w+Process|\w+Kriging|\w+Encoder)\(", case)
    return " on ".join(dict.fromkeys(names[:2]))


def _short(error: str) -> str:
    return re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "…", error)[:100].replace("|", "/")


def torture_section(found: dict[str, Any]) -> str:
    faults = found["faults"]
    rows = [
        (
            name,
            str(one["times"]),
            str(len(one["failures"])),
            f"{one['longest']:.1f}",
            f"{one['seconds']:.0f}",
        )
        for name, one in faults.items()
    ]
    text = (
        "## Killed, starved and forbidden\n\n"
        f"`make torture`, with seed {found['seed']}: SIGKILL, SIGINT and SIGTERM at random moments "
        "of commands, saves, streams and clusters; files that may not grow, too little memory, no "
        "permission. Right is: every output is the old file or the complete new one; nothing "
        "temporary is left (after SIGKILL: once the next command for the same output has ended); "
        "a resumed fit equals an uninterrupted one to the last bit; no process is left or hangs "
        f"for 60 s; every error of a command is a sentence without a traceback.{_note(found)}\n\n"
        + table(rows, ("what", "times", "failures", "longest, s", "seconds"))
        + "\n"
    )
    wrong = [
        (name, re.sub(r"\s+", " ", "; ".join(failure["problems"]))[:300].replace("|", "/"))
        for name, one in faults.items()
        for failure in one["failures"]
    ]
    if wrong:
        text += "\nFailures:\n\n" + table(wrong, ("what", "wrong")) + "\n"
    return text
