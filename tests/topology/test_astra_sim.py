# SPDX-License-Identifier: GPL-2.0-only
"""Networks of ASTRA-sim's analytical backend: links by hand, and what is refused."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.spec.fields import FieldError
from pyorch.spec.resolved import Link
from pyorch.topology import astra_sim


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("networks")


LINK = Link(rate_bps=1, delay_ps=1)
GB = 8 * 2**30


def text(topology, npus, bandwidth, latency):
    return f"topology: {topology}\nnpus_count: {npus}\nbandwidth: {bandwidth}\nlatency: {latency}\n"


def tables(given, folder):
    (folder / "net.yml").write_text(given)
    params = astra_sim.Params.model_validate({"file": "net.yml"}, context={"folder": folder})
    return astra_sim.tables(params, LINK), astra_sim.counts(params)


def cables(given, folder):
    """Return (node, node, bit/s, ps) of all links but those of hosts to their routers."""
    found, counts = tables(given, folder)
    links, n = found["links"], counts["hosts"]
    rows = zip(*(links[name].tolist() for name in ("node_a", "node_b", "rate_bps", "delay_ps")),
               strict=True)  # fmt: skip
    return sorted(row for row in rows if row[0] >= n or row[1] - row[0] != n or row[3] != 1)


def test_a_ring_joins_neighbours_once(tmp_path):
    rate, delay = 50 * GB, 500_000
    assert cables(text("[Ring]", [4], [50], [500]), tmp_path) == [
        (4, 5, rate, delay), (4, 7, rate, delay), (5, 6, rate, delay), (6, 7, rate, delay),
    ]  # fmt: skip
    assert cables(text("[Ring]", [2], [50], [500]), tmp_path) == [(2, 3, rate, delay)]


def test_a_switch_is_a_star_of_hosts(tmp_path):
    found, counts = tables(text("[Switch]", [3], [0.5], [0.25]), tmp_path)
    assert counts["hosts"] == 3 and counts["switches"] == 1
    assert found["links"]["node_b"].tolist() == [3, 3, 3]
    assert set(found["links"]["rate_bps"].tolist()) == {GB // 2}
    assert set(found["links"]["delay_ps"].tolist()) == {250}


def test_dimensions_are_counted_through_the_first_one_first(tmp_path):
    # 6 ranks of [2, 3]: pairs along the first; along the second 0-2-4 and 1-3-5, all connected.
    given = text("[Ring, FullyConnected]", [2, 3], [2, 1], [1, 5])
    first = [(a, a + 1, 2 * GB, 1000) for a in (6, 8, 10)]
    second = [(a, b, GB, 5000) for a, b in ((6, 8), (6, 10), (8, 10), (7, 9), (7, 11), (9, 11))]
    assert cables(given, tmp_path) == sorted(first + second)


def test_a_switch_of_several_dimensions_joins_routers(tmp_path):
    found = cables(text("[Ring, Switch]", [2, 2], [2, 1], [1, 5]), tmp_path)
    assert found == [
        (4, 5, 2 * GB, 1000), (4, 8, GB, 5000), (5, 9, GB, 5000), (6, 7, 2 * GB, 1000),
        (6, 8, GB, 5000), (7, 9, GB, 5000),
    ]  # fmt: skip


def test_links_of_hosts_are_faster_than_any_other(tmp_path):
    found, counts = tables(text("[Ring]", [4], [50], [500]), tmp_path)
    links = found["links"]
    own = links["node_a"] < counts["hosts"]
    assert set(links["rate_bps"][own].tolist()) == {50_000 * GB} and own.sum() == 4


@pytest.mark.parametrize(
    "given, message",
    [
        ("", "is no network"),
        ("[1, 2]", "is no network"),
        ("topology: [Ring", "net.yml"),
        (text("[Ring]", [8], ["tbd"], [1]), "bandwidth: 'tbd' is no number from 0"),
        (text("[Ring]", [8], [1], [-1]), "latency: '-1' is no number from 0"),
        (text("[Ring]", [8], [1], [0]), "latency: '0' is too small."),
        (text("[Ring]", [1], [1], [1]), "npus_count: '1' is too small."),
        (text("[Ring]", [2.5], [1], [1]), "npus_count: '2.5' is no whole number"),
        (text("[Torus]", [8], [1], [1]), "topology: 'Torus' is none of Ring, Switch"),
        (text("[Ring]", [8, 2], [1], [1]), "npus_count has 2 values, topology 1."),
        (text("[Ring]", [99999999], [1], [1]), "99999999 ranks have more than"),
        (text("[Ring]", [8], [2000000], [1]), "bandwidth: '2000000' is too large."),
        (
            text("[FullyConnected]", [99999], [1], [1]),
            "99999 ranks have more than 4194304 links.",
        ),
        (text("Ring", [8], [1], [1]), "topology: write a list of 1 to 8 values."),
        (text("[Ring]", [8], [1], [1]) + "hops: 3\n", "'hops' is none of topology, npus_count"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(given, message, tmp_path):
    with pytest.raises(FieldError) as caught:
        tables(given, tmp_path)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert "net.yml" in str(caught.value)


@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_a_network_has_no_more_nodes_than_its_bound_of_links(folder, data):
    kinds = data.draw(st.lists(st.sampled_from(astra_sim.KINDS), min_size=1, max_size=4))
    sizes = [data.draw(st.integers(2, 4)) for _ in kinds]
    _, counts = tables(text(kinds, sizes, [1] * len(kinds), [1] * len(kinds)), folder)
    links = [size - 1 if kind == "FullyConnected" else 2
             for kind, size in zip(kinds, sizes, strict=True)]  # fmt: skip

    # Each rank has two ends of its own link, and those of its dimensions.
    assert counts["hosts"] == math.prod(sizes)
    assert max(counts["cables"], counts["hosts"] + counts["switches"] - 1) <= (
        math.prod(sizes) * (2 + sum(links)) // 2
    )
