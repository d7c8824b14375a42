# SPDX-License-Identifier: GPL-2.0-only
"""Takes one or two finished runs, returns a page on which a reader can look into them.

The page is one HTML file that loads nothing: the data are in it, compressed.
"""

from pyorch.look.page import html, write

__all__ = ["html", "write"]
