# SPDX-License-Identifier: GPL-2.0-only
"""Puts what is shown of runs into one page of HTML, and keeps it in a file for a page of later."""

import base64
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from pyorch.errors import FigureError
from pyorch.look.shown import shown
from pyorch.writing import write_text

_HERE = Path(__file__).parent
MOST_RUNS = 2


def write(runs: Sequence, path: Path | str) -> Path:
    """Write the page of one or two runs; return where.

    Parameters
    ----------
    runs : list of RunResult
        Finished runs that were sampled over time. Two are shown side by side on one clock.
    path : path
        File of HTML.

    Raises
    ------
    PyorchError
        There are more runs, or one of them was not sampled.

    Examples
    --------
    >>> write([pyorch.run("scenarios/incast.yaml", set={"trace.sample": "1 us"})], "look.html")
    """
    write_text(Path(path), html(runs))
    return Path(path)


def html(runs: Sequence) -> str:
    """Return the page of one or two runs, the same bytes for the same runs."""
    if not 1 <= len(runs) <= MOST_RUNS:
        raise FigureError(f"a page shows one run, or two side by side, and not {len(runs)}.")
    return html_of(packed(runs))


def packed(runs: Sequence) -> bytes:
    """Return what the page of some runs shows, compressed: to be kept, or put into a page."""
    text = json.dumps([shown(run) for run in runs], separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=9, mtime=0)


def html_of(kept: bytes) -> str:
    """Return the page of what `packed` has returned."""
    data = json.loads(gzip.decompress(kept))
    title = " and ".join(dict.fromkeys(each["title"] for each in data))
    parts = {
        "TITLE": title.replace("&", "&amp;").replace("<", "&lt;"),
        "STYLE": (_HERE / "look.css").read_text(),
        "SCRIPT": (_HERE / "look.js").read_text(),
        "DATA": base64.b64encode(kept).decode(),
    }
    page = (_HERE / "look.html").read_text()
    for name, part in parts.items():
        page = page.replace(f"{{{{{name}}}}}", part)
    return page
