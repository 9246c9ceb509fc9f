"""The cells of the tables in `benchmarks/results`, and the ways to them."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Cell:
    """One cell of a table: the headings above it, its row, its column, and what it says."""

    headings: tuple[str, ...]
    row: tuple[str, ...]
    column: str
    text: str

    @property
    def value(self) -> float:
        found = NUMBER.search(self.text)
        if found is None:
            raise ValueError(f"there is no number in {self.text!r}")
        return number(found[0])


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def split_row(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


@cache
def cells(name: str) -> tuple[Cell, ...]:
    """Return the cells of all tables of a file of results."""
    headings: dict[int, str] = {}
    found: list[Cell] = []
    columns: tuple[str, ...] | None = None
    for line in (RESULTS / name).read_text().splitlines():
        if heading := re.match(r"(#+) (.*)", line):
            level = len(heading[1])
            headings = {depth: text for depth, text in headings.items() if depth < level}
            headings[level] = heading[2].strip()
        if not line.startswith("|"):
            columns = None
        elif columns is None:
            columns = split_row(line)
        elif not re.fullmatch(r"[|\s:-]+", line):
            row = split_row(line)
            above = tuple(headings.values())
            found += [Cell(above, row, *pair) for pair in zip(columns, row, strict=False)]
    return tuple(found)


def find(way: str) -> list[Cell]:
    """Return the cells that a way `file > heading or cell of the row > ... > column` leads to."""
    name, *words, column = [word.strip() for word in way.split(" > ")]
    choices = [{part.strip() for part in word.split("; ")} | {word} for word in words]
    return [
        cell
        for cell in cells(name)
        if cell.column == column and all(choice & {*cell.headings, *cell.row} for choice in choices)
    ]


def cell(way: str) -> Cell:
    """Return the one cell that a way leads to."""
    found = find(way)
    if len(found) != 1:
        raise ValueError(f"{way!r} leads to {len(found)} cells, not to one")
    return found[0]


def value(source: str) -> float:
    """Return what a comment asks for: a cell, the least or most of several, or a ratio."""
    if " ÷ " in source:
        over, under = source.split(" ÷ ")
        return value(over) / value(under)
    for name, choose in (("least of ", min), ("most of ", max)):
        if source.startswith(name):
            found = [each.value for each in find(source.removeprefix(name))]
            if not found:
                raise ValueError(f"{source!r} leads to no cell")
            return choose(found)
    return cell(source).value


def numbers(names: list[str]) -> set[float]:
    """Return all numbers in files of results."""
    text = " ".join((RESULTS / name).read_text() for name in names)
    return {number(found) for found in NUMBER.findall(text)}
