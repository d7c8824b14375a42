# SPDX-License-Identifier: GPL-2.0-only
"""All shortest paths together: links counted by walking each path, flows by another library."""

import networkx as nx
import numpy as np
import pytest

from pyorch.theory import alone, paths
from pyorch.theory import ways as theory
from pyorch.theory.fct import Framing, unloaded_fct_ps
from pyorch.theory.paths import Network

GBPS = 10**9
US_PS = 10**6


def network(switches, links):
    """Nodes from 0, of which these are switches; links as (a, b, rate, delay)."""
    a, b, rate, delay = (np.array(column, dtype=np.int64) for column in zip(*links, strict=True))
    n = int(max(a.max(), b.max())) + 1
    is_switch = np.isin(np.arange(n), switches).astype(np.int64)
    parallel = [links[:i].count(link) for i, link in enumerate(links)]
    return Network(
        {"node": np.arange(n), "is_switch": is_switch},
        {"node_a": a, "node_b": b, "rate_bps": rate, "delay_ps": delay,
         "parallel": np.array(parallel)},
    )  # fmt: skip


def spread(uplinks_bps, downlinks_bps, host_bps=400 * GBPS):
    """Host 0, leaf 2, a spine for each pair of links, leaf 3, host 1; links of 1 us."""
    links = [(0, 2, host_bps, US_PS), (1, 3, host_bps, US_PS)]
    for spine, (up, down) in enumerate(zip(uplinks_bps, downlinks_bps, strict=True), start=4):
        links += [(2, spine, up, US_PS), (spine, 3, down, US_PS)]
    return network([2, 3, *range(4, 4 + len(uplinks_bps))], links)


def ways(net, src=0, dst=1, processing_ps=0):
    by_node = np.where(net.is_switch, processing_ps, 0)
    return theory.ways(net, np.array([src]), np.array([dst]), by_node)


@pytest.mark.parametrize("seed", range(20))
def test_hops_and_flows_are_those_of_all_paths_of_another_library(seed):
    # Random switches, random rates and delays; networkx lists all shortest paths. Capacities of
    # its maximum flow are those of links on these paths, hosts' links without limit.
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 10))
    graph = nx.connected_watts_strogatz_graph(n, 4, 0.5, seed=seed)
    links = [(0, 2, 100 * GBPS, US_PS), (1, n + 1, 100 * GBPS, US_PS)]
    for a, b in graph.edges:
        rate = int(rng.choice([10, 40, 100])) * GBPS
        links += [(a + 2, b + 2, rate, int(rng.integers(0, 9)) * US_PS)]
    net = network(list(range(2, n + 2)), links)
    got = ways(net, processing_ps=7)

    undirected = nx.Graph()
    for a, b, rate, delay in links:
        undirected.add_edge(a, b, rate=rate, delay=delay)
    paths = list(nx.all_shortest_paths(undirected, 0, 1))
    hops = [{(p[i], p[i + 1]) for p in paths} for i in range(len(paths[0]) - 1)]
    rates = [[undirected.edges[link]["rate"] for link in hop] for hop in hops]
    used = got.links[0] > 0
    assert got.links[0][used].tolist() == [len(hop) for hop in hops]
    assert got.fastest_bps[0][used].tolist() == [max(hop) for hop in rates]
    assert got.total_bps[0][used].tolist() == [sum(hop) for hop in rates]
    assert got.delay_ps[0] == min(nx.path_weight(undirected, p, "delay") for p in paths)
    assert got.fixed_ps[0] == got.delay_ps[0] + 7 * (len(paths[0]) - 2)
    directed = nx.DiGraph()
    for hop in hops[1:-1]:
        for a, b in hop:
            directed.add_edge(a, b, capacity=undirected.edges[a, b]["rate"])
    if directed.edges and any(len(set(hop)) > 1 for hop in rates):
        flow = nx.maximum_flow_value(directed, paths[0][1], paths[0][-2])
        narrowest = min(sum(hop) for hop in rates[1:-1])
        assert got.between_bps[0] == (pytest.approx(flow, rel=1e-7) if flow < narrowest else np.inf)
    elif directed.edges:
        assert got.between_bps[0] == np.inf


@pytest.mark.parametrize("seed", range(10))
def test_hosts_with_several_links_leave_by_those_on_shortest_paths(seed):
    # Two groups of switches without a link between them, as planes are; networkx has the distances.
    rng = np.random.default_rng(seed)
    switches, hosts = range(4, 16), range(4)
    rings = (nx.cycle_graph(range(first, first + 6)).edges for first in (4, 10))
    links = [(a, b, 100 * GBPS, US_PS) for ring in rings for a, b in ring]
    for host in hosts:
        near = rng.choice([*switches], size=int(rng.integers(1, 5)), replace=False).tolist()
        links += [(host, switch, int(rng.choice([50, 100])) * GBPS, US_PS) for switch in near]
    net = network(list(switches), links)
    graph = nx.Graph([link[:2] for link in links])
    rates = {frozenset(link[:2]): link[2] for link in links}
    pairs = [(a, b) for a in hosts for b in hosts if a != b]

    got = net.exits(*np.array(pairs).T)
    for row, (src, dst) in enumerate(pairs):
        inner = graph.subgraph([*switches, dst])  # no host passes messages on
        far = {peer: nx.shortest_path_length(inner, peer, dst) if nx.has_path(inner, peer, dst)
               else np.inf for peer in graph[src]}  # fmt: skip
        member = [peer for peer in sorted(far) if far[peer] == min(far.values())]
        its = [rates[frozenset((src, peer))] for peer in member]
        assert (got.number[row], got.rate_bps[row], got.fastest_bps[row]) == (
            len(member), sum(its), max(its),
        )  # fmt: skip
        assert net.head[got.link[row]] == member[0]


def frames(size_bytes):
    first, middle, last, n = Framing(first_header_bytes=0).classes(size_bytes)
    columns = (first, middle if n > 1 else first, last, n)
    return alone.Frames(*(np.array([value]) for value in columns))


@pytest.mark.parametrize("size_bytes", [1, 4096, 4097, 3 * 4096, 10**6, 10**7])
def test_slow_links_side_by_side_are_as_fast_as_one_that_is_not(size_bytes):
    # 400 Gb/s over eight links of 100. Beyond the bytes at 400 Gb/s there is the last frame on its
    # way; or, if that is short, the full one before it; or the first, behind which all go.
    net = spread([100 * GBPS] * 8, [100 * GBPS] * 8)
    got = alone.alone_ps(frames(size_bytes), ways(net))[0]

    _, middle, last, n = Framing(first_header_bytes=0).classes(size_bytes)
    ends = [(n - 1) * middle * 20 + last * (20 + 80 + 80 + 20)]
    if n > 1:
        ends.append((n - 1) * middle * 20 + middle * (80 + 80 + 20))
        ahead = middle if n > 2 or middle * 180 < (n - 1) * middle * 20 + last * 180 else 0
        ends.append(ahead * (20 + 80 + 80) + ((n - 1) * middle + last) * 20 if ahead else 0)
    assert got == max(ends) + 4 * US_PS


def test_the_narrowest_place_may_be_links_of_different_hops():
    # Spine 1 has a slow link up, spine 2 one down: 25 + 25 of 100 Gb/s pass, each hop has 125.
    net = spread([25 * GBPS, 100 * GBPS], [100 * GBPS, 25 * GBPS])
    its = ways(net)
    assert its.total_bps[0].tolist() == [400 * GBPS, 125 * GBPS, 125 * GBPS, 400 * GBPS]
    assert its.rate_bps[0] == pytest.approx(50 * GBPS)

    size_bytes = 10**7
    whole = Framing(first_header_bytes=0).message_wire_bytes(size_bytes)
    got = alone.alone_ps(frames(size_bytes), its)[0]
    assert whole * 160 <= got - 4 * US_PS <= whole * 160 * 1.001


@pytest.mark.parametrize("size_bytes", [1, 4096, 5000, 8192, 9000, 10**6])
@pytest.mark.parametrize("spines", [2, 5])
def test_equal_links_are_as_fast_as_one_path_of_them(size_bytes, spines):
    # The last hop is a single link of the same rate: it is never without a frame from the first
    # one on, unless a short last frame overtakes the first of few and leaves it idle.
    net = spread([100 * GBPS] * spines, [100 * GBPS] * spines, 100 * GBPS)
    got = alone.alone_ps(frames(size_bytes), ways(net))[0]

    framing = Framing(first_header_bytes=0)
    one = unloaded_fct_ps(size_bytes, [100 * GBPS] * 4, [US_PS] * 4, framing)
    first, _, last, n = framing.classes(size_bytes)
    overtakes = n > 1 and (n - 1) * first + 4 * last <= 3 * first
    assert one - (last * 80 if overtakes else 0) == got


def test_a_narrow_link_before_links_side_by_side_is_counted_once():
    # Host 0, leaf 2, a link of 7 Gb/s, leaf 3, which has a link of 100 and one of 400 Gb/s to the
    # two switches of host 1. One packet passes each link once.
    links = [(0, 2, 400 * GBPS, 0), (2, 3, 7 * GBPS, 0)]
    for switch, rate in ((4, 100 * GBPS), (5, 400 * GBPS)):
        links += [(3, switch, rate, 0), (switch, 1, rate, 0)]
    its = ways(network([2, 3, 4, 5], links))
    assert its.rate_bps[0] == 7 * GBPS
    packet = 1000 + 82
    expected = sum(-(-packet * 8000 // gbps) for gbps in (400, 7, 400, 400))
    assert alone.alone_ps(frames(1000), its)[0] == expected


def test_one_path_of_several_is_no_faster_than_its_fastest_links():
    its = ways(spread([25 * GBPS, 100 * GBPS], [100 * GBPS, 25 * GBPS]))
    one = its.one_path(np.array([True]))
    assert one.rate_bps[0] == 100 * GBPS
    assert one.links[0].tolist() == [1, 1, 1, 1]


def test_a_cut_through_switch_has_the_head_of_a_frame_only():
    # One packet over four links of 100 Gb/s: whole on the last, 84 bytes on each before.
    net = spread([100 * GBPS] * 2, [100 * GBPS] * 2, 100 * GBPS)
    got = alone.alone_ps(frames(4096), ways(net), seen_bytes=84)[0]
    assert got == (3 * 84 + 4178) * 80 + 4 * US_PS


@pytest.mark.parametrize(("planes", "busiest"), [(1, 901), (3, 301), (4, 300), (10, 100)])
def test_a_message_dealt_out_over_planes_is_done_when_its_busiest_port_is(planes, busiest):
    # 10 frames of 100 bytes, the last of 1 byte, a ps for each byte. Over 3 ports: 4 rounds, the
    # last round has only the last frame: 301. Over 4: rounds of 4, 4, 2 with a full frame in the
    # last: 300. The second hop begins with the first frame.
    links = [(end, plane, 8 * 10**12, 0) for plane in range(2, 2 + planes) for end in (0, 1)]
    its = ways(network(list(range(2, 2 + planes)), links))
    assert its.links[0].tolist() == [planes, planes]
    ten = alone.Frames(*(np.array([value]) for value in (100, 100, 1, 10)))
    assert alone.alone_ps(ten, its)[0] == 100 + busiest


@pytest.mark.parametrize("seed", range(10))
def test_flows_between_hosts_of_the_same_kinds_have_the_same_ways(seed):
    # Oracle: each pair for itself. Switches 0 to 4 in a ring with a chord; hosts with one or two
    # links to a few places, at a few rates and delays, so that many are alike.
    rng = np.random.default_rng(seed)
    rates, delays = [100 * GBPS, 200 * GBPS], [US_PS, 2 * US_PS]

    def link(a, b):
        return (a, b, int(rng.choice(rates)), int(rng.choice(delays)))

    links = [link(i, (i + 1) % 5) for i in range(5)] + [link(0, 2)]
    for host in range(5, 45):
        links += [link(host, int(rng.integers(0, 3))) for _ in range(rng.integers(1, 3))]
    net = network(range(5), links)
    src, dst = (ends.ravel() for ends in np.meshgrid(np.arange(5, 45), np.arange(5, 45)))
    src, dst = src[src != dst], dst[src != dst]

    first, which = paths.distinct(net.kinds[src], net.kinds[dst])

    assert len(first) < 0.7 * len(src)
    processing_ps = np.where(net.is_switch, 5, 0)
    every = theory.ways(net, src, dst, processing_ps)
    some = theory.ways(net, src[first], dst[first], processing_ps)
    for all_rows, rows in zip(every, some, strict=True):
        assert (all_rows == rows[which]).all()
    assert (net.lengths(src, dst) == (every.links > 0).sum(axis=1)).all()


def test_hosts_with_a_link_between_them_are_of_kinds_of_their_own():
    links = [(0, 4, 1, 1), (1, 4, 1, 1), (2, 4, 1, 1), (3, 4, 1, 1), (2, 3, 1, 1)]
    kinds = network([4], links).kinds
    assert kinds[0] == kinds[1] and len({*kinds.tolist()}) == 4


@pytest.mark.parametrize("seed", range(20))
def test_delays_are_those_of_paths_between_hosts_with_unlike_links(seed):
    # Oracle: networkx lists all shortest paths; hosts have up to three links, of which some are on
    # no shortest path, and links of two groups of switches do not meet.
    rng = np.random.default_rng(seed)
    n, hosts = int(rng.integers(3, 8)), 4
    switches = list(range(hosts, hosts + 2 * n))
    links = []
    for first in (hosts, hosts + n):
        for a, b in nx.connected_watts_strogatz_graph(n, 2, 0.5, seed=seed).edges:
            links.append((first + a, first + b, 100 * GBPS, int(rng.integers(0, 9)) * US_PS))
    for host in range(hosts):
        for near in {hosts, *rng.choice(switches, 2).tolist()}:
            links.append((host, near, 100 * GBPS, int(rng.integers(0, 9)) * US_PS))
    net = network(switches, links)
    graph = nx.Graph()
    for a, b, _, delay in links:
        graph.add_edge(a, b, delay=delay)

    pairs = [(a, b) for a in range(hosts) for b in range(hosts) if a != b]
    got = theory.ways(net, *np.array(pairs).T, np.where(net.is_switch, 7, 0))

    for (src, dst), delay_ps, fixed_ps in zip(pairs, got.delay_ps, got.fixed_ps, strict=True):
        inner = graph.subgraph([*switches, src, dst])  # no host passes messages on
        paths = list(nx.all_shortest_paths(inner, src, dst))
        assert delay_ps == min(nx.path_weight(graph, path, "delay") for path in paths)
        assert fixed_ps == delay_ps + 7 * (len(paths[0]) - 2)
