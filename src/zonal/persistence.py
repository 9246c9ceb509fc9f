"""Saving and loading models without pickle: nothing in a file can run code."""

import copy
import io
import json
import os
import sys
import types
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.special
from sklearn import model_selection
from sklearn.base import BaseEstimator

from ._files import beside
from ._version import __version__
from .kernels import GeneralizedZonalKernel

__all__ = ["load", "save", "user_functions"]

# Raised with every change of what is saved; files of other formats are refused.
FORMAT = 2
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
    functions = user_functions(model)
    if functions:
        model = _replace(
            model,
            {
                id(value): stand_in
                for name, values in functions.items()
                for stand_in in [MissingFunction(name)]
                for value in values
            },
        )
        names = ", ".join(functions)
        warnings.warn(
            f"Python functions are not saved: {names}. Give them again with "
            f"zonal.load(path, functions={{{', '.join(f'{n!r}: ...' for n in functions)}}}).",
            UserWarning,
            stacklevel=2,
        )
    # A model with a local part holds its rows.
    buffer = io.BytesIO(sio.dumps(model, compression=zipfile.ZIP_DEFLATED))
    header = {"format": FORMAT, "version": __version__, "functions": list(functions)}
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(HEADER, json.dumps(header))
    _write(Path(path), buffer.getvalue())


def load(
    path: str | os.PathLike[str],
    functions: Mapping[str, Callable[..., Any]] | None = None,
    trusted: Iterable[type] = (),
) -> Any:
    """Load what `save` has written.

    Parameters
    ----------
    path : path-like
        The file.
    functions : mapping of str to callable, optional
        The Python functions that were not saved, by the names that `save` gave.
    trusted : iterable of types, optional
        Classes of your own that the file may hold, besides those of zonal and scikit-learn.

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
    except Exception as error:  # whatever zipfile and json meet in a file that is not ours
        raise ValueError(
            f"{path} is not a model saved by zonal.save, or it is damaged ({error})."
        ) from error
    if damaged is not None:
        raise ValueError(f"{path} is damaged: its part {damaged} does not match its checksum.")
    if version != FORMAT:
        newer = version > FORMAT
        raise ValueError(
            f"{path} was saved by {'a newer' if newer else 'an older'} zonal "
            f"({header.get('version')}, format {version}); this one reads format {FORMAT}. "
            + (
                "Upgrade zonal to load it."
                if newer
                else "Load it with that version, or fit the model again and save it."
            )
        )
    given = dict(functions or {})
    if sorted(given) != sorted(needed):
        raise ValueError(
            f"{path} needs the functions {sorted(needed)}, but functions has {sorted(given)}: "
            "functions of your own are not saved, give them again by these names."
        )
    known = _trusted() | {_full_name(kind) for kind in trusted}
    try:
        foreign = set(sio.get_untrusted_types(data=content)) - known
        model = None if foreign else sio.loads(content, trusted=sorted(known))
    except Exception as error:  # whatever skops meets in a damaged file: say which file
        raise ValueError(f"{path} cannot be loaded: {error}") from error
    if foreign:
        raise ValueError(
            f"{path} holds types that zonal does not trust: {', '.join(sorted(foreign))}. Only "
            "those of zonal, scikit-learn and NumPy are loaded, and classes that are given as "
            "trusted; nothing was."
        )
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"{path} holds a {type(model).__name__}, not a model.")
    _check_sparse(model, path)
    missing = [value for _, value in _walk(model) if isinstance(value, MissingFunction)]
    if any(vars(value).get("name") not in needed for value in missing):
        raise ValueError(f"{path} is damaged: it lacks a function that its header does not name.")
    stand_ins = {id(value): given[value.name] for value in missing}
    return _replace(model, stand_ins) if stand_ins else model


def _check_sparse(model: Any, path: Path) -> None:
    """Raise ValueError if the indices of a sparse array point out of it: compiled code would."""
    for name, value in _walk(model):
        if isinstance(value, sp.csr_array | sp.csr_matrix):
            try:
                value.check_format(full_check=True)
            except (AttributeError, TypeError, ValueError) as error:
                raise ValueError(f"{path} is damaged: its sparse {name} ({error}).") from error


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}.")
    # Not by tempfile, whose files only their owner may read: the umask decides, as for any file.
    hidden = beside(path)
    try:
        with hidden.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(hidden, path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise


def _walk(value: Any, name: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Everything reachable from a model, each with the name of the attribute that holds it."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, np.ndarray | str | bytes | type):
        return
    seen.add(id(value))
    yield name, value
    if _is_users(value):
        return  # it is left out as a whole
    if isinstance(value, types.MethodType):
        yield from _walk(value.__self__, name, seen)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _walk(item, str(key), seen)
    elif isinstance(value, list | tuple | set):
        for item in value:
            yield from _walk(item, name, seen)
    elif hasattr(value, "__dict__"):
        for key, item in vars(value).items():
            yield from _walk(item, key, seen)


def _replace(value: Any, memo: dict[int, Any]) -> Any:
    """A copy of a model with other objects in place of those in `memo`, by their ids.

    `copy.deepcopy` does not ask its memo about functions from Python 3.14 on. Arrays are shared.
    """
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, np.ndarray | str | bytes | type | types.FunctionType):
        return value
    new: Any = value
    if isinstance(value, types.MethodType):
        new = types.MethodType(value.__func__, _replace(value.__self__, memo))
    elif isinstance(value, list | tuple | set):
        items = [_replace(item, memo) for item in value]
        new = type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    elif isinstance(value, dict):
        new = copy.copy(value)
        new.update({key: _replace(item, memo) for key, item in value.items()})
    elif hasattr(value, "__dict__"):
        new = memo[id(value)] = copy.copy(value)
        # Not by setattr, which frozen dataclasses refuse.
        vars(new).update({key: _replace(item, memo) for key, item in vars(value).items()})
    memo[id(value)] = new
    return new


def _is_users(value: Any) -> bool:
    """Whether a value is a function that no library brings back by its name."""
    if not callable(value) or isinstance(value, type | BaseEstimator):
        return False
    if isinstance(value, np.ufunc):  # np.frompyfunc makes them of Python functions
        name = value.__name__
        return not any(getattr(module, name, None) is value for module in (np, scipy.special))
    if isinstance(value, types.MethodType):
        return value.__func__ is not GeneralizedZonalKernel.coefficients
    module = (getattr(value, "__module__", None) or "").split(".")[0]
    return isinstance(value, types.FunctionType) or module not in ("zonal", "sklearn", "scipy")


def user_functions(model: Any) -> dict[str, list[Callable[..., Any]]]:
    """Functions that are not part of a library, with their copies, by unique names."""
    found: dict[str, list[Callable[..., Any]]] = {}
    names: dict[Any, str] = {}
    for attribute, value in _walk(model):
        if not _is_users(value):
            continue
        identity = _identity(value)
        if identity not in names:
            own = getattr(value, "__name__", "")
            base = own if own.isidentifier() else attribute.rstrip("_") or "function"
            name, number = base, 2
            while name in found:
                name, number = f"{base}{number}", number + 1
            names[identity] = name
        found.setdefault(names[identity], []).append(value)
    return found


def _identity(value: Any, depth: int = 4) -> Any:
    """Equal for a function and its copies, which `clone` makes of all but plain functions.

    It looks a few levels deep only, for such an object may hold half a compiler. Copies that are
    not recognised are asked for by names of their own.
    """
    if value is None or isinstance(value, str | bytes | int | float | complex):
        return type(value), value
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, types.FunctionType | type) or depth == 0:
        return id(value)
    parts: Any
    if isinstance(value, partial):
        parts = value.func, value.args, value.keywords
    elif isinstance(value, types.MethodType):
        parts = value.__func__, value.__self__
    elif isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list | tuple):
        parts = value
    elif hasattr(value, "__dict__"):
        parts = vars(value).items()
    else:
        return id(value)
    return type(value), *(_identity(part, depth - 1) for part in parts)


def _full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _trusted() -> set[str]:
    """The library's own types and the splitters that `cv` takes, by their full names."""
    own = [module for name, module in list(sys.modules.items()) if name.startswith("zonal.")]
    # skops trusts scikit-learn's estimators of its own accord, but not its splitters.
    found = [value for module in (*own, model_selection) for value in vars(module).values()]
    names = {
        _full_name(value)
        for value in found
        if isinstance(value, type)
        and (
            value.__module__.startswith("zonal.")
            or (value.__module__.startswith("sklearn.model_selection.") and hasattr(value, "split"))
        )
    }
    # Sparse rows and sketches hold arrays only, whose indices are checked after loading.
    arrays = {_full_name(sp.csr_array), _full_name(sp.csr_matrix)}
    return names | arrays | {"zonal.kernels.base.GeneralizedZonalKernel.coefficients"}


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "Saving and loading models needs skops: pip install 'zonal[save]'."
        ) from error
    return skops.io
