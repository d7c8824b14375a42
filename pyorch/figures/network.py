# SPDX-License-Identifier: GPL-2.0-only
"""Draws a network: hosts in a row, switches above by tier, the networks of racks below."""

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: One for each plane or rail, then again from the first.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#332288", "#8C6D31", "#882255")
RACK_COLOR, HOST_COLOR = "#999999", "black"
#: Height of the switches in racks; hosts are at 0.
RACK_HEIGHT = -0.8
#: More nodes than these in a row are small and have no ids.
MOST_LARGE = 40

Table = Mapping[str, np.ndarray]


def draw_network(ax: "Axes", nodes: Table, links: Table, ids: bool = False) -> None:
    """Draw every node and cable; what is of one plane, or of one rail, has one colour.

    Parameters
    ----------
    ax : Axes
        Empty; its axes are hidden.
    nodes, links : mapping of columns
        ``node``, ``is_switch``, ``tier``, ``plane``; ``node_a``, ``node_b``.
    ids : bool
        Write the ids of nodes where a row has few, and what each row is.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> nodes = {"node": [0, 1, 2], "is_switch": [0, 0, 1], "tier": [0, 0, 1], "plane": [0, 0, 0]}
    >>> nodes = {name: np.array(column) for name, column in nodes.items()}
    >>> links = {"node_a": np.array([0, 1]), "node_b": np.array([2, 2])}
    >>> ax = Figure().subplots()
    >>> draw_network(ax, nodes, links)
    """
    from matplotlib.collections import LineCollection

    in_rack = in_racks(nodes, links)
    height = np.where(in_rack, RACK_HEIGHT, nodes["tier"])
    place = places(height)
    of = {node: index for index, node in enumerate(nodes["node"].tolist())}
    a, b = ([of[node] for node in links[end].tolist()] for end in ("node_a", "node_b"))
    color = np.array([COLORS[plane % len(COLORS)] for plane in nodes["plane"].tolist()])
    color[in_rack] = RACK_COLOR
    at = np.column_stack([place, height])
    cables = dict(zip(zip(a, b, strict=True), color[np.maximum(a, b)], strict=True))
    ends = [(at[first], at[second]) for first, second in cables]
    width = 0.8 if len(cables) <= 10 * MOST_LARGE else 0.2
    ax.add_collection(LineCollection(ends, colors=list(cables.values()), lw=width, zorder=1))
    for row, count in Counter(height.tolist()).items():
        members = height == row
        kind = "hosts" if row == 0 else "switches in racks" if row < 0 else f"tier {row:g}"
        large = count <= MOST_LARGE
        size = (40 if row else 25) if large else 4
        faces = color[members] if row else HOST_COLOR
        marker = "s" if row else "o"
        x, y = at[members].T
        ax.scatter(x, y, s=size * (2 if ids and large else 1), c=faces, marker=marker,
                   linewidths=0, zorder=2)  # fmt: skip
        if not ids:
            continue
        ax.annotate(f"{kind}\n({count})", (0, row), xytext=(-4, 0), textcoords="offset points",
                    ha="right", va="center", fontsize=6)  # fmt: skip
        for node, where in zip(nodes["node"][members].tolist(), at[members], strict=True):
            if large:
                ax.annotate(str(node), where, ha="center", va="center", fontsize=5, color="white",
                            zorder=3)  # fmt: skip
    ax.set(xlim=(0, 1), ylim=(height.min() - 0.3, height.max() + 0.4))
    ax.set_axis_off()


def places(height: np.ndarray) -> np.ndarray:
    """Return where each node stands in its row, from 0 to 1, in the order of the table."""
    place = np.empty(len(height))
    for row in np.unique(height):
        members = np.flatnonzero(height == row)
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    return place


def in_racks(nodes: Table, links: Table) -> np.ndarray:
    """Return which nodes are switches of a rack: they reach hosts alone, and others do not."""
    switches = nodes["node"][nodes["is_switch"] == 1]
    inner = np.isin(links["node_a"], switches) & np.isin(links["node_b"], switches)
    joined = np.concatenate([links["node_a"][inner], links["node_b"][inner]])
    apart = np.isin(nodes["node"], switches) & ~np.isin(nodes["node"], joined)
    return apart & (len(joined) > 0)
