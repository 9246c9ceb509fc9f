"""Which processes read the rows of a table: this one, or those of a Dask cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from ..evaluation import Split
from ..tables import Columns, Stream
from ..tables.frames import FrameStream
from .console import Screen
from .dask_cluster import dask_cluster
from .errors import CommandError
from .training import DaskTrainingRows, LocalTrainingRows, TrainingRows

__all__ = ["Engine", "check_engine", "rows_of"]


class Engine(StrEnum):
    """What reads and sums the rows."""

    LOCAL = "local"
    DASK = "dask"


def check_engine(engine: Engine, scheduler: str | None, workers: int | None) -> None:
    """Raise an error for options that do not go together."""
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
    picked: Columns | FrameStream,
    split: Split,
    engine: Engine,
    scheduler: str | None,
    workers: int | None,
    screen: Screen,
) -> Iterator[TrainingRows]:
    """Give rows to fit to; a cluster that was started for them ends with the block."""
    if isinstance(picked, FrameStream) or engine is Engine.LOCAL:
        rows = picked if isinstance(picked, FrameStream) else Stream(picked)
        yield LocalTrainingRows(rows, split)
        return
    with dask_cluster(scheduler, workers, screen):
        yield DaskTrainingRows(picked, split)
