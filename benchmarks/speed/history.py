"""The ratios of every run of `make bench`, one line a run, so that a slower version shows."""

import datetime
from collections.abc import Sequence
from pathlib import Path

import zonal

from .line import Line

__all__ = ["remember"]

FILE = Path(__file__).parents[1] / "results" / "history.md"
# Column, and the beginnings of what and peer of the line that it is about.
COLUMNS = [
    ("Gegenbauer transform / RBFSampler", "GegenbauerFeatures.transform, d = 3", "RBFSampler"),
    ("harmonic transform / RBFSampler", "HarmonicFeatures.transform, d = 3", "RBFSampler"),
    ("fit / RBFSampler + Ridge", "KernelRidge.fit, alpha = 1", "RBFSampler + Ridge"),
    ("fit / bare ssyrk, degree 31", "KernelRidge.fit, degree 31, alpha = 1", "ssyrk"),
    ("predict / RBFSampler + Ridge", "KernelRidge.predict", "RBFSampler + Ridge"),
]


def remember(lines: Sequence[Line], file: Path = FILE) -> None:
    """Add a line for this run to the history."""
    found = []
    for _, what, peer in COLUMNS:
        ratios = [
            line.judged
            for line in lines
            if line.what.startswith(what) and line.peer.startswith(peer)
        ]
        found.append(f"{ratios[0]:.2f}" if ratios else "")
    today = datetime.datetime.now(datetime.UTC).date()
    row = [str(today), zonal.__version__, *found]
    with file.open("a") as text:
        text.write(f"| {' | '.join(row)} |\n")
