"""What all tests share."""

import re

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Name tests alike in all processes that run them side by side: without addresses in memory."""
    for item in items:
        item._nodeid = re.sub(r"0x[0-9a-f]{6,}", "0x", item.nodeid)
