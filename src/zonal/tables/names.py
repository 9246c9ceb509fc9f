"""What the name of a column says of its cells."""

import re

__all__ = ["is_name_of_rows"]

# The words of a column's name that make it one of identifiers.
NAMES = frozenset(
    {"id", "ids", "idx", "index", "key", "unnamed", "rowid", "rowname", "rownames", "rownumber",
     "rownum", "uid", "pk", "objectid", "fid", "gid", "oid"}
)  # fmt: skip


def is_name_of_rows(name: str) -> bool:
    """Tell whether the name of a column says that its cells name rows.

    Examples
    --------
    >>> from zonal.tables.names import is_name_of_rows
    >>> [is_name_of_rows(name) for name in ("id", "stationID", "Unnamed: 0", "width", "idea")]
    [True, True, True, False, False]
    """
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)
    return bool(NAMES & {word.lower() for word in words})
