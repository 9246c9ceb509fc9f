"""Loading a dataset into a scikit-learn ``Bunch``."""

import hashlib
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .catalog import CATALOG

__all__ = [
    "load_abalone",
    "load_climate",
    "load_climate_berkeley",
    "load_co2",
    "load_co2_column",
    "load_connect4",
    "load_elevation",
    "load_gaps_simulated",
    "load_magic",
    "load_mushroom",
    "load_pendigits",
    "load_protein",
    "load_shuttle",
]

_SHIPPED = Path(__file__).parent / "data"


def _folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    """Return the folders to look for a file in, in this order."""
    if data_home is not None:
        return [Path(data_home)]
    named = [Path(os.environ["ZONAL_DATA"])] if "ZONAL_DATA" in os.environ else []
    checkout = Path(__file__).parents[3]
    return [_SHIPPED, *named, Path("benchmarks", "data"), checkout / "benchmarks" / "data"]


def _find(name: str, data_home: str | os.PathLike[str] | None) -> Path:
    folders = _folders(data_home)
    for folder in folders:
        path = folder / f"{name}.npz"
        if path.is_file():
            return path
    looked = "\n".join(f"  {folder}" for folder in folders)
    raise FileNotFoundError(
        f"The dataset file {name}.npz was not found in\n{looked}\n"
        f"It is part of zonal's source repository, under benchmarks/data, but not of the package. "
        f"Get the file from there and name its folder: load_{name}(data_home=...), or set the "
        f"environment variable ZONAL_DATA. Origin of the data: {CATALOG[name].source}."
    )


def _load(name: str, data_home: str | os.PathLike[str] | None, return_X_y: bool) -> Any:
    entry = CATALOG[name]
    path = _find(name, data_home)
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != entry.sha256:
        raise ValueError(
            f"{path} is damaged or another version: its SHA-256 is {digest}, expected "
            f"{entry.sha256}. Get the file again from zonal's source repository."
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        data, target = arrays["X"], arrays["y"]
        if return_X_y:
            return data, target
        extra = {name: arrays[name] for name in ("rings", "test") if name in arrays}
        classes = arrays["class_names"].tolist() if "class_names" in arrays else None
        names = [str(arrays["target_name"])] if classes is None else classes
        return Bunch(
            data=data,
            target=target,
            feature_names=arrays["feature_names"].tolist(),
            target_names=names,
            DESCR=f"{entry.description} Source: {entry.source}.",
            filename=str(path),
            **extra,
        )


def _loader(name: str) -> Any:
    def load(*, data_home: str | os.PathLike[str] | None = None, return_X_y: bool = False) -> Any:
        return _load(name, data_home, return_X_y)

    entry = CATALOG[name]
    load.__name__ = load.__qualname__ = f"load_{name}"
    load.__doc__ = f"""{entry.description}

    Parameters
    ----------
    data_home : path-like, optional
        The folder that holds ``{name}.npz``. By default the package itself, the folder named by
        the environment variable ZONAL_DATA, then ``benchmarks/data``.
    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        ``data`` (float32, raw units), ``target``, ``feature_names``, ``target_names``, ``DESCR``
        and ``filename``.

    Notes
    -----
    Source: {entry.source}.
    """
    return load


load_elevation = _loader("elevation")
load_climate = _loader("climate")
load_climate_berkeley = _loader("climate_berkeley")
load_gaps_simulated = _loader("gaps_simulated")
load_co2 = _loader("co2")
load_co2_column = _loader("co2_column")
load_protein = _loader("protein")
load_abalone = _loader("abalone")
load_pendigits = _loader("pendigits")
load_mushroom = _loader("mushroom")
load_magic = _loader("magic")
load_shuttle = _loader("shuttle")
load_connect4 = _loader("connect4")
