# SPDX-License-Identifier: GPL-2.0-only
"""Gives each name its label, colour and marker, the same in every figure."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import yaml

from pyorch.calls import checked
from pyorch.errors import FigureError

STYLE_FILE = Path(__file__).with_name("style.yaml")
#: For names that style.yaml does not know; none of these is a colour of that file. Each can be seen
#: on white, and no two look alike with normal sight or without one kind of cones.
COLORS = ("#E69F00", "#56B4E9", "#CC79A7", "#332288", "#882255", "#999933", "#8C6D31")
MARKERS = ("^", "v", "P", "X", "<", ">", "h", "*")
#: Dashes tell names apart that share a colour, because there are more of them than colours.
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (4, 1.5, 1, 1.5)))


@dataclass(frozen=True)
class Style:
    """How one thing looks, and the group it is one of, if any; `marker`, `dashes`: matplotlib's."""

    label: str
    color: str
    marker: str
    dashes: str | tuple = "-"
    group: str = ""
    group_color: str = ""


@checked
def style(name: str, label: str | None = None) -> Style:
    """Return the style of a name that stands alone; `styles` is for names beside each other.

    Parameters
    ----------
    name : str
        Name of a variant, a transport, a model.
    label : str, optional
        What a scenario calls it; without one, what the style file or the name itself says.

    Returns
    -------
    Style
        ``label``, ``color``, ``marker``, ``dashes``, and ``group`` with its ``group_color``.

    Raises
    ------
    SpecError
        The name or the label is no text.

    Examples
    --------
    >>> style("mine", "My transport").label
    'My transport'
    >>> style("mine") == style("mine")
    True
    """
    return styles([(name, label)])[name]


@checked
def styles(named: Iterable[tuple[str, str | None]]) -> dict[str, Style]:
    """Return the styles of names that one figure shows, no two of them alike.

    A name in style.yaml looks as it says there. Another takes a colour by a hash of itself, so it
    looks the same in most figures, and the next free one where that is taken.

    Parameters
    ----------
    named : iterable of (name, label)
        In the order of the figure; a label of None is that of the style file, or the name.

    Returns
    -------
    dict of str to Style
        In the order of the names.

    Raises
    ------
    FigureError
        These are no pairs.

    Examples
    --------
    >>> looks = styles([("one", None), ("two", "Second")])
    >>> looks["two"].label, looks["one"].color != looks["two"].color
    ('Second', True)
    """
    try:
        labels = {str(name): label for name, label in named}
    except (TypeError, ValueError):
        raise FigureError("styles: named: give pairs of a name and a label or None.") from None
    known, found, taken = _known(), {}, set()
    for name, label in labels.items():
        if name in known["names"]:
            found[name] = _look(known, name, label)
            continue
        place = _free(zlib.crc32(name.encode()), taken)
        taken.add(place)
        color, turn = place % len(COLORS), place // len(COLORS)
        found[name] = Style(
            label or name,
            COLORS[color],
            MARKERS[(color + turn) % len(MARKERS)],
            DASHES[turn % len(DASHES)],
        )
    return found


def _look(known: dict, name: str, label: str | None) -> Style:
    """Return what style.yaml says of a name."""
    look = known["names"][name]
    group = known["groups"].get(look.get("group"), {"label": "", "color": ""})
    return Style(
        label or look["label"],
        look["color"],
        look["marker"],
        group=group["label"],
        group_color=group["color"],
    )


def _free(digest: int, taken: set[int]) -> int:
    """Return the first place from a hash on that is free; all colours come before any dashes."""
    first = digest % len(COLORS)
    turn = 0
    while True:
        for step in range(len(COLORS)):
            place = turn * len(COLORS) + (first + step) % len(COLORS)
            if place not in taken:
                return place
        turn += 1


@lru_cache(maxsize=1)
def _known() -> dict:
    return yaml.safe_load(STYLE_FILE.read_text())
