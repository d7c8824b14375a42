# SPDX-License-Identifier: GPL-2.0-only
"""Builds the pages of this folder as a site, without any network: make docs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyorch  # noqa: E402

project = "pyorch"
author = "the pyorch authors"
copyright = "the pyorch authors, GPL-2.0-only"
version = release = pyorch.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb"]
exclude_patterns = ["extending/**", "*/results/**", "**/.ipynb_checkpoints"]
nb_execution_mode = "off"  # the tests run the notebooks; the site shows what they left
myst_heading_anchors = 4
myst_enable_extensions = ["fieldlist"]
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

autodoc_typehints = "none"  # the docstrings have types with units
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"pyorch {version}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["figures.css"]
html_theme_options = {
    "light_css_variables": {"figure-brightness": "100%", "figure-padding": "0"},
    "dark_css_variables": {"figure-brightness": "85%", "figure-padding": "0.5rem"},
}


def setup(app):
    """Keep the first sentence of a property whole: napoleon would take its start for a type."""

    def whole(app, what, name, obj, options, lines):
        if what in ("property", "attribute") and lines:
            lines[0] = lines[0].replace(": ", " \u2013 ", 1)

    app.connect("autodoc-process-docstring", whole, priority=400)
