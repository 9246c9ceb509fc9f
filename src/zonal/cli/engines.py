"""Where the rows of a table are walked over: in this process, or on a Dask cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from .console import Screen
from .errors import CommandError
from .local import LocalRows
from .read import Columns, TableRows
from .split import Split

__all__ = ["Engine", "check_engine", "rows_of"]


class Engine(StrEnum):
    """What reads and sums the rows."""

    LOCAL = "local"
    DASK = "dask"


def check_engine(engine: Engine, scheduler: str | None, workers: int | None) -> None:
    """Complain about options that do not go together."""
    for name, value in (("--scheduler", scheduler), ("--workers", workers)):
        if value is not None and engine is not Engine.DASK:
            raise CommandError(
                f"{name} {value} is for Dask, but the engine is {engine.value}: add --engine dask, "
                f"or leave {name} out."
            )
    if scheduler is not None and workers is not None:
        raise CommandError(
            f"--scheduler {scheduler} has workers of its own, so that --workers {workers} has no "
            "meaning: leave one of them out."
        )


@contextmanager
def rows_of(
    columns: Columns,
    split: Split,
    engine: Engine,
    scheduler: str | None,
    workers: int | None,
    screen: Screen,
) -> Iterator[Any]:
    """Rows to fit to; a cluster that was started for them ends with the block, whatever happens."""
    if engine is Engine.LOCAL:
        yield LocalRows(TableRows(columns), split)
        return
    from .on_dask import DaskRows, cluster

    with cluster(scheduler, workers, screen):
        yield DaskRows(columns, split)
