"""What makes rows of numbers of a table, before a learner's features: any transformer will do.

A `TableEncoder` knows more than others: which rows of a sample it has seen, and where the columns
of its output come from.
"""

from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._typing import Array, FloatArray
from ..features.columns import TableEncoder
from ..rows import Source

__all__ = ["encode_training", "fit_encoder", "is_mixed", "sources_of", "weight_arguments"]


def fit_encoder(
    encoder: Any,
    X: Any,
    y: Any,
    weight: FloatArray | None,
    task: str,
    numbers: Any = None,
    source: Source | None = None,
) -> Any:
    """Return a copy of an encoder, fitted to rows.

    Parameters
    ----------
    encoder : transformer
    X, y, weight
        The rows, or a sample of them.
    task : {"regression", "classification"}
        What y holds, where a `TableEncoder` does not say.
    numbers : array of int, optional
        The numbers of these rows among all.
    source : Source, optional
        All rows, if these are a sample.
    """
    if not (hasattr(encoder, "fit") and hasattr(encoder, "transform")):
        raise TypeError(
            f"encoder={encoder!r} must be 'auto', None or a transformer with fit and transform, "
            "such as zonal.TableEncoder()."
        )
    own = clone(encoder)
    if not is_mixed(own):
        return own.fit(X, y, **weight_arguments(own, weight))
    if own.task == "auto":
        own.set_params(task=task)
    return own.fit(X, y, weight, row_numbers=numbers, source=source)


def encode_training(encoder: Any, X: Any, numbers: Any) -> Array:
    """Return rows of the fit as numbers; no word knows their own targets."""
    return encoder.transform_training(X, numbers) if is_mixed(encoder) else encoder.transform(X)


def is_mixed(encoder: Any) -> bool:
    """Tell whether an encoder is for tables with words, dates or gaps."""
    return isinstance(encoder, TableEncoder)


def sources_of(encoder: Any, n_columns: int) -> list[str]:
    """Return the column of the table that each column of the output comes from.

    Parameters
    ----------
    encoder : fitted transformer
    n_columns : int
        How many columns the table has; they are called x0, x1, ... where they have no names.
    """
    if hasattr(encoder, "groups_"):
        return list(encoder.groups_)
    names = getattr(encoder, "feature_names_in_", [f"x{number}" for number in range(n_columns)])
    if hasattr(encoder, "get_feature_names_out"):
        names = encoder.get_feature_names_out(names)
    return [str(name) for name in names]


def weight_arguments(transformer: Any, weight: FloatArray | None) -> dict[str, FloatArray]:
    """Return arguments of `fit` that give weights to every step that takes some."""
    if weight is None:
        return {}
    if isinstance(transformer, Pipeline):
        return {
            f"{name}__sample_weight": weight
            for name, step in transformer.steps
            if has_fit_parameter(step, "sample_weight")
        }
    return {"sample_weight": weight} if has_fit_parameter(transformer, "sample_weight") else {}
