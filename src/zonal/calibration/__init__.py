"""How sure an answer is: scores of forecasts, conformal quantiles, noise that varies, classes.

- `scores`: how good quantiles and intervals are (`zonal.evaluation` has them for users);
- `quantiles`: the quantiles of scores of rows that a model has not seen;
- `variance`: whether a variance that varies helps, and how much of it;
- `ridge_variance`, `local_variance`: such variances of features, and of the nearest rows;
- `classes`: probabilities that hold, and sets of classes.
"""
