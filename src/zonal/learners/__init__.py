"""Learners: scikit-learn estimators, on explicit features in one pass, or exact."""

from ..model.alpha_end import AlphaWarning
from .cca import KernelCCA
from .classifier import KernelRidgeClassifier
from .cokriging import CoKriging
from .exact_ridge import ExactKernelRidge
from .gaussian_process import GaussianProcess
from .glm import KernelGLM
from .kmeans import KernelKMeans
from .neighbor_kriging import NeighborKriging
from .pca import KernelPCA
from .ridge import KernelRidge

__all__ = [
    "AlphaWarning",
    "CoKriging",
    "ExactKernelRidge",
    "GaussianProcess",
    "KernelCCA",
    "KernelGLM",
    "KernelKMeans",
    "KernelPCA",
    "KernelRidge",
    "KernelRidgeClassifier",
    "NeighborKriging",
]
