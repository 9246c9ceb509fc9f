"""``python -m zonal``: the command line."""

from zonal_command import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
