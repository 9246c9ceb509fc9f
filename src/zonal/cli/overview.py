"""What ``zonal --help`` shows, without the modules that commands need: they take a second."""

import re
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from .._version import __version__

__all__ = ["PANELS", "is_about_all", "make_app", "run_overview"]

#: The commands, and the first sentences of their help.
PANELS = {
    "Models of tables": {
        "fit": "Fit a kernel model to a table; save it and a report.",
        "predict": "Predict the rows of a table with a saved model, or a map.",
        "cluster": "Group the rows of a table by kernel k-means.",
    },
    "Maps": {
        "fill": "Fill the holes of a grid, with standard deviations and intervals.",
        "draw": "Draw whole maps from the posterior of a model.",
    },
    "Which features, and how many": {
        "compare": "Compare all feature maps of one kernel: their errors and their times against "
        "the budget.",
        "size": "Say how many features a kernel needs on a table: by theorem, and measured.",
    },
    "To see it work": {
        "demo": "Fit the Earth's elevation, compare with scikit-learn, draw the map and a report.",
        "reproduce": "Run the paper's experiments again, with the published numbers beside ours.",
    },
}


def _version(wanted: bool) -> None:
    if wanted:
        print(f"zonal {__version__}")
        raise typer.Exit


def _about(
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
    command was not understood, **130** stopped by Ctrl-C, **143** by
    SIGTERM. `ZONAL_TRACEBACK=1` in the environment
    shows where an error comes from.
    """


class Command(TyperCommand):
    """A command that still knows an option by its former name, and says the new one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Rename options, and parse."""
        renamed = [re.sub(r"^--components(?==|$)", "--budget", word) for word in args]
        if renamed != args:
            typer.echo("--components is called --budget now.", err=True)
        parsed: list[str] = super().parse_args(ctx, renamed)
        return parsed


def make_app(commands: dict[str, Callable[..., None]]) -> TyperGroup:
    """Return the command line with commands of these names, in their panels.

    The command itself: a call of the Typer would first put its own hook for exceptions in place
    of ours.
    """
    app = typer.Typer(
        name="zonal",
        no_args_is_help=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_about)
    for panel, names in PANELS.items():
        for name in names:
            app.command(name, rich_help_panel=panel, cls=Command)(commands[name])
    group = get_command(app)
    assert isinstance(group, TyperGroup)  # it has several commands
    return group


def is_about_all(arguments: list[str]) -> bool:
    """Tell whether arguments ask about the whole, and for no command."""
    return not set(arguments) - {"-h", "--help", "--version"}


def run_overview() -> None:
    """Show the help of the whole, or the version."""
    make_app({name: _named(text) for names in PANELS.values() for name, text in names.items()})()


def _named(text: str) -> Callable[[], None]:
    """Return a command that is never run, for the sake of its help."""

    def command() -> None: ...

    command.__doc__ = text
    return command
