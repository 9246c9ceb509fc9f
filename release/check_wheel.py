"""Check what `python -m build` made: size, contents and metadata of the wheel."""

import sys
import zipfile
from email.parser import Parser
from pathlib import Path

LARGEST = 2_000_000
FIELDS = ("Requires-Python", "License-Expression", "Description-Content-Type")
NEEDED = ("zonal/py.typed", "zonal/cli/report/page.html", "zonal_command.py")


def problems(path: Path) -> list[str]:
    """Return what is wrong with a wheel."""
    found = []
    if path.stat().st_size >= LARGEST:
        found.append(f"{path.stat().st_size:,} bytes are not below {LARGEST:,}")
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        (about,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(wheel.read(about).decode())
    found += [f"{name} is missing" for name in NEEDED if name not in names]
    found += [f"{name} does not belong" for name in names if name.startswith(("tests", "docs"))]
    return found + [f"{field} is missing" for field in FIELDS if not metadata.get(field)]


def main() -> int:
    (path,) = Path(sys.argv[1]).glob("*.whl")
    found = problems(path)
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB;", "; ".join(found) or "all is well")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
