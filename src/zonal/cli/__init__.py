"""The command line: ``zonal fit``, ``zonal predict`` and others; see ``zonal --help``."""

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        from .app import run
    except ImportError as error:
        if error.name is None or error.name.startswith("zonal"):
            raise
        raise SystemExit(
            f"zonal's command line needs {error.name}: pip install 'zonal[cli]'."
        ) from error
    except KeyboardInterrupt:  # as while a command runs
        raise SystemExit(130) from None
    run()
