"""Maps in, maps out: models of xarray grids, with holes filled and uncertainty (extra ``geo``).

- `axes`, `times`, `projection`: what the coordinates of a grid mean;
- `cells`: the cells of a grid as rows, chunk by chunk;
- `filling`: `fit` and `fill`; `prediction`: `predict_grid`;
- `matching`, `outcomes`: rows in a model's columns, and what it says of them;
- `attributes`: CF attributes; `files`: NetCDF and GeoTIFF;
- `maps`, `projections`: pictures.
"""

from .filling import fill, fit
from .maps import draw, draw_folds
from .prediction import predict_grid

__all__ = ["draw", "draw_folds", "fill", "fit", "predict_grid"]
