"""Maps in, maps out: models of xarray grids, with holes filled and uncertainty (extra ``geo``).

- `axes`, `times`, `projection`: what the coordinates of a grid mean;
- `cells`, `masks`: the cells of a grid as rows, chunk by chunk, and those that are wanted;
- `sphere`: latitude and longitude for models that take numbers as they come;
- `filling`, `several`: `fit` and `fill`; `checking`: how well holes are filled;
- `prediction`, `extent`: `predict_grid`, and the region of a model's data;
- `drawing`: `sample_grid`, whole fields drawn from the posterior;
- `areas`, `regions`: `predict_area`, means and other functions of regions;
- `matching`, `outcomes`: rows in a model's columns, and what it says of them;
- `attributes`: CF attributes; `files`: NetCDF and GeoTIFF;
- `maps`, `panels`, `projections`, `coastlines`: pictures.
"""

from .areas import predict_area
from .drawing import sample_grid
from .filling import fill, fit
from .maps import draw, draw_folds
from .prediction import predict_grid

__all__ = ["draw", "draw_folds", "fill", "fit", "predict_area", "predict_grid", "sample_grid"]
