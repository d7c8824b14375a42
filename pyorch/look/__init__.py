# SPDX-License-Identifier: GPL-2.0-only
"""Takes one or two finished runs, returns a page on which a reader can look into them.

The page is one HTML file that loads nothing: the data are in it, compressed. For those who use
Perfetto there is the same as trace events.
"""

from pyorch.look.page import html, html_of, packed, write
from pyorch.look.trace_events import write as write_trace_events
from pyorch.look.words import bottleneck

__all__ = ["bottleneck", "html", "html_of", "packed", "write", "write_trace_events"]
