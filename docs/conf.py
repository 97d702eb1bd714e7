"""How the documentation is built: ``make docs``.

Nothing here asks the network. Formulas become MathML while the pages are written, data comes from
installed packages, and every warning is an error.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

# Before anything starts threads or a window: examples are small, and run one after the other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
os.environ["MPLBACKEND"] = "Agg"
# As on a fresh clone: only data that comes with the installation.
os.environ.pop("SPLMLL_DATA", None)

import splmll

project = "splmll"
author = "The splmll developers"
copyright = f"2026, {author}"
release = version = splmll.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "public_names",
    "frozen_benchmark",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["joss", "generated", "_templates", "**/GALLERY_HEADER.*"]
templates_path = ["_templates"]
nitpicky = True
default_role = "literal"  # a single backtick is code, as in scikit-learn's docstrings

# Markdown -----------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
# Blocks of options and of tables in YAML or plain text have no lexer of their own.
highlight_language = "python"

# API ----------------------------------------------------------------------------------------------

autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False  # what a module exports is its reference
autosummary_context = {"top_level": [name for name in splmll.__all__ if name != "__version__"]}
autodoc_typehints = "none"  # types stand in the tables of parameters
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the templates list methods
numpydoc_xref_param_type = False  # "array of shape (n, C)" is no name of anything

# References to what is documented elsewhere; other sites are not asked, so they stay plain text.
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|scipy|pandas|sklearn|torch|matplotlib|joblib|dask|distributed)\..*"),
]

# Gallery ------------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/",
    # The demo writes a page of its own, tickets.py is what other examples read.
    "ignore_pattern": r"(demo|tickets)\.py",
    "within_subsection_order": "gallery_order.Order",
    "remove_config_comments": True,
    "capture_repr": (),  # what an example prints, not the objects it makes
    "show_memory": False,
    "min_reported_time": 1000,
    "plot_gallery": "True",
    "download_all_examples": False,
    "abort_on_example_error": True,
    "doc_module": ("splmll",),
    "reference_url": {"splmll": None},
    "backreferences_dir": None,
    "matplotlib_animations": False,
}

# Pages --------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "splmll"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
    "header_links_before_dropdown": 7,
    "navigation_with_keys": False,
}
# Pages without others below them have nothing to list at their side.
html_sidebars = {page: [] for page in ("index", "tutorial", "which_method", "method")}
html_sidebars["benchmark"] = []  # room for its tables and figures
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings hold objects
