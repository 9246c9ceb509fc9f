"""Progress bars, on request."""

from collections.abc import Iterable
from typing import Any

__all__ = ["progress"]


def progress(items: Iterable[Any], verbose: bool, description: str) -> Iterable[Any]:
    """Return the items, with a bar (tqdm) if `verbose` and they take more than two seconds."""
    if not verbose:
        return items
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ImportError(
            "verbose=True shows its progress with tqdm: pip install 'zonal[progress]', or use "
            "verbose=False."
        ) from error
    bar: Iterable[Any] = tqdm(items, desc=description, delay=2.0)
    return bar
