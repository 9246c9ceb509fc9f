"""Targets with a likelihood of their own: counts, amounts, shares, and what they are out of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import numpy as np

from .._typing import Array
from ..evaluation import Split
from ..learners import KernelGLM
from ..learners.glm_targets import pack
from ..likelihoods import as_likelihood
from ..tables.frames import FrameStream
from .errors import CommandError
from .training import LocalTrainingRows

__all__ = ["AtParts", "LikelihoodName", "Response", "ResponseRows", "response_of"]


class LikelihoodName(StrEnum):
    """The likelihoods, as `zonal.likelihoods` names them."""

    POISSON = "poisson"
    NEGATIVE_BINOMIAL = "negative_binomial"
    GAMMA = "gamma"
    BERNOULLI = "bernoulli"
    BINOMIAL = "binomial"
    STUDENT = "student"


@dataclass(frozen=True)
class Response:
    """What the options say of the target.

    Attributes
    ----------
    likelihood : str
    part : {"exposure", "offset", "trials"} or None
        What a column tells of each row, if there is one.
    column : str or None
        Its name.
    """

    likelihood: str
    part: str | None = None
    column: str | None = None

    @property
    def notes(self) -> dict[str, str]:
        """What a model remembers of it."""
        if self.part is None or self.column is None:
            return {}
        return {"part": self.part, "part_column": self.column}

    def given(self, values: Any) -> dict[str, Any]:
        """Return the values of the column as `KernelGLM` takes them."""
        return {} if self.part is None else {self.part: values}

    def predictor(self, model: KernelGLM) -> "AtParts":
        """Return a model of rows that have the column."""
        return AtParts(model, self.part, self.column)

    def check(self, rows: FrameStream, target: str) -> None:
        """Raise an error for the first row outside the support, by its number and its value."""
        first: tuple[int, str] | None = None
        n_seen = 0
        for _, y, *others in rows:
            if first is None:
                first = self._first_problem(np.asarray(y, float), target, n_seen, *others)
            n_seen += len(y)
        if first is not None:  # which row of the table it is, the whole pass tells
            row = int(np.flatnonzero(rows.kept)[first[0]]) + 1
            raise CommandError(f"Row {row} (counted from 1, without the header) has {first[1]}")

    def _first_problem(
        self, y: Array, target: str, n_seen: int, values: Array | None = None
    ) -> tuple[int, str] | None:
        own = as_likelihood(self.likelihood)
        found: list[tuple[int, str]] = []

        def note(bad: Array, words: Callable[[int], str]) -> None:
            if bad.any():
                place = int(bad.argmax())
                found.append((n_seen + place, words(place)))

        note(
            own.outside(y),
            lambda k: (
                f"{y[k]:g} in column {target!r}, but --likelihood {self.likelihood} takes "
                f"{own.support}. Correct it, or use another likelihood."
            ),
        )
        if values is not None and self.part == "exposure":
            note(
                ~(values > 0),
                lambda k: (
                    f"the exposure {values[k]:g} in column {self.column!r}: it must be "
                    "positive. Leave such rows out."
                ),
            )
        if values is not None and self.part == "trials":
            note(
                (values < 1) | (values != np.floor(values)),
                lambda k: (
                    f"{values[k]:g} trials in column {self.column!r}: it must be a whole "
                    "number of at least 1."
                ),
            )
            note(
                y > values,
                lambda k: (
                    f"{y[k]:g} in column {target!r}, which is more than its {values[k]:g} "
                    f"trials in column {self.column!r}."
                ),
            )
        return min(found, default=None)


def response_of(
    likelihood: LikelihoodName | None, exposure: str | None, offset: str | None, trials: str | None
) -> Response | None:
    """Return what options say of the target; None: a number, by least squares.

    Parameters
    ----------
    likelihood : LikelihoodName, optional
    exposure, offset, trials : str, optional
        Names of columns.
    """
    columns = {"exposure": exposure, "offset": offset, "trials": trials}
    given = {part: column for part, column in columns.items() if column is not None}
    if likelihood is None:
        if given:
            part = next(iter(given))
            wanted = "binomial" if part == "trials" else "poisson"
            raise CommandError(
                f"--{part} goes with a likelihood: add --likelihood {wanted}, or leave it out."
            )
        return None
    if len(given) > 1:
        raise CommandError(
            f"{' and '.join(f'--{part}' for part in given)} do not go together: give one of them. "
            "(The logarithm of an exposure is an offset.)"
        )
    own = as_likelihood(likelihood.value)
    if likelihood == "binomial" and trials is None:
        raise CommandError(
            "--likelihood binomial needs --trials COL, the number of trials of each row; for 0 and "
            "1 use --likelihood bernoulli."
        )
    if trials is not None and likelihood != "binomial":
        raise CommandError(f"--trials is for --likelihood binomial, not for {likelihood.value}.")
    if exposure is not None and not own.log_link:
        raise CommandError(
            f"--exposure is for counts and amounts, not for --likelihood {likelihood.value}: use "
            "--offset."
        )
    for part, column in given.items():
        return Response(likelihood.value, part, column)
    return Response(likelihood.value)


class ResponseRows(LocalTrainingRows):
    """Rows that this process reads block by block, with what their responses are out of.

    Parameters
    ----------
    rows : FrameStream
    split : Split
    response : Response
    """

    def __init__(self, rows: FrameStream, split: Split, response: Response) -> None:
        super().__init__(rows, split)
        self.response = response

    def train(self) -> tuple[Any, ...]:
        """Return the training rows as a stream of rows and packed responses."""
        (part,) = self.split.train(self._rows)
        return (_Packed(part, self.response),)

    def all(self) -> tuple[Any, ...]:
        """Return all rows, each with its part as a further column."""
        return (_WithColumn(self._rows, self.response),)


@dataclass(frozen=True)
class _Packed:
    """Blocks (X, [response, offset, trials])."""

    rows: Any
    response: Response

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        own = as_likelihood(self.response.likelihood)
        for X, y, *values in self.rows:
            yield X, pack(own, y, **self.response.given(values[0] if values else None))


@dataclass(frozen=True)
class _WithColumn:
    """Blocks (X, y) whose rows have a part as their last column, where there is one."""

    rows: Any
    response: Response

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for X, y, *values in self.rows:
            yield (X.assign(**{str(self.response.column): values[0]}) if values else X), y


class AtParts:
    """A fitted `KernelGLM` that finds exposures, offsets or trials in a column of the rows.

    Parameters
    ----------
    model : KernelGLM
        Fitted.
    part, column : str or None
        As in `Response`.
    """

    #: Quantiles are those of the likelihood.
    calibration_ = None

    def __init__(
        self, model: KernelGLM, part: str | None = None, column: str | None = None
    ) -> None:
        self.model = model
        self.part = part
        self.column = column

    def _rows(self, X: Any) -> tuple[Any, dict[str, Any]]:
        if self.part is None:
            own, given = X, {}
        else:
            own, given = X.drop(columns=self.column), {self.part: X[self.column].to_numpy(float)}
        return (own if hasattr(self.model, "feature_names_in_") else np.asarray(own)), given

    def predict(self, X: Any) -> Array:
        """Predict means: [n]."""
        rows, given = self._rows(X)
        return np.asarray(self.model.predict(rows, **given))

    def predict_quantiles(self, X: Any, q: Any) -> Array:
        """Predict quantiles: [n, n_quantiles]."""
        rows, given = self._rows(X)
        return np.asarray(self.model.predict_quantiles(rows, q, **given))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[Array, Array]:
        """Predict intervals of observations: [n], [n]."""
        rows, given = self._rows(X)
        lower, upper = self.model.predict_interval(rows, coverage, **given)
        return np.asarray(lower), np.asarray(upper)

    def without_sums(self) -> Self:
        """Return a copy that predicts the same."""
        return type(self)(self.model.without_sums(), self.part, self.column)

    def __sklearn_tags__(self) -> Any:
        """What kind of estimator it stands for."""
        return self.model.__sklearn_tags__()
