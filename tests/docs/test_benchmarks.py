"""The examples of benchmarks/README.md do what the text says."""

import re
from pathlib import Path

from benchmarks.compare import METHODS, main

ROOT = Path(__file__).parents[2]


def test_a_method_and_a_dataset_of_your_own(tmp_path, monkeypatch, capsys):
    text = (ROOT / "benchmarks" / "README.md").read_text()
    code = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    mine = tmp_path / "mine.py"
    mine.write_text("\n".join(code))
    monkeypatch.setitem(METHODS, "zonal", METHODS["8 nearest rows"])  # the choice takes seconds
    main([str(mine), "--rows", "300"])
    printed = capsys.readouterr().out
    assert "| spiral | boosted trees |" in printed
    main([str(mine), "--data", "protein", "--rows", "200"])
    assert "| protein | zonal |" in capsys.readouterr().out
