"""What is shown: results on stdout, everything else on stderr."""

import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba.core import event
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from .._files import shown_name
from .._warnings import LeftOutWarning
from ..rows.progress import counting, listening
from .standard import shown_input

__all__ = ["Screen", "figure"]


class Screen:
    """Where a command shows its stages and its results.

    Attributes
    ----------
    seconds : dict of str to float
        How long each stage took.
    warnings : list of str
        What the library warned about on the way.
    """

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self.seconds: dict[str, float] = {}
        self.warnings: list[str] = []
        self._out = Console()
        self._messages = Console(stderr=True)

    @contextmanager
    def stage(
        self, name: str, total: float | None = None, unit: str = ""
    ) -> Iterator[Callable[[float], None]]:
        """Show that something is under way and measure its time; give a function to advance.

        Parameters
        ----------
        name : str
        total : float, optional
            How much there is to do, where that is known.
        unit : str
            What is counted: then the amounts that `advanced` is told of are shown.
        """
        columns: tuple[Any, ...] = (
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(28)
        )  # fmt: skip
        if unit:
            columns += (TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + unit),)
        start = time.perf_counter()
        log = _Log(self.note, total if unit else None, unit)
        if not self._messages.is_terminal:  # a line in a log instead of a bar
            self.note(f"{name} {total:,.0f} {unit} …" if unit else f"{name} …")
        with (
            warnings.catch_warnings(record=True) as caught,
            Progress(
                *columns,
                TimeElapsedColumn(),
                console=self._messages,
                transient=True,
                disable=not self._messages.is_terminal,
            ) as progress,
        ):
            warnings.simplefilter("default")
            warnings.simplefilter("ignore", LeftOutWarning)  # the table of columns tells
            task = progress.add_task(name, total=total)

            def show(phase: str) -> None:
                progress.update(task, description=f"{name}: {phase}")
                if not self._messages.is_terminal:
                    self.note(f"  {phase} …")

            def advance(amount: float) -> None:
                progress.advance(task, amount)
                if not self._messages.is_terminal:
                    log.advance(amount)

            with listening(show), counting(advance), _compilations(show):
                yield advance
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        for text in dict.fromkeys(str(item.message) for item in caught):
            if text not in self.warnings:
                self.warnings.append(text)
                self.note(f"Warning: {text}")

    def note(self, text: str) -> None:
        """Print something that is not a result; a file that is half written has its final name."""
        text = shown_input(shown_name(text))
        self._messages.print(text, markup=False, highlight=False, soft_wrap=True)

    def table(self, title: str, header: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
        """Print a table; the first column is text, the others are numbers."""
        if self.as_json:
            return
        names = list(header)
        shown = Table(box=box.SIMPLE_HEAD, show_header=any(names), pad_edge=False)
        for number, name in enumerate(names):
            style: dict[str, Any] = {"justify": "right"} if number else {"no_wrap": True}
            shown.add_column(Text(name), overflow="fold", **style)
        for row in rows:
            shown.add_row(*(Text(figure(cell)) for cell in row))
        self._out.print(title, style="bold", markup=False, highlight=False, soft_wrap=True)
        self._out.print(shown)

    def finish(self, result: dict[str, Any]) -> None:
        """Print the result for machines, if they asked."""
        if self.as_json:
            result = {**result, "seconds": self.seconds, "warnings": self.warnings}
            print(shown_input(json.dumps(_plain(result), indent=2, allow_nan=False)))


class _Log:
    """Lines about how far something is, now and then."""

    #: Seconds between two lines.
    PAUSE = 10.0

    def __init__(self, note: Callable[[str], None], total: float | None, unit: str) -> None:
        self.note, self.total, self.unit = note, total, unit
        self.done, self.last = 0.0, time.perf_counter()

    def advance(self, amount: float) -> None:
        self.done += amount
        now = time.perf_counter()
        if self.total and now - self.last > self.PAUSE:
            self.last = now
            self.note(f"  {self.done:,.0f} of {self.total:,.0f} {self.unit}")


class _Compilations(event.Listener):
    """Says once that code is compiled, which takes most of the time of a first use."""

    told = False

    def __init__(self, show: Callable[[str], None]) -> None:
        self.show = show

    def on_start(self, event: Any) -> None:
        if not _Compilations.told:
            _Compilations.told = True
            self.show("compiling, which takes up to a minute at the first use")

    def on_end(self, event: Any) -> None:
        """Nothing is said."""


@contextmanager
def _compilations(show: Callable[[str], None]) -> Iterator[None]:
    with event.install_listener("numba:compile", _Compilations(show)):
        yield


def figure(value: Any) -> str:
    """Return a number as text, rounded to four figures."""
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return f"{value:.4g}" if abs(value) < 1e5 else f"{value:,.4g}"


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: no NumPy, and null for what is not finite."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value if value is None else str(value)
