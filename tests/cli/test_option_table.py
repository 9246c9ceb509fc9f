"""Every option of ``zonal fit`` and ``zonal predict`` works on every kind of input, or says why."""

import os

import pytest

from .option_table import COMMANDS, KINDS, PAGE, WORKS, cells, make_inputs, options_of, read_page

# All cells take three minutes: ``make options`` tries them, ``make test`` an eighth.
EVERY = bool(os.environ.get("ZONAL_EVERY_OPTION"))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds")
    make_inputs(folder)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_no_option_is_left_out(command):
    assert set(COMMANDS[command]) == options_of(command)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_option(command, kind, inputs):
    """No traceback, nothing half-written, and what the page says."""
    promised = read_page(PAGE.read_text())[command][kind]
    for label, cell in cells(command, kind, inputs, EVERY).items():
        assert cell.done is not None, (label, cell.error)
        assert "Traceback" not in cell.done.stderr
        assert not [name for name in cell.made if name.startswith(".")]
        if cell.outcome == WORKS:
            assert bool(cell.made) == (
                command == "predict" or label in ("--out FILE", "--report FILE")
            )
        else:
            assert cell.error.endswith((".", "?")), "a sentence of ours, not one of Python's"
            assert not cell.made
        assert cell.outcome == promised[label], (
            f"{label}: python -m tests.cli.option_table writes the page anew"
        )
