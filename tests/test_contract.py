"""The public names and signatures that users and other projects rely on."""

import inspect

import pytest

import zonal

SIGNATURES = {
    "Gaussian": "(bandwidth=1.0)",
    "Exponential": "(scale=1.0)",
    "Polynomial": "(degree=3, gamma=1.0, coef0=1.0)",
    "DotProduct": "(kappa, taylor=None)",
    "ArcCosine": "(order=1)",
    "NTK": "(depth=2)",
    "Zonal": "(kappa)",
    "GeneralizedZonalKernel": "(dim, radial, max_degree, n_radial)",
    "GegenbauerFeatures": "(kernel='gaussian', n_components=1024, *, max_degree='auto', "
    "n_radial='auto', radial_basis='auto', directions='auto', center='auto', random_state=None)",
    "FourierFeatures": "(kernel='gaussian', n_components=1024, *, orthogonal=False, "
    "random_state=None)",
    "ModifiedFourierFeatures": "(kernel='gaussian', n_components=1024, *, mixture=0.5, "
    "n_over_lam=1000.0, random_state=None)",
    "FastFoodFeatures": "(kernel='gaussian', n_components=1024, *, random_state=None)",
    "MaclaurinFeatures": "(kernel='gaussian', n_components=1024, *, measure='geometric', "
    "center='auto', random_state=None)",
    "PolySketchFeatures": "(kernel='gaussian', n_components=1024, *, degree='auto', "
    "base_sketch='auto', center='auto', random_state=None)",
    "NystroemFeatures": "(kernel='gaussian', n_components=1024, *, sampling='recursive', "
    "random_state=None)",
    "Gaussian.expand": "(self, dim, max_degree=None, n_radial=None, radial_basis='taylor', "
    "radii=None, tol=1e-06)",
    "Gaussian.__call__": "(self, X, Y=None)",
    "Gaussian.diag": "(self, X)",
    "GeneralizedZonalKernel.expand": "(self, dim, max_degree=None, n_radial=None, "
    "radial_basis='taylor', radii=None, tol=1e-06)",
    "KernelRidge": "(features='auto', alpha='cv', *, alphas=None, cv=2, fit_intercept=True, "
    "budget=1024, random_state=None, verbose=False)",
    "KernelRidgeClassifier": "(features='auto', alpha='cv', *, alphas=None, cv=2, "
    "fit_intercept=True, budget=1024, random_state=None, verbose=False)",
    "KernelKMeans": "(features='auto', n_clusters=8, *, n_init='auto', max_iter=300, tol=0.0001, "
    "budget=1024, random_state=None, verbose=False)",
    "KernelPCA": "(features='auto', n_components=2, *, budget=1024, random_state=None, "
    "verbose=False)",
    "KernelCCA": "(features='auto', n_components=2, alpha=0.001, *, budget=1024, "
    "random_state=None, verbose=False)",
    "GaussianProcess": "(features='auto', noise='evidence', *, budget=1024, random_state=None, "
    "verbose=False)",
    "GaussianProcess.predict": "(self, X, return_std=False)",
    "save": "(model, path)",
    "load": "(path, functions=None)",
    "theory.harmonic_dimension": "(degree, dim)",
    "theory.gegenbauer": "(degree, dim, t)",
    "datasets.to_sphere": "(lat, lon)",
}


def plain(signature):
    """A signature without annotations."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name):
    target = zonal
    for part in name.split("."):
        target = getattr(target, part)
    assert plain(inspect.signature(target)) == SIGNATURES[name]


def test_leading_arguments_of_the_series():
    parameters = list(inspect.signature(zonal.theory.gegenbauer_series).parameters)
    assert parameters[:3] == ["kappa", "dim", "max_degree"]


def test_fitted_attributes():
    features = zonal.GegenbauerFeatures(n_components=8).fit([[0.0, 1.0], [2.0, 3.0], [1.0, 1.0]])
    for name in ("directions_", "max_degree_", "n_radial_", "kernel_", "center_", "expansion_"):
        assert hasattr(features, name)
    assert isinstance(features.expansion_, zonal.GeneralizedZonalKernel)
