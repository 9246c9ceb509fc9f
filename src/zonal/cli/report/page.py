"""Reports: one HTML file with everything in it."""

import html
import platform
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from ..._version import __version__
from ..console import figure as shown
from .figures import as_image

if TYPE_CHECKING:  # matplotlib is slow to import, and few commands draw
    from matplotlib.figure import Figure

__all__ = ["Report", "machine"]


def machine() -> dict[str, str]:
    """Return what a result depends on besides the data: versions and platform."""
    packages = ["numpy", "scipy", "scikit-learn", "numba"]
    found = {"zonal": __version__, **{name: version(name) for name in packages}}
    return {"python": platform.python_version(), **found, "platform": platform.platform()}


@dataclass
class Report:
    """A page, put together section by section.

    Attributes
    ----------
    title, summary : str
        The headline, and the sentence below it.
    sections : list of str
        HTML.
    """

    title: str
    summary: str
    sections: list[str] = field(default_factory=list)

    def tiles(self, figures: Iterable[tuple[str, Any]]) -> None:
        """Add the numbers to see first, with what they are."""
        parts = [
            f"<div><b>{_text(value)}</b><span>{_text(name)}</span></div>" for name, value in figures
        ]
        self.sections.append(f'<div class="tiles">{"".join(parts)}</div>')

    def table(
        self,
        title: str,
        header: Sequence[str],
        rows: Iterable[Iterable[Any]],
        note: str = "",
        *,
        folded: bool = False,
    ) -> None:
        """Add a table under a heading; text is set flush left, numbers flush right.

        A folded table shows its heading alone until it is opened.
        """
        cells = [list(row) for row in rows]
        words = [
            all(isinstance(cell, str) for cell in column) for column in zip(*cells, strict=True)
        ]
        style = [' class="words"' if word else "" for word in words]
        head = "".join(
            f'<th scope="col"{kind}>{_text(name)}</th>'
            for name, kind in zip(header, style, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(
                f"<td{kind}>{_text(cell)}</td>" for cell, kind in zip(row, style, strict=True)
            )
            + "</tr>"
            for row in cells
        )
        note = f"<p>{_text(note)}</p>" if note else ""
        start, heading, end = ("", f"<h2>{_text(title)}</h2>", "")
        if folded:
            start, heading, end = "<details>", f"<summary>{heading}</summary>", "</details>"
        self.sections.append(
            f'<section>{start}{heading}{note}<div class="wide"><table><thead><tr>{head}'
            f"</tr></thead><tbody>{body}</tbody></table></div>{end}</section>"
        )

    def figures(self, title: str, drawings: Iterable[tuple[str, "Figure"]], note: str = "") -> None:
        """Add figures with captions, side by side where the window is wide enough."""
        parts = [
            f'<figure><img src="{as_image(drawing)}" alt="{_text(caption)}">'
            f"<figcaption>{_text(caption)}</figcaption></figure>"
            for caption, drawing in drawings
        ]
        note = f"<p>{_text(note)}</p>" if note else ""
        self.sections.append(
            f'<section><h2>{_text(title)}</h2>{note}<div class="figures">{"".join(parts)}</div>'
            "</section>"
        )

    def notes(self, title: str, lines: Sequence[str]) -> None:
        """Add a list of sentences; nothing if there are none."""
        if lines:
            items = "".join(f"<li>{_text(line)}</li>" for line in lines)
            self.sections.append(f"<section><h2>{_text(title)}</h2><ul>{items}</ul></section>")

    def write(self, path: Path) -> None:
        """Write the page, with the command and the versions at its end."""
        self.table("How it was made", ("what", "value"), [*_command(), *machine().items()])
        template = Template(files(__package__).joinpath("page.html").read_text("utf-8"))
        page = template.substitute(
            title=_text(self.title), summary=_text(self.summary), body="\n".join(self.sections)
        )
        path.write_text(page, encoding="utf-8")


def _command() -> list[tuple[str, str]]:
    return [("command", " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]))]


def _text(value: Any) -> str:
    return html.escape(value if isinstance(value, str) else shown(value))
