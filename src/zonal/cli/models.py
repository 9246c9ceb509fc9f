"""Models of tables by the words of options: kernels, feature maps, files of models."""

from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from .. import features as maps
from .._suggestions import near
from ..features.columns.sphere_encoder import named_like
from ..kernels import Kernel, as_kernel
from ..kernels.names import KERNEL_NAMES
from ..persistence import load
from ..tables import Table
from .console import Screen
from .errors import CommandError

__all__ = [
    "MAPS",
    "LocalPart",
    "columns_of",
    "feature_map",
    "found_inputs",
    "kernel_named",
    "kinds_of",
    "load_grid_model",
    "load_model",
    "number_or",
    "remember_table",
]


class LocalPart(StrEnum):
    """Whether a model may have a local part."""

    AUTO = "auto"
    NONE = "none"


MAPS: dict[str, Any] = {
    "gegenbauer": maps.GegenbauerFeatures,
    "harmonic": maps.HarmonicFeatures,
    "nystroem": maps.NystroemFeatures,
    "fourier": maps.FourierFeatures,
    "modified-fourier": maps.ModifiedFourierFeatures,
    "fastfood": maps.FastFoodFeatures,
    "maclaurin": maps.MaclaurinFeatures,
    "polysketch": maps.PolySketchFeatures,
    "tensor-sketch": maps.TensorSketchFeatures,
    "adaptive-sketch": maps.AdaptiveSketchFeatures,
    "spherical": maps.SphericalFeatures,
    "relu": maps.ReLUFeatures,
    "ntk": maps.NTKFeatures,
    "hashing": maps.HashingFeatures,
}


def number_or(name: str, text: str, word: str) -> float | str:
    """Return the number of at least 0 that an option holds, or the word that it may also be."""
    if text == word:
        return word
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if 0 <= value < float("inf"):
        return value
    raise CommandError(f"{name} {text!r} must be a number of at least 0, or {word!r}.")


def kernel_named(name: str, bandwidth: str = "median") -> Kernel:
    """Return a kernel by name, with a bandwidth if it has one."""
    if name not in KERNEL_NAMES:
        raise CommandError(
            f"--kernel {name!r} is unknown.{near(name, KERNEL_NAMES)} Use one of "
            f"{', '.join(KERNEL_NAMES)}."
        )
    kernel = as_kernel(name)
    scale = number_or("--bandwidth", bandwidth, "median")
    if scale == "median":
        return kernel
    found = [key for key, value in kernel.get_params().items() if value == "median"]
    if not found or scale == 0:
        problem = (
            "must be above 0" if found else f"does not go with --kernel {name}, which has none"
        )
        raise CommandError(f"--bandwidth {bandwidth} {problem}.")
    return kernel.set_params(**{found[0]: scale})


def feature_map(name: str, kernel: str, bandwidth: str, n_components: int) -> Any:
    """Return the `features` of a learner: "auto", or a map of a kernel."""
    if name == "auto":
        if (kernel, bandwidth) != ("gaussian", "median"):
            raise CommandError(
                "--features auto chooses the kernel and its bandwidth itself: leave out --kernel "
                f"and --bandwidth, or name a map: {', '.join(MAPS)}."
            )
        return "auto"
    if name not in MAPS:
        raise CommandError(
            f"--features {name!r} is unknown.{near(name, ['auto', *MAPS])} Use one of auto, "
            f"{', '.join(MAPS)}."
        )
    return MAPS[name](kernel_named(kernel, bandwidth), n_components=n_components)


def remember_table(model: Any, inputs: list[str], target: str | None, **notes: Any) -> None:
    """Let a fitted model know its table, as `predict` needs it: ``table_`` is saved along.

    Parameters
    ----------
    model : estimator
    inputs : list of str
        The names of the columns of X.
    target : str or None
        The name of y.
    **notes
        What else maps and tables have to know of it.
    """
    model.table_ = {"inputs": inputs, "target": target, **notes}


def load_model(path: Path) -> Any:
    """Load a model that `zonal fit` or `zonal cluster` has saved."""
    model = _load(path)
    if not hasattr(model, "table_"):
        raise CommandError(
            f"{path} holds a {type(model).__name__} that does not know the columns of a table: use "
            "one made by zonal fit or zonal cluster."
        )
    return model


def columns_of(model: Any) -> list[str]:
    """Return the names of a model's input columns."""
    return [str(name) for name in np.asarray(model.table_["inputs"], dtype=object)]


def found_inputs(model: Any, table: Table, screen: Screen) -> dict[str, str]:
    """Return a model's input columns, with what they are called in a table.

    A latitude or longitude may have another of its usual names, if the table has one such column.
    """
    inputs = columns_of(model)
    wanted = [str(name) for name in np.asarray(model.table_.get("place", []), dtype=object)]
    free = [name for name in table.types if name not in inputs]
    found = {name: name for name in inputs}
    for number, angle in enumerate(("latitude", "longitude")):
        names = wanted[number : number + 1] or [inputs[k] for k in named_like(angle, inputs)]
        usual = [free[k] for k in named_like(angle, free)]
        if len(names) == len(usual) == 1 and names[0] not in table.types:
            found[names[0]] = usual[0]
            screen.note(f"{usual[0]!r} of {table.path} is taken for the {angle} {names[0]!r}.")
    return found


def kinds_of(model: Any) -> dict[str, str] | None:
    """Return what the columns of a model of words, dates or gaps hold; None: numbers only."""
    encoder = getattr(model, "encoder_", None)
    if encoder is None and isinstance(model.features_, Pipeline):  # clusters
        encoder = model.features_[0]
    return getattr(encoder, "kinds_", None)


def load_grid_model(path: Path) -> Any:
    """Load a model of places: of `zonal fit`, `zonal fill` or `zonal.save`."""
    model = _load(path)
    if not (is_regressor(model) or is_classifier(model)):
        raise CommandError(
            f"{path} holds a {type(model).__name__} without numbers or classes to predict: maps "
            "need a model of one of these."
        )
    return model


def _load(path: Path) -> Any:
    if not path.exists():
        others = [item.name for item in path.parent.iterdir()] if path.parent.is_dir() else []
        raise CommandError(f"There is no model {path}.{near(path.name, others)}")
    return load(path)
