"""``zonal reproduce``: the paper's figure and tables again."""

import importlib
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import zonal

from ..errors import CommandError

__all__ = ["reproduce"]


class Name(StrEnum):
    """What can be reproduced."""

    FIGURE1 = "figure1"
    TABLE1 = "table1"
    TABLE2 = "table2"
    TABLE3 = "table3"
    ALL = "all"


def reproduce(
    name: Annotated[Name, typer.Argument(help="The figure or table.", show_default=False)],
    quick: Annotated[
        bool, typer.Option("--quick", help="A small version, in about a minute.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where the results go: by default benchmarks/results, and for --quick a new "
            "temporary folder.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run the paper's experiments again, with the published numbers beside ours.

    The paper's own map and ours have a row each. This needs a checkout of zonal's repository, whose
    folder benchmarks holds the experiments and their data. A full run takes hours; one that is
    stopped goes on where it was.
    """
    experiments = _experiments()
    options: dict[str, Any] = {} if out is None else {"out": out}
    experiments.main(name.value, quick=quick, **options)


def _experiments() -> Any:
    """Import benchmarks.paper from the working folder or the checkout zonal runs from."""
    places = [Path.cwd(), *Path(zonal.__file__).resolve().parents]
    for place in places:
        if (place / "benchmarks" / "paper" / "__init__.py").is_file():
            sys.path.insert(0, str(place))
            return importlib.import_module("benchmarks.paper")
    raise CommandError(
        f"The experiments are part of zonal's repository, not of the installed package, and "
        f"{Path.cwd()} is not in a checkout: clone the repository and run this command in it."
    )
