"""What all tests share."""

import gc
import re

import pytest

from zonal.rows import threads


def without_addresses(make_id):
    """Return ids without addresses in memory: tests that run side by side must agree on them."""

    def plain(value):
        made = make_id(value)
        return re.sub(r"0x[0-9a-f]{6,}", "0x", made) if isinstance(made, str) else made

    return plain


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Name tests alike in all processes."""
    for mark in metafunc.definition.iter_markers("parametrize"):
        if callable(mark.kwargs.get("ids")):
            mark.kwargs["ids"] = without_addresses(mark.kwargs["ids"])


def pytest_collection_modifyitems(items):
    """Begin with journeys: at the end one process would walk through the last of them alone."""
    items.sort(key=lambda item: "tests/journeys" not in item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among half a million objects of modules and tests, which all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def two_threads(monkeypatch):
    """Let two threads work, whatever the environment of the tests allows."""
    monkeypatch.setattr(threads, "_allowed", lambda process: 2)
