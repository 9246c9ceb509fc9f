"""Signals are never lost, wherever they meet the program."""

import json
import signal
import subprocess
import sys

import pytest

import zonal
from zonal._signals import postponed
from zonal.persistence import archive, models


@pytest.fixture
def terminated():
    """SIGTERM as programs handle it."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def interruptible():
    """SIGINT as Python handles it, whatever runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


ENDS = {signal.SIGINT: KeyboardInterrupt, signal.SIGTERM: SystemExit}


class Struck:
    """What has a destructor, as an archive has, in which a signal arrives."""

    def __init__(self, number):
        self.number = number

    def __del__(self):
        signal.raise_signal(self.number)


@pytest.mark.parametrize("number", ENDS, ids=lambda number: number.name)
def test_a_signal_in_a_destructor_is_not_lost(number, terminated, interruptible):
    done = []

    def run():
        with postponed():
            Struck(number)
            done.append(True)

    before = signal.getsignal(number)
    with pytest.raises(ENDS[number]):
        run()
    assert done
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", ENDS, ids=lambda number: number.name)
def test_a_file_is_whole_when_a_signal_takes_effect(
    number, terminated, interruptible, tmp_path, monkeypatch
):
    def struck(path, content):
        Struck(number)
        archive.write(path, content)

    monkeypatch.setattr(models, "write", struck)
    with pytest.raises(ENDS[number]):
        zonal.save(zonal.Gaussian(3.0), tmp_path / "m.zonal")
    assert zonal.load(tmp_path / "m.zonal").bandwidth == 3.0


def test_the_second_signal_takes_effect_at_once(interruptible):
    done = []

    def run():
        with postponed():
            for _ in range(2):
                signal.raise_signal(signal.SIGINT)
                done.append(True)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert len(done) == 1


COMMAND = """
class Struck:
    def __del__(self):
        signal.raise_signal({number})

def command():
    Struck()
    time.sleep(60)

signal.signal(signal.SIGINT, signal.default_int_handler)
program.app = command
try:
    program.run()
except KeyboardInterrupt:
    sys.exit(130)
"""

HOOK = """
from zonal.cli.overview import PANELS, make_app

def fit():
    # As Cython does in a function without exceptions: print, then go on.
    try:
        signal.raise_signal({number})
    except BaseException:
        sys.excepthook(*sys.exc_info())
        sys.unraisablehook(type("", (), dict(exc_type=sys.exc_info()[0])))
    time.sleep(60)

signal.signal(signal.SIGINT, signal.default_int_handler)
names = [name for panel in PANELS.values() for name in panel]
program.app = make_app(dict.fromkeys(names, fit))
sys.argv = ["zonal", "fit"]
program.run()
"""

# Imports take far longer than the rest: they are done once, and each script runs in a fork.
FORKS = """
import json, os, signal, sys, tempfile, time
import zonal.cli.app as program

ends = []
for script in json.loads(sys.stdin.read()):
    said = tempfile.TemporaryFile()
    child = os.fork()
    if not child:
        os.dup2(said.fileno(), 2)
        break
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    said.seek(0)
    ends.append((code, said.read().decode()))
else:
    print(json.dumps(ends))
    sys.exit()
exec(script)
"""


@pytest.fixture(scope="module")
def ended():
    """Exit code and what was said on stderr, by script and signal."""
    cases = [(script, number) for script in (COMMAND, HOOK) for number in ENDS]
    scripts = [script.format(number=int(number)) for script, number in cases]
    done = subprocess.run(
        [sys.executable, "-c", FORKS],
        input=json.dumps(scripts),
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    return dict(zip(cases, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("number", ENDS, ids=lambda number: number.name)
def test_a_command_ends_that_is_struck_in_a_destructor(number, ended):
    code, said = ended[COMMAND, number]
    assert code == 128 + number, said
    assert said == ""


@pytest.mark.parametrize("number", ENDS, ids=lambda number: number.name)
def test_a_command_says_nothing_of_a_signal_that_compiled_code_printed(number, ended):
    code, said = ended[HOOK, number]
    assert code == 128 + number, said
    assert "Traceback" not in said
