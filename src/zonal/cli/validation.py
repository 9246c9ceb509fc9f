"""Errors on random rows and on whole blocks or groups, side by side."""

import re
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from .._typing import Array
from ..evaluation import BlockKFold, errors_by_group
from ..grid.plane import PlaneDecoder
from ..rows import source_of
from ..rows.kept import KEPT_BYTES
from ..tables import Table
from .console import Screen
from .errors import CommandError
from .grids import Place

__all__ = ["Validation", "parse_cv", "validation_of"]

SIZE = re.compile(r"(\d+(?:\.\d*)?)\s*(deg|degree|degrees|°|km)?")
N_SPLITS = 5
# A block error that is so many times the random error gets a warning.
APART = 2.0


def parse_cv(text: str | None) -> int | BlockKFold | None:
    """Return what ``--cv`` asks for: a number of random folds, or blocks.

    ``block:10deg`` and ``block:500km`` are cells on the globe; ``block:10deg,year:2`` cells times
    spans of two of a column's units; ``block,year:2`` spans alone; ``block,x:5000,y:5000`` boxes in
    the units of columns.
    """
    if text is None:
        return None
    if text.isdigit() and int(text) >= 2:
        return int(text)
    first, *others = text.split(",")
    word, _, size = first.partition(":")
    found = SIZE.fullmatch(size) if size else None
    spans = [part.partition(":")[::2] for part in others]
    numbers = all(name and re.fullmatch(r"\d+(\.\d*)?", length) for name, length in spans)
    too_many = len(spans) > 1 and bool(size)
    if word != "block" or bool(size) != bool(found) or too_many or not numbers:
        raise CommandError(
            f"--cv {text!r} is not understood: give a number of random folds such as 5, blocks on "
            "the globe such as block:10deg or block:500km, blocks in time such as "
            "block:10deg,year:2, or blocks in columns of the table such as block,x:5000,y:5000."
        )
    if len(spans) > 1:
        names, sides = zip(*spans, strict=True)
        return BlockKFold(N_SPLITS, [float(side) for side in sides], coordinates=names)
    time, length = (spans[0][0], float(spans[0][1])) if spans else (None, None)
    if found is None:
        side, unit = (None if spans else 10.0), "degree"
    else:
        side, unit = float(found[1]), "km" if found[2] == "km" else "degree"
    return BlockKFold(N_SPLITS, side, unit=unit, time=time, time_size=length)


def validation_of(
    folds: int | BlockKFold | None, group: str | None, table: Table, inputs: list[str], place: Place
) -> "Validation":
    """Return how a model of a table is chosen and judged.

    Parameters
    ----------
    folds : int, BlockKFold or None
        What ``--cv`` asks for. None: for places of the globe, blocks judge but do not choose.
    group : str or None
        The column of groups.
    table : Table
    inputs : list of str
        The columns of X.
    place : Place
    """
    if group is not None:
        if isinstance(folds, BlockKFold):
            raise CommandError("--group and --cv block:... exclude each other: give one of them.")
        table.check(group, "column of groups")
        return Validation(table=table, group=group, number=folds or N_SPLITS, chooses=True)
    where = place.columns(inputs)
    if isinstance(folds, BlockKFold):
        if folds.size is not None and where is None and folds.coordinates is None:
            raise CommandError("--cv block:... needs places on the globe: give --lat and --lon.")
        chosen = _by_number(folds, inputs, where)
        return Validation(chosen, degrees=_decoder(place, where), chooses=True)
    if where is None:
        return Validation(number=folds)
    chosen = _by_number(BlockKFold(N_SPLITS), inputs, where)
    return Validation(chosen, degrees=_decoder(place, where), number=folds)


def _by_number(folds: BlockKFold, inputs: list[str], where: tuple[int, int] | None) -> BlockKFold:
    """Return blocks whose columns are numbers of columns of X."""
    lat, lon = where or ("auto", "auto")

    def number(name: Any) -> int:
        if name not in inputs:
            raise CommandError(
                f"--cv names the column {name!r}, which is not among the inputs "
                f"{', '.join(map(repr, inputs))}."
            )
        return inputs.index(name)

    return BlockKFold(
        folds.n_splits, folds.size, unit=folds.unit, latitude=lat, longitude=lon,
        time=None if folds.time is None else number(folds.time), time_size=folds.time_size,
        coordinates=None if folds.coordinates is None else [number(n) for n in folds.coordinates],
    )  # fmt: skip


def _decoder(place: Place, where: tuple[int, int] | None) -> Any:
    if place.crs is None or where is None:
        return None
    decoder = PlaneDecoder(place.crs, *where)
    return lambda X: decoder.fit_transform(np.asarray(X))


@dataclass(frozen=True)
class Validation:
    """Which training rows belong together: those of a block, or of a group; or none do.

    Attributes
    ----------
    blocks : BlockKFold or None
        Its columns are numbers of columns of X.
    table, group : Table and str, or None
        The column of groups.
    number : int or None
        Folds that were asked for by their number.
    chooses : bool
        Whether the model is chosen by blocks or groups too, and not only judged.
    degrees : callable or None
        From rows on a plane to rows in degrees.
    """

    blocks: BlockKFold | None = None
    table: Table | None = None
    group: str | None = None
    number: int | None = None
    chooses: bool = False
    degrees: Any = None

    def folds(self, usual: Any, labels: Array | None, screen: Screen) -> Any:
        """Return the `cv` of a learner whose usual one is given, for rows of these labels."""
        if not self.chooses or labels is None:
            return self.number or usual
        wanted, n_groups = self.number or N_SPLITS, len(np.unique(labels))
        if n_groups < 2:
            raise CommandError(
                f"The training rows are all of one of the {self.name}: there is none to leave out. "
                "Make them smaller, or choose by random rows."
            )
        if n_groups < wanted:
            screen.note(f"The {self.name} are {n_groups}: there are as many folds, not {wanted}.")
        return min(wanted, n_groups)

    def sized(self, region: Any) -> "Validation":
        """Return blocks that nobody asked for in a size that suits the region of the rows.

        Parameters
        ----------
        region : sequence of four float, or None
            West, south, east and north in degrees.
        """
        if self.blocks is None or self.chooses or region is None:
            return self
        west, south, east, north = region
        shrink = np.cos(np.radians((south + north) / 2))
        # About six along the longer side, so that there are several for each fold.
        side = max(north - south, (east - west) * shrink) / 6
        power = 10.0 ** np.floor(np.log10(max(side, 1e-6)))
        fitting = max(float(k * power) for k in (1, 2, 5) if k * power <= max(side, 1e-6))
        if fitting >= float(self.blocks.size):  # type: ignore[arg-type]
            return self
        blocks = copy(self.blocks)
        blocks.size = fitting
        return replace(self, blocks=blocks)

    def without_rows(self) -> "Validation":
        """Return what is left where this process does not see the rows."""
        if self.chooses:
            raise CommandError(
                "Blocks and groups need all rows in this process: use --engine local, or leave "
                "--cv block:... and --group out."
            )
        return Validation(number=self.number)

    @property
    def compares(self) -> bool:
        """Tell whether there are blocks or groups to judge by."""
        return self.blocks is not None or self.group is not None

    @property
    def name(self) -> str:
        """What is left out, in words."""
        if self.blocks is None:
            return f"whole groups of {self.group!r}"
        parts = []
        if self.blocks.coordinates is not None:
            parts = [f"{side:g}" for side in self.blocks.sizes]
        elif self.blocks.size is not None:
            unit = "°" if self.blocks.unit == "degree" else " km"
            parts.append(f"{self.blocks.size:g}{unit}")
        if self.blocks.time is not None:
            parts.append(f"{self.blocks.time_size:g} of time")
        return f"blocks of {' × '.join(parts)}"

    def labels(self, rows: Any) -> Array:
        """Return the group of each training row."""
        if self.blocks is not None:
            return np.concatenate([self._of_blocks(X) for X, *_ in rows.train()[0]])
        found = np.concatenate(list(self._of_groups()))[rows.kept]
        return np.asarray(found[rows.split.is_train(0, rows.n_rows)])

    def _of_blocks(self, X: Any) -> Array:
        assert self.blocks is not None
        return self.blocks.blocks(self._values(X))

    def _values(self, X: Any) -> Any:
        """Return rows in degrees, unless blocks are those of columns as they are."""
        plain = self.blocks is not None and self.blocks.coordinates is not None
        return X if self.degrees is None or plain else np.asarray(self.degrees(X))

    def _of_groups(self) -> Iterator[Array]:
        assert self.table is not None
        assert self.group is not None
        for batch in self.table.batches([self.group]):
            yield np.array([str(value) for value in batch.column(self.group).to_pylist()])

    def picture(self, X: Any, labels: Array) -> dict[str, Array]:
        """Return places and folds of some training rows, given the blocks of all; {} of groups."""
        if self.blocks is None or self.blocks.size is None or self.blocks.coordinates is not None:
            return {}
        folds = {}
        splits = GroupKFold(_n_splits(labels)).split(labels, groups=labels)
        for number, (_, test) in enumerate(splits):
            folds.update(dict.fromkeys(labels[test].tolist(), number))
        values = self._values(X)
        lat, lon = self.blocks.places(values)
        own = self.blocks.blocks(values).tolist()
        return {"lat": lat, "lon": lon, "fold": np.array([folds[label] for label in own])}

    def judge(
        self, learner: Any, rows: Any, labels: Array, test: dict[str, float], screen: Screen
    ) -> dict[str, Any]:
        """Compare the errors; return what the report says of them, or {} if it cannot be known.

        Parameters
        ----------
        learner : estimator
            Fitted to the training rows.
        rows : TrainingRows
        labels : ndarray
            The group of each training row.
        test : dict
            The measures on random rows.
        screen : Screen
        """
        n_splits = _n_splits(labels)
        held = source_of(*rows.train()).hold(KEPT_BYTES)
        if held is None or n_splits < 2:
            why = "the rows do not fit into memory" if held is None else "there is one only"
            screen.note(f"The error on {self.name} is not measured: {why}.")
            return {}
        found = errors_by_group(learner, held.X, np.asarray(held.y), labels, n_splits=n_splits)
        return _compared(self.name, test, found.measures(), screen)


def _n_splits(labels: Array) -> int:
    """Return how many folds judge a model: as many as usual, or as there are groups."""
    return min(N_SPLITS, len(np.unique(labels)))


def _compared(
    name: str, random: dict[str, float], blocks: dict[str, float], screen: Screen
) -> dict[str, Any]:
    measure = "rmse" if "rmse" in blocks else "accuracy"
    ratio = None
    if measure in random:
        pair = [m[measure] if measure == "rmse" else 1 - m[measure] for m in (blocks, random)]
        ratio = pair[0] / pair[1] if pair[1] > 0 else None
    advice = (
        f"Believe the error on {name} for what is far from the data (holes, other regions or "
        "groups), and the error on random rows for what lies between them."
    )
    if ratio is not None and ratio > APART:
        text = (
            f"The error on {name} is {ratio:.1f} times that on random rows: the model interpolates "
            "well, but is much less sure away from the data."
        )
        screen.warnings.append(text)
        screen.note(f"Warning: {text}")
    return {"name": name, "random": random, "blocks": blocks, "ratio": ratio, "advice": advice}
