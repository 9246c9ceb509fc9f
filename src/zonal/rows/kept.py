"""Rows that are kept as they pass, for models that need them all."""

from dataclasses import dataclass

from .block import Block, join

__all__ = [
    "BEYOND_MEMORY",
    "GATHERED_BYTES",
    "KEPT_BYTES",
    "PILOT_BYTES",
    "PILOT_ROWS",
    "KeptRows",
    "n_bytes",
]

#: Rows of more bytes than this are not kept unless somebody asks for it.
KEPT_BYTES = 2 << 30
BEYOND_MEMORY = f"more than {KEPT_BYTES >> 30} GB of rows"
#: Where rows can stay in parts, no more than this is gathered: a fit holds about five times the
#: bytes of its rows, and should not need a gigabyte of a machine that only asks a cluster.
GATHERED_BYTES = 128 << 20
#: Of more rows, a model with a local part is chosen by a sample of so many, and of so many bytes.
#: The search for its parameters looks at no more than 100,000 of them.
PILOT_ROWS, PILOT_BYTES = 1 << 19, 64 << 20


def n_bytes(block: Block) -> int:
    """Return the bytes of the rows and targets of a block in memory."""
    total = 0
    for part in block.parts:
        if part is None:
            continue
        if hasattr(part, "memory_usage"):
            usage = part.memory_usage(index=False)
            total += int(usage if isinstance(usage, int) else usage.sum())
        elif hasattr(part, "estimated_size"):  # polars
            total += int(part.estimated_size())
        else:
            total += int(getattr(part, "nbytes", 0) or part.data.nbytes + part.indices.nbytes)
    return total


@dataclass(frozen=True)
class KeptRows:
    """Blocks of rows, in the order in which they were seen.

    Attributes
    ----------
    blocks : tuple of Block
    """

    blocks: tuple[Block, ...] = ()

    def __add__(self, other: "KeptRows") -> "KeptRows":
        """Keep the rows of both."""
        return KeptRows(self.blocks + other.blocks)

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self)

    @property
    def moments(self) -> list[object]:
        """No sums are taken over rows that are kept."""
        return []

    def joined(self) -> Block:
        """Return all rows as one block."""
        return join(list(self.blocks))
