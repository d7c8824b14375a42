# SPDX-License-Identifier: GPL-2.0-only
"""Eight devices in four racks on a fat tree, on planes, on rails, and on both.

[hotnets24] figure 4, drawn from the tables that a simulation takes. Round: devices; square:
switches; grey, below: the scale-up network of a rack. Switches and cables of one colour are a
network of their own: a plane has a port of every device, with a part of its rate, and a rail has
one device of every rack. Each network is smaller than the fat tree, so it needs fewer tiers or
fewer chips.
"""

import numpy as np
import pandas as pd

from pyorch import figures
from pyorch.spec.resolved import Link
from pyorch.topology import leaf_spine, rails

NEEDS = {}

LINK = Link(rate_bps=800 * 10**9, delay_ps=500_000)
SCALE_UP = {"rate": "14.4 Tb/s", "delay": "10 ns"}
RAIL = {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 1}
#: Title, family and parameters.
NETWORKS = {
    "fat tree": (leaf_spine, {"leaves": 4, "hosts_per_leaf": 2, "spines": 2}),
    "two planes": (leaf_spine, {"leaves": 2, "hosts_per_leaf": 4, "spines": 1, "planes": 2}),
    "two rails": (rails, {"devices": 2, "rail": RAIL, "scale_up": SCALE_UP}),
    "two rails, two planes each": (
        rails, {"devices": 2, "rail": RAIL | {"planes": 2}, "scale_up": SCALE_UP},
    ),
}  # fmt: skip
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")
GREY = "#999999"


def draw(figure):
    """Draw one panel per network; return how many switches and cables each has."""
    figure.set_figheight(2.1 if not figures.is_column(figure) else 5)
    shape = (2, 2) if figures.is_column(figure) else (1, 4)
    found = []
    for ax, (title, (family, given)) in zip(
        figure.subplots(*shape).flat, NETWORKS.items(), strict=True
    ):
        params = family.Params.model_validate(given, context={"link": LINK})
        tables = family.tables(params, LINK)
        draw_network(ax, pd.DataFrame(tables["nodes"]), pd.DataFrame(tables["links"]))
        ax.set_title(title, fontsize=8)
        found.append({"network": title, **family.counts(params)})
    return pd.DataFrame(found).fillna(0).convert_dtypes()


def draw_network(ax, nodes, links):
    """Draw hosts in a row, switches above by tier, those of the racks below."""
    is_up = in_racks(nodes, links)
    colors = [GREY if up else COLORS[plane % len(COLORS)] for up, plane in zip(
        is_up, nodes["plane"], strict=True
    )]  # fmt: skip
    height = np.where(is_up, -0.8, nodes["tier"])
    row = pd.DataFrame({"height": height, "node": nodes["node"]})
    place = (row.groupby("height").cumcount() + 0.5) / row.groupby("height")["node"].transform(
        "size"
    )
    at = {node: where for node, *where in zip(nodes["node"], place, height, strict=True)}
    of = dict(zip(nodes["node"], colors, strict=True))
    for a, b in zip(links["node_a"], links["node_b"], strict=True):
        ax.plot(*zip(at[a], at[b], strict=True), color=of[b], lw=0.8, zorder=1)
    for node, is_switch in zip(nodes["node"], nodes["is_switch"], strict=True):
        color, marker = (of[node], "s") if is_switch else ("black", "o")
        ax.plot(*at[node], marker, color=color, ms=6 if is_switch else 4, zorder=2)
    ax.set(xlim=(0, 1), ylim=(-1.2, 2.4))
    ax.set_axis_off()


def in_racks(nodes, links):
    """Return which nodes are switches that reach devices alone, as those of a rack do."""
    switches = set(nodes["node"][nodes["is_switch"] == 1])
    inner = links[links["node_a"].isin(switches) & links["node_b"].isin(switches)]
    joined = set(inner["node_a"]) | set(inner["node_b"])
    return [node in switches - joined for node in nodes["node"]]


if __name__ == "__main__":
    figures.main(draw, NEEDS)
