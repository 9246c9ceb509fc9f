"""The table of what was tried."""

import html
import importlib.util
from typing import Any

__all__ = ["Records", "selection_table"]


class Records(list[dict[str, Any]]):
    """Rows of a table, where pandas is not installed."""

    def _repr_html_(self) -> str:
        if not self:
            return "<p>empty</p>"
        header = "".join(f"<th>{html.escape(str(name))}</th>" for name in self[0])
        rows = (
            "<tr>" + "".join(f"<td>{html.escape(_text(v))}</td>" for v in record.values()) + "</tr>"
            for record in self
        )
        return f"<table><tr>{header}</tr>{''.join(rows)}</table>"


def selection_table(records: list[dict[str, Any]]) -> Any:
    """Records as a pandas frame, or as a list that shows itself as a table."""
    if importlib.util.find_spec("pandas") is None:
        return Records(records)
    import pandas as pd

    return pd.DataFrame.from_records(records)


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
