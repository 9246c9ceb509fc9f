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
    "NNGP": "(depth=2)",
    "Zonal": "(kappa)",
    "Matern": "(nu=1.5, length_scale=1.0)",
    "Laplacian": "(length_scale=1.0)",
    "RationalQuadratic": "(length_scale=1.0, alpha=1.0)",
    "Cauchy": "(length_scale=1.0, power=2.0, decay=1.0)",
    "Periodic": "(period=1.0, length_scale=1.0, nu=inf)",
    "SpaceTime": "(space, time, interaction=0.0, *, velocity=None)",
    "Anova": "(length_scale=1.0, weight=1.0, levels=None)",
    "RotationInvariant": "(f)",
    "GeneralizedZonalKernel": "(dim, radial, max_degree, n_radial)",
    "GegenbauerFeatures": "(kernel='gaussian', n_components=1024, *, max_degree='auto', "
    "n_radial='auto', radial_basis='auto', directions='auto', center='auto', reduce=None, "
    "reduced_dim='auto', random_state=None)",
    "GegenbauerFeatures.paper": "(kernel, n_components, max_degree, n_radial, random_state=None)",
    "HarmonicFeatures": "(kernel='gaussian', n_components=1024, *, tol=None, radii='data', "
    "center='auto', reduce=None, reduced_dim='auto', random_state=None)",
    "FourierFeatures": "(kernel='gaussian', n_components=1024, *, orthogonal=False, "
    "random_state=None)",
    "ModifiedFourierFeatures": "(kernel='gaussian', n_components=1024, *, mixture=0.5, "
    "n_over_lam=1000.0, random_state=None)",
    "FastFoodFeatures": "(kernel='gaussian', n_components=1024, *, random_state=None)",
    "MaclaurinFeatures": "(kernel='gaussian', n_components=1024, *, measure='geometric', "
    "exact=True, center='auto', random_state=None)",
    "PolySketchFeatures": "(kernel='gaussian', n_components=1024, *, degree='auto', "
    "base_sketch='auto', exact=True, center='auto', random_state=None)",
    "TensorSketchFeatures": "(kernel='gaussian', n_components=1024, *, degree='auto', "
    "center='auto', random_state=None)",
    "AdaptiveSketchFeatures": "(kernel='gaussian', n_components=1024, *, n_rounds=3, "
    "center='auto', random_state=None)",
    "SphericalFeatures": "(kernel='polynomial', n_components=1024, *, orthogonal=True, "
    "random_state=None)",
    "ReLUFeatures": "(kernel='arc_cosine', n_components=1024, *, sampling='leverage', "
    "random_state=None)",
    "NTKFeatures": "(kernel='ntk', n_components=1024, *, sampling='leverage', hidden='auto', "
    "random_state=None)",
    "HashingFeatures": "(kernel='laplacian', n_components=1024, *, n_hashes='auto', "
    "bucket='box', sparse_output=True, random_state=None)",
    "NystroemFeatures": "(kernel='gaussian', n_components=1024, *, sampling='recursive', "
    "random_state=None)",
    "Gaussian.expand": "(self, dim, max_degree=None, n_radial=None, radial_basis='taylor', "
    "radii=None, tol=1e-06)",
    "Gaussian.__call__": "(self, X, Y=None)",
    "Gaussian.diag": "(self, X)",
    "Gaussian.profile": "(self, r, s, cos)",
    "GeneralizedZonalKernel.expand": "(self, dim, max_degree=None, n_radial=None, "
    "radial_basis='taylor', radii=None, tol=1e-06)",
    "KernelRidge": "(features='auto', alpha='cv', *, alphas=None, cv=2, fit_intercept=True, "
    "local='auto', encoder='auto', target='auto', budget=1024, metric=True, "
    "time_limit=None, random_state=None, verbose=False, "
    "time='auto')",
    "KernelRidgeClassifier": "(features='auto', alpha='cv', *, alphas=None, cv=2, "
    "fit_intercept=True, local='auto', encoder='auto', class_weight=None, loss='log', "
    "budget=1024, metric=True, time_limit=None, random_state=None, verbose=False)",
    "KernelGLM": "(likelihood='poisson', features='auto', alpha='evidence', *, local='auto', "
    "encoder='auto', budget=1024, metric=True, time_limit=None, random_state=None, "
    "verbose=False)",
    "KernelGLM.fit": "(self, X, y=None, sample_weight=None, offset=None, exposure=None, "
    "trials=None)",
    "KernelGLM.predict_interval": "(self, X, coverage=0.9, offset=None, exposure=None, "
    "trials=None)",
    "KernelKMeans": "(features='auto', n_clusters=8, *, n_init='auto', max_iter=300, tol=0.0001, "
    "budget=1024, random_state=None, verbose=False)",
    "KernelPCA": "(features='auto', n_components=2, *, budget=1024, random_state=None, "
    "verbose=False)",
    "KernelCCA": "(features='auto', n_components=2, alpha=0.001, *, budget=1024, "
    "random_state=None, verbose=False)",
    "GaussianProcess": "(features='auto', noise='evidence', *, local='auto', encoder='auto', "
    "budget=1024, metric=True, time_limit=None, random_state=None, verbose=False)",
    "KernelRidge.predict": "(self, X, return_std=False)",
    "DistanceMatchedKFold": "(queries, n_splits=5, *, random_state=0)",
    "ForwardKFold": "(n_splits=5, *, time='auto', horizon=None, gap=0.0)",
    "NeighborKriging": "(kernel='auto', n_neighbors=32, *, noise='auto', n_features=256, "
    "random_state=None, verbose=False, time_limit=None, time=None, "
    "amplitude='auto', warp=None)",
    "KernelRidge.predict_interval": "(self, X, coverage=0.9, *, noise_variance=None)",
    "KernelRidge.predict_quantiles": "(self, X, q=(0.05, 0.5, 0.95), *, noise_variance=None)",
    "GaussianProcess.predict_interval": "(self, X, coverage=0.9, *, noise_variance=None)",
    "GaussianProcess.fit": "(self, X, y=None, sample_weight=None, *, checkpoint=None, "
    "noise_variance=None, extra_noise=True)",
    "NeighborKriging.predict_interval": "(self, X, coverage=0.9, *, noise_variance=None)",
    "KernelRidgeClassifier.predict_set": "(self, X, coverage=0.9)",
    "evaluation.crps": "(truth, mean, std, sample_weight=None)",
    "evaluation.crps_of_quantiles": "(truth, quantiles, levels, sample_weight=None)",
    "evaluation.interval_score": "(truth, lower, upper, coverage=0.9, sample_weight=None)",
    "evaluation.coverage": "(truth, lower, upper, sample_weight=None)",
    "evaluation.pit_histogram": "(truth, quantiles, levels, sample_weight=None)",
    "evaluation.calibration_error": "(truth, chances, classes, n_bins=15)",
    "NeighborKriging.fit": "(self, X, y, sample_weight=None, *, queries=None, noise_variance=None, "
    "extra_noise=True)",
    "CoKriging": "(kernel='auto', n_neighbors=16, *, n_features=256, random_state=None, "
    "verbose=False)",
    "NeighborKriging.predict": "(self, X, return_std=False)",
    "GaussianProcess.predict": "(self, X, return_std=False)",
    "ExactKernelRidge": "(kernel='gaussian', alpha=1.0, preconditioner='auto', tol=0.0001, *, "
    "centers=None, alphas=None, cv=2, fit_intercept=False, max_iter=1000, warm_start=False, "
    "random_state=None, verbose=False)",
    "ExactKernelRidge.fit": "(self, X, y=None, sample_weight=None, *, checkpoint=None)",
    "LearnedMetric": "(kernel='matern', n_iterations=4, diagonal=False, *, n_components=1024, "
    "max_rows=10000, standardize=True, task='auto', random_state=None)",
    "SphereEncoder": "(latitude='auto', longitude='auto', *, rest='standardize', "
    "interval=(0.0, 1.0), out_of_range='error', height=False)",
    "TableEncoder": "(*, categorical=(), numeric=(), ignore=(), numbers='auto', max_levels=12, "
    "latitude='auto', longitude='auto', task='auto')",
    "BlockKFold": "(n_splits=5, size=10.0, *, unit='degree', latitude='auto', longitude='auto', "
    "time=None, time_size=None, random_state=0, coordinates=None)",
    "KernelRidge.fit": "(self, X, y=None, sample_weight=None, *, groups=None, queries=None, "
    "checkpoint=None, noise_variance=None, extra_noise=True)",
    "fill": "(data, target=None, *, covariates=(), where=None, coverage=0.9, model=None, crs=None, "
    "keep_name=False, max_distance=None)",
    "grid.fit": "(data, target=None, *, covariates=(), model=None, crs=None)",
    "predict_grid": "(model, lat=None, lon=None, time=None, resolution=None, *, like=None, "
    "coverage=0.9, chunks=None, crs=None, at=None, max_distance=None)",
    "predict_area": "(model, regions, weights=None, *, lat=None, lon=None, time=None, "
    "resolution=None, like=None, total=False, function=None, coverage=0.9, covariance=False, "
    "n_samples=500, random_state=0, crs=None, at=None)",
    "sample_grid": "(model, lat=None, lon=None, time=None, resolution=None, *, n_samples=10, "
    "random_state=None, noise=False, like=None, crs=None, at=None)",
    "KernelRidge.sample_y": "(self, X, n_samples=1, random_state=None, *, noise=False)",
    "GaussianProcess.sample_y": "(self, X, n_samples=1, random_state=None, *, noise=False)",
    "NeighborKriging.sample_y": "(self, X, n_samples=1, random_state=None, *, noise=False)",
    "stream": "(path, batch_size=65536, *, columns=None, target=None, weight=None, frames=False)",
    "Checkpoint": "(path, every=16)",
    "save": "(model, path)",
    "load": "(path, functions=None, trusted=(), *, max_bytes=8589934592)",
    "theory.harmonic_dimension": "(degree, dim)",
    "theory.gegenbauer": "(degree, dim, t)",
    "theory.statistical_dimension": "(K, lam, *, X=None, method='exact', n_probes=16, "
    "random_state=None)",
    "theory.leverage_scores": "(gzk, X, lam, W)",
    "theory.leverage_bound": "(gzk, radii, lam)",
    "theory.degree_and_order": "(kernel, dim, radius, n, lam, eps, *, growth=None)",
    "theory.n_directions": "(gzk, X, lam, eps, delta, rank=None, *, proved=False, random_state=0)",
    "theory.n_features": "(kernel, dim, radius, n, lam, eps, delta, *, s_lam=None, growth=None, "
    "proved=False)",
    "theory.spectral_error": "(K, Z, lam, *, X=None, method='exact', tol=0.01, max_passes=40, "
    "n_probes=8, random_state=None)",
    "theory.projection_cost_error": "(K, Z, rank, *, X=None, method='exact', random_state=None)",
    "theory.ridge_risk_bound": "(K, Z, lam, target, noise, *, X=None, eps=None)",
    "theory.kmeans_bound": "(eps, gamma=0.0)",
    "theory.recommend": "(kernel, X, *, lam, eps=0.5, delta=0.1, n_sample=300, n_seeds=3, "
    "random_state=0)",
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
    harmonic = zonal.HarmonicFeatures(n_components=8).fit([[0.0, 1.0], [2.0, 3.0], [1.0, 1.0]])
    for name in ("degrees_", "eigenvalues_", "radial_indices_", "kernel_", "center_"):
        assert hasattr(harmonic, name)
