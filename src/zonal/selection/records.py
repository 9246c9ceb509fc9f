"""Lines of the table of what was tried."""

import math
from typing import Any

from .candidates import Candidate

__all__ = ["left_out", "record"]

# The round of what was left out.
NEVER = 7


def record(
    round_: int,
    candidate: Candidate | None,
    *,
    metric: bool,
    features: str,
    columns: int,
    error: float,
    seconds: float,
    local: str = "none",
) -> dict[str, Any]:
    """Return the line of one trial; no candidate: no features."""
    return {
        "round": round_,
        "kernel": "none" if candidate is None else candidate.family,
        "width": None if candidate is None else candidate.width,
        "rest_width": None if candidate is None else candidate.rest_width,
        "metric": metric,
        "features": features,
        "columns": columns,
        "local": local,
        "error": error,
        "seconds": seconds,
        "chosen": False,
    }


def left_out(what: list[str]) -> list[dict[str, Any]]:
    """Return the lines of what there was no time for, each once."""
    return [
        record(
            NEVER,
            None,
            metric=False,
            features=f"no time for {name}",
            columns=0,
            error=math.nan,
            seconds=0.0,
        )
        for name in dict.fromkeys(what)
    ]
