"""More than one machine: clusters that fits and predictions on Dask collections run on."""

from .rows.cluster import connect, local_cluster

__all__ = ["connect", "local_cluster"]
