"""The installed package, and files such as the documents speak of; made once for all processes."""

import shutil
import sys

import pytest

from tests.journeys.files import make_files
from tests.journeys.harness import Walk, environment_of, install_wheel, made_once
from tests.journeys.prefork import serving


@pytest.fixture(scope="session")
def shared(tmp_path_factory, request):
    """Return the folder that all processes of this run of the tests share."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if hasattr(request.config, "workerinput") else base) / "journeys"


@pytest.fixture(scope="session")
def site(shared):
    """Return where the wheel is installed."""
    with made_once(shared / "wheel") as first:
        if first:
            install_wheel(shared / "wheel")
    return shared / "wheel" / "site"


@pytest.fixture(scope="session")
def files(shared):
    """Return a folder with tables and grids."""
    with made_once(shared / "files") as first:
        if first:
            make_files(shared / "files")
    return shared / "files"


@pytest.fixture(scope="session")
def steps(site):
    """Return the command that starts steps; only on Linux a process with BLAS can be forked."""
    if sys.platform != "linux":
        yield ()
        return
    with serving(environment_of(site)) as command:
        yield tuple(command)


@pytest.fixture
def walk(tmp_path, site, files, steps):
    """Return a folder with the tables and grids, in which steps are taken."""
    for path in files.iterdir():
        if path.is_dir():
            shutil.copytree(path, tmp_path / path.name)
        elif path.suffix:
            shutil.copy(path, tmp_path / path.name)
    return Walk(tmp_path, site, steps)
