"""Rows of data, whoever holds them: arrays, files, iterators, clusters.

- `hashing`: choosing rows by a hash of their numbers, so that chunks never matter;
- `block`, `survey`: consecutive rows, and what one look at all of them tells;
- `source`: the protocol (survey, reduce); `array`, `stream` and `dask` keep it;
- `kinds`, `dispatch`: which kind of rows is which, and methods that take all of them;
- `threads`, `progress`: blocks of rows on all cores, with a bar;
- `cluster`, `dask_blocks`, `dask_map`, `shipping`: the rest of Dask.
"""

from .block import Block
from .dispatch import blockwise, sample_of, sampled, source_of
from .hashing import LEARN_ROWS, row_hash, sample_rows
from .source import Source

__all__ = [
    "LEARN_ROWS",
    "Block",
    "Source",
    "blockwise",
    "row_hash",
    "sample_of",
    "sample_rows",
    "sampled",
    "source_of",
]
