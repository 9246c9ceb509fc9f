"""The start of the command `zonal`, outside the package, whose import takes most of the time."""

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C while modules are imported ends it like any later one."""
    try:
        from zonal.cli import main as command
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    command()
