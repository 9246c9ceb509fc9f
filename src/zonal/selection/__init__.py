"""Choosing features on a pilot sample, for learners that are not told which to use."""
