"""Classes and counts with a likelihood of their own, beside peers."""
