"""How many bytes, files and seconds a fit in parts takes: an estimate before there are any rows.

The seconds are those of a core of the machine of ``benchmarks/results/scale_parts.md``; reading and
writing is not counted in seconds, but in bytes.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from ..kriging.effort import FIRST_ROWS
from ..kriging.joint import NOISE_SHARE
from ..rows.kept import PILOT_BYTES, PILOT_ROWS
from .sorting import BLOCK_ROWS, n_cells_of
from .tree import Tree

__all__ = ["Plan", "Stage"]

# Core-seconds: a row that is looked at for the sample; a row that is sorted, made a place and
# rid of what features explain (20,000,000 rows); a place whitened with D features, a + b D (27, 29
# and 38 µs with 4, 64 and 256 at 300,000 rows and 32 neighbours); the choice, once.
SURVEYED, SORTED = 0.3e-6, 1.4e-6
WHITENED, WHITENED_A_FEATURE = 27e-6, 0.045e-6
CHOICE = 8.0
# Places around a cell, over those in it, and copies of an array while a task is at work.
AROUND, COPIES = 1.3, 4
# Bytes of a number, and of the number of a place in a tree.
NUMBER, NAMED = 8, 4


class Stage(NamedTuple):
    """One stage of a fit.

    Attributes
    ----------
    name : str
    read, written, sent : float
        Bytes: read from and written to files by all workers, and sent to the client.
    seconds : float
        Of work, shared by the workers where there are several parts.
    """

    name: str
    read: float
    written: float
    sent: float
    seconds: float


@dataclass(frozen=True)
class Plan:
    """A fit of a model with a local part to rows in parts.

    Attributes
    ----------
    n_rows, n_columns, n_targets : int
    n_features : int
        Features beside the local part; zero: those of the split kernel. The coefficients of both
        need the first places only.
    n_workers : int
    """

    n_rows: int
    n_columns: int = 3
    n_targets: int = 1
    n_features: int = 0
    n_workers: int = 1

    @property
    def n_cells(self) -> int:
        """The number of parts."""
        return max(1, 1 << (n_cells_of(self.n_rows) - 1).bit_length())

    @property
    def n_slices(self) -> int:
        """Slices of the shuffle: each cell reads one of each block."""
        return -(-self.n_rows // BLOCK_ROWS) * self.n_cells

    @property
    def model_bytes(self) -> int:
        """Bytes of the parts of the fitted model: rows, hashes, weights, what is left, trees."""
        boxes = self.n_cells * Tree.n_nodes(-(-self.n_rows // self.n_cells)) * 2 * self.n_columns
        numbers = self.n_rows * (self.n_columns + 2 + self.n_targets) + boxes
        return NUMBER * numbers + NAMED * self.n_rows

    @property
    def worker_bytes(self) -> float:
        """Bytes that a task of a worker holds at a time."""
        places = AROUND * self.n_rows / self.n_cells
        numbers = COPIES * (self.n_columns + self.n_targets + 4)
        return NUMBER * (places * numbers + 3 * (self.n_features + 2) ** 2)

    @property
    def client_bytes(self) -> float:
        """The most bytes that the client receives at once."""
        return max(stage.sent for stage in self.stages())

    def stages(self) -> list[Stage]:
        """Return the stages of the fit, in their order."""
        n, row = self.n_rows, NUMBER * (self.n_columns + self.n_targets)
        pilot = min(PILOT_ROWS * row, PILOT_BYTES, n * row)
        blocks = n * (row + NUMBER)
        found = [
            Stage("survey", n * row, 0, pilot, SURVEYED * n / self.n_workers),
            Stage("choice", 0, 0, 0, CHOICE),
            Stage("shuffle", n * row + blocks, blocks + self.model_bytes, 0, 0.0),
            Stage(
                "places", self.model_bytes, NUMBER * n * self.n_targets, 32.0 * self.n_cells,
                SORTED * n / self.n_workers,
            ),
        ]  # fmt: skip
        if self.n_features:
            places = min(n, max(FIRST_ROWS, math.ceil(self.n_features / NOISE_SHARE)))
            pace = WHITENED + WHITENED_A_FEATURE * self.n_features
            found.append(Stage("moments", 0, 0, places * (row + 2 * NUMBER), pace * places))
        return found

    @property
    def seconds(self) -> float:
        """Seconds of work in all, without files."""
        return sum(stage.seconds for stage in self.stages())

    def __str__(self) -> str:
        """Return the plan as a table in words."""
        lines = [
            f"{self.n_rows:,} rows of {self.n_columns} columns and {self.n_targets} targets, "
            f"{self.n_features} features beside the local part, {self.n_workers} workers",
            f"{'stage':10}{'read':>10}{'written':>10}{'to client':>11}{'seconds':>9}",
        ]
        for name, *sizes, seconds in self.stages():
            read, written, sent = (_bytes(size) for size in sizes)
            lines.append(f"{name:10}{read:>10}{written:>10}{sent:>11}{seconds:9,.0f}")
        lines.append(
            f"{self.n_cells:,} parts of {self.n_rows // self.n_cells:,} rows, {self.n_slices:,} "
            f"slices in the shuffle; a task holds {_bytes(self.worker_bytes)}; the model has "
            f"{_bytes(self.model_bytes)} of parts; {self.seconds:,.0f} s beside reading and writing"
        )
        return "\n".join(lines)


def _bytes(size: float) -> str:
    """Return bytes in words.

    Examples
    --------
    >>> from zonal.partitions.plan import _bytes
    >>> _bytes(0), _bytes(32_000), _bytes(4e7), _bytes(3.2e10)
    ('0', '32 kB', '40 MB', '32 GB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f}"
