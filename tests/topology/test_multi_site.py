# SPDX-License-Identifier: GPL-2.0-only
"""Several datacenters against hand counts, their closed form, and what makes no network."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.spec.fields import FieldError
from pyorch.spec.parts import REACHES, restore
from pyorch.spec.resolved import Link
from pyorch.topology import _graph, multi_site

LINK = Link(rate_bps=800 * 10**9, delay_ps=500_000)
SMALL = {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 1}
STAR = {"type": "dumbbell", "left": 1, "right": 1}


def params(sites, *long_haul, context=None):
    return multi_site.Params.model_validate(
        {"sites": sites, "long_haul": list(long_haul)}, context=context or {"link": LINK}
    )


def haul(a, b, rate="400 Gb/s", delay="30 ms", **more):
    return {"between": [a, b], "rate": rate, "delay": delay, **more}


def two(**more):
    return [{"name": "east", "topology": SMALL}, {"name": "west", "topology": STAR, **more}]


def rows(tables, *names):
    return list(zip(*(tables["links"][name].tolist() for name in names), strict=True))


def test_two_sites_by_hand():
    tables = multi_site.tables(params(two(), haul("east", "west", parallel=2)), LINK)

    # hosts 0-3 east, 4-5 west; east: leaves 6, 7, spine 8; west: switches 9, 10; borders 11, 12
    assert tables["nodes"]["tier"].tolist() == [0] * 6 + [1, 1, 2, 1, 1, 3, 3]
    assert rows(tables, "node_a", "node_b", "parallel") == [
        (0, 6, 0), (1, 6, 0), (2, 7, 0), (3, 7, 0), (6, 8, 0), (7, 8, 0),
        (8, 11, 0),
        (4, 9, 0), (5, 10, 0), (9, 10, 0),
        (9, 12, 0), (10, 12, 0),
        (11, 12, 0), (11, 12, 1),
    ]  # fmt: skip
    assert tables["links"]["rate_bps"].tolist()[-3:] == [8 * 10**11, 4 * 10**11, 4 * 10**11]
    assert tables["links"]["delay_ps"].tolist()[-3:] == [500_000, 3 * 10**10, 3 * 10**10]


def test_entries_for_the_same_two_sites_are_other_links_between_the_same_switches():
    entries = haul("east", "west", parallel=2), haul("west", "east", "100 Gb/s", "20 ms")
    tables = multi_site.tables(params(two(), *entries), LINK)

    assert rows(tables, "node_a", "node_b", "parallel", "rate_bps", "delay_ps")[-3:] == [
        (11, 12, 0, 4 * 10**11, 3 * 10**10), (11, 12, 1, 4 * 10**11, 3 * 10**10),
        (11, 12, 2, 10**11, 2 * 10**10),
    ]  # fmt: skip


def test_each_border_switch_meets_each_of_the_other_site():
    west = two(borders=2, border_parallel=2, border_rate="1.6 Tb/s", border_delay="1 us")
    tables = multi_site.tables(params(west, haul("east", "west")), LINK)

    # borders: 11 of the east, 12 and 13 of the west, on both switches 9 and 10 by two links each
    assert rows(tables, "node_a", "node_b", "parallel")[-10:] == [
        (9, 12, 0), (9, 12, 1), (9, 13, 0), (9, 13, 1),
        (10, 12, 0), (10, 12, 1), (10, 13, 0), (10, 13, 1),
        (11, 12, 0), (11, 13, 0),
    ]  # fmt: skip
    assert set(rows(tables, "rate_bps", "delay_ps")[-10:-2]) == {(16 * 10**11, 10**6)}


def test_border_switches_are_in_no_plane_of_a_site():
    planes = {**SMALL, "planes": 2}
    sites = [{"name": "east", "topology": planes}, {"name": "west", "topology": SMALL}]
    nodes = multi_site.tables(params(sites, haul("east", "west")), LINK)["nodes"]

    assert nodes["plane"][nodes["tier"] == 3].tolist() == [2, 2]
    assert nodes["plane"][nodes["tier"] == 0].tolist() == [0] * 8


def test_a_site_from_a_file_keeps_its_bit_errors_and_the_others_have_none(tmp_path):
    (tmp_path / "nodes.csv").write_text("node,is_switch\n70,0\n9,1\n30,0\n")
    (tmp_path / "links.csv").write_text(
        "node_a,node_b,rate_bps,delay_ps,bit_error_ratio\n70,9,10,1,1e-9\n30,9,10,1,0\n"
    )
    own = {"type": "from_file", "nodes": "nodes.csv", "links": "links.csv"}
    sites = [{"name": "east", "topology": own}, {"name": "west", "topology": STAR}]
    context = {"link": LINK, "folder": tmp_path}
    tables = multi_site.tables(params(sites, haul("east", "west"), context=context), LINK)

    # hosts 30, 70 are now 0, 1; switch 9 is 4; west has hosts 2, 3 and switches 5, 6
    assert rows(tables, "node_a", "node_b", "bit_error_ratio")[:3] == [
        (1, 4, 1e-9), (0, 4, 0.0), (4, 7, 0.0)
    ]  # fmt: skip
    assert tables["nodes"]["tier"].tolist() == [0, 0, 0, 0, 1, 1, 1, 2, 2]


def test_networks_are_those_of_the_sites_and_the_wide_area():
    # East: leaves 6, 7 and spine 8 in one plane; west: 9, 10; borders 11, 12.
    asked = params(two(), haul("east", "west"))
    assert multi_site.networks(asked, LINK)[6:] == [
        *["east plane 0"] * 3, *["west plane 0"] * 2, *["wide_area"] * 2
    ]  # fmt: skip


SITES = st.sampled_from(
    [SMALL, STAR, {**SMALL, "planes": 2, "spines": 3}, {"type": "fat_tree", "tiers": 3, "radix": 4},
     {"type": "multi_site", "sites": two(), "long_haul": [haul("east", "west")]}]
)  # fmt: skip


@settings(max_examples=60)
@given(data=st.data(), n_sites=st.integers(2, 4))
def test_the_tables_have_as_many_rows_as_the_closed_form_says(data, n_sites):
    small = st.integers(1, 3)
    sites = [
        {"name": f"s{i}", "topology": data.draw(SITES), "borders": data.draw(small),
         "border_parallel": data.draw(small)}
        for i in range(n_sites)
    ]  # fmt: skip
    pairs = [(f"s{i - 1}", f"s{i}") for i in range(1, n_sites)]
    pairs += data.draw(st.lists(st.sampled_from(pairs), max_size=2))
    given_ = params(sites, *(haul(a, b, parallel=data.draw(small)) for a, b in pairs))
    tables, counts = multi_site.tables(given_, LINK), multi_site.counts(given_)
    nodes, links = tables["nodes"], tables["links"]

    hosts = int((nodes["is_switch"] == 0).sum())
    assert (hosts, len(nodes["node"]) - hosts) == (counts["hosts"], counts["switches"])
    assert len(links["node_a"]) == counts["cables"]
    ends = np.concatenate([links["node_a"], links["node_b"]])
    assert (np.sum(ends < hosts), np.sum(ends >= hosts)) == (
        counts["access_links"], counts["ports"]
    )  # fmt: skip
    tier = nodes["tier"][np.stack([links["node_a"], links["node_b"]])]
    top = int(nodes["tier"].max())
    assert np.sum(nodes["tier"] == top) == counts["top_switches"]
    assert np.sum(tier.min(axis=0) == top) == counts["long_haul_links"]
    assert np.sum((tier.max(axis=0) == top) & (tier.min(axis=0) < top)) == counts["border_links"]
    # No link twice, every host reaches every other: refused if not.
    _graph.check_links(dict(enumerate(nodes["is_switch"] == 1)), links, "here", "key")
    _graph.check_connected(nodes, links, "here", "key")


def test_a_resolved_spec_makes_the_same_tables():
    given_ = params(two(borders=2), haul("east", "west"))
    again = restore(multi_site.Params, given_.model_dump())

    assert multi_site.counts(again) == multi_site.counts(given_)
    for name, columns in multi_site.tables(given_, LINK).items():
        for column, values in columns.items():
            assert np.array_equal(multi_site.tables(again, LINK)[name][column], values)


MISTAKES = {
    "a site that is not there": (
        two(), [haul("east", "vest")], "long_haul.0.between",
        "no site is called 'vest'. There are east, west. Did you mean west?",
    ),
    "a link from a site to itself": (
        two(), [haul("east", "west"), haul("east", "east")], "long_haul.1.between",
        "both ends are 'east'. Name two sites.",
    ),
    "two sites of one name": (
        [*two(), two()[0]], [haul("east", "west")], "sites.2.name",
        "'east' is the name of another site too. Give each its own.",
    ),
    "a site without a link": (
        [*two(), {"name": "north", "topology": STAR}], [haul("east", "west")], "long_haul",
        "no path from site 'east' to site 'north'. Add a link between two that are joined to"
        " them.",
    ),
    "a topology that is not there": (
        [two()[0], {"name": "west", "topology": {"type": "ring"}}], [haul("east", "west")],
        "sites.1.topology.type", "no topology 'ring'.",
    ),
    "a wrong number inside of a site": (
        [two()[0], {"name": "west", "topology": {**SMALL, "leaves": 0}}], [haul("east", "west")],
        "sites.1.topology.leaves", "0 is out of range; it must be at least 1.",
    ),
    "a wrong fat tree": (
        [two()[0], {"name": "west", "topology": {"type": "fat_tree", "tiers": 2, "radix": 5}}],
        [haul("east", "west")], "sites.1.topology.radix", "5 is odd",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_wrong_is_said_with_its_place(mistake):
    sites, long_haul, key, message = MISTAKES[mistake]
    with pytest.raises(FieldError) as caught:
        params(sites, *long_haul)
    assert caught.value.field == key
    assert str(caught.value).startswith(message)


RAILS = {
    "type": "rails", "devices": 2, "rail": {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2,
    "spines": 1}, "scale_up": {"rate": "7.2 Tb/s", "delay": "100 ns"},
}  # fmt: skip


def test_sites_of_rails_by_hand():
    sites = [{"name": "east", "topology": RAILS}, {"name": "west", "topology": RAILS}]
    asked = params(sites, haul("east", "west"))
    tables, counts = multi_site.tables(asked, LINK), multi_site.counts(asked)
    nodes, links = tables["nodes"], tables["links"]

    # Each site: 4 racks of 2 devices with a scale-up switch each, 2 rails of 2 leaves and a spine.
    assert (counts["hosts"], counts["rails"], counts["top_switches"]) == (16, 2, 2)
    assert (len(nodes["node"]), len(links["node_a"])) == (
        16 + counts["switches"], counts["cables"]
    )  # fmt: skip
    tier = nodes["tier"]
    border = np.flatnonzero(tier == 4)
    below = [np.sort(links["node_a"][links["node_b"] == b]) for b in border]
    # A border switch has a link to the spine of each rail, and none to a scale-up switch (tier 3).
    assert [tier[ends].tolist() for ends in below] == [[2, 2], [2, 2, 4]]


def test_only_messages_inside_a_site_are_relayed():
    # Racks of 2 devices; site east has devices 0 to 7, west 8 to 15. From device 0 to device 3 of
    # the next rack: by device 1, which is on its rail; from 12 to 15 by 13; across sites by nobody.
    sites = [{"name": "east", "topology": RAILS}, {"name": "west", "topology": RAILS}]
    asked = params(sites, haul("east", "west"))
    src, dst = np.array([0, 0, 0, 12, 0]), np.array([1, 2, 3, 15, 9])

    assert multi_site.relays(asked, src, dst).tolist() == [-1, -1, 1, 13, -1]
    reached = [REACHES[index] for index in multi_site.reach(asked, src, dst)]
    assert reached == ["scale_up", "scale_out", "scale_out", "scale_out", "wide_area"]


def test_a_site_without_racks_has_one_network():
    asked = params(two(), haul("east", "west"))

    reached = multi_site.reach(asked, np.array([0, 0]), np.array([1, 4]))
    assert [REACHES[index] for index in reached] == ["scale_out", "wide_area"]


def test_sites_of_racks_that_share_their_nics():
    # Each site: 4 racks of 2 devices, 2 rails of 2 leaves and a spine, 8 NICs. A border switch has
    # links to the two spines and to nothing above them.
    nics = RAILS | {"nics": {"delay": "50 ns"}}
    sites = [{"name": "east", "topology": nics}, {"name": "west", "topology": nics}]
    found = params(sites, haul("east", "west"))
    tables, counts = multi_site.tables(found, LINK), multi_site.counts(found)
    links, tier = tables["links"], tables["nodes"]["tier"]

    assert len(links["node_a"]) == counts["cables"]
    assert len(tier) == counts["hosts"] + counts["switches"] + 2 * 8
    ends = np.sort(tier[np.stack([links["node_a"], links["node_b"]])], axis=0)
    assert tier.max() == 5  # over spines 2, scale-up 3 and NICs 4
    assert ends[0, (ends[1] == 5) & (ends[0] < 5)].tolist() == [2] * 4
    assert (multi_site.relays(found, np.array([0, 0]), np.array([3, 11])) == -1).all()


@pytest.mark.parametrize(("site", "relays"), [(SMALL, False), (RAILS, True)])
def test_only_sites_of_rails_have_messages_that_wait_for_a_relay(site, relays):
    sites = [{"name": "east", "topology": site}, {"name": "west", "topology": site}]
    assert ("rails" in multi_site.counts(params(sites, haul("east", "west")))) == relays
