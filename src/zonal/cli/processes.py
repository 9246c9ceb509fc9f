"""Which processes read the rows of a table: this one, or those of a Dask cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from ..evaluation import Split
from ..tables import Columns
from ..tables.frames import FrameStream
from ..tables.survey import ColumnSurvey
from .console import Screen
from .dask_cluster import dask_cluster
from .errors import CommandError
from .noise import NoiseKind
from .responses import Response, ResponseRows
from .training import DaskTrainingRows, LocalTrainingRows, TrainingRows

__all__ = ["Engine", "check_engine", "check_numbers", "rows_of"]


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


def check_numbers(columns: Columns) -> None:
    """Raise an error if the first rows hold words or dates, which a cluster does not read."""
    batch = next(columns.table.batches(columns.inputs))
    found = [ColumnSurvey(name, columns.table.types[name]) for name in columns.inputs]
    for column in found:
        column.add(batch.column(column.name))
    words = [repr(column.name) for column in found if not column.is_number]
    if words:
        raise CommandError(
            f"--engine dask takes numbers only, but words or dates are in {', '.join(words)}: use "
            "--engine local, which reads the table block by block, or leave them out with --ignore."
        )


@contextmanager
def rows_of(
    picked: Columns | FrameStream,
    split: Split,
    scheduler: str | None,
    workers: int | None,
    screen: Screen,
    noise: NoiseKind | None = None,
    response: Response | None = None,
) -> Iterator[TrainingRows]:
    """Give rows to fit to: of a stream this process reads them, of columns a cluster does.

    A cluster that was started for them ends with the block. Responses outside the support of a
    likelihood are an error.
    """
    if isinstance(picked, FrameStream) and response is not None:
        response.check(picked, picked.target[0])
        yield ResponseRows(picked, split, response)
        return
    if isinstance(picked, FrameStream):
        yield LocalTrainingRows(picked, split, noise)
        return
    with dask_cluster(scheduler, workers, screen):
        yield DaskTrainingRows(picked, split)
