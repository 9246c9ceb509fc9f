"""What a good approximation of the kernel means for learning: regression and clustering."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from .._typing import FloatArray
from .._validation import check_positive
from ..kernels import Kernel
from .inputs import as_kernel_and_rows, check_fraction, check_lam, kernel_matrix
from .kernel_rows import KernelRows
from .spectral import feature_matrix, spectral_error

__all__ = ["RidgeRisk", "kmeans_bound", "kmeans_cost", "ridge_risk_bound"]


@dataclass(frozen=True)
class RidgeRisk:
    """Fixed-design risks of ridge regression, exact and bounded.

    Attributes
    ----------
    kernel_risk : float
        R(f) of the exact kernel.
    feature_risk : float
        R(f̃) of the features.
    bound : float
        What is proven for R(f̃).
    stated : float
        The bound as the paper prints it, which R(f̃) can exceed.
    eps : float
        ε of the spectral approximation.
    """

    kernel_risk: float
    feature_risk: float
    bound: float
    stated: float
    eps: float


def ridge_risk_bound(
    K: Any,
    Z: Any,
    lam: float,
    target: npt.ArrayLike,
    noise: float,
    *,
    X: Any = None,
    eps: float | None = None,
) -> RidgeRisk:
    r"""Return the risk lemma's bound on ridge regression with features, and the exact risks.

    For labels :math:`y_i = f^*(x_i) + \nu_i` with noise of variance σ², the risk
    :math:`\mathcal{R}(f) = \mathbb{E}\, \frac1n \sum_i |f(x_i) - f^*(x_i)|^2` of ridge regression
    with a kernel matrix K is known exactly, bias and variance:

    .. math::

        \mathcal{R}(f) = \frac{\lambda^2}{n} \big\|(K+\lambda)^{-1} f^*\big\|^2 +
        \frac{\sigma^2}{n} \mathrm{Tr}\big(K^2 (K+\lambda)^{-2}\big) .

    If features are an (ε, λ)-spectral approximation (equation (1), ε < 1), then theirs is at most

    .. math::

        (1+\varepsilon)\, \frac{\lambda}{n} f^{*\top} (K+\lambda)^{-1} f^* +
        \frac{\sigma^2}{n} \big[(1-\varepsilon)\, s_\lambda + \varepsilon\, \mathrm{rank}(Z)\big] .

    The paper prints :math:`\mathcal{R}(f)/(1-\varepsilon) + \frac{\varepsilon}{1+\varepsilon}
    \frac{\mathrm{rank}(Z)}{n} \sigma^2`, which does not hold in general: see
    ``docs/theory/risk.md``. Exact risks take all eigenvalues of the n × n matrix: for more than a
    few thousand rows, use a sample of them.

    Parameters
    ----------
    K : array-like of shape (n, n), Kernel or str
        The kernel matrix; or a kernel, with rows X.
    Z : array-like of shape (n, D) or features object
        The features of the rows; or a fitted map, with rows X.
    lam : float
        The ridge λ > 0.
    target : array-like of shape (n,)
        f*, the labels without noise.
    noise : float
        The standard deviation σ ≥ 0 of the noise.
    X : {array-like, CSR matrix} of shape (n, d), optional
        Rows, if K is a kernel.
    eps : float, optional
        ε; by default the measured `spectral_error`. Where that is 1 or more, both bounds are
        infinite.

    Returns
    -------
    RidgeRisk

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> kernel = zonal.Gaussian(2.0)
    >>> features = zonal.GegenbauerFeatures(kernel, 1024, random_state=0).fit(X)
    >>> risk = zonal.theory.ridge_risk_bound(kernel, features, 1.0, np.sin(X[:, 0]), 0.1, X=X)
    >>> risk.feature_risk < risk.bound
    True
    """
    owner = "ridge_risk_bound"
    lam = check_lam(lam, owner)
    if noise != 0:
        check_positive("noise", noise, owner, extra=", or 0")
    matrix, values = kernel_matrix(K, X, owner)
    columns = np.asarray(feature_matrix(Z, X, len(matrix), owner), np.float64)
    truth = np.asarray(target, dtype=np.float64)
    if truth.shape != (len(matrix),) or not np.isfinite(truth).all():
        raise ValueError(
            f"target of {owner} has shape {truth.shape}; it must be {len(matrix)} finite numbers, "
            "the noiseless label of each row."
        )
    variance = float(noise) ** 2
    found = float(spectral_error(matrix, columns, lam)) if eps is None else eps
    if eps is not None:
        check_fraction("eps", eps, owner)
    n = len(matrix)
    kernel_risk, squared_norm = _risk(matrix, truth, lam, variance)
    feature_risk, _ = _risk(columns @ columns.T, truth, lam, variance)
    bound = stated = np.inf
    if found < 1:
        rank = int(np.linalg.matrix_rank(columns))
        dimension = float((values / (values + lam)).sum())
        effective = (1 - found) * dimension + found * rank
        bound = ((1 + found) * lam * squared_norm + variance * effective) / n
        stated = kernel_risk / (1 - found) + found / (1 + found) * rank / n * variance
    return RidgeRisk(kernel_risk, feature_risk, float(bound), float(stated), found)


def _risk(
    matrix: FloatArray, truth: FloatArray, lam: float, variance: float
) -> tuple[float, float]:
    """Return the exact risk, and f*ᵀ (K + λ)⁻¹ f*."""
    values, vectors = eigh(matrix)
    values = np.maximum(values, 0.0)
    parts = (vectors.T @ truth) ** 2
    bias = lam**2 * (parts / (values + lam) ** 2).sum()
    spread = variance * ((values / (values + lam)) ** 2).sum()
    return float(bias + spread) / len(truth), float((parts / (values + lam)).sum())


def kmeans_cost(K: Any, labels: npt.ArrayLike, *, X: Any = None) -> float:
    r"""Return the kernel k-means cost of a clustering.

    .. math::

        \sum_i \sum_{x_j \in C_i} \|\phi_{x_j} - \mu_i\|^2 =
        \mathrm{Tr}(K - C C^\top K C C^\top), \qquad
        C_{ji} = \frac{1}{\sqrt{|C_i|}} 1_{\{x_j \in C_i\}}

    (The paper prints :math:`1/|C_i|`, with which C is not orthonormal.)

    Parameters
    ----------
    K : array-like of shape (n, n), Kernel or str
        The kernel matrix (Z Zᵀ gives the cost in feature space); or a kernel, with rows X, for
        which no n × n matrix is formed.
    labels : array-like of shape (n,)
        The cluster of each row.
    X : {array-like, CSR matrix} of shape (n, d), optional
        Rows, if K is a kernel.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import zonal
    >>> x = np.array([0.0, 2.0, 7.0])
    >>> zonal.theory.kmeans_cost(np.outer(x, x), [0, 0, 1])
    2.0
    """
    names, numbers, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    indicator = (numbers[:, None] == np.arange(len(names))) / np.sqrt(sizes)
    if isinstance(K, Kernel | str):
        rows = KernelRows(*as_kernel_and_rows(K, X, "kmeans_cost"))
        n, trace, product = rows.n_rows, rows.trace(), rows.__matmul__
    else:
        matrix = kernel_matrix(K, X, "kmeans_cost")[0]
        n, trace, product = len(matrix), float(np.trace(matrix)), matrix.__matmul__
    if numbers.shape != (n,):
        raise ValueError(
            f"labels of kmeans_cost has shape {numbers.shape}; K of {n} rows needs one for each."
        )
    return trace - float(np.einsum("ni,ni->", indicator, product(indicator)))


def kmeans_bound(eps: float, gamma: float = 0.0) -> float:
    r"""Return the factor by which clustering the features instead of the kernel can cost more.

    If features preserve the cost of all projections of rank k within ε, a clustering C̃ of them
    that is within (1 + γ) of their best satisfies

    .. math::

        \mathrm{cost}_K(\tilde C) \le \frac{(1+\gamma)(1+\varepsilon)}{1-\varepsilon}
        \min_C \mathrm{cost}_K(C) .

    (The paper bounds the cost in feature space, with (1+γ)(1+ε); the cost that counts is the
    kernel's.)

    Parameters
    ----------
    eps : float
        ε of the projection-cost theorem, strictly between 0 and 1: `projection_cost_error`
        measures it.
    gamma : float, default=0.0
        γ ≥ 0: how far the clustering of the features may be from their best.

    Returns
    -------
    float

    Examples
    --------
    >>> import zonal
    >>> zonal.theory.kmeans_bound(0.5)
    3.0
    """
    eps = check_fraction("eps", eps, "kmeans_bound")
    if gamma != 0:
        check_positive("gamma", gamma, "kmeans_bound", extra=", or 0")
    return (1 + gamma) * (1 + eps) / (1 - eps)
