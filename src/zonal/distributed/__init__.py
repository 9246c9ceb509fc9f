"""Rows on a cluster: Dask arrays and frames, and the clusters themselves."""

from .cluster import connect, local_cluster

__all__ = ["connect", "local_cluster"]
