# SPDX-License-Identifier: GPL-2.0-only
"""A network is drawn with each node in its row, and each plane, rail and rack told apart."""

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from pyorch.figures.network import COLORS, RACK_COLOR, RACK_HEIGHT, draw_network, in_racks, places
from pyorch.spec.resolved import Link
from pyorch.topology import leaf_spine, rails

LINK = Link(rate_bps=10**9, delay_ps=1000)


def tables(family, **given):
    return family.tables(family.Params.model_validate(given, context={"link": LINK}), LINK)


def drawn(found, **options):
    """Return the points of each row by its height, and the colours of the cables."""
    ax = Figure().subplots()
    draw_network(ax, found["nodes"], found["links"], **options)
    cables, *rows = ax.collections
    offsets = [row.get_offsets() for row in rows]
    return {row[0, 1]: row[:, 0] for row in offsets}, cables.get_colors(), ax


def test_rails_are_above_the_devices_and_their_racks_below():
    rail = {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 1}
    scale_up = {"rate": "1 Tb/s", "delay": "10 ns"}
    found = tables(rails, devices=2, rail=rail, scale_up=scale_up)
    # Eight hosts, four racks; two leaves and a spine for each of two rails.
    rows, cables, _ = drawn(found)
    assert {row: len(at) for row, at in rows.items()} == {0: 8, RACK_HEIGHT: 4, 1: 4, 2: 2}
    assert in_racks(found["nodes"], found["links"]).sum() == 4
    counted = {tuple(color): 0 for color in cables.tolist()}
    for color in cables.tolist():
        counted[tuple(color)] += 1
    # Of each rail four cables to hosts and two up; one to each device in the racks.
    expected = {to_rgba(COLORS[0]): 6, to_rgba(COLORS[1]): 6, to_rgba(RACK_COLOR): 8}
    assert counted == expected


def test_one_switch_is_no_rack():
    found = tables(leaf_spine, leaves=1, hosts_per_leaf=3, spines=1)
    rows, _, ax = drawn(found, ids=True)
    assert set(rows) == {0, 1, 2}
    assert {text.get_text() for text in ax.texts} >= {"hosts\n(3)", "tier 1\n(1)", "0", "4"}


def test_parallel_cables_are_one_line():
    found = tables(leaf_spine, leaves=2, hosts_per_leaf=2, spines=1, parallel=2)
    _, cables, _ = drawn(found)
    assert len(cables) == 4 + 2


def test_nodes_of_a_row_are_evenly_spaced():
    assert places(np.array([0, 1, 0, 0, 0])).tolist() == [0.125, 0.5, 0.375, 0.625, 0.875]
