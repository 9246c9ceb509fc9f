"""Tables in files, read in one way by `zonal.stream` and by the command line.

- `opening`: from the ending of a name to a `Table`; `csv`, `parquet`, `npz`, `zarr` open each kind;
- `columns`, `values`: which columns are read, and their cells as numbers or classes;
- `stream`, `loaded`, `dask`: the rows block by block, in memory, on a cluster;
- `errors`: what is wrong with a table, and what to do about it.
"""

from .columns import Columns
from .errors import Advice, TableError
from .loaded import LoadedRows, load_rows
from .opening import open_table
from .stream import Stream, stream
from .table import Table

__all__ = [
    "Advice",
    "Columns",
    "LoadedRows",
    "Stream",
    "Table",
    "TableError",
    "load_rows",
    "open_table",
    "stream",
]
