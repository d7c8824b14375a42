# SPDX-License-Identifier: GPL-2.0-only
"""Eight devices in four racks on a fat tree, on planes, on rails, and on both.

[hotnets24] figure 4, drawn from the tables that a simulation takes. Round: devices; square:
switches; grey, below: the scale-up network of a rack. Switches and cables of one colour are a
network of their own: a plane has a port of every device, with a part of its rate, and a rail has
one device of every rack. Each is smaller than a fat tree of all ports, so with many devices it has
fewer tiers.
"""

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
        figures.draw_network(ax, tables["nodes"], tables["links"])
        ax.set_ylim(-1.1, 2.4)
        ax.set_title(title, fontsize=8)
        found.append({"network": title, **family.counts(params)})
    return pd.DataFrame(found).fillna(0).convert_dtypes()


if __name__ == "__main__":
    figures.main(draw, NEEDS)
