"""Rows that do not fit into memory: files and iterators, block by block, with checkpoints."""

from ..learners.checkpoint import Checkpoint
from ..rows.dispatch import sample_of
from ..tables import Stream, stream

__all__ = ["Checkpoint", "Stream", "sample_of", "stream"]
