"""The types that a model file may hold: a closed list, which imports do not extend.

A class whose objects are part of a model stands here; nothing else of zonal is ever made from a
file. Modules are named, not imported: `zonal.load` imports those that a file needs, after it has
compared the names.
"""

import scipy.sparse as sp
from sklearn import model_selection

__all__ = ["MOVED_MODULES", "OWN", "full_name", "trusted_names"]

#: The classes of zonal, by their modules in it.
OWN = {
    "calibration.classes": "ClassCalibration",
    "calibration.distance": "DistanceScale",
    "calibration.intervals": "Calibration",
    "calibration.local_variance": "LocalVariance",
    "calibration.quantiles": "MeanQuantiles ScoreQuantiles",
    "calibration.ridge_variance": "RidgeVariance",
    "calibration.softmax": "SoftmaxCalibration",
    "evaluation.blocks": "BlockKFold",
    "evaluation.forward": "ForwardKFold",
    "evaluation.matched": "DistanceMatchedKFold",
    "features.baselines.adaptive_sketch": "AdaptiveSketchFeatures",
    "features.baselines.fastfood": "FastFoodFeatures",
    "features.baselines.hash_kernel": "HashKernel",
    "features.baselines.hashing": "HashingFeatures",
    "features.baselines.maclaurin": "MaclaurinFeatures",
    "features.baselines.modified_fourier": "ModifiedFourierFeatures",
    "features.baselines.neural_tangent": "NTKFeatures _Layer",
    "features.baselines.polysketch": "PolySketchFeatures",
    "features.baselines.relu": "ReLUFeatures",
    "features.baselines.sketch_tree": "SketchTree _Direct _Leaf _One _TensorSketch",
    "features.baselines.spherical": "SphericalFeatures",
    "features.baselines.tensor_sketch": "CountSketches TensorSketchFeatures",
    "features.columns.learned_metric": "LearnedMetric",
    "features.columns.place_time_encoder": "PlaceTimeEncoder",
    "features.columns.ranker": "Ranker",
    "features.columns.sphere_encoder": "SphereEncoder",
    "features.columns.standardizer": "Standardizer",
    "features.columns.stretcher": "Stretcher",
    "features.columns.table.crossed": "Cross CrossedPart Factor",
    "features.columns.table.filling": "GapRegressions",
    "features.columns.table.monotone": "NormalScores Stretch",
    "features.columns.table.numbers": "DatePart NumberPart PlacePart TimePart",
    "features.columns.table.reader": "Reader",
    "features.columns.table.words": "MeanPart SimplexPart WordLevels",
    "features.columns.table_encoder": "TableEncoder",
    "features.direction_groups": "DirectionGroup",
    "features.fourier": "FourierFeatures",
    "features.gegenbauer": "GegenbauerFeatures",
    "features.harmonic": "HarmonicFeatures",
    "features.harmonic_form": "HarmonicForm",
    "features.nystroem": "NystroemFeatures",
    "features.product": "ProductFeatures",
    "features.space": "FeatureSpace",
    "features.sum": "SumFeatures",
    "grid.plane": "PlaneDecoder",
    "grid.sphere": "SphereModel",
    "kernels.anova": "Anova",
    "kernels.arc_cosine": "ArcCosine",
    "kernels.base": "GeneralizedZonalKernel Product Scaled Sum",
    "kernels.cauchy": "Cauchy",
    "kernels.dot_product": "DotProduct Exponential Polynomial",
    "kernels.expansion.modes": "ModeFunctions OptimalRadial",
    "kernels.expansion.pair_functions": "PairFunctions",
    "kernels.expansion.taylor": "TaylorSeries",
    "kernels.gaussian": "Gaussian",
    "kernels.matern": "Laplacian Matern",
    "kernels.network": "NetworkKernel",
    "kernels.nngp": "NNGP",
    "kernels.ntk": "NTK",
    "kernels.periodic": "Periodic",
    "kernels.radial_space_time": "RadialSpaceTime",
    "kernels.radial": "PowerRadial StackedRadial TaylorRadial",
    "kernels.rational_quadratic": "RationalQuadratic",
    "kernels.rotation_invariant": "RotationInvariant",
    "kernels.space_time": "SpaceTime",
    "kernels.zonal": "Zonal",
    "kriging.amplitude": "Amplitude Box Sphere",
    "kriging.coregional": "CoregionalProcess",
    "kriging.joint": "Joint",
    "kriging.low": "LandmarkLow SphereLow",
    "kriging.marginal": "Marginal",
    "kriging.process": "LocalProcess",
    "kriging.search": "Found",
    "kriging.warp": "Warp",
    "learners.cca": "KernelCCA",
    "learners.classifier": "KernelRidgeClassifier",
    "learners.cokriging": "CoKriging",
    "learners.exact_ridge": "ExactKernelRidge",
    "learners.gaussian_process": "GaussianProcess",
    "learners.glm": "KernelGLM",
    "learners.kmeans": "KernelKMeans",
    "learners.neighbor_kriging": "NeighborKriging",
    "learners.pca": "KernelPCA",
    "learners.ridge": "KernelRidge",
    "likelihoods.amounts": "Gamma",
    "likelihoods.counts": "NegativeBinomial Poisson",
    "likelihoods.robust": "Student",
    "likelihoods.shares": "Bernoulli Binomial",
    "model.blend": "Blend BlendStart BlendSums",
    "model.cells": "Cells",
    "model.class_fit": "ClassMode",
    "model.distance_weights": "DistanceWeights",
    "model.feature_calibration": "Folded",
    "model.class_blend": "ClassBlend",
    "model.class_field": "ClassField",
    "model.from_classes": "FromClasses",
    "model.from_likelihood": "FromLikelihood",
    "model.from_local_likelihood": "FromLocalLikelihood",
    "model.from_rows": "FromRows",
    "model.from_sums": "FromSums",
    "model.known_errors": "KnownErrors",
    "model.local_solution": "LocalSolution Observations",
    "model.newton_sums": "Spread",
    "model.recipe": "Local Recipe Share",
    "model.ridge_posterior": "RidgePosterior",
    "model.sampled_sums": "SampledSums",
    "model.start": "Start",
    "model.summation": "Summation",
    "model.target_scale": "TargetScale",
    "moments.components": "CanonicalPairs Components",
    "moments.moments": "Moments",
    "moments.ridge": "Solution",
    "partitions.around": "Parts",
    "partitions.cuts": "Cuts",
    "partitions.folder": "Folder",
    "partitions.from_parts": "FromParts",
    "persistence.checkpoint": "Progress",
    "persistence.functions": "MissingFunction",
    "polynomials.harmonics": "HarmonicProgram",
    "rows.block": "Block",
    "rows.kept": "KeptRows",
    "rows.reservoir": "Reservoir",
    "solvers.checkpoint": "Iterations",
    "solvers.conjugate_gradients": "State",
    "solvers.report": "SolverReport",
}
# The only method that a model holds: of an expansion that is a term of a sum.
METHODS = {"zonal.kernels.base.GeneralizedZonalKernel.coefficients"}
# Where files of format 2 have it.
MOVED = {"zonal.persistence.MissingFunction"}
#: Modules by the names that files before format 5 have for them, and where they are now.
MOVED_MODULES = {
    "zonal.features.baselines.fourier": "zonal.features.fourier",
    "zonal.features.baselines.nystroem": "zonal.features.nystroem",
}


def full_name(kind: type) -> str:
    """Return the name by which files know a class."""
    return f"{kind.__module__}.{kind.__qualname__}"


def trusted_names() -> set[str]:
    """Return the full names of all that a file may hold besides what skops trusts by itself.

    skops trusts arrays, numbers, words and scikit-learn's estimators, but not its splitters, which
    are what `cv` takes. Sparse arrays hold arrays only, whose indices are checked after loading.
    """
    own = {f"zonal.{module}.{name}" for module, names in OWN.items() for name in names.split()}
    splitters = {
        full_name(kind)
        for kind in vars(model_selection).values()
        if isinstance(kind, type)
        and kind.__module__.startswith("sklearn.model_selection.")
        and hasattr(kind, "split")
    }
    return own | splitters | METHODS | MOVED | {full_name(sp.csr_array), full_name(sp.csr_matrix)}
