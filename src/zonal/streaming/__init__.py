"""Rows that do not fit into memory: files and iterators, block by block, with checkpoints."""

from ..learners.checkpoint import Checkpoint
from ..rows import sample_of
from .files import Stream, stream

__all__ = ["Checkpoint", "Stream", "sample_of", "stream"]
