# SPDX-License-Identifier: GPL-2.0-only
"""Takes a name, leaves its label, colour and marker: the same in every figure."""

import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

STYLE_FILE = Path(__file__).with_name("style.yaml")
_COLORS = ("#E69F00", "#56B4E9", "#CC79A7", "#F0E442", "#0072B2", "#D55E00", "#009E73")
_MARKERS = ("^", "v", "P", "X", "<", ">", "h", "*")


@dataclass(frozen=True)
class Style:
    """How one thing looks; `marker` is a matplotlib marker."""

    label: str
    color: str
    marker: str


def style(name: str, label: str | None = None) -> Style:
    """Return the style of a name.

    Parameters
    ----------
    name : str
        Name of a variant, a transport, a model.
    label : str, optional
        Used if the style file does not know the name.
    """
    known = _known().get(name)
    if known:
        return Style(known["label"], known["color"], known["marker"])
    digest = zlib.crc32(name.encode())
    return Style(
        label or name,
        _COLORS[digest % len(_COLORS)],
        _MARKERS[digest // len(_COLORS) % len(_MARKERS)],
    )


@lru_cache(maxsize=1)
def _known() -> dict:
    return yaml.safe_load(STYLE_FILE.read_text())
