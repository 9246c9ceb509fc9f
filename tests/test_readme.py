"""The README's example runs and gives what the text says."""

import contextlib
import io
import re
from pathlib import Path

import pytest


@pytest.mark.slow
def test_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    # 0.37 km² of a variance of about 7 km².
    assert 0.9 < float(printed.getvalue()) < 1
