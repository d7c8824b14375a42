# SPDX-License-Identifier: GPL-2.0-only
"""Builds the pages of this folder as a site, without any network: make docs."""

import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).parent)]

import modules  # noqa: E402
from docutils.nodes import SkipNode  # noqa: E402
from latex2mathml import converter  # noqa: E402

import pyorch  # noqa: E402
from pyorch.look import html_of  # noqa: E402

modules.write(Path(__file__).parent / "modules")

project = "pyorch"
author = "the pyorch authors"
copyright = "the pyorch authors, GPL-2.0-only"
version = release = pyorch.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_nb", "sphinx_design"]
exclude_patterns = ["extending/**", "*/results/**", "**/.ipynb_checkpoints"]
nb_execution_mode = "off"  # the tests run the notebooks; the site shows what they left
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath", "fieldlist"]
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

autodoc_typehints = "none"  # the docstrings have types with units
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_math_renderer = "mathml"
html_title = f"pyorch {version}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["figures.css"]
html_theme_options = {
    "light_css_variables": {"figure-brightness": "100%", "figure-padding": "0"},
    "dark_css_variables": {"figure-brightness": "85%", "figure-padding": "0.5rem"},
}


def make_looks(app, failed):
    """Make the pages of runs beside the page of the gallery, which links to them."""
    if failed or app.builder.format != "html":
        return
    place = Path(app.outdir, "gallery", "looks")
    place.mkdir(parents=True, exist_ok=True)
    for kept in sorted((Path(__file__).parent / "gallery" / "looks").glob("*.json.gz")):
        page = place / kept.name.replace(".json.gz", ".html")
        page.write_text(html_of(kept.read_bytes()))


def captioned(text):
    """Return a page in which a figure of docs/results has its caption, a file, below it."""

    def with_caption(image):
        caption = Path(__file__).parent / f"{image[1]}.txt"
        return f"{image[0]}\n\n> {' '.join(caption.read_text().split())}"

    return re.sub(r"^!\[[^\]]*\]\((results/\w+)\.png\)$", with_caption, text, flags=re.M)


def on_the_site(text):
    """Return a page for the site: modules are pages, alternative texts are one line."""
    text = re.sub(r"!\[[^\]]*\]", lambda alternative: alternative[0].replace("\n", " "), text)
    return re.sub(r"\((?:\.\./)+ns3-modules/(\w+)/README\.md", r"(/modules/\1.md", text)


def math_of(display):
    """Return what writes a formula as MathML, which browsers draw without a script."""

    def visit(translator, node):
        translator.body.append(converter.convert(node.astext(), display=display))
        raise SkipNode

    return visit, None


def setup(app):
    """Put captions below the figures of the paper, and keep first sentences of properties whole.

    Napoleon would take the start of such a sentence for a type.
    """

    def prepare(app, name, source):
        source[0] = on_the_site(captioned(source[0]) if name == "paper" else source[0])

    def whole(app, what, name, obj, options, lines):
        if what in ("property", "attribute") and lines:
            lines[0] = lines[0].replace(": ", " \u2013 ", 1)

    app.add_html_math_renderer("mathml", math_of("inline"), math_of("block"))
    app.connect("autodoc-process-docstring", whole, priority=400)
    app.connect("source-read", prepare)
    app.connect("build-finished", make_looks)
