"""Leave out of the reference what scikit-learn documents."""

import inspect
from typing import Any

from sphinx.application import Sphinx


def skip(app: Sphinx, kind: str, name: str, member: Any, skipped: bool, options: Any) -> bool:
    """Tell whether a member is not ours."""
    function = getattr(member, "fget", member)
    module = getattr(inspect.unwrap(function), "__module__", None) if callable(function) else None
    # Methods like set_fit_request are made for each class by scikit-learn.
    made = name.startswith("set_") and name.endswith("_request")
    return skipped or made or not (module or "zonal").startswith("zonal")


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
