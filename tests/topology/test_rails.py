# SPDX-License-Identifier: GPL-2.0-only
"""Racks on rails against hand counts and their closed form; messages that no network carries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.render.relays import relayed
from pyorch.spec.fields import FieldError
from pyorch.spec.parts import restore
from pyorch.spec.resolved import Link
from pyorch.topology import _graph, rails, star

LINK = Link(rate_bps=800 * 10**9, delay_ps=500_000)
UP = {"planes": 2, "rate": "7.2 Tb/s", "delay": "100 ns"}


NICS = {"delay": "50 ns"}


def params(devices=2, rail=None, scale_up=None, nics=None):
    rail = rail or {"type": "star", "hosts": 2, "planes": 2}
    given = {"devices": devices, "rail": rail, "scale_up": scale_up or UP}
    given |= {"nics": nics} if nics else {}
    return rails.Params.model_validate(given, context={"link": LINK})


def test_two_racks_of_two_by_hand():
    tables = rails.tables(params(), LINK)
    nodes, links = tables["nodes"], tables["links"]

    # Devices 0, 1 are rack 0; 2, 3 rack 1. Scale-up switches 4, 5 of rack 0 and 6, 7 of rack 1.
    # Rail 0 (devices 0 and 2) has switches 8, 9, rail 1 has 10, 11.
    assert nodes["tier"].tolist() == [0] * 4 + [2] * 4 + [1] * 4
    assert nodes["plane"].tolist() == [0] * 4 + [4, 5, 4, 5] + [0, 1, 2, 3]
    pairs = list(zip(links["node_a"].tolist(), links["node_b"].tolist(), strict=True))
    assert pairs[:8] == [(0, 4), (0, 5), (1, 4), (1, 5), (2, 6), (2, 7), (3, 6), (3, 7)]
    assert sorted(pairs[8:12]) == [(0, 8), (0, 9), (2, 8), (2, 9)]
    assert sorted(pairs[12:]) == [(1, 10), (1, 11), (3, 10), (3, 11)]
    assert links["rate_bps"].tolist() == [72 * 10**11] * 8 + [8 * 10**11] * 8
    assert links["delay_ps"].tolist() == [100_000] * 8 + [500_000] * 8


def test_two_racks_of_two_that_share_their_nics_by_hand():
    tables = rails.tables(params(2, {"type": "star", "hosts": 2}, UP | {"planes": 1}, NICS), LINK)
    nodes, links = tables["nodes"], tables["links"]

    # Scale-up switches 4 and 5, rails 6 and 7, NICs 8 and 9 (devices 0 and 2) and 10 and 11.
    assert nodes["tier"].tolist() == [0] * 4 + [2] * 2 + [1] * 2 + [3] * 4
    assert nodes["plane"].tolist() == [0] * 4 + [2, 2, 0, 1] + [3] * 4
    assert nodes["is_switch"].tolist() == [0] * 4 + [1] * 8
    ends = np.sort(np.stack([links["node_a"], links["node_b"]]), axis=0)
    kinds = zip(links["rate_bps"].tolist(), links["delay_ps"].tolist(), strict=True)
    pairs = dict(zip(map(tuple, ends.T.tolist()), kinds, strict=True))
    up, cable, bus = (72 * 10**11, 100_000), (8 * 10**11, 500_000), (8 * 10**11, 50_000)
    assert pairs == {
        (0, 4): up, (1, 4): up, (2, 5): up, (3, 5): up,
        (6, 8): cable, (6, 9): cable, (7, 10): cable, (7, 11): cable,
        (0, 8): bus, (2, 9): bus, (1, 10): bus, (3, 11): bus,
        (4, 8): up, (5, 9): up, (4, 10): up, (5, 11): up,
    }  # fmt: skip


def test_networks_are_named_by_hand():
    # Two rails of two planes; with NICs: one plane of each.
    assert rails.networks(params(), LINK)[4:] == [
        *["scale_up"] * 4, *(f"rail {rail} plane {plane}" for rail in (0, 1) for plane in (0, 1))
    ]  # fmt: skip
    shared = params(2, {"type": "star", "hosts": 2}, UP | {"planes": 1}, NICS)
    assert rails.networks(shared, LINK)[4:] == [
        *["scale_up"] * 2, "rail 0 plane 0", "rail 1 plane 0", *["nics"] * 4
    ]  # fmt: skip


RAILS = st.sampled_from(
    [
        {"type": "star", "hosts": 3},
        {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 3, "spines": 2, "planes": 2},
        {"type": "fat_tree", "tiers": 3, "radix": 4, "oversubscription": [2, 1]},
    ]
)


@settings(max_examples=40)
@given(
    devices=st.integers(1, 5), rail=RAILS, planes=st.integers(1, 3),
    nics=st.sampled_from([None, NICS]),
)  # fmt: skip
def test_the_tables_have_as_many_rows_as_the_closed_form_says(devices, rail, planes, nics):
    asked = params(devices, rail, UP | {"planes": planes}, nics)
    tables, counts = rails.tables(asked, LINK), rails.counts(asked)
    nodes, links = tables["nodes"], tables["links"]
    hosts = int((nodes["is_switch"] == 0).sum())

    n_switches = counts["switches"] + counts["nics"]
    assert (hosts, len(nodes["node"]) - hosts) == (counts["hosts"], n_switches)
    assert hosts == counts["racks"] * counts["rails"]
    assert len(links["node_a"]) == counts["cables"]
    ends = np.concatenate([links["node_a"], links["node_b"]])
    of_nics = ends >= hosts + counts["switches"]
    assert of_nics.sum() == counts["nics"] * (2 + planes)
    assert (np.sum(ends < hosts), np.sum((ends >= hosts) & ~of_nics)) == (
        counts["access_links"], counts["ports"]
    )  # fmt: skip
    assert _graph.hosts_per_leaf(nodes, links) == counts["hosts_per_leaf"] == devices
    _graph.check_links(dict(enumerate(nodes["is_switch"] == 1)), links, "here", "key")
    # Each plane is one network: of a rail, or a number that all racks have in common.
    assert len(np.unique(nodes["plane"])) == (
        devices * rail.get("planes", 1) + planes + (nics is not None)
    )
    assert len(rails.top_switches(asked, nodes)) == counts["top_switches"]
    again = rails.tables(restore(rails.Params, asked.model_dump()), LINK)
    assert all(np.array_equal(links[name], again["links"][name]) for name in links)


def test_a_star_is_one_switch_in_each_plane():
    links = star.tables(star.Params(hosts=3, planes=2), LINK)["links"]

    pairs = zip(links["node_a"].tolist(), links["node_b"].tolist(), strict=True)
    assert sorted(pairs) == [(0, 3), (0, 4), (1, 3), (1, 4), (2, 3), (2, 4)]


def test_what_no_network_joins_is_relayed_on_the_rail_of_its_destination():
    # Racks of 4: device 1 of rack 0 to device 3 of rack 2 (host 11) goes by device 3 of rack 0.
    asked = params(4, {"type": "star", "hosts": 3})
    src, dst = np.array([1, 1, 1]), np.array([11, 9, 2])

    assert rails.relays(asked, src, dst).tolist() == [3, -1, -1]
    shared = params(4, {"type": "star", "hosts": 3}, nics=NICS)
    assert rails.relays(shared, src, dst).tolist() == [-1, -1, -1]


def test_a_relayed_message_is_two_that_follow_each_other():
    flows = {
        "flow": np.array([7, 8, 9]), "src": np.array([1, 3, 3]), "dst": np.array([11, 2, 4]),
        "bytes": np.array([100, 200, 300]),
    }  # fmt: skip
    # 8 waits until 7 has come, 9 until 7 is acknowledged, and 7 waits for 9.
    waits = {"flow": [8, 9, 7], "after": [7, 7, 9], "at_sender": [0, 1, 0]}
    waits = {name: np.array(column) for name, column in waits.items()}
    both, after = relayed(flows, waits, np.array([0]), np.array([3]))

    assert [both[name].tolist() for name in ("flow", "src", "dst", "bytes")] == [
        [7, 8, 9, 10], [3, 3, 3, 1], [11, 2, 4, 3], [100, 200, 300, 100],
    ]  # fmt: skip
    rows = zip(*(after[name].tolist() for name in ("flow", "after", "at_sender")), strict=True)
    assert list(rows) == [(8, 7, 0), (9, 10, 1), (10, 9, 0), (7, 10, 0)]
    assert flows["src"].tolist() == [1, 3, 3]


MISTAKES = {
    "a rail that is not there": (
        {"rail": {"type": "ring"}}, "rail.type", "no topology 'ring'.",
    ),
    "a wrong number inside of a rail": (
        {"rail": {"type": "star", "hosts": 0}}, "rail.hosts", "0 is out of range; it must be at",
    ),
    "more devices than there may be": (
        {"devices": 4096, "rail": {"type": "star", "hosts": 4096}}, "devices",
        "16777216 devices in all; at most 4194304. Lower devices or the hosts of a rail.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_wrong_is_said_with_its_place(mistake):
    changes, key, message = MISTAKES[mistake]
    with pytest.raises(FieldError) as caught:
        params(**changes)
    assert caught.value.field == key
    assert str(caught.value).startswith(message)
