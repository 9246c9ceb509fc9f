"""Learners on explicit features: scikit-learn estimators that need one pass over the data."""

from .cca import KernelCCA
from .classifier import KernelRidgeClassifier
from .gaussian_process import GaussianProcess
from .kmeans import KernelKMeans
from .neighbor_kriging import NeighborKriging
from .pca import KernelPCA
from .ridge import KernelRidge

__all__ = [
    "GaussianProcess",
    "KernelCCA",
    "KernelKMeans",
    "KernelPCA",
    "KernelRidge",
    "KernelRidgeClassifier",
    "NeighborKriging",
]
