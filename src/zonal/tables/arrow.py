"""pyarrow, which reads all tables, imported when the first one is opened."""

from functools import cache
from typing import Any

__all__ = ["arrow"]


@cache
def arrow() -> Any:
    """Return the package pyarrow with the parts that tables need."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            "zonal reads tables in files with pyarrow: pip install 'zonal[stream]'."
        ) from error
    return pyarrow
