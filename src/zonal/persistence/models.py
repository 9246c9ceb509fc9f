"""Models as files, by skops: data and the names of known types."""

import inspect
import io
import json
import os
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from .._signals import postponed
from .._validation import is_sparse
from .._version import __version__
from .archive import MAX_BYTES, check_parts, check_seal, check_sizes, seal, write
from .folders import asks_folder, attach_files, file_of, files_of, write_folder
from .functions import MissingFunction, replace, user_functions, walk
from .types import MOVED_MODULES, full_name, trusted_names

__all__ = ["FORMAT", "load", "save"]

#: Raised with every change of what is saved. Files of format 2 have no checksum. Learners of files
#: before format 5 had another shape, and are refused; maps and kernels are read from format 2 on,
#: also where their modules have moved since.
FORMAT = 5
OLDEST = 2
LEARNERS = 5
HEADER = "zonal.json"
# Where skops names the types of an archive.
SCHEMA = "schema.json"
MAX_HEADER = 1 << 20


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a kernel, a features object or a learner, fitted or not.

    The file is written beside its final place and moved there when it is whole, so that a crash
    leaves the old file or the new one. It holds data only (skops), no pickle, with a checksum.
    What `load` would refuse is not written: the model is loaded once from memory first.

    A Python function of the user's own, such as the κ of `DotProduct`, is *not* saved: a warning
    names it, and `load` takes it again. Classes of the user's own are saved, and a warning says
    that `load` must be told to trust them.

    Parameters
    ----------
    model : estimator
        The model.
    path : path-like
        The file, by habit ``something.zonal``. A path that ends with ``/`` is a folder, and so is
        that of a model whose rows are in parts (`KernelRidge` of more rows than are gathered):
        the parts are files in it, which `load` maps into memory and reads when they are needed.

    Raises
    ------
    ValueError
        If the model could not be loaded again. Nothing is written then.

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
    functions, owners = user_functions(model), files_of(model)
    stand_ins: dict[int, Any] = {
        id(value): stand_in
        for name, values in functions.items()
        for stand_in in [MissingFunction(name)]
        for value in values
    }
    stand_ins.update({id(owner): owner.blank() for owner in owners})
    with postponed():  # which no signal leaves half done
        # A model with a local part holds its rows.
        content = sio.dumps(
            replace(model, stand_ins) if stand_ins else model, compression=zipfile.ZIP_DEFLATED
        )
        header = {"format": FORMAT, "version": __version__, "functions": list(functions)}
        content = _with_header(content, header)
        own = sorted(set(sio.get_untrusted_types(data=content)) - trusted_names())
        try:
            _loaded(sio, content, {full_name(_find_type(name)) for name in own}, sys.maxsize)
        except Exception as error:  # whatever load would meet
            raise ValueError(
                f"{type(model).__name__} was not saved, for it could not be loaded again: {error}"
            ) from error
        _warn(list(functions), own, content)
        if owners or asks_folder(path):
            write_folder(Path(path), content, owners)
        else:
            write(Path(path), content)


def _with_header(content: bytes, header: dict[str, Any]) -> bytes:
    """Return an archive with a header, sealed."""
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(HEADER, json.dumps(header))
    return seal(buffer.getvalue())


def _find_type(name: str) -> type:
    """Return the class of a full name, which `load` could be told to trust."""
    parts = name.split(".")
    for stop in range(len(parts) - 1, 0, -1):
        module = sys.modules.get(".".join(parts[:stop]))
        if module is None:
            continue
        found: Any = module
        for part in parts[stop:]:
            found = getattr(found, part, None)
        if isinstance(found, type):
            return found
        break
    raise ValueError(f"{name} is not a class that can be found by its name")


def _warn(functions: list[str], own: list[str], content: bytes) -> None:
    """Say what `load` will have to be given."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(info.file_size for info in archive.infolist())
    reasons, needs = [], []
    if functions:
        reasons.append(f"Python functions are not saved: {', '.join(functions)}.")
        needs.append(f"functions={{{', '.join(f'{name!r}: ...' for name in functions)}}}")
    if own:
        reasons.append(f"Classes of your own are not trusted: {', '.join(own)}.")
        needs.append(f"trusted=[{', '.join(name.split('.')[-1] for name in own)}]")
    if size > MAX_BYTES:
        reasons.append(f"The model has {size:,} bytes.")
        needs.append(f"max_bytes={size}")
    if needs:
        warnings.warn(
            f"{' '.join(reasons)} Give them again with zonal.load(path, {', '.join(needs)}).",
            UserWarning,
            stacklevel=3,
        )


def load(
    path: str | os.PathLike[str],
    functions: Mapping[str, Callable[..., Any]] | None = None,
    trusted: Iterable[type] = (),
    *,
    max_bytes: int = MAX_BYTES,
) -> Any:
    """Load what `save` has written.

    Parameters
    ----------
    path : path-like
        The file or folder.
    functions : mapping of str to callable, optional
        The Python functions that were not saved, by the names that `save` gave.
    trusted : iterable of types, optional
        Classes of your own that the file may hold, besides those of zonal and scikit-learn.
    max_bytes : int, default=8 GiB
        What the file may hold when it is unpacked, which is checked before anything is.

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        If the file was not written by `save`, is damaged (a single bit), comes from a newer
        version, needs functions that are not given, is too large, or holds anything but types of
        zonal and scikit-learn and those that are trusted.
    """
    sio = _skops()
    path = Path(path)
    content = file_of(path).read_bytes()
    with postponed():
        needed = _needed_functions(path, content, max_bytes)
    given = dict(functions or {})
    if sorted(given) != sorted(needed):
        raise ValueError(
            f"{path} needs the functions {sorted(needed)}, but functions has {sorted(given)}: "
            "functions of your own are not saved, give them again by these names."
        )
    known = _names(trusted)
    try:
        with postponed():
            model = _loaded(sio, content, known, max_bytes)
    except Exception as error:  # whatever skops meets in a damaged file: say which file
        raise ValueError(f"{path} cannot be loaded: {error}") from error
    missing = [value for _, value in walk(model) if isinstance(value, MissingFunction)]
    if any(vars(value).get("name") not in needed for value in missing):
        raise ValueError(f"{path} is damaged: it lacks a function that its header does not name.")
    attach_files(model, path)
    stand_ins = {id(value): given[value.name] for value in missing}
    return replace(model, stand_ins) if stand_ins else model


def _names(trusted: Iterable[type]) -> set[str]:
    """Return the full names of classes."""
    kinds = list(trusted)
    for kind in kinds:
        if not isinstance(kind, type):
            raise TypeError(f"trusted has {kind!r}, which is not a class: pass classes themselves.")
    return {full_name(kind) for kind in kinds}


def _needed_functions(path: Path, content: bytes, max_bytes: int) -> list[str]:
    """Return the names of the functions that a file needs, if its content is as it was saved."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            header = _header(archive)
            version = int(header["format"])
            needed = [str(name) for name in header["functions"]]
    except Exception as error:  # whatever zipfile and json meet in a file that is not ours
        raise ValueError(
            f"{path} is not a model saved by zonal.save, or it is damaged ({error})."
        ) from error
    if not OLDEST <= version <= FORMAT:
        newer = version > FORMAT
        raise ValueError(
            f"{path} was saved by {'a newer' if newer else 'an older'} zonal "
            f"({header.get('version')}, format {version}); this one reads formats {OLDEST} to "
            f"{FORMAT}. "
            + (
                "Upgrade zonal to load it."
                if newer
                else "Load it with that version, or fit the model again and save it."
            )
        )
    try:
        check_seal(content) if version > 2 else check_parts(content, max_bytes)
        holds_learner = version < LEARNERS and _holds_learner(content)
    except Exception as error:  # whatever zipfile meets in a damaged file
        raise ValueError(f"{path} is damaged: {error}.") from error
    if holds_learner:
        raise ValueError(
            f"{path} holds a learner that was saved by an older zonal ({header.get('version')}, "
            f"format {version}); this one reads learners from format {LEARNERS} on. Load it with "
            "that version, or fit the model again and save it."
        )
    return needed


def _with_new_names(content: bytes) -> bytes:
    """Return an archive that names modules where they are now."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        schema = archive.read(SCHEMA)
        renamed = schema
        for old, new in MOVED_MODULES.items():
            renamed = renamed.replace(f'"{old}"'.encode(), f'"{new}"'.encode())
        if renamed == schema:
            return content
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as copy:
            for name in archive.namelist():
                copy.writestr(name, renamed if name == SCHEMA else archive.read(name))
    return buffer.getvalue()


def _holds_learner(content: bytes) -> bool:
    """Tell whether an archive names a class of `zonal.learners`."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return b'"zonal.learners' in archive.read(SCHEMA)


def _header(archive: zipfile.ZipFile) -> dict[str, Any]:
    """Read the header of an archive, and nothing else."""
    size = archive.getinfo(HEADER).file_size
    if size > MAX_HEADER:
        raise ValueError(f"its header has {size:,} bytes")
    return dict(json.loads(archive.read(HEADER)))


def _loaded(sio: Any, content: bytes, trusted: set[str], max_bytes: int) -> Any:
    """Return the model of an archive, or raise an error that says what is wrong with it."""
    known = trusted_names() | trusted
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        check_sizes(archive, max_bytes)
    content = _with_new_names(content)
    foreign = sorted(set(sio.get_untrusted_types(data=content)) - known)
    if foreign:
        raise ValueError(
            f"it holds types that zonal does not trust: {', '.join(foreign)}. Only those of zonal, "
            "scikit-learn and NumPy are loaded, and classes that are given as trusted; nothing was."
        )
    model = sio.loads(content, trusted=sorted(known))
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"it holds a {type(model).__name__}, not a model.")
    for name, value in walk(model):
        _add_parameters(value)
        _check_content(name, value)
    return model


def _add_parameters(value: Any) -> None:
    """Give an estimator of ours the defaults of parameters that are younger than its file."""
    if not isinstance(value, BaseEstimator) or not full_name(type(value)).startswith("zonal."):
        return
    for name, parameter in inspect.signature(type(value)).parameters.items():
        if parameter.default is not parameter.empty and not hasattr(value, name):
            setattr(value, name, parameter.default)


def _check_content(name: str, value: Any) -> None:
    """Raise ValueError if compiled code would follow an index out of an array."""
    if is_sparse(value):
        try:
            if value.format != "csr":  # whatever class the file says
                raise ValueError(f"it is {value.format}, not csr")
            value.check_format(full_check=True)
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f"it is damaged: its sparse {name} ({error}).") from error
    check = getattr(type(value), "_check_loaded", None)
    if check is not None:
        check(value)


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError(
            "Saving and loading models needs skops: pip install 'zonal[save]'."
        ) from error
    return skops.io
