"""One page: what it quotes, with or without a source."""

import re
from collections.abc import Iterator
from pathlib import Path

from .rounding import digits as digits_of
from .rounding import rounded, shown
from .sources import NUMBER, number, numbers, value
from .tables import TABLES

QUOTE = re.compile(rf"({NUMBER.pattern})(\*{{0,2}})<!-- ([\w ]*\w\.md > .+?) -->")
TABLE = re.compile(r"<!-- table: (\w+) -->\n.*?<!-- end -->", re.DOTALL)
FROM = re.compile(r"<!-- from ([\w., ]+?) -->")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`|^    .*?$|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
# Decimals, powers of ten, and whole numbers with a unit: what looks like a measurement. Not so the
# level of an interval, 90 %, and versions of Python.
MEASURED = re.compile(
    r"(?<![\w.,^/])(?<!Python )(?!90 %)"
    r"(\d[\d,]*\.\d+(?:e-?\d+)?|\d+e-?\d+|\d[\d,]*(?= (?:s|%|GB|MB|ms|µs|times)(?!\w)))"
)


def rewritten(text: str) -> str:
    """Return a page with every figure and table as its source has it."""
    text = QUOTE.sub(lambda m: f"{shown(value(m[3]), m[1])}{m[2]}<!-- {m[3]} -->", text)
    return TABLE.sub(lambda m: f"<!-- table: {m[1]} -->\n{TABLES[m[1]]()}\n<!-- end -->", text)


def differences(text: str) -> Iterator[str]:
    """Yield what a page quotes otherwise than its source, or without one."""
    try:
        fresh = rewritten(text)
    except (ValueError, KeyError, OSError) as problem:
        yield f"a source cannot be read: {problem}"
        return
    for old, new in zip(text.splitlines(), fresh.splitlines(), strict=False):
        if old != new:
            yield f"has\n    {old}\n  where benchmarks/results has\n    {new}"
    if len(text.splitlines()) != len(fresh.splitlines()):
        yield "has a table of another length than benchmarks/results"
    plain = CODE.sub("x", QUOTE.sub("", TABLE.sub("", text)))
    for block in re.split(r"\n\s*\n(?=\S)", plain):
        yield from _without_source(block)


def _without_source(block: str) -> Iterator[str]:
    """Yield the numbers of a paragraph or table that look measured and have no source."""
    if "<!-- given -->" in block:
        return
    named = FROM.search(block)
    known = numbers(re.split(r",\s*", named[1])) if named else set()
    for found in MEASURED.finditer(FROM.sub("", block)):
        text = found[1]
        if not any(_same(each, text) for each in known):
            where = f"is not in {named[1]}" if named else "has no source"
            line = block[block.rfind("\n", 0, found.start()) + 1 :].split("\n")[0]
            yield f"{text} {where}: {line.strip()[:90]}"


def _same(value: float, text: str) -> bool:
    """Tell whether a value is the number that is shown, at its digits."""
    return number(text) == value or rounded(value, digits_of(text)) == rounded(
        number(text), digits_of(text)
    )


def check(path: Path) -> list[str]:
    return [f"{path.name} {problem}" for problem in differences(path.read_text())]
