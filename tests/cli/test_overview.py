import inspect
import subprocess
import sys

import pytest

from zonal.cli.app import COMMANDS
from zonal.cli.overview import PANELS, is_about_all

SCRIPT = """
import sys
import zonal_command
sys.argv = ["zonal", "--help"]
try:
    zonal_command.main()
finally:
    print("loaded", *sorted({"numba", "scipy", "sklearn", "numpy"} & set(sys.modules)))
"""


def test_the_overview_tells_what_the_commands_say_of_themselves():
    told = {name: text for names in PANELS.values() for name, text in names.items()}
    assert told == {
        command.__name__: inspect.getdoc(command).split("\n\n")[0].replace("\n", " ")
        for command in COMMANDS
    }


def test_the_overview_loads_nothing_heavy_and_names_all_commands():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "loaded"
    for names in PANELS.values():
        for name in names:
            assert f" {name} " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [([], True), (["--help"], True), (["--version"], True), (["fit", "--help"], False)],
)
def test_what_is_about_all(arguments, expected):
    assert is_about_all(arguments) is expected
