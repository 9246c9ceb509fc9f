"""Saving and loading models without pickle: nothing in a file can run code."""

import copy
import io
import json
import os
import tempfile
import types
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from . import features, kernels, learners
from .features.gegenbauer import _Group
from .kernels import radial
from .learners.gaussian_process import _Posterior
from .learners.moments import Moments
from .learners.path import Solution

__all__ = ["load", "save"]

FORMAT = 1
HEADER = "zonal.json"


class MissingFunction:
    """Stands in a file for a user's own Python function, which is not saved."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any) -> Any:
        """Raise, for the function is not here."""
        raise TypeError(f"The function {self.name!r} was not saved with the model.")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a kernel, a features object or a learner, fitted or not.

    The file is written beside its final place and moved there when it is whole, so that a crash
    leaves the old file or the new one. It holds data only (skops), no pickle. A Python function of
    the user's own, such as the κ of `DotProduct`, is *not* saved: a warning names it, and `load`
    takes it again.

    Parameters
    ----------
    model : estimator
        The model.
    path : path-like
        The file, by habit ``something.zonal``.

    Examples
    --------
    >>> import tempfile, numpy as np, zonal
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> model = zonal.KernelRidge(budget=16, random_state=0).fit(X, X[:, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     zonal.save(model, f"{folder}/model.zonal")
    ...     again = zonal.load(f"{folder}/model.zonal")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    sio = _skops()
    if not isinstance(model, BaseEstimator):
        raise TypeError(
            f"{type(model).__name__} is not a kernel, a features object or a learner; only these "
            "can be saved."
        )
    functions = _user_functions(model)
    if functions:
        stand_ins = {id(function): MissingFunction(name) for name, function in functions.items()}
        model = copy.deepcopy(model, stand_ins)
        names = ", ".join(functions)
        warnings.warn(
            f"Python functions are not saved: {names}. Give them again with "
            f"zonal.load(path, functions={{{', '.join(f'{n!r}: ...' for n in functions)}}}).",
            UserWarning,
            stacklevel=2,
        )
    from . import __version__

    buffer = io.BytesIO(sio.dumps(model))
    header = {"format": FORMAT, "version": __version__, "functions": list(functions)}
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(HEADER, json.dumps(header))
    _write(Path(path), buffer.getvalue())


def load(
    path: str | os.PathLike[str], functions: Mapping[str, Callable[..., Any]] | None = None
) -> Any:
    """Load what `save` has written.

    Parameters
    ----------
    path : path-like
        The file.
    functions : mapping of str to callable, optional
        The Python functions that were not saved, by the names that `save` gave.

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        If the file was not written by `save`, is damaged, comes from a newer version, needs
        functions that are not given, or holds anything but types of zonal and scikit-learn.
    """
    sio = _skops()
    path = Path(path)
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            damaged = archive.testzip()
            header = json.loads(archive.read(HEADER))
            version = int(header["format"])
            needed = [str(name) for name in header["functions"]]
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError, EOFError) as error:
        raise ValueError(
            f"{path} is not a model saved by zonal.save, or it is damaged ({error})."
        ) from error
    if damaged is not None:
        raise ValueError(f"{path} is damaged: its part {damaged} does not match its checksum.")
    if version > FORMAT:
        raise ValueError(
            f"{path} was saved by a newer zonal ({header.get('version')}, format {version}); this "
            f"one reads formats up to {FORMAT}. Upgrade zonal to load it."
        )
    given = dict(functions or {})
    if sorted(given) != sorted(needed):
        raise ValueError(
            f"{path} needs the functions {sorted(needed)}, but functions has {sorted(given)}: "
            "functions of your own are not saved, give them again by these names."
        )
    trusted = _trusted()
    try:
        foreign = set(sio.get_untrusted_types(data=content)) - trusted
        model = None if foreign else sio.loads(content, trusted=sorted(trusted))
    except Exception as error:  # whatever skops meets in a damaged file: say which file
        raise ValueError(f"{path} can not be loaded: {error}") from error
    if foreign:
        raise ValueError(
            f"{path} holds types that zonal does not trust: {', '.join(sorted(foreign))}. Only "
            "those of zonal, scikit-learn and NumPy are loaded; nothing was."
        )
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a model.")
    stand_ins = {
        id(value): given[value.name]
        for _, value in _walk(model)
        if isinstance(value, MissingFunction)
    }
    return copy.deepcopy(model, stand_ins) if stand_ins else model


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _walk(value: Any, name: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Everything reachable from a model, each with the name of the attribute that holds it."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, np.ndarray | str | bytes | type):
        return
    seen.add(id(value))
    yield name, value
    if isinstance(value, types.MethodType):
        yield from _walk(value.__self__, name, seen)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _walk(item, str(key), seen)
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from _walk(item, name, seen)
    elif hasattr(value, "__dict__") and not isinstance(value, types.FunctionType):
        for key, item in vars(value).items():
            yield from _walk(item, key, seen)


def _user_functions(model: Any) -> dict[str, Callable[..., Any]]:
    """Functions that are not part of a library, by unique names."""
    found: dict[str, Callable[..., Any]] = {}
    for attribute, value in _walk(model):
        if not callable(value) or isinstance(value, np.ufunc | types.MethodType | BaseEstimator):
            continue
        module = (getattr(value, "__module__", None) or "").split(".")[0]
        if not isinstance(value, types.FunctionType) and module in ("zonal", "sklearn", "scipy"):
            continue
        own = getattr(value, "__name__", "")
        base = own if own.isidentifier() else attribute.rstrip("_") or "function"
        name, number = base, 2
        while name in found:
            name, number = f"{base}{number}", number + 1
        found[name] = value
    return found


def _trusted() -> set[str]:
    """The library's own types, by their full names."""
    classes: set[Any] = {_Group, _Posterior, MissingFunction, Moments, Solution}
    for module in (kernels, features, learners, radial):
        classes |= {value for value in vars(module).values() if isinstance(value, type)}
    names = {f"{cls.__module__}.{cls.__qualname__}" for cls in classes}
    own = {name for name in names if name.startswith("zonal.")}
    return own | {"zonal.kernels.gzk.GeneralizedZonalKernel.coefficients"}


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "Saving and loading models needs skops: pip install 'zonal[save]'."
        ) from error
    return skops.io
