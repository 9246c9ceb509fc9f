"""Models of tables: the columns of a file, their encoding, a learner."""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .. import features as maps
from ..kernels import Kernel, as_kernel
from ..kernels.names import KERNEL_NAMES
from ..persistence import load
from .errors import CommandError, near

__all__ = [
    "MAPS",
    "columns_of",
    "encoder",
    "feature_map",
    "kernel_named",
    "load_model",
    "model_of",
    "number_or",
]

MAPS: dict[str, Any] = {
    "gegenbauer": maps.GegenbauerFeatures,
    "harmonic": maps.HarmonicFeatures,
    "nystroem": maps.NystroemFeatures,
    "fourier": maps.FourierFeatures,
    "modified-fourier": maps.ModifiedFourierFeatures,
    "fastfood": maps.FastFoodFeatures,
    "maclaurin": maps.MaclaurinFeatures,
    "polysketch": maps.PolySketchFeatures,
}


def number_or(name: str, text: str, word: str) -> float | str:
    """A number of at least 0 from an option that may also be a word."""
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
    """A kernel by name, with a bandwidth if it has one."""
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
    """The `features` of a learner: "auto", or a map of a kernel."""
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


def encoder(inputs: list[str], lat: str | None, lon: str | None) -> Any:
    """What puts the columns on a common scale: points of the sphere, or plain standardising."""
    if lat is None and lon is None:
        return maps.Standardizer()
    if lat is None or lon is None:
        raise CommandError("--lat and --lon go together: give both or neither.")
    for name in (lat, lon):
        if name not in inputs:
            raise CommandError(
                f"{name!r} is not among the inputs {', '.join(map(repr, inputs))}."
                f"{near(name, inputs)}"
            )
    return maps.SphereEncoder(inputs.index(lat), inputs.index(lon))


def model_of(scaling: Any, learner: Any, inputs: list[str], target: str | None) -> Pipeline:
    """A pipeline that knows its table, as `predict` needs it: ``table_`` is saved along."""
    model = Pipeline([("columns", scaling), ("learner", learner)])
    model.table_ = {"inputs": inputs, "target": target}
    return model


def load_model(path: Path) -> Any:
    """A model that `zonal fit` or `zonal cluster` has saved."""
    if not path.exists():
        others = [item.name for item in path.parent.iterdir()] if path.parent.is_dir() else []
        raise CommandError(f"There is no model {path}.{near(path.name, others)}")
    model = load(path)
    if not hasattr(model, "table_"):
        raise CommandError(
            f"{path} holds a {type(model).__name__} that does not know the columns of a table: use "
            "one made by zonal fit or zonal cluster."
        )
    return model


def columns_of(model: Any) -> list[str]:
    """The names of a model's input columns."""
    return [str(name) for name in np.asarray(model.table_["inputs"], dtype=object)]
