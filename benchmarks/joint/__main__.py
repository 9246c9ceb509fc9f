"""python -m benchmarks.joint [names ...]: writes benchmarks/results/joint.md.

Results are kept in joint.json, so that parts can be run one by one.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import peers, tasks
from .page import page

KEPT = Path(__file__).parents[1] / "results" / "joint.json"
TASKS: dict[str, Callable[[], Any]] = {
    "draws": tasks.draws,
    "variogram": tasks.variogram,
    "areas elevation": lambda: tasks.areas("elevation"),
    "areas airs_co2": lambda: tasks.areas("airs_co2"),
    "errors": tasks.errors,
    "argo": tasks.correlated,
    "unrelated": tasks.unrelated,
    **{f"peers {name}": (lambda name=name: peers.peers(name)) for name in peers.PEERS},
}


def main() -> None:
    """Run what is named, and write all that is known."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.joint")
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(TASKS)}; all if left out")
    for name in parser.parse_args().names or list(TASKS):
        found = TASKS[name]()
        print(name, found, flush=True)
        kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        KEPT.write_text(json.dumps(kept | {name: found}, indent=1) + "\n")
    KEPT.with_suffix(".md").write_text(page(json.loads(KEPT.read_text())))


if __name__ == "__main__":
    main()
