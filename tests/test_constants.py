"""Numbers that somebody chose do not grow unnoticed.

A constant is a name in capitals at the top of a file whose value has a number in it, not zero: no
name of a kind, no empty array. Those of `numerics.py` are block sizes, memory, rounding, and the
ranges and grids in which a search looks: they change how long a fit takes and not what it finds.
Those of `facts.py` are facts of the calendar and the globe. All others may have been tuned.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import zonal

ROOMS = ("selection", "kriging", "calibration", "learners", "features/columns")
# As many as there are. A new one takes the place of an old one, or says why it must be.
MOST = 39


def constants(code: str) -> Iterator[str]:
    """Yield names in capitals that a module gives numbers to."""
    for statement in ast.parse(code).body:
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        else:
            continue
        assert statement.value is not None
        if ast.unparse(statement.value).startswith("range("):  # names of kinds
            continue
        numbers = [
            node
            for node in ast.walk(statement.value)
            if isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value
        ]
        names = [
            node.id for target in targets for node in ast.walk(target) if type(node) is ast.Name
        ]
        if numbers:
            yield from (name for name in names if name.lstrip("_").isupper())


def test_constants_are_found():
    code = "A, B = 1, 2.0\nNAMES = ('a',)\nlower = 3\n_C: float = 1e-3\nD = {'a': (1, 2)}\n"
    code += "NEAR, FAR = range(2)\nNOTHING = (0, 0)\n"
    assert list(constants(code)) == ["A", "B", "_C", "D"]


def test_no_more_constants_than_there_were():
    home = Path(zonal.__file__).parent
    files = [file for room in ROOMS for file in (home / room).rglob("*.py")]
    tuned = [file for file in files if file.name not in ("numerics.py", "facts.py")]
    found = [f"{file.name}: {name}" for file in tuned for name in constants(file.read_text())]
    assert len(found) <= MOST, f"{len(found)} constants, more than {MOST}: {sorted(found)}"
