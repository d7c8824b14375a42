# SPDX-License-Identifier: GPL-2.0-only
"""The network of a scenario: ids of nodes, links, oversubscription, a picture, and as tables."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pyorch.errors import SpecError
from pyorch.render import input_tables
from pyorch.spec.parts import REACHES
from pyorch.spec.resolved import Spec
from pyorch.topology import from_file
from pyorch.units import format_si
from pyorch.writing import make_folder, write_atomically, write_text

_SCALE_OUT = REACHES.index("scale_out")
#: Of switches of one tier that differ, so many are told of one by one.
_MOST_KINDS = 3


def tables(spec: Spec) -> dict:
    """Return the tables of a run."""
    return input_tables(spec)


def write(spec: Spec, nodes: Path, links: Path) -> list[str]:
    """Write the topology of a run as CSV that topology `from_file` reads; return remarks.

    Jitter, bit errors and classes are no part of it: they are those of the scenario that reads it.

    Raises
    ------
    SpecError
        A file is not called ``.csv``.
    """
    own = spec.topology.tables(spec.link)
    for name, path in (("nodes", nodes), ("links", links)):
        if path.suffix.lower() != ".csv":
            raise SpecError(f"--{name} {path}: the table is CSV. Name it {path.stem}.csv.")
    for name, path, known in (
        ("nodes", nodes, from_file.NODES), ("links", links, from_file.LINKS)
    ):  # fmt: skip
        columns = [column for one in known for column in one if column in own[name]]
        rows = zip(*(own[name][column].tolist() for column in columns), strict=True)
        text = "".join(f"{','.join(map(str, row))}\n" for row in [columns, *rows])
        make_folder(path.parent)
        write_text(path, text)
    hosts = own["nodes"]["node"][own["nodes"]["tier"] == 0]
    pairs = np.repeat(hosts[:1], len(hosts) - 1), hosts[1:]
    neighbours = hosts[:-1], hosts[1:]
    said = f"{spec.topology.type}: {{}} is no part of these tables."
    lost = []
    if (spec.topology.relays(*pairs) >= 0).any():
        lost.append(said.format("who relays messages between rails"))
    if any((spec.topology.reach(*ends) != _SCALE_OUT).any() for ends in (pairs, neighbours)):
        lost.append(said.format("which network carries a message"))
    return lost


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
    found += oversubscription(nodes, links)
    for switch, hosts in _attached(nodes, links).items():
        found.append(f"hosts at {switch}: {ranges(np.array(hosts))}")
    return found


def oversubscription(nodes: dict, links: dict) -> Iterator[str]:
    """Yield for each tier with links up what comes from below over what goes up, at each switch.

    Nothing if some link joins other tiers than neighbours: what is up is then no question of tiers.
    """
    tier = np.zeros(int(nodes["node"].max()) + 1, dtype=np.int64)
    tier[nodes["node"]] = nodes["tier"]
    ends = np.sort(np.stack([links["node_a"], links["node_b"]]), axis=0)
    order = np.argsort(tier[ends], axis=0, kind="stable")
    low, high = np.take_along_axis(ends, order, axis=0)
    if (tier[high] - tier[low] != 1).any():
        return
    up_bps, down_bps = np.zeros((2, len(tier)), dtype=np.int64)
    np.add.at(up_bps, low, links["rate_bps"])
    np.add.at(down_bps, high, links["rate_bps"])
    for its in range(1, int(tier.max())):
        switches = nodes["node"][nodes["tier"] == its]
        kinds = np.unique([down_bps[switches], up_bps[switches]], axis=1).T.tolist()
        said = [
            f"{down / up:.4g} ({format_si(down, 'bit/s')} down, {format_si(up, 'bit/s')} up)"
            if up else f"no links up ({format_si(down, 'bit/s')} down)"
            for down, up in kinds
        ]  # fmt: skip
        if len(said) > _MOST_KINDS:
            ratios = [down / up for down, up in kinds if up]
            said = [f"{min(ratios):.4g} to {max(ratios):.4g}"]
        yield f"oversubscription of tier {its}: {'; '.join(said)}"


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
