"""The start of the command `zonal`, outside the package, whose import takes most of the time."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C while modules are imported ends it like any later one."""
    try:
        from zonal.cli.overview import is_about_all, run_overview

        if is_about_all(sys.argv[1:]):
            run = run_overview
        else:
            from zonal.cli.app import run
    except ImportError as error:
        if error.name is None or error.name.startswith("zonal"):
            raise
        raise SystemExit(
            f"zonal's command line needs {error.name}: pip install 'zonal[cli]'."
        ) from error
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    run()
