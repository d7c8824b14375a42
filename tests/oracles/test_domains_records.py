# SPDX-License-Identifier: GPL-2.0-only
"""What a run leaves and what it refuses when it is cut into domains. Oracle: the run in one."""

from dataclasses import dataclass, field
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_network import GBPS, NS_PS, US_PS, Captures, Flows, Network, leaf_spine, run, star
from test_domains import expect_the_same
from test_tasks import graphs

from pyorch.errors import PyorchError

pytestmark = pytest.mark.ns3

RATE, DELAY = 100 * GBPS, 500 * NS_PS
FABRIC = leaf_spine(4, 2, 2, RATE, DELAY)


@dataclass
class Parted(Network):
    """A network whose nodes have domains."""

    domains: list[int] = field(default_factory=list)

    def nodes_table(self):
        return super().nodes_table() | {"domain": np.array(self.domains, dtype=np.int64)}


def parted(network: Network, n: int, seed: int = 1) -> Parted:
    """Return the network with its nodes dealt out to domains at random, each with some."""
    nodes = len(network.hosts) + len(network.switches)
    domains = [i % n for i in range(nodes)]
    Random(seed).shuffle(domains)
    return Parted(network.hosts, network.switches, network.links, domains)


def permutation() -> Flows:
    flows = Flows()
    for host in FABRIC.hosts:
        flows.add(host, (host + 3) % 8, 60_000, start_ps=host * 7 * NS_PS)
    return flows


def test_more_delays_and_directions_than_lanes_change_nothing():
    # Each switch hears, in this order, of hosts of its own, of the domain before, of more hosts of
    # its own and of the domain behind, over four delays each: 16 lanes, of which there are 12.
    network = Parted()
    delays_ps = [DELAY + 1000 * i for i in range(4)]
    for domain in range(3):
        switch = 100 * (domain + 1)
        network.switches.append((switch, 1))
        for i, delay_ps in enumerate(delays_ps):
            for host in (switch - 99 + i, switch - 49 + i):
                network.hosts.append(host)
                network.link(host, switch, RATE, delay_ps)
            if domain > 0:
                network.link(switch - 100, switch, RATE, delay_ps, parallel=i)
    hosts = network.hosts
    network.domains = [(host - 1) // 100 for host in hosts] + [0, 1, 2]
    flows = Flows()
    for i, host in enumerate(hosts):
        flows.add(host, hosts[(i + 9) % len(hosts)], 60_000)
        flows.add(host, hosts[(i + 1) % len(hosts)], 60_000)

    expected = run(network_in_one(network), flows)

    expect_the_same(run(network, flows), expected)


def network_in_one(network: Parted) -> Network:
    """Return the network without its domains."""
    return Network(network.hosts, network.switches, network.links)


EVERYTHING = {
    "forwarding": "ns3::RandomSpray",
    "queue": ("ns3::RedEcn", {"KminBytes": 0, "KmaxBytes": 20_000}),
    "transports": [("ns3::RoceTransport", {"Recovery": "SelectiveRepeat", "Rto": "100us"})],
    "arrivals": True,
    "sample_ps": 3 * US_PS,
    "pauses": True,
    "buffer_bytes": 10_000_000,
    "pfc": {"XoffBytes": 10_000, "XonOffsetBytes": 5_000},
    "convergence_ps": 5 * US_PS,
    # Cut and restored while frames are on it, and once more while routes know of it.
    "link_events": [
        (2 * US_PS, 10_000, 20_000, 0),
        (3 * US_PS, 10_000, 20_000, RATE),
        (4 * US_PS, 10_001, 20_001, 0),
        (30 * US_PS, 10_001, 20_001, RATE // 2),
    ],
}


@pytest.mark.parametrize(("n", "threads"), [(2, 1), (3, 2), (4, 1), (8, 3)])
def test_captures_have_the_same_bytes(n, threads, tmp_path):
    outcomes = []
    for network, folder in ((FABRIC, "one"), (parted(FABRIC, n), "parted")):
        (tmp_path / folder).mkdir()
        captures = Captures(tmp_path / folder, [0, 3, 5])
        options = EVERYTHING | ({"threads": threads} if folder == "parted" else {})
        outcomes.append(run(network, permutation(), captures=captures, **options))
    expect_the_same(*outcomes[::-1])
    for host in (0, 3, 5):
        one, other = (tmp_path / name / f"host_{host}.pcap" for name in ("one", "parted"))
        assert one.stat().st_size > 60_000 and one.read_bytes() == other.read_bytes()


def test_the_grid_of_domains_and_threads():
    # All of it at once: losses by cuts, marks, pauses and samples are in the tables.
    expected = run(FABRIC, permutation(), **EVERYTHING)
    assert expected["ports"]["dropped_loss_frames"].sum() > 0
    assert len(expected["pauses"]["start_ps"]) > 0
    assert expected["flows"]["ecn_marked_packets"].sum() > 0
    for n, threads in product((2, 3, 4, 8), (1, 2, 4)):
        got = run(parted(FABRIC, n, seed=n), permutation(), threads=threads, **EVERYTHING)
        expect_the_same(got, expected)


@settings(max_examples=30)
@given(graph=graphs(), n=st.integers(2, 4), seed=st.integers(0, 99))
def test_computations_and_barriers_in_random_domains(graph, n, seed):
    flows, tasks, waits = graph
    network = star(4, RATE, DELAY)
    expected = run(network, flows, tasks=tasks, dependencies=waits)
    got = run(parted(network, n, seed), flows, tasks=tasks, dependencies=waits)
    expect_the_same(got, expected)


def test_a_run_ends_with_a_computation_in_another_domain():
    # Host 3, in a domain of its own, computes on when all messages are done.
    flows = Flows()
    flows.add(0, 1, 100_000)
    network = star(4, RATE, DELAY)
    alone = Parted(network.hosts, network.switches, network.links, [0, 0, 0, 1, 0])
    tasks = [(1, 0, 3, 0, 900 * US_PS)]
    got = run(alone, flows, tasks=tasks)
    expect_the_same(got, run(network, flows, tasks=tasks))
    assert got["summary"]["now_ps"][0] == 900 * US_PS


def in_order(network: Network, n: int) -> Parted:
    """Return the network in domains that share hosts and each tier in the order of their ids."""
    tiers = [tier for _, tier in network.switches]
    sizes = [len(network.hosts), *(tiers.count(tier) for tier in sorted(set(tiers)))]
    assert tiers == sorted(tiers)
    domains = [i * n // size for size in sizes for i in range(size)]
    return Parted(network.hosts, network.switches, network.links, domains)


def test_neighbours_in_domains():
    expected = run(FABRIC, permutation(), **EVERYTHING)
    for n, threads in product((2, 3, 4, 6), (1, 2)):
        got = run(in_order(FABRIC, n), permutation(), threads=threads, **EVERYTHING)
        expect_the_same(got, expected)


def test_a_host_and_another_domain_send_to_one_port_at_one_instant():
    # Every packet has 4180 bytes on the wire: those of host 0, over three links, come to the leaf
    # of hosts 6 and 7 at the instants at which those of host 6 do, over one. The host is first.
    packet_ps = 4180 * 8 * 10 + DELAY
    flows = Flows()
    flows.add(0, 7, 400_000)
    flows.add(6, 7, 400_000, start_ps=2 * packet_ps)
    sizes = {"HeaderBytes": "64", "RethBytes": "0"}
    options = {
        "transports": [("ns3::RoceTransport", sizes)], "forwarding": "ns3::RandomSpray",
        "framing_bytes": 20, "processing_delay_ps": 0, "arrivals": True,
    }  # fmt: skip
    expected = run(FABRIC, flows, **options)
    for n in (2, 4, 6):
        expect_the_same(run(in_order(FABRIC, n), flows, **options), expected)


def all_reduces() -> Flows:
    """Return two groups of ranks at different leaves, and one message beside them."""
    flows = Flows()
    for ranks in ([0, 2, 4, 6], [7, 5, 3, 1]):
        for src, dst in zip(ranks, ranks[1:] + ranks[:1], strict=True):
            flows.add(src, dst, 300_000, start_ps=src * 100 * NS_PS)
    flows.add(1, 6, 50_000, transport=1)
    return flows


@pytest.mark.parametrize("lossy", [False, True])
def test_messages_that_nobody_acknowledges(lossy, tmp_path):
    """In-network reduction: done at receivers; hosts send in the name of messages of others.

    With losses results are asked for and sent again, and slots that are too few leave chunks to
    the host of rank 0, which may be in neither domain of a message.
    """
    network = leaf_spine(4, 2, 2, RATE, DELAY)
    if lossy:
        network.links = [(*link[:5], 0.01, *link[6:]) for link in network.links]
    options = {
        "transports": [("ns3::ReductionTransport", {"Rto": "50us"}), ("ns3::RoceTransport", {})],
        "program": ("ns3::InNetworkReduction", {"Slots": 150}),
        "arrivals": True,
    }
    (tmp_path / "one").mkdir()
    captures = Captures(tmp_path / "one", [0, 5])
    expected = run(network, all_reduces(), captures=captures, **options)
    assert (expected["flows"]["timeouts"].sum() > 0) == lossy
    for n, threads in product((2, 3, 4, 8), (1, 2, 4)):
        folder = tmp_path / f"{n}_{threads}"
        folder.mkdir()
        captures = Captures(folder, [0, 5])
        got = run(parted(network, n, seed=n), all_reduces(), captures=captures, threads=threads,
                  **options)  # fmt: skip
        expect_the_same(got, expected)
        for name in ("host_0.pcap", "host_5.pcap"):
            assert (folder / name).read_bytes() == (tmp_path / "one" / name).read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"program": "ns3::Hedera"}, "ns3::Hedera knows what all switches do: run it in one do"),
        ({"skip_ppm": 1000}, "steady states are skipped in one domain; leave out engine.skip"),
        (
            {"transports": [("ns3::TcpTransport", {})]},
            "ns3::TcpTransport schedules events of stock ns-3, which belong to no domain: run it",
        ),
    ],
)
def test_what_needs_one_domain_is_refused_before_the_run(options, message):
    with pytest.raises(PyorchError) as caught:
        run(parted(FABRIC, 2), permutation(), **options)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_nothing_of_a_refused_run_is_left():
    tcp = [("ns3::TcpTransport", {})]
    with pytest.raises(PyorchError):
        run(parted(FABRIC, 2), permutation(), transports=tcp)
    run(FABRIC, permutation(), transports=tcp)
