"""Model files with something in them altered and the checksum redone, and what becomes of them.

Whoever sends a model file can put other numbers into it. Loading it and asking it may end in an
error or in any answer; it may not end in a signal, go on for ever or take all memory. Each file is
tried in a child of its own, which a server process forks: it has everything imported and no
threads.
"""

import contextlib
import io
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import zonal
from zonal.persistence.archive import seal

from ..persistence import zoo

# A child may compute and wait so many seconds. It may ask for more memory than it may fill: memory
# that is never written to costs nothing, and too much is refused at once.
SECONDS, PATIENCE = 20, 300
ASKED, FILLED = 1 << 32, 1 << 30
#: With this set, compiled code itself says where it reaches out of bounds: slower, compiled anew.
CHECKED = "ZONAL_CHECK_BOUNDS"
OUT_OF_BOUNDS = "IndexError: index is out of bounds"

NUMBERS = (0, 1, -1, 2, 3, 7, 1 << 15, 1 << 31, (1 << 40) + 1, -(1 << 62), (1 << 62) + 5)
REALS = (np.nan, np.inf, -np.inf, 0.0, -1.0, 1e-300, 1e300, -1e300, 0.5, 1e9)
HOWS = (
    "one entry",
    "one entry",
    "one entry",
    "all entries",
    "signs",
    "order",
    "shorter",
    "longer",
    "wider",
    "narrower",
    "empty",
    "flat",
    "turned",
    "deeper",
    "scalar",
    "type",
    "bits",
    "another array",
    "number",
    "number",
)


@dataclass(frozen=True)
class Altered:
    """A model of the zoo, and what is altered in its file."""

    model: str
    asked: bool
    how: str
    seed: int

    def content(self) -> bytes:
        """Return the altered file."""
        return altered(saved(self.model, self.asked), self.how, np.random.default_rng(self.seed))


CASES = st.builds(
    Altered,
    # Folders of parts have checksums (tests/partitions/test_folder.py).
    st.sampled_from(sorted(n for n, m in zoo.MODELS.items() if not isinstance(m, zoo.InParts))),
    st.booleans(),
    st.sampled_from(HOWS),
    st.integers(0, 2**16),
)


@cache
def saved(name: str, asked: bool) -> bytes:
    """Return the file of a model, before or after it was asked: a calibration comes with that."""
    one = zoo.MODELS[name]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = one.make()
        if asked:
            one.answers(model)
        zonal.save(model, Path(folder) / "m.zonal")
        return (Path(folder) / "m.zonal").read_bytes()


def altered(content: bytes, how: str, rng: Any) -> bytes:
    """Return a file with one array or number altered, sealed again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    arrays = sorted((name for name in parts if name.endswith((".npy", ".npz"))), key=_number)
    if how == "number" or not arrays:
        parts["schema.json"] = _other_number(parts["schema.json"], rng)
    elif how == "another array":
        one, other = rng.choice(arrays, 2)
        if one.rpartition(".")[2] == other.rpartition(".")[2]:
            parts[one] = parts[other]
    else:
        name = str(rng.choice(arrays))
        parts[name] = _other_part(parts[name], how, rng)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return seal(buffer.getvalue())


def _number(name: str) -> tuple[int, str]:
    """Sort parts as they were written: their names are numbers of objects in memory."""
    return len(name), name


def _other_part(part: bytes, how: str, rng: Any) -> bytes:
    buffer = io.BytesIO()
    found = np.load(io.BytesIO(part), allow_pickle=False)
    if isinstance(found, np.ndarray):
        np.save(buffer, other_array(found, how, rng), allow_pickle=False)
    else:  # of a sparse array
        inner = dict(found)
        name = str(rng.choice([name for name in inner if name != "format"]))
        inner[name] = other_array(inner[name], how, rng)
        np.savez(buffer, **inner)
    return buffer.getvalue()


def other_array(found: Any, how: str, rng: Any) -> Any:
    """Return an array that is altered in one way."""
    new = np.array(found)
    flat = new.reshape(-1)
    if how in ("one entry", "all entries") and new.size and new.dtype.kind in "iufb":
        place = int(rng.integers(new.size)) if how == "one entry" else slice(None)
        if new.dtype.kind == "f":
            flat[place] = rng.choice(REALS)
        else:
            choices = [np.array(n).astype(new.dtype) for n in (*NUMBERS, new.size, len(flat) + 1)]
            flat[place] = choices[int(rng.integers(len(choices)))]
        return new
    if how == "signs" and new.dtype.kind in "if":
        return -new
    if how == "order":
        return new[::-1] if new.ndim and rng.random() < 0.5 else np.asfortranarray(new)
    if how in ("shorter", "longer", "narrower", "wider") and new.ndim:
        axis = 0 if how in ("shorter", "longer") else new.ndim - 1
        n = new.shape[axis]
        wanted = n // 2 if how in ("shorter", "narrower") and rng.random() < 0.5 else n - 1
        wanted = n + int(rng.integers(1, 9)) if how in ("longer", "wider") else max(wanted, 0)
        return np.take(new, np.arange(wanted) % max(n, 1), axis=axis) if n else new
    if how == "empty":
        return new[:0] if new.ndim else new
    if how == "flat":
        return flat
    if how == "turned":
        return new.T
    if how == "deeper":
        return new[None]
    if how == "scalar":
        return flat[0] if new.size else new
    if how == "type" and new.dtype.kind in "iufb":
        return new.astype(rng.choice(["f8", "f4", ">f8", "i8", "i4", "u1", "?", "c16", "S3", "U3"]))
    if how == "bits" and new.size and new.dtype.kind in "iuf":
        raw = bytearray(new.tobytes())
        for place in rng.integers(len(raw), size=max(1, len(raw) // 64)):
            raw[place] ^= 1 << int(rng.integers(8))
        return np.frombuffer(bytes(raw), new.dtype).reshape(new.shape)
    return flat[:-1] if new.size else new


def _other_number(schema: bytes, rng: Any) -> bytes:
    """Return a schema with another number, word or truth value in one place."""
    tree = json.loads(schema)
    nodes = [node for node in _nodes(tree) if node.get("__loader__") == "JsonNode"]
    numbers = [node for node in nodes if node.get("content", "null") not in ("null", '""')]
    if not numbers:
        return schema
    node = numbers[int(rng.integers(len(numbers)))]
    before = json.loads(node["content"])
    others: tuple[Any, ...] = (*NUMBERS, "auto", None, True)
    if isinstance(before, float):
        others = REALS
    node["content"] = json.dumps(others[int(rng.integers(len(others)))])
    return json.dumps(tree).encode()


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        if "__loader__" in tree:
            yield tree
        for value in tree.values():
            yield from _nodes(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _nodes(value)


class Server:
    """A process that tries files, each in a forked child."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        if os.environ.get(CHECKED):
            environment["NUMBA_BOUNDSCHECK"] = "1"
            environment["NUMBA_CACHE_DIR"] = os.environ[CHECKED]
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=Path(__file__).parents[2],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def outcome(self, content: bytes, model: str) -> dict[str, Any]:
        """Return how a child ended that loaded a file and asked the model."""
        path = Path(self._folder.name) / "m.zonal"
        path.write_bytes(content)
        path.with_name("whole").write_bytes(saved(model, False))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([str(path), model]) + "\n")
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found


@cache
def server(process: int) -> Server:
    """Return the server of a process."""
    return Server()


def problem(case: Altered) -> str | None:
    """Return what is wrong with how a file ended, if anything."""
    found = server(os.getpid()).outcome(case.content(), case.model)
    if found["code"] < 0:
        name = signal.Signals(-found["code"]).name
        return f"{name} {found['said']}"
    if OUT_OF_BOUNDS in found["said"]:
        return str(found["said"])
    if found["filled"] > FILLED:
        return f"filled {found['filled']:,} bytes {found['said']}"
    return None


def _serve() -> None:
    """Read paths and names of models, and say how their children ended."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever prints does not print into the answers
    warm = set()
    for line in sys.stdin:
        path, model = json.loads(line)
        said = Path(path).with_name("said")
        if model not in warm:  # so that its children find compiled code in memory
            warm.add(model)
            _ask_all(str(Path(path).with_name("whole")), zoo.MODELS[model], said)
        said.write_text("")
        child = os.fork()
        if child == 0:
            _try(path, zoo.MODELS[model], said)
        _, status, usage = os.wait4(child, 0)
        code = os.waitstatus_to_exitcode(status)
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        filled = 1024 * max(usage.ru_maxrss - own, 0)
        found = {"code": code, "said": said.read_text(), "filled": filled}
        print(json.dumps(found), file=out, flush=True)


def _try(path: str, one: zoo.Model, said: Path) -> None:
    """Load a file and ask the model, within limits; never returns."""
    signal.alarm(PATIENCE)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    memory = Path("/proc/self/statm")
    if memory.exists():
        most = int(memory.read_text().split()[0]) * resource.getpagesize() + ASKED
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    code = 1
    try:
        _ask_all(path, one, said)
        code = 0
    except Exception as error:  # whatever it is: it is in words
        _note(said, error)
    finally:
        os._exit(code)


def _ask_all(path: str, one: zoo.Model, said: Path) -> None:
    """Load a file and ask the model by all of its methods, noting their errors."""
    functions = {"cauchy": zoo.cauchy} if "cauchy" in repr(one.unfitted) else None
    with warnings.catch_warnings(), open(os.devnull, "w") as nowhere:
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
            model = zonal.load(path, functions)
            for method, given in zoo.calls(model):
                try:
                    getattr(model, method)(*one.rows, **given)
                except Exception as error:  # and go on: the next one may be worse
                    _note(said, error)


def _note(said: Path, error: Exception) -> None:
    with said.open("a") as file:
        file.write(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}\n")


if __name__ == "__main__":
    _serve()
