"""Errors of options, and the words in which the command line gives advice about tables."""

from ..tables import Advice

__all__ = ["ADVICE", "CommandError"]

ADVICE = Advice(
    column="leave the column out with --ignore {name!r}",
    missing="leave such rows out with --drop-missing",
    inputs="--input",
    outside="Are --lat and --lon swapped? If not, correct or remove such rows.",
)


class CommandError(Exception):
    """Something is wrong with what the command was given; its text is all that is shown."""
