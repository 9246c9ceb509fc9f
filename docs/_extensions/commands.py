"""Write the page of the command line from the commands themselves."""

from enum import Enum
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from zonal.cli.app import app as group

PLACE = Path(__file__).resolve().parents[1] / "reference" / "command.md"


def row(parameter: Any) -> str:
    """Return the line of one argument or option: its name, what it means, its default."""
    flags = [flag for flag in parameter.opts if flag.startswith("-")]
    takes = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar or ''}".rstrip()
    name = ", ".join(f"`{flag}{takes}`" for flag in flags) or f"`{parameter.metavar}`"
    default = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    shown = "" if default in (None, False, ()) else f"`{default}`"
    what = " ".join((parameter.help or "").split()).replace("|", "\\|")
    return f"| {name} | {what} | {shown} |"


def section(name: str, command: Any) -> str:
    """Return the heading, the text and the table of one command."""
    visible = [parameter for parameter in command.params if not parameter.hidden]
    table = ["| option | meaning | default |", "| --- | --- | --- |", *map(row, visible)]
    return "\n".join([f"## zonal {name}", "", command.help or "", "", *table, ""])


def write(app: Sphinx) -> None:
    """Write the page, if it has changed."""
    page = ["# The command line", "", "`pip install 'zonal[cli]'`", "", group.help or "", ""]
    page += [section(name, command) for name, command in group.commands.items()]
    text = "\n".join(page)
    if not PLACE.exists() or PLACE.read_text() != text:
        PLACE.write_text(text)


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True}
