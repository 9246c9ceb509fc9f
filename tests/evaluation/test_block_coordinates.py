"""Blocks on any columns: of a plane, of a depth."""

import numpy as np
import pandas as pd
import pytest

import zonal

RNG = np.random.default_rng(0)
METRES = pd.DataFrame({"x": RNG.uniform(4e5, 5e5, 800), "y": RNG.uniform(5e6, 5.1e6, 800),
                       "depth": RNG.uniform(0, 50, 800)})  # fmt: skip


def test_blocks_are_boxes_of_their_size():
    blocks = zonal.BlockKFold(size=20_000, coordinates=("x", "y")).blocks(METRES)
    expected = np.floor(METRES["x"] / 20_000) * 1000 + np.floor(METRES["y"] / 20_000)
    pairs = set(zip(blocks.tolist(), expected.tolist(), strict=True))
    assert len(pairs) == len(set(blocks.tolist())) == expected.nunique()
    sizes = zonal.BlockKFold(size=(20_000, 25), coordinates=["x", "depth"]).blocks(METRES)
    assert len(np.unique(sizes)) == 10
    by_number = zonal.BlockKFold(size=20_000, coordinates=(0, 1))
    np.testing.assert_array_equal(by_number.blocks(METRES.to_numpy()), blocks)
    np.testing.assert_array_equal(by_number.blocks(METRES), blocks)
    in_time = zonal.BlockKFold(size=50_000, coordinates=("x", "y"), time="depth", time_size=10.0)
    assert len(np.unique(in_time.blocks(METRES))) == 4 * 5


def test_a_model_is_chosen_by_them():
    y = np.sin(METRES["x"] / 2e4) + np.cos(METRES["y"] / 3e4)
    cv = zonal.BlockKFold(4, 10_000, coordinates=("x", "y"))
    folds = [test for _, test in cv.split(METRES)]
    assert sorted(np.concatenate(folds).tolist()) == list(range(800))
    model = zonal.KernelRidge(
        zonal.FourierFeatures(zonal.Gaussian(1e4), 64, random_state=0), cv=cv
    ).fit(METRES[["x", "y"]], y)
    assert len([key for key in model.cv_results_ if key.startswith("split")]) == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"coordinates": ("x", "z")}, "the column 'z', which X has not"),
        ({"coordinates": "x"}, "must be a sequence of columns"),
        ({"coordinates": ("x", "y"), "size": (1.0, 2.0, 3.0)}, "3 numbers for 2 coordinates"),
        ({"coordinates": ("x", "y"), "size": -1.0}, "size=-1.0"),
        ({"coordinates": ("x", "y"), "size": 1e9}, "fewer than n_splits=5"),
    ],
)
def test_mistakes(options, words):
    with pytest.raises(ValueError, match=words):
        list(zonal.BlockKFold(**options).split(METRES))


def test_names_need_a_frame():
    with pytest.raises(ValueError, match="array without names"):
        zonal.BlockKFold(coordinates=("x", "y")).blocks(METRES.to_numpy())
    gap = METRES.assign(x=np.nan)
    with pytest.raises(ValueError, match="'x' must hold a number"):
        zonal.BlockKFold(coordinates=("x", "y")).blocks(gap)
