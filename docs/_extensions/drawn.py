"""Show figures in the gallery that were not made by pyplot, such as those of `zonal.grid.draw`."""

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

SHOWN: set[int] = set()


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures that names of the script are bound to, each once."""
    paths = []
    for figure in block_vars["example_globals"].values():
        if isinstance(figure, Figure) and not hasattr(figure, "number") and id(figure) not in SHOWN:
            SHOWN.add(id(figure))
            paths.append(next(block_vars["image_path_iterator"]))
            figure.savefig(paths[-1], dpi=120)
    return str(figure_rst(paths, gallery_conf["src_dir"]))
