"""A step that is forked is a process of its own, as one that is started."""

import pytest


@pytest.fixture(params=["forked", "fresh"])
def either(walk, request):
    return walk if request.param == "forked" else walk.fresh()


def test_a_step_knows_its_folder_its_environment_and_no_other_step(either):
    code = """
import os, sys
from pathlib import Path

assert "zonal" not in sys.modules and __name__ == "__main__"
assert not hasattr(sys, "stepped"), "another step was here"
sys.stepped = True
assert sys.argv == ["step.py"] and Path(__file__).name == "step.py"
assert os.environ["SAID"] == "so" and "PYTEST_CURRENT_TEST" not in os.environ
import subprocess, beside  # its own folder is where modules are looked for, and children can be had
assert subprocess.run(["sh", "-c", "exit 3"]).returncode == 3
print(os.getcwd())
"""
    (either.folder / "beside.py").write_text("")
    for _ in range(2):
        assert either.python(code, SAID="so") == f"{either.folder}\n"


def test_how_a_step_ends_is_told(either):
    for code, said in (("raise SystemExit(3)", "ends with 3"), ("1 / 0", "ZeroDivisionError")):
        with pytest.raises(AssertionError, match=said):
            either.typed(code)
    with pytest.raises(AssertionError, match="ends with"):
        either.typed("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert either.typed("import atexit; atexit.register(print, 'at the end')") == "at the end\n"


def test_commands_in_steps(walk):
    """Documents start commands of a shell from Python."""
    code = "import subprocess; subprocess.run(['sh', '-e', '-c', 'zonal --version'], check=True)"
    assert walk.typed(code) == walk.shell("zonal --version")
    assert "frobnicate" in walk.refused("zonal frobnicate")
