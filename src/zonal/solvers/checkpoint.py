"""The state of an exact solution so far, in a file, and the residuals on the screen."""

import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
from sklearn.base import BaseEstimator

from .._typing import FloatArray
from ..persistence import load, save
from ..persistence.checkpoint import Checkpoint, settings_of
from .conjugate_gradients import State
from .ridge import Settings

__all__ = ["ExactRun"]

# Iterations between two lines on the screen.
SHOWN = 10


class Iterations(BaseEstimator):
    """What the file holds.

    Attributes
    ----------
    state : State
        Of the iterations.
    digest : str
        A hash of the data.
    settings : str
        The learner's parameters.
    """

    def __init__(self, state: Any, digest: str, settings: str) -> None:
        self.state = state
        self.digest = digest
        self.settings = settings


class ExactRun:
    """Watches the iterations of a fit: takes up what a file holds, writes it, and prints.

    Parameters
    ----------
    checkpoint : Checkpoint, path-like or None
    learner : estimator
        Its parameters are compared with those in the file; `verbose` is one of them.
    """

    def __init__(self, checkpoint: Any, learner: Any) -> None:
        if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
            checkpoint = Checkpoint(checkpoint)
        self._checkpoint: Checkpoint | None = checkpoint
        self.path: Path | None = None if checkpoint is None else checkpoint.path
        if self.path is not None and not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"checkpoint={str(self.path)!r} cannot be written: there is no folder "
                f"{self.path.parent}."
            )
        self._settings = settings_of(learner)
        self._verbose = bool(learner.verbose)
        self._digest = ""
        self._n_iterations = 0

    def begin(self, data: Any, before: State | None) -> State | None:
        """Return where to begin: the file's state, else that of an earlier fit."""
        if self.path is None:
            return before
        parts = data.parts if hasattr(data, "parts") else data
        self._digest = str(joblib.hash(parts))
        if not self.path.exists():
            return before
        found = load(self.path)
        if not isinstance(found, Iterations):
            raise ValueError(
                f"{self.path} holds a {type(found).__name__}, not a checkpoint of an exact "
                "solution: give another path as checkpoint."
            )
        if (found.settings, found.digest) != (self._settings, self._digest):
            raise ValueError(
                f"The checkpoint {self.path} was written by {found.settings} on other data or with "
                f"other parameters than {self._settings}: remove the file to start again."
            )
        state: State = found.state
        return state

    def settings(self, settings: Settings, data: Any, before: State | None) -> Settings:
        """Return settings that begin where the file or an earlier fit ended, and are watched."""
        watched = self.path is not None or self._verbose
        start = self.begin(data, before)
        return replace(settings, start=start, watch=self.watch if watched else None)

    def watch(self, state: State, residuals: FloatArray) -> None:
        """Note an iteration."""
        self._n_iterations += 1
        if self._verbose and self._n_iterations % SHOWN == 0:
            line = f"iteration {self._n_iterations}: residual {residuals.max():.3g}"
            print(line, file=sys.stderr, flush=True)
        if self._checkpoint is not None and self._n_iterations % self._checkpoint.every == 0:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Python functions are not saved", UserWarning)
                save(Iterations(state, self._digest, self._settings), self._checkpoint.path)

    def finish(self) -> None:
        """Remove the file: the fit has come to its end."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
