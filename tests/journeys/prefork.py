"""Start steps as copies of a process that has imported other people's packages already.

Of the two seconds that a step takes to start, scikit-learn, pandas, SciPy and Numba take most. One
process imports them and forks a copy of itself for each step. zonal is not among them: each copy
imports the installed package anew, so that no step knows of another.

``python prefork.py SOCKET`` serves; ``python prefork.py SOCKET zonal|python ARGUMENTS`` asks for a
step, which has the streams, the folder and the environment of who asks.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

PACKAGES = (
    "numba", "pandas", "pyarrow.parquet", "rich.markdown", "scipy.optimize", "scipy.sparse.linalg",
    "scipy.stats", "skops.io", "sklearn.model_selection", "sklearn.pipeline",
    "sklearn.preprocessing", "typer.rich_utils", "xarray",
)  # fmt: skip


@contextlib.contextmanager
def serving(environment: dict[str, str]) -> Iterator[list[str]]:
    """Serve while the block runs; yields the command that asks for steps."""
    with tempfile.TemporaryDirectory(prefix="steps") as folder:
        # Nothing of the folder of this file can be imported by the steps.
        address = str(Path(folder) / "socket")
        command = [sys.executable, "-P", __file__, address]
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            cwd=folder,
            env=environment,
            start_new_session=True,
        ) as server:
            try:
                assert server.stdout is not None
                assert server.stdout.readline() == b"ready\n"
                yield [sys.executable, "-IS", __file__, address]
            finally:
                os.killpg(server.pid, signal.SIGKILL)


def ask(address: str, arguments: list[str]) -> int:
    """Ask for a step; return how it ended."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        what = json.dumps([arguments, os.getcwd(), dict(os.environ)])
        socket.send_fds(server, [b"."], [0, 1, 2])
        server.sendall(what.encode())
        server.shutdown(socket.SHUT_WR)
        code = int(server.makefile().read())
    return code if code >= 0 else 128 - code  # as a shell tells of a signal


def serve(address: str) -> None:
    """Fork a keeper for each step that is asked for; steps may ask for steps."""
    for name in PACKAGES:
        importlib.import_module(name)
    # A copy that ends would look for garbage in all of them: 0.8 s of CPU time, and 0.15 s so.
    gc.freeze()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(address)
    listening.listen()
    listening.settimeout(10)
    parent = os.getppid()
    print("ready", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the keepers
    while os.getppid() == parent:  # tests that are killed cannot say that they have ended
        try:
            asked, _ = listening.accept()
        except TimeoutError:
            continue
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listening.close()
            keep(asked)
            return
        asked.close()


def keep(asked: socket.socket) -> None:
    """Let a copy take the step, and tell how it ended."""
    _, streams, _, _ = socket.recv_fds(asked, 1, 3)
    arguments, folder, environment = json.loads(asked.makefile().read())
    step = os.fork()
    if step == 0:
        asked.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        take(*arguments)
        return
    for stream in streams:
        os.close(stream)
    _, status = os.waitpid(step, 0)
    asked.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def take(program: str, *arguments: str) -> None:
    """Do as `zonal` does, or as `python FILE` or `python -c CODE`."""
    if program == "zonal":
        sys.argv = [program, *arguments]
        importlib.import_module("zonal_command").main()
        return
    main = sys.modules["__main__"] = ModuleType("__main__")
    if arguments[0] == "-c":
        code, place, sys.argv = arguments[1], "<string>", ["-c"]
        sys.path.insert(0, "")
    else:
        main.__file__ = place = os.path.abspath(arguments[0])
        code, sys.argv = Path(place).read_text(), list(arguments)
        sys.path.insert(0, os.path.dirname(place))
    exec(compile(code, place, "exec"), main.__dict__)


if __name__ == "__main__":
    if sys.argv[2:]:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
    serve(sys.argv[1])
