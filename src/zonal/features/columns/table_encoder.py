"""Tables as people have them, made ready for a kernel: words, gaps, dates, skewed numbers."""

import copy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from ..._suggestions import near
from ..._typing import Array
from ..._validation import as_frame, check_choice, check_count, valid_rows
from ...rows import Source, source_of
from ...rows.dispatch import blockwise
from ...rows.kinds import is_frame, is_many
from .metric.targets import StandardTargets
from .table.building import Builder, find_place
from .table.cells import Cells, columns_of
from .table.counting import folds_of, sum_words
from .table.encoding import Encoding, SplitTable
from .table.identifiers import identifiers, warn_left_out
from .table.reader import CellError, Reader

__all__ = ["TableEncoder"]


class TableEncoder(TransformerMixin, BaseEstimator):
    r"""Columns of numbers, words and dates, with gaps, as rows of numbers for a kernel.

    Every column of the table gets about the weight of one standardised number in Euclidean
    distances:

    - *numbers* have mean zero and variance one; as they are, or first mapped to normal scores by a
      smooth monotone function that goes on along its tangent outside the range seen;
    - *words*, booleans and categories: the levels are vertices of a simplex, all at the distance
      :math:`\sqrt{2 / (1 - \sum_k p_k^2)}`, at most 2, where :math:`p_k` is the share of a level;
      from `max_levels` on they are means of the targets, shrunken, and for training rows without
      their own target (see `fit_transform`). Levels with fewer than five rows share one;
      a level never seen is in the middle. Ordered categoricals are numbered;
    - *combinations* of words of more levels than that, with each other and with days, hours,
      weekdays and months of dates: one column more, the sum of shrunken means over those that
      tell something, where a kernel regression gains by it on held-out rows;
    - *dates* (and periods): seconds as a number, and a place on the unit circle for each of day,
      week and year that they span; *times of day*: a place on the unit circle; durations: seconds;
    - *gaps*: the mean, or what a ridge regression on the other columns says where held-out rows are
      in favour; and an indicator if `fit` met any. A gap among words is a level;
    - *latitude and longitude*: a point of the unit sphere;
    - columns that are constant, words of which none occurs five times and whole numbers that name
      or count the rows (identifiers) are left out, with a `LeftOutWarning`.

    Text is read where a whole column is of one kind: as numbers (``4,733`` or ``1.234,5`` too),
    dates (``2020-12-31``, ``31/12/2020``, ``12/31/2020``, ``31 Dec 2020``; the day is first where
    no cell tells), times of day (``14:30``, ``2:30 pm``) or durations (``1 days 02:30:00``).

    Parameters
    ----------
    categorical, numeric, ignore : sequences of str, default=()
        Columns that are words or numbers whatever they look like (what is no number is missing
        then), or that are left out.
    numbers : {"auto", "plain", "normal"}, default="auto"
        Whether numbers are mapped to normal scores. ``"auto"``: none, all or the skewed ones,
        whatever a kernel regression on held-out rows does best with; plain without y.
    max_levels : int, default=12
        The most levels that become a simplex.
    latitude, longitude : str or None, default="auto"
        The columns of a place in degrees. ``"auto"``: those with such names, if all their values
        are degrees. None: none.
    task : {"auto", "regression", "classification"}, default="auto"
        What y holds; as in `LearnedMetric`.

    Attributes
    ----------
    columns_ : list of dict
        What was done with each column: ``column``, ``kind``, ``encoding``, ``note``.
    n_features_in_, feature_names_in_
        The columns of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> import zonal
    >>> table = pd.DataFrame({"carat": [0.2, 0.4, None, 1.0] * 5, "cut": ["fair", "good"] * 10})
    >>> encoder = zonal.TableEncoder().fit(table)
    >>> encoder.transform(table[:3]).round(2)
    array([[-0.98, -0.5 , -1.  ],
           [-0.39, -0.5 ,  1.  ],
           [ 0.  ,  1.5 , -1.  ]])
    >>> list(encoder.get_feature_names_out())
    ['carat', 'carat_missing', 'cut_good']
    """

    thread_safe = True
    #: The labels of `fit`, if y held any.
    _classes: Array | None = None

    def __init__(
        self,
        *,
        categorical: Any = (),
        numeric: Any = (),
        ignore: Any = (),
        numbers: str = "auto",
        max_levels: int = 12,
        latitude: str | None = "auto",
        longitude: str | None = "auto",
        task: str = "auto",
    ) -> None:
        self.categorical = categorical
        self.numeric = numeric
        self.ignore = ignore
        self.numbers = numbers
        self.max_levels = max_levels
        self.latitude = latitude
        self.longitude = longitude
        self.task = task

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        row_numbers: Any = None,
        source: Source | None = None,
    ) -> Self:
        """Learn how columns are read and encoded.

        Parameters
        ----------
        X : frame (pandas, polars, pyarrow) or array-like of shape (n_samples, n_features)
            The table; or blocks of it, of which a sample of 10,000 rows is learnt from, and words
            from all of them in one more pass (but for an iterator, which has only one).
        y : array-like of shape (n_samples,) or (n_samples, n_targets), optional
            Targets or labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights; a row of weight 2 counts as two rows.
        row_numbers : array-like of int, of shape (n_samples,), optional
            Where these rows are a sample: their numbers among all rows, by which
            `transform_training` knows them again.
        source : Source, optional
            Where these rows are a sample: all rows, for the words.

        Returns
        -------
        self
        """
        if is_many(X):
            source = source_of(X, y, sample_weight)
            row_numbers, X, y, sample_weight = source.survey().sample
        self._learn(self._cells(X, reset=True), y, sample_weight, row_numbers, source)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and encode the same rows for training: a level's mean leaves out the row's fold.

        So that a model behind it does not learn to trust means that contain its own targets.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_out)
        """
        self.fit(X, y, sample_weight)
        return self.transform(X) if is_many(X) else self.transform_training(X)

    @blockwise
    def transform(self, X: Any) -> Array:
        """Encode rows.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_out)
        """
        return self._encode(X)

    def transform_training(self, X: Any, row_numbers: Any = None) -> Array:
        """Encode rows that `fit` has seen; see `fit_transform`.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
        row_numbers : array-like of int, of shape (n_samples,), optional
            Their numbers among all rows, by default from zero on.

        Returns
        -------
        ndarray of shape (n_samples, n_out)
        """
        return self._encode(X, training=True, row_numbers=row_numbers)

    def split_table(self, X: Any, y: Any, sample_weight: Any = None) -> SplitTable | None:
        """Return rows that `fit` has seen, to be encoded anew for each split of them.

        Where some rows are held out, nothing that looks at targets may have seen theirs.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        SplitTable or None
            None where the encoder has not looked at targets: rows are the same in all splits.
        """
        check_is_fitted(self)
        if not self._encoding.learns_targets:
            return None
        values = self._encoding.read(self._cells(X, reset=False))
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
        dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        y = np.asarray(y)
        return SplitTable(self._encoding, values, y, weights, self.task, self._classes, dtype)

    def refitted(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Return this encoder with other rows in the place of those of `fit`.

        How columns are read and which there are stays; all that targets go into is learnt again.

        Parameters
        ----------
        X, y, sample_weight
            As in `split_table`.
        """
        table, other = self.split_table(X, y, sample_weight), copy.copy(self)
        if table is not None:
            found = table.learnt_from(np.ones(len(table.y), bool))
            other._parts, other._fills = found.parts, found.fills
        return other

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return names of the columns of the output; ``groups`` tells where they come from.

        Parameters
        ----------
        input_features : array-like of str, optional
            Ignored but for their number, if `fit` has seen names.

        Returns
        -------
        ndarray of str, of shape (n_out,)
        """
        check_is_fitted(self)
        inputs = _check_feature_names_in(self, input_features)
        if hasattr(self, "feature_names_in_"):
            return np.array([n for part in self._parts.values() for n in part.names], dtype=object)
        renamed = dict(zip((f"x{j}" for j in range(len(inputs))), inputs, strict=True))
        found = []
        for name, part in self._parts.items():
            known = str(renamed.get(name, name))  # combined columns keep their own
            found += [known + out.removeprefix(name) for out in part.names]
        return np.array(found, dtype=object)

    @property
    def kinds_(self) -> dict[str, str]:
        """What each column that is read holds: number, date, time or word."""
        return {name: reader.kind for name, reader in self._readers.items()}

    @property
    def groups_(self) -> list[str]:
        """The column of the table that each column of the output comes from."""
        return [column for column, part in self._parts.items() for _ in part.names]

    @property
    def _encoding(self) -> Encoding:
        return Encoding(self._readers, self._parts, self._fills, self._place)

    def _encode(self, X: Any, training: bool = False, row_numbers: Any = None) -> Array:
        check_is_fitted(self)
        dtype = getattr(X, "dtype", None)
        cells = self._cells(X, reset=False)
        folds = _folds(cells, row_numbers) if training else None
        rows = self._encoding.rows(self._encoding.read(cells), folds)
        return rows.astype(np.float32 if dtype == np.float32 else np.float64)

    def _cells(self, X: Any, reset: bool) -> dict[str, Cells]:
        """Return the columns of X by name."""
        X = as_frame(X)
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if X.shape[0] == 0:
                raise ValueError("X has 0 rows; at least one is needed.")
            return columns_of(X)
        kept = X if hasattr(X, "dtype") and X.dtype.kind in "fO" else np.asarray(X)
        dtype = object if getattr(kept, "dtype", np.dtype(float)).kind in "OUSb" else None
        options: dict[str, Any] = {"dtype": dtype, "ensure_all_finite": False}
        rows = valid_rows(self, X, reset=reset, **options)
        if rows.dtype.kind == "c":
            raise ValueError("Complex data not supported: the table must hold real numbers.")
        return columns_of(rows)

    def _learn(
        self,
        cells: dict[str, Cells],
        y: Any,
        sample_weight: Any,
        row_numbers: Any,
        source: Source | None,
    ) -> None:
        self._check_parameters(list(cells))
        empty = np.empty((_n_rows(cells), 0))
        weights = _check_sample_weight(
            sample_weight, empty, dtype=np.float64, ensure_non_negative=True
        )
        if not weights.any():
            raise ValueError("All sample weights are zero: at least one row must count.")
        standard = targets = None
        if y is not None:
            check_consistent_length(empty, y)
            standard = StandardTargets.of(y, weights, self.task)
            targets = standard(y)
        self._classes = None if standard is None else standard.classes
        numbers = np.arange(len(empty)) if row_numbers is None else np.asarray(row_numbers)
        told = {*self.categorical, *self.numeric, self.latitude, self.longitude}
        notes = dict.fromkeys(self.ignore, "as asked for")
        used = {name: column for name, column in cells.items() if name not in notes}
        found = identifiers(used, numbers).items()
        notes |= {name: note for name, note in found if name not in told}
        self._readers, values = self._read({n: c for n, c in used.items() if n not in notes})
        named = hasattr(self, "feature_names_in_")
        self._place = find_place(values, self.latitude, self.longitude, named)
        builder = Builder(
            values,
            targets,
            weights,
            _folds(cells, row_numbers),
            self._place,
            self.numbers,
            int(self.max_levels),
            {} if source is None else sum_words(source, self._readers, standard),
            notes,
        )
        self._parts = builder.parts()
        crossed = builder.crossed(self._parts)
        if crossed is not None:
            self._parts[" x ".join(crossed.columns)] = crossed
        self._fills = builder.fills(self._parts)
        if not self._parts:
            reasons = "; ".join(f"{name!r}: {note}" for name, note in builder.notes.items())
            raise ValueError(
                f"No column is left to learn from (n_samples={len(empty)}). {reasons}."
            )
        self.columns_ = [self._record(name, builder.notes.get(name, "")) for name in cells]
        if crossed is not None:
            combined = {"column": " x ".join(crossed.columns), "kind": ""}
            self.columns_.append(combined | {"encoding": crossed.description, "note": ""})
        warn_left_out(self.columns_, self.ignore)

    def _read(self, cells: dict[str, Cells]) -> tuple[dict[str, Reader], dict[str, Array]]:
        """Decide how columns are read, and read them; all mistakes come in one message."""
        readers: dict[str, Reader] = {}
        values: dict[str, Array] = {}
        mistakes: list[CellError] = []
        for name, column in cells.items():
            try:
                reader = Reader.of(name, column, name in self.categorical, name in self.numeric)
                readers[name], values[name] = reader, reader.read(column)
            except CellError as error:
                mistakes.append(error)
        if len(mistakes) == 1:
            raise mistakes[0]
        if mistakes:
            raise ValueError("\n".join(map(str, mistakes)))
        return readers, values

    def _check_parameters(self, names: list[str]) -> None:
        owner = type(self).__name__
        check_choice("numbers", self.numbers, ("auto", "plain", "normal"), owner)
        check_choice("task", self.task, ("auto", "regression", "classification"), owner)
        check_count("max_levels", self.max_levels, owner, minimum=2)
        for option in ("categorical", "numeric", "ignore"):
            for name in getattr(self, option):
                if name not in names:
                    raise ValueError(
                        f"{option} names {name!r}, which is not a column.{near(str(name), names)} "
                        f"The columns are {', '.join(map(repr, names))}."
                    )
        both = sorted(set(self.categorical) & set(self.numeric))
        if both:
            raise ValueError(f"{both[0]!r} is both in categorical and in numeric: choose one.")

    def _record(self, name: str, note: str) -> dict[str, Any]:
        """Say what was done with a column."""
        reader = self._readers.get(name)
        part = self._parts.get(name)
        if name in self._place:
            part = self._parts[" and ".join(self._place)]
        encoding = "left out" if part is None else part.description
        if name in {self.groups_[column] for column in self._fills.coefs}:
            encoding += ", filled by regression"
        kind = "" if reader is None else ("ordered" if reader.order else reader.kind)
        return {
            "column": name,
            "kind": kind,
            "encoding": encoding,
            "note": note,
        }

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` has come to its end."""
        return hasattr(self, "columns_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _n_rows(cells: dict[str, Cells]) -> int:
    return len(next(iter(cells.values())).values)


def _folds(cells: dict[str, Cells], row_numbers: Any) -> Array:
    """Return the folds of rows, by default numbered from zero on."""
    return folds_of(np.arange(_n_rows(cells)) if row_numbers is None else row_numbers)
