"""The examples of CONTRIBUTING.md run, and do what the text says."""

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
EXAMPLES = re.findall(r"## Write your own (\w+(?: \w+)?)\n.*?```python\n(.*?)```", TEXT, re.DOTALL)

# Of 400 harmonic features, relative; of 4,096 random features: 5 standard errors, √(1/4096) each,
# are 0.08; of sums in double precision.
BOUNDS = {"kernel": 0.01, "feature map": 0.1, "learner": 1e-12}


def test_there_is_an_example_of_each():
    assert {name for name, _ in EXAMPLES} == set(BOUNDS)


@pytest.mark.parametrize(("name", "code"), EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_example(name, code):
    namespace = {}
    exec(compile(code, f"CONTRIBUTING.md, {name}", "exec"), namespace)
    assert 0 < namespace["error"] < BOUNDS[name]
