"""The commands, and what happens to their errors."""

import _thread
import os
import re
import sys
import threading
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from .._version import __version__
from .commands.cluster import cluster
from .commands.compare import compare
from .commands.demo import demo
from .commands.fill import fill
from .commands.fit import fit
from .commands.predict import predict
from .commands.reproduce import reproduce
from .commands.size import size
from .console import Screen
from .errors import CommandError

__all__ = ["app", "run"]

# Errors whose text is meant for the person who asked: the library's own about what it was given,
# and those of the system about files and memory. Anything else is a bug and shows where it is.
EXPECTED = (CommandError, ValueError, OSError, MemoryError, ImportError)

app = typer.Typer(
    name="zonal",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
PANELS = {
    "Models of tables": (fit, predict, cluster),
    "Maps": (fill,),
    "Which features, and how many": (compare, size),
    "To see it work": (demo, reproduce),
}


class Command(TyperCommand):
    """A command that still knows an option by its former name, and says the new one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Rename options, and parse."""
        renamed = [re.sub(r"^--components(?==|$)", "--budget", word) for word in args]
        if renamed != args:
            Screen().note("--components is called --budget now.")
        parsed: list[str] = super().parse_args(ctx, renamed)
        return parsed


for panel, commands in PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel, cls=Command)(command)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"zonal {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Kernel models of tables, of any number of rows.

    From a CSV, Parquet, NPZ or Zarr file to a model, pictures and a report:

    - `zonal fit houses.csv --target price --out houses.zonal --report houses.html`

    - `zonal predict houses.zonal new.csv --out predicted.csv`

    Latitude and longitude become points of the globe with `--lat COL --lon COL`. Every command that
    has a result prints it for machines with `--json`, and explains itself with `--help`.

    Outputs are written whole or not at all, and replace nothing without `--force`.

    Exit codes: **0** all is well, **1** something is wrong with a file or a value, **2** the
    command was not understood, **130** stopped by Ctrl-C. `ZONAL_TRACEBACK=1` in the environment
    shows where an error comes from.
    """


def _keep_interrupts() -> None:
    """Deliver a Ctrl-C again that meets code which cannot raise, instead of printing and losing it.

    Python and Cython do so in destructors, callbacks and compiled functions without exceptions.
    """
    excepthook, unraisablehook = sys.excepthook, sys.unraisablehook

    def printed(kind: Any, error: Any, trace: Any) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            excepthook(kind, error, trace)

    def ignored(what: Any) -> None:
        if issubclass(what.exc_type, KeyboardInterrupt):
            threading.Timer(0.1, _thread.interrupt_main).start()
        else:
            unraisablehook(what)

    sys.excepthook, sys.unraisablehook = printed, ignored


def run() -> None:
    """Run the command line; errors become messages and exit codes."""
    _keep_interrupts()
    try:
        app()
    except EXPECTED as error:
        if os.environ.get("ZONAL_TRACEBACK"):
            raise
        text = str(error) or type(error).__name__
        Screen().note(f"Error: {text}")
        sys.exit(1)
