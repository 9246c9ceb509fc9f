"""Our model and its peers, with nothing tuned by hand: each takes a frame and gives predictions.

Boosted trees stop early on a tenth of the training rows, and so does xRFM choose its parameters;
everything else is as it comes. Of CatBoost a random search of a stated budget is measured too. All
have as many threads as Numba has. Trees get words as categories; the kernels that need numbers get
them from scikit-learn's usual ColumnTransformer. Text that is a date is a number for all peers.
"""

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder

import zonal

__all__ = ["METHODS", "PACKAGES"]

MOST_TREES, PATIENCE = 2000, 50
MANY_LEVELS = 50
# The budget of a search: so many random settings, and CPU seconds after which none is begun.
TRIED, SEARCH_SECONDS = 20, 150


def ours(X: Any, y: Any, X_test: Any) -> Any:
    """KernelRidge with its defaults."""
    return zonal.KernelRidge(random_state=0).fit(X, y).predict(X_test)


def lightgbm(X: Any, y: Any, X_test: Any) -> Any:
    """LightGBM."""
    import lightgbm as lgb

    frames = _categories(X, X_test)
    fit, stop, y_fit, y_stop = train_test_split(frames[0], y, test_size=0.1, random_state=0)
    model = lgb.LGBMRegressor(
        n_estimators=MOST_TREES, verbose=-1, n_jobs=numba.get_num_threads(), random_state=0
    )
    stopping = lgb.early_stopping(PATIENCE, verbose=False)
    model.fit(fit, y_fit, eval_set=[(stop, y_stop)], callbacks=[stopping])
    return model.predict(frames[1])


def _catboost(X: Any, y: Any, X_test: Any, settings: list[dict[str, Any]]) -> Any:
    """The best of some settings on the tenth of the training rows on which they stop."""
    from catboost import CatBoostRegressor

    words = _words(X)
    rows, test = (_dates(frame).copy() for frame in (X, X_test))
    for frame in (rows, test):
        for name in words:
            frame[name] = frame[name].astype(object).where(frame[name].notna(), "none").astype(str)
    fit, stop, y_fit, y_stop = train_test_split(rows, y, test_size=0.1, random_state=0)
    best, least, start = None, np.inf, time.process_time()
    for setting in settings:
        if best is not None and time.process_time() - start > SEARCH_SECONDS:
            break
        model = CatBoostRegressor(
            cat_features=words,
            verbose=False,
            thread_count=numba.get_num_threads(),
            random_seed=0,
            allow_writing_files=False,
            **setting,
        )
        model.fit(fit, y_fit, eval_set=(stop, y_stop), early_stopping_rounds=PATIENCE)
        loss = model.get_best_score()["validation"]["RMSE"]
        if loss < least:
            best, least = model, loss
    assert best is not None
    return best.predict(test)


def catboost(X: Any, y: Any, X_test: Any) -> Any:
    """CatBoost."""
    return _catboost(X, y, X_test, [{}])


def tuned_catboost(X: Any, y: Any, X_test: Any) -> Any:
    """CatBoost: its defaults and 19 random settings, none begun after 150 CPU seconds."""
    rng = np.random.default_rng(0)
    settings: list[dict[str, Any]] = [{}]
    settings += [
        {
            "iterations": MOST_TREES,
            "learning_rate": float(10 ** rng.uniform(-2, -0.5)),
            "depth": int(rng.integers(4, 11)),
            "l2_leaf_reg": float(10 ** rng.uniform(-0.5, 1.5)),
            "random_strength": float(10 ** rng.uniform(-1, 1)),
        }
        for _ in range(TRIED - 1)
    ]
    return _catboost(X, y, X_test, settings)


def histogram_boosting(X: Any, y: Any, X_test: Any) -> Any:
    """scikit-learn's HistGradientBoosting; words of many levels by their mean target."""
    rows, test = _categories(X, X_test)
    many = [name for name in _words(X) if rows[name].nunique() > 200]
    encoder = make_column_transformer(
        (TargetEncoder(random_state=0), many),
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    rows, test = encoder.fit_transform(rows, y), encoder.transform(test)
    model = HistGradientBoostingRegressor(
        max_iter=MOST_TREES, early_stopping=True, n_iter_no_change=PATIENCE, random_state=0
    )
    return model.fit(rows, y).predict(test)


def xrfm(X: Any, y: Any, X_test: Any) -> Any:
    """xRFM: a tree of kernel machines with learned metrics."""
    import torch
    from xrfm import xRFM

    torch.set_num_threads(numba.get_num_threads())
    encoder = _encoder(X)
    fit, stop, y_fit, y_stop = train_test_split(_dates(X), y, test_size=0.1, random_state=0)
    scale = y_fit.std()
    parts = [encoder.fit_transform(fit, y_fit), encoder.transform(stop)]
    parts += [encoder.transform(_dates(X_test))]
    rows, rows_stop, test = (np.asarray(part, dtype=np.float32) for part in parts)
    targets = [
        ((part - y_fit.mean()) / scale).astype(np.float32)[:, None] for part in (y_fit, y_stop)
    ]
    model = xRFM(device=torch.device("cpu"), tuning_metric="mse", random_state=0, verbose=False)
    model.fit(rows, targets[0], rows_stop, targets[1])
    return np.asarray(model.predict(test)).ravel() * scale + y_fit.mean()


def realmlp(X: Any, y: Any, X_test: Any) -> Any:
    """RealMLP with the defaults that were tuned on other tables (RealMLP-TD), on one network."""
    from pytabkit import RealMLP_TD_Regressor

    rows, test = _categories(X, X_test)
    words = _words(X)
    for frame in (rows, test):  # it wants text, and numbers without gaps
        for name in words:
            frame[name] = frame[name].astype(object).where(frame[name].notna(), "none").astype(str)
    numbers = [name for name in rows if name not in words]
    filled = SimpleImputer(strategy="median").fit(rows[numbers])
    for frame in (rows, test):
        frame[numbers] = filled.transform(frame[numbers])
    model = RealMLP_TD_Regressor(device="cpu", n_threads=numba.get_num_threads(), random_state=0)
    return model.fit(rows, y, cat_col_names=words).predict(test)


def nystroem(X: Any, y: Any, X_test: Any) -> Any:
    """scikit-learn's Nystroem and RidgeCV."""
    encoder = _encoder(X)
    rows = encoder.fit_transform(_dates(X), y)
    kernel = Nystroem(gamma=1 / rows.shape[1], n_components=1024, random_state=0)
    model = make_pipeline(kernel, RidgeCV(np.logspace(-6, 3, 19)))
    return model.fit(rows, y).predict(encoder.transform(_dates(X_test)))


METHODS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "zonal": ours,
    "LightGBM": lightgbm,
    "CatBoost": catboost,
    "CatBoost, tuned": tuned_catboost,
    "HistGradientBoosting": histogram_boosting,
    "RealMLP": realmlp,
    "xRFM": xrfm,
    "Nystroem + RidgeCV": nystroem,
}
#: The package whose version is noted, where it is not called like the method.
PACKAGES = {
    "CatBoost, tuned": "catboost",
    "HistGradientBoosting": "scikit-learn",
    "RealMLP": "pytabkit",
    "Nystroem + RidgeCV": "scikit-learn",
}


def _dates(X: Any) -> Any:
    """Return a frame with the seconds of text that is dates."""
    found = X.copy()
    for name in X.select_dtypes(["object", "string"]):
        known = X[name].dropna()
        if len(known) and known.str.fullmatch(r"\d{4}-\d{2}-\d{2}T.*Z").all():
            found[name] = pd.to_datetime(X[name]).astype("int64") / 1e9
    return found


def _words(X: Any) -> list[str]:
    return list(_dates(X).select_dtypes(["object", "string", "bool"]).columns)


def _categories(*frames: Any) -> list[Any]:
    """Return frames with words as categories, those of the first."""
    found = [_dates(frame) for frame in frames]
    for name in _words(frames[0]):
        kind = pd.CategoricalDtype(found[0][name].dropna().unique())
        for frame in found:
            frame[name] = frame[name].astype(kind)
    return found


def _encoder(X: Any) -> Any:
    """Return the usual ColumnTransformer: one-hot or mean target, median and scale."""
    words = _words(X)
    few = [name for name in words if X[name].nunique() <= MANY_LEVELS]
    many = [name for name in words if name not in few]
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    return make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), few),
        (make_pipeline(TargetEncoder(random_state=0), StandardScaler()), many),
        (numbers, make_column_selector(dtype_include=np.number)),
    )
