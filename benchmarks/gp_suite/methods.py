"""Processes, and trees beside them. GPyTorch's have an environment of their own, GP_SUITE_TORCH."""

from typing import Any

import numpy as np

from ..suite.cells import Method, Task, threads
from ..suite.methods import catboost, gpboost, kernel_ridge, sklearn_gp
from ..suite.scores import Forecast

__all__ = ["METHODS", "OURS"]

# Inducing points and steps, as in GPyTorch's examples; batches of SVGP.
INDUCING, STEPS = {"SGPR": 512, "SVGP": 1024}, {"SGPR": 100, "SVGP": 20}
BATCH = 1024
OURS = "**zonal** `KernelRidge()`"


def _torch() -> Any:
    import torch

    torch.set_num_threads(threads())
    torch.manual_seed(0)
    return torch


def _kernel(n_columns: int) -> Any:
    from gpytorch import kernels

    return kernels.ScaleKernel(kernels.MaternKernel(nu=1.5, ard_num_dims=n_columns))


def sgpr(task: Task) -> Forecast:
    """GPyTorch's SGPR: 512 inducing points, 100 steps of Adam at 0.1, Matérn 3/2 with ARD.

    In double precision: in single, its RMSE on keggdirected was 1.47 standard deviations.
    """
    torch = _torch()
    torch.set_default_dtype(torch.float64)  # of its parameters too
    import gpytorch
    from gpytorch.kernels import InducingPointKernel

    X, y, X_test = (torch.tensor(part) for part in task[:3])
    chosen = torch.randperm(len(X))[: INDUCING["SGPR"]]

    class Model(gpytorch.models.ExactGP):
        def __init__(self) -> None:
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = InducingPointKernel(_kernel(X.shape[1]), X[chosen], likelihood)

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Model()
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    for _ in range(STEPS["SGPR"]):
        optimizer.zero_grad()
        loss = -evidence(model(X), y)
        loss.backward()
        optimizer.step()
    return _predicted(torch, gpytorch, model, likelihood, X_test)._replace(note="double precision")


def svgp(task: Task) -> Forecast:
    """GPyTorch's SVGP: 1,024 inducing points, 20 epochs of Adam at 0.01, Matérn 3/2 with ARD."""
    torch = _torch()
    import gpytorch
    from gpytorch import variational

    X, y, X_test = (torch.tensor(part, dtype=torch.float32) for part in task[:3])
    chosen = X[torch.randperm(len(X))[: INDUCING["SVGP"]]]

    class Model(gpytorch.models.ApproximateGP):
        def __init__(self) -> None:
            weights = variational.CholeskyVariationalDistribution(len(chosen))
            super().__init__(variational.VariationalStrategy(self, chosen.clone(), weights))
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = _kernel(X.shape[1])

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(x), self.covar_module(x)
            )

    likelihood, model = gpytorch.likelihoods.GaussianLikelihood(), Model()
    model.train()
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.01)
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(y))
    for _ in range(STEPS["SVGP"]):
        for batch in torch.randperm(len(X)).split(BATCH):
            optimizer.zero_grad()
            loss = -bound(model(X[batch]), y[batch])
            loss.backward()
            optimizer.step()
    return _predicted(torch, gpytorch, model, likelihood, X_test)


def _predicted(torch: Any, gpytorch: Any, model: Any, likelihood: Any, X: Any) -> Forecast:
    model.eval(), likelihood.eval()
    mean, variance = [], []
    with torch.no_grad(), gpytorch.settings.fast_pred_var():
        for part in X.split(BATCH):
            found = likelihood(model(part))
            mean.append(found.mean.numpy())
            variance.append(found.variance.numpy())
    return Forecast(np.concatenate(mean), np.sqrt(np.concatenate(variance)))


METHODS = {
    OURS: Method(kernel_ridge, "zonal"),
    "GPBoost, Vecchia": Method(gpboost, "gpboost"),
    "GPyTorch SGPR": Method(sgpr, "gpytorch", "GP_SUITE_TORCH"),
    "GPyTorch SVGP": Method(svgp, "gpytorch", "GP_SUITE_TORCH"),
    "scikit-learn, 1,000 rows": Method(sklearn_gp, "scikit-learn"),
    "CatBoost": Method(catboost, "catboost"),
}
