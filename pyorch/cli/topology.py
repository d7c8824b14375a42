# SPDX-License-Identifier: GPL-2.0-only
"""The network of a scenario: which ids its nodes have, which links there are, and a picture."""

from collections import Counter
from pathlib import Path

import numpy as np

from pyorch.cli.run import Choice, choose
from pyorch.render import input_tables
from pyorch.units import format_si
from pyorch.writing import make_folder, write_atomically


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
    """Draw the network in rows, hosts below; cables of one pair are one line."""
    from matplotlib.figure import Figure

    from pyorch.figures import draw_network
    from pyorch.views import figure_format

    format_ = figure_format(path)
    nodes = given["nodes"]
    rows = len(np.unique(nodes["tier"]))
    figure = Figure(figsize=(7, 0.6 + 1.1 * rows), layout="constrained", dpi=200)
    draw_network(figure.subplots(), nodes, given["links"], ids=True)
    make_folder(path.parent)
    write_atomically(path, lambda file: figure.savefig(file, format=format_))
