# SPDX-License-Identifier: GPL-2.0-only
"""The network of a scenario: which ids its nodes have, which links there are, and a picture."""

from collections import Counter
from pathlib import Path

import numpy as np

from pyorch.cli.run import Choice, choose
from pyorch.render import input_tables
from pyorch.units import format_si
from pyorch.writing import make_folder, write_atomically

#: More nodes than these in a row have no labels of their own.
MOST_LABELS = 40


def tables(choice: Choice) -> dict:
    """Return the tables of the first run that these options leave."""
    return input_tables(choose(choice).spec)


def lines(given: dict) -> list[str]:
    """Return the network in words: ids by tier, links by what they are, hosts by their switch."""
    nodes, links = given["nodes"], given["links"]
    found = []
    for plane, tier in sorted(set(zip(nodes["plane"].tolist(), nodes["tier"].tolist(),
                                      strict=True))):  # fmt: skip
        ids = nodes["node"][(nodes["plane"] == plane) & (nodes["tier"] == tier)]
        planes = f", plane {plane}" if nodes["plane"].max() > 0 and tier > 0 else ""
        what = "hosts" if tier == 0 else f"switches, tier {tier}{planes}"
        found.append(f"{what}: {ranges(ids)} ({len(ids)})")
    kinds = Counter(zip(links["rate_bps"].tolist(), links["delay_ps"].tolist(), strict=True))
    for (rate_bps, delay_ps), count in sorted(kinds.items()):
        rate, delay = format_si(rate_bps, "bit/s"), format_si(delay_ps * 1e-12, "s")
        found.append(f"links: {count} of {rate}, {delay}")
    for switch, hosts in _attached(nodes, links).items():
        found.append(f"hosts at {switch}: {ranges(np.array(hosts))}")
    return found


def ranges(ids: np.ndarray) -> str:
    """Return ids as text, neighbours as one range: ``0 to 7, 12``."""
    ids = np.sort(ids)
    runs = np.split(ids, np.flatnonzero(np.diff(ids) > 1) + 1)
    return ", ".join(f"{r[0]} to {r[-1]}" if len(r) > 1 else f"{r[0]}" for r in runs)


def _attached(nodes: dict, links: dict) -> dict[int, list[int]]:
    """Return the hosts at each switch that has any, by id."""
    hosts = set(nodes["node"][nodes["is_switch"] == 0].tolist())
    found: dict[int, list[int]] = {}
    for a, b in zip(links["node_a"].tolist(), links["node_b"].tolist(), strict=True):
        for host, switch in ((a, b), (b, a)):
            if host in hosts and switch not in hosts:
                found.setdefault(switch, []).append(host)
    return {switch: sorted(set(found[switch])) for switch in sorted(found)}


def draw(given: dict, path: Path) -> None:
    """Draw the network in rows, hosts below, ids at the nodes; cables of one pair are one line."""
    from matplotlib.figure import Figure

    from pyorch.views import figure_format

    format_ = figure_format(path)
    nodes, links = given["nodes"], given["links"]
    places = positions(nodes)
    rows = Counter(nodes["tier"].tolist())
    figure = Figure(figsize=(7, 1.1 + 1.1 * len(rows)), layout="constrained", dpi=200)
    ax = figure.subplots()
    for a, b in sorted(set(zip(links["node_a"].tolist(), links["node_b"].tolist(), strict=True))):
        ax.plot(*zip(places[a], places[b], strict=True), color="#999999", linewidth=0.4, zorder=1)
    for node, tier in zip(nodes["node"].tolist(), nodes["tier"].tolist(), strict=True):
        x, y = places[node]
        few = rows[tier] <= MOST_LABELS
        ax.plot(x, y, "s" if tier else "o", color="#0072B2" if tier else "#D55E00",
                markersize=9 if few else 3, zorder=2)  # fmt: skip
        if few:
            ax.annotate(str(node), (x, y), ha="center", va="center", fontsize=5, color="white",
                        zorder=3)  # fmt: skip
    for tier, count in rows.items():
        ids = nodes["node"][nodes["tier"] == tier]
        name = "hosts" if tier == 0 else f"tier {tier}"
        ax.annotate(f"{name}: {ids.min()} to {ids.max()} ({count})", (0, tier + 0.22), fontsize=6)
    ax.set_axis_off()
    make_folder(path.parent)
    write_atomically(path, lambda file: figure.savefig(file, format=format_))


def positions(nodes: dict) -> dict[int, tuple[float, float]]:
    """Return where each node is drawn: its place in its tier, from 0 to 1, and its tier."""
    found = {}
    for tier in np.unique(nodes["tier"]):
        ids = np.sort(nodes["node"][nodes["tier"] == tier])
        for place, node in enumerate(ids.tolist()):
            found[node] = ((place + 0.5) / len(ids), float(tier))
    return found
