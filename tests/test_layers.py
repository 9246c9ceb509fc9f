"""Imports point one way, and nobody reaches into another class."""

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import zonal

ROOT = Path(zonal.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py"))

# Each layer may import from those above it in this list, not from its own or later ones.
LAYERS = [
    {"_deadline", "_files", "_signals", "_suggestions", "_typing", "_version", "_warnings"},
    {"_loaded", "_validation"},
    {"likelihoods", "polynomials", "rows"},
    {"engines", "tables", "datasets"},
    {"moments", "kernels"},
    {"persistence", "features", "kriging"},
    {"solvers"},
    {"theory", "calibration"},
    {"model"},
    {"partitions"},
    {"selection"},
    {"learners"},
    {"evaluation", "distributed"},
    {"grid"},
    {"cli"},
    {"__main__"},
]
RANK = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}


def package_of(path: Path) -> str:
    """The package of a file below src/zonal, or the module itself."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def parsed(path: Path) -> ast.Module:
    """A file, which several tests look at, parsed once."""
    return ast.parse(path.read_text())


def every_file(test: Callable[[Path], None]) -> Callable[[], None]:
    """Look at all files in one test: a test for each of them costs more than the look."""

    def whole() -> None:
        for path in FILES:
            test(path)

    whole.__name__, whole.__doc__ = test.__name__, test.__doc__
    return whole


def imported(path: Path) -> list[tuple[int, str]]:
    """The packages of ours that a file imports, with line numbers; functions included."""
    parts = ("zonal", *path.relative_to(ROOT).with_suffix("").parts)
    found = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = parts[: len(parts) - node.level] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        ours = [name.split(".") for name in names if name.split(".")[0] == "zonal"]
        found += [(node.lineno, name[1]) for name in ours if len(name) > 1]
    return found


@every_file
def test_imports_point_one_way(path):
    package = package_of(path)
    if package == "__init__":
        return  # the public names of all layers
    assert package in RANK, f"say in LAYERS where {package} belongs"
    for line, other in imported(path):
        if other in (package, "__version__"):
            continue
        assert other in RANK, f"{path}:{line} imports {other}"
        assert RANK[other] < RANK[package], f"{path}:{line}: {package} must not import {other}"


def test_contributing_shows_these_layers():
    """Names stand in the first columns of the figure, a layer on a line."""
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
    figure = text.split("## The layers")[1].split("```")[1].splitlines()
    shown = [set(re.findall(r"[a-z]+", line[:49])) for line in figure]
    known = [{name for name in layer if not name.startswith("_")} for layer in LAYERS]
    assert [names for names in shown if names] == [names for names in known if names]


@every_file
def test_imports_inside_functions_are_of_optional_dependencies(path):
    """Nothing of ours is imported late to hide a cycle."""
    tree = parsed(path)
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            late = isinstance(node, ast.ImportFrom) and (
                node.level > 0 or (node.module or "").split(".")[0] == "zonal"
            )
            assert not late, f"{path}:{node.lineno} imports from zonal inside a function"


def foreign_privates(path: Path) -> list[str]:
    """Accesses ``x._name`` where x is neither self nor cls nor a class of the same module."""
    tree = parsed(path)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    defined = {
        name.id if isinstance(name, ast.Name) else name.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for name in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(name, ast.Name | ast.Attribute)
    } | {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_"):
            continue
        if node.attr.startswith("__") or node.attr in PROTOCOLS:
            continue
        owner = node.value
        mine = isinstance(owner, ast.Name) and owner.id in {"self", "cls"} | own
        above = isinstance(owner, ast.Call) and getattr(owner.func, "id", "") == "super"
        if not (mine or above or node.attr in defined):
            found.append(f"{path}:{node.lineno}: {ast.unparse(node)}")
    return found


# Of named tuples, of notebooks, of Dask and scikit-learn: underscores that are public.
PROTOCOLS = {"_replace", "_fields", "_asdict", "_repr_html_", "_meta_nonempty", "_html_repr"}


@every_file
def test_no_class_reaches_into_another(path):
    found = foreign_privates(path)
    assert not found, found
