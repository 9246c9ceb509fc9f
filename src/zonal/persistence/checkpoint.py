"""Checkpoints: what a long fit over a stream has summed so far, in a file."""

import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
from sklearn.base import BaseEstimator

from .._validation import check_count
from ..rows.block import Block
from .functions import user_functions
from .models import load, save

__all__ = ["Checkpoint", "Run"]


class Checkpoint:
    """Where and how often a fit over a stream saves its sums.

    Parameters
    ----------
    path : path-like
        The file. A fit that finds it goes on from there; one that ends removes it.
    every : int, default=16
        Blocks between two saves. A block is eight times the rows whose features take 16 MB.
    """

    def __init__(self, path: str | os.PathLike[str], every: int = 16) -> None:
        self.path = Path(path)
        self.every = check_count("every", every, "Checkpoint")


class Progress(BaseEstimator):
    """What the file holds.

    Attributes
    ----------
    learner : Learner
        With what it has learnt from the sample.
    sums : object
        Over the rows so far.
    rows : int
        How many these are.
    digest : str
        A hash of them.
    settings : str
        The learner's parameters.
    """

    def __init__(self, learner: Any, sums: Any, rows: int, digest: str, settings: str) -> None:
        self.learner = learner
        self.sums = sums
        self.rows = rows
        self.digest = digest
        self.settings = settings


class Run:
    """A fit with a checkpoint: takes up what the file holds, and writes it.

    Parameters
    ----------
    checkpoint : Checkpoint or path-like
    learner : Learner
        If the file exists, it gets what the file's learner has learnt.
    """

    def __init__(self, checkpoint: Any, learner: Any) -> None:
        self._checkpoint = (
            checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
        )
        self.path = self._checkpoint.path
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"checkpoint={str(self.path)!r} cannot be written: there is no folder "
                f"{self.path.parent}."
            )
        self._learner = learner
        self._settings = settings_of(learner)
        self._rows, self._digest, self._blocks = 0, "", 0
        self._sums: Any = None
        self.started = self.path.exists()
        if self.started:
            self._take_up()

    def _take_up(self) -> None:
        functions = {name: values[0] for name, values in user_functions(self._learner).items()}
        progress = load(self.path, functions, trusted=[type(self._learner)])
        if not isinstance(progress, Progress):
            raise ValueError(
                f"{self.path} holds a {type(progress).__name__}, not a checkpoint: give another "
                "path as checkpoint."
            )
        if progress.settings != self._settings:
            raise ValueError(
                f"The checkpoint {self.path} was written by {progress.settings}, but this is "
                f"{self._settings}: remove the file to start again, or use the same parameters."
            )
        self._learner.restore(progress.learner)
        self._rows, self._digest = progress.rows, progress.digest
        self._sums = progress.sums

    def skip(self, blocks: Iterator[Block]) -> Any:
        """Read past the rows that are summed already, and return their sums."""
        digest, rows = "", 0
        while rows < self._rows:
            block = next(blocks, None)
            if block is None:
                break
            digest, rows = _extend(digest, block), rows + len(block)
        if rows != self._rows or digest != self._digest:
            raise ValueError(
                f"The checkpoint {self.path} holds sums of {self._rows} rows that are not the "
                "first rows of this data: remove the file to start again, or stream the same rows."
            )
        return self._sums

    def advance(self, block: Block, sums: Any) -> None:
        """Note that a block is summed, and save if it is time."""
        self._digest = _extend(self._digest, block)
        self._rows += len(block)
        self._blocks += 1
        if self._blocks % self._checkpoint.every == 0:
            progress = Progress(self._learner, sums, self._rows, self._digest, self._settings)
            with warnings.catch_warnings():
                # The user's own functions are at hand when the fit goes on.
                warnings.filterwarnings("ignore", "Python functions are not saved", UserWarning)
                save(progress, self.path)

    def finish(self) -> None:
        """Remove the file: the fit has come to its end."""
        self.path.unlink(missing_ok=True)


def settings_of(learner: Any) -> str:
    """Return a learner's parameters in words that are the same in every process."""
    words = learner.__repr__(N_CHAR_MAX=1_000_000)
    return re.sub(r"\s+", " ", re.sub(r" at 0x[0-9a-f]+", "", words))


def _extend(digest: str, block: Block) -> str:
    return str(joblib.hash((digest, *block.parts)))
