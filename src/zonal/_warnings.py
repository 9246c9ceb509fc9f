"""Warnings that have a name, by which they can be told from others."""

__all__ = ["LeftOutWarning"]


class LeftOutWarning(UserWarning):
    """Columns of a table that a model does not look at."""
