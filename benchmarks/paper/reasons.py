"""Why cells of ours differ from the published ones by more than 5 %, each by a letter.

`docs/theory/reproduction.md` says what each letter stands for, and what was tried.
"""

#: Differences up to this share need no reason.
TOLERANCE = 0.05
#: What stands beside a cell without a measurement.
NOT_RUN = "time"

# Letters of the page; "?" is unknown.
RIDGE: dict[str, dict[str, str]] = {
    "elevation": {"Nyström": "a", "PolySketch": "e", "Maclaurin": "e"},
    "co2": dict.fromkeys(
        ("Nyström", "Fourier", "FastFood", "Maclaurin", "PolySketch", "Gegenbauer"), "b"
    ),
    "climate": dict.fromkeys(
        ("Nyström", "Fourier", "FastFood", "Maclaurin", "PolySketch", "Gegenbauer"), "c"
    ),
    "protein": {"Maclaurin": "e", "PolySketch": "g"},
}


def ridge_reason(dataset: str, method: str) -> str:
    """The letter of a cell of Table 2."""
    return RIDGE[dataset].get(method, "?")


def cluster_reason(method: str) -> str:
    """The letter of a cell of Table 3."""
    return {"Gegenbauer": "d", "Maclaurin": "e", "PolySketch": "e"}.get(method, "f")
