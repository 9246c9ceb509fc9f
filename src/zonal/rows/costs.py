"""What will take minutes or gigabytes says so before it starts."""

import os
import warnings

from .threads import thread_count

__all__ = ["announce_cost", "duration", "eigen_seconds", "sum_seconds"]

# Cubes of the size a second, of a symmetric eigenproblem, which gains little from a second core;
# and squares of the width times rows a second and core, of sums of products in float64. Measured
# at widths from 1,024 to 2,048 on a core of 2024.
EIGEN_RATE, SUM_RATE = 3e9, 3e10
# Work that is longer, in seconds, is announced; as is more than this share of the memory.
LONG, LARGE = 60.0, 0.25
# More than this share of the machine's memory cannot be had.
MOST = 0.9


def eigen_seconds(size: int, count: float = 1) -> float:
    """Return about how long eigendecompositions of symmetric matrices take."""
    return count * float(size) ** 3 / EIGEN_RATE


def sum_seconds(n_rows: int, width: int) -> float:
    """Return about how long the sums of all products of so many columns take."""
    return n_rows * float(width) ** 2 / (SUM_RATE * thread_count())


def announce_cost(what: str, seconds: float, n_bytes: float, advice: str) -> None:
    """Warn of work that takes minutes or gigabytes; raise ValueError if there is no memory for it.

    Parameters
    ----------
    what : str
        The work, as the beginning of a sentence.
    seconds, n_bytes : float
        What it takes, give or take a factor of two.
    advice : str
        What to change.

    Examples
    --------
    >>> from zonal.rows.costs import announce_cost
    >>> announce_cost("This fit", 1.0, 1e6, "Lower n_components.")  # nothing to say
    """
    memory = _memory()
    if n_bytes > MOST * memory:
        raise ValueError(
            f"{what} needs about {n_bytes / 1e9:,.3g} GB of memory, and this machine has "
            f"{memory / 1e9:,.3g}. {advice}"
        )
    if seconds > LONG or n_bytes > LARGE * memory:
        warnings.warn(
            f"{what} takes about {duration(seconds)} and {n_bytes / 1e9:,.2g} GB of memory. "
            f"{advice}",
            UserWarning,
            stacklevel=2,
        )


def duration(seconds: float) -> str:
    """Return a time in words, rounded."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:,.0f} hours"


def _memory() -> float:
    """Return the bytes of memory that the machine has (without end where it does not say)."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # no such question on this system
        return float("inf")
