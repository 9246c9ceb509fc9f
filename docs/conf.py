"""How Sphinx builds the site: `make docs`."""

import sys
from importlib.util import find_spec
from pathlib import Path

from numpydoc import docscrape_sphinx

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "docs" / "_extensions"), str(ROOT)]

import zonal  # noqa: E402 - the source beside this file

# One script that needs no network: glyphs are in it, and formulas become drawings.
MATHJAX = Path(find_spec("sphinx-mathjax-offline").origin).parent / "static/mathjax/tex-svg.js"

project = "zonal"
author = "The zonal developers"
version = release = zonal.__version__
project_copyright = author

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "reference",
    "commands",
    "repository",
]

# Pages: Markdown that GitHub shows too.
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "examples", "reference/generated/README.md"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_block"]
myst_heading_anchors = 3
nitpicky = False
suppress_warnings = ["config.cache"]  # settings that are functions

# Reference: one page for each public name, from its docstring.
autosummary_generate = True
default_role = "py:obj"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# One environment for all, which keeps the template: numpydoc compiles it for each docstring anew.
FOLDER = Path(docscrape_sphinx.__file__).with_name("templates")
LOADER = docscrape_sphinx.FileSystemLoader(FOLDER)
KEPT = docscrape_sphinx.SandboxedEnvironment(loader=LOADER)
docscrape_sphinx.SandboxedEnvironment = lambda loader: KEPT
templates_path = ["_templates"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Gallery: scripts that the build runs, one after the other, in one thread.
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "matplotlib_animations": False,
    "image_scrapers": ("matplotlib", "drawn.scrape"),
    "image_srcset": ["2x"],
    "default_thumb_file": str(ROOT / "docs" / "local.png"),
    "within_subsection_order": "FileNameSortKey",
}

# Looks.
html_theme = "pydata_sphinx_theme"
html_title = f"zonal {release}"
html_static_path = ["_static", str(MATHJAX)]
mathjax_path = MATHJAX.name
html_css_files = ["zonal.css"]
html_favicon = ICON = "_static/favicon.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "zonal", "image_light": ICON, "image_dark": ICON},
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "gallery/index": []},
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
}
html_sidebars = {"index": [], "which": [], "glossary": [], "changelog": [], "citing": []}
linkcheck_ignore = [r"http://localhost.*"]
