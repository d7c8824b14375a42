# SPDX-License-Identifier: GPL-2.0-only
"""The fluid engine against closed forms, hand counts, a slow twin in numpy and linear programs."""

import numpy as np
import pytest
from oracle_network import (
    GBPS,
    MS_PS,
    NEVER,
    NS_PS,
    US_PS,
    Flows,
    Network,
    inter_leaf_permutation,
    leaf_spine,
    line,
    one_flow,
    run,
    star,
)  # fmt: skip

from pyorch.errors import SimulationError
from pyorch.simulate import loader
from pyorch.simulate.fabric import Fabric
from pyorch.theory import ecmp, fct
from pyorch.wan import maxmin

pytestmark = pytest.mark.ns3

SPRAYED = [("ns3::SprayTransport", {})]
RATE, DELAY_PS = 100 * GBPS, 500 * NS_PS
FRAMING = fct.Framing(mtu_bytes=4096, header_bytes=62, first_header_bytes=16, framing_bytes=20)
ROCE = [("ns3::RoceTransport", {"MtuBytes": 4096, "HeaderBytes": 62, "RethBytes": 16})]


def fluid(network, flows, transports=ROCE, **options):
    return run(network, flows, transports, engine="fluid", **options)


def wire_bytes(size_bytes):
    """4096 B of payload take 62 B of headers and 20 B of framing, the first packet 16 B more."""
    return size_bytes + -(-size_bytes // 4096) * 82 + 16


@pytest.mark.parametrize("size_bytes", [1, 4096, 4097, 10_000, 1_000_000])
@pytest.mark.parametrize("rates", [[100, 100], [100, 25, 400], [400, 100, 100, 200]])
def test_a_message_alone_is_exact_to_the_picosecond(size_bytes, rates):
    rates_bps, delays_ps = [rate * GBPS for rate in rates], [(i + 1) * US_PS for i in range(5)]
    delays_ps = delays_ps[: len(rates)]
    got = fluid(line(rates_bps, delays_ps), one_flow(0, 1, size_bytes, 77), processing_delay_ps=300)

    expected = fct.unloaded_fct_ps(size_bytes, rates_bps, delays_ps, FRAMING, 300)
    assert got.fct_ps() == expected


def test_a_message_alone_is_as_long_as_with_packets():
    network, flows = line([RATE, 40 * GBPS, RATE], [DELAY_PS] * 3), one_flow(0, 1, 123_456)
    packets, flow = run(network, flows, ROCE), fluid(network, flows)

    for column in ("start_ps", "receiver_end_ps", "sender_end_ps", "sent_data_packets"):
        assert flow["flows"][column].tolist() == packets["flows"][column].tolist()
    assert flow.port(0, 10)["sent_bytes"] == packets.port(0, 10)["sent_bytes"]


def test_an_incast_shares_its_last_link():
    # n messages of W wire bytes through one link of rate C: all are through at n W / C, and what a
    # message alone takes beyond W / C comes on top.
    n, size_bytes = 7, 500_000
    flows = Flows()
    for host in range(1, n + 1):
        flows.add(host, 0, size_bytes)
    got = fluid(star(n + 1, RATE, DELAY_PS), flows)

    alone_ps = fct.unloaded_fct_ps(size_bytes, [RATE] * 2, [DELAY_PS] * 2, FRAMING)
    expected = (n - 1) * wire_bytes(size_bytes) * 80 + alone_ps  # 80 ps for each byte
    assert set(got.fcts_ps().tolist()) == {expected}
    assert got.port(1000, 0)["sent_bytes"] == n * wire_bytes(size_bytes)


def test_a_late_flow_takes_half_from_then_on():
    # Host 1 sends 2 MB from 0, host 2 sends 1 MB from T; wire bytes A and B, link C. From T both
    # have C / 2; B is through after 2 B / C, then A has C again: A is through at (A + B) / C.
    flows = Flows()
    flows.add(1, 0, 2_000_000)
    flows.add(2, 0, 1_000_000, 30 * US_PS)
    got = fluid(star(3, RATE, DELAY_PS), flows)

    first, second = wire_bytes(2_000_000) * 80, wire_bytes(1_000_000) * 80
    beyond = fct.unloaded_fct_ps(10**6, [RATE] * 2, [DELAY_PS] * 2, FRAMING) - second
    assert got.fcts_ps().tolist() == [first + second + beyond, 2 * second + beyond]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_hashed_permutation_is_that_of_the_twin_on_the_paths_of_the_packets(seed):
    # The twin fills all flows anew at every event; it knows nothing of the engine but the paths,
    # and these are the ones that packets take with the same seed.
    rng = np.random.default_rng(seed)
    network, flows = leaf_spine(4, 8, 8, RATE, DELAY_PS), Flows()
    for src, dst in enumerate(inter_leaf_permutation(4, 8, rng)):
        flows.add(src, int(dst), int(rng.integers(50_000, 3_000_000)), int(rng.integers(0, 10**8)))
    got = fluid(network, flows, seed=seed)
    packets = run(network, one_of_each(flows), ROCE, seed=seed)
    assert got.paths() == packets.paths()

    links = {link: i for i, link in enumerate(sorted({p for w in got.paths().values() for p in w}))}
    routes = np.array([[links[link] for link in got.paths()[i]] for i in range(32)])
    size = got["flows"]["bytes"]
    wire = np.array([wire_bytes(int(b)) for b in size])
    twin = ecmp.fluid_fct_ps(routes, wire, got["flows"]["start_ps"], np.full(len(links), RATE))
    alone = [fct.unloaded_fct_ps(int(b), [RATE] * 4, [DELAY_PS] * 4, FRAMING) for b in size]
    np.testing.assert_allclose(got.fcts_ps(), twin + alone - wire * 80, rtol=1e-9, atol=1.01)


def one_of_each(flows):
    """The same messages with a packet each: their ids, and so their paths, are the same."""
    small = Flows()
    for flow, src, dst, _, _, _ in flows.rows:
        small.add(src, dst, 1, flow=flow)
    return small


def test_rates_are_those_of_linear_programs_to_a_billionth():
    # `over_tunnels` raises the least rate as far as a linear program says it can be, fixes whom a
    # dual value shows to be held back, and goes on; each flow here is a group of one tunnel.
    loader.facade_of([], fluid=True)
    import cppyy

    cppyy.include("ns3/max-min.h")
    rng = np.random.default_rng(5)
    for _ in range(20):
        n_links, n_flows = int(rng.integers(2, 8)), int(rng.integers(1, 12))
        capacity = rng.integers(1, 20, n_links).astype(float)
        usage = (rng.random((n_links, n_flows)) < 0.4).astype(float)
        usage[rng.integers(0, n_links, n_flows), np.arange(n_flows)] = 1.0
        network = cppyy.gbl.ns3.MaxMin(list(capacity))
        for column in usage.T:
            uses = cppyy.gbl.std.vector["ns3::MaxMin::Use"]()
            for link in np.flatnonzero(column):
                use = cppyy.gbl.ns3.MaxMin.Use()
                use.link, use.share = int(link), 1.0
                uses.push_back(use)
            network.Add(uses)
        network.Solve()
        rates = [network.RateOf(flow) for flow in range(n_flows)]
        functions = [[(0.0, 0.0), (1e3, 1e3)]] * n_flows
        expected = maxmin.over_tunnels(usage, np.arange(n_flows), functions, capacity)
        np.testing.assert_allclose(rates, expected, rtol=1e-8)  # what `_shortest` leaves: 1e-9


def test_sprayed_messages_of_a_permutation_do_not_meet():
    # Full bisection and even splits: no link carries more than one flow's rate in all, so each
    # message is as long as alone; a spine link carries 1 / spines of the messages of its leaf.
    network, flows = leaf_spine(2, 4, 4, RATE, DELAY_PS), Flows()
    for host in range(8):
        flows.add(host, (host + 4) % 8, 1_000_000)
    got = fluid(network, flows, SPRAYED)

    framing = fct.Framing(4096, 62, 0, 20)
    alone = fct.unloaded_fct_ps(1_000_000, [RATE] * 4, [DELAY_PS] * 4, framing)
    assert set(got.fcts_ps().tolist()) == {alone}
    whole = framing.message_wire_bytes(1_000_000)
    assert got.port(0, 10_000)["sent_bytes"] == got.port(10_001, 4)["sent_bytes"] == whole
    assert all(got.port(10_000, 20_000 + s)["sent_bytes"] == whole for s in range(4))


@pytest.mark.parametrize("size_bytes", [4096, 100_000, 10_000_000])
def test_a_sprayed_message_over_slow_uplinks_is_as_long_as_with_packets(size_bytes):
    # Hosts have 400 Gb/s, each of eight uplinks 100: together they hold nothing up. Packets go
    # over the uplinks in turn, so none waits for another one there.
    network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1)])
    for host in (0, 1):
        network.link(host, 10 + host, 4 * RATE, DELAY_PS)
    for spine in range(20, 28):
        network.switches.append((spine, 2))
        network.link(10, spine, RATE, DELAY_PS)
        network.link(11, spine, RATE, DELAY_PS)
    flows = one_flow(0, 1, size_bytes)
    packets = run(network, flows, SPRAYED, forwarding="ns3::RoundRobinSpray")
    got = fluid(network, flows, SPRAYED)

    # The first frame passes a link of 400 Gb/s and two of 100; from then on the last link, of 400,
    # is never without one.
    first = min(size_bytes, 4096) + 82
    whole = fct.Framing(4096, 62, 0, 20).message_wire_bytes(size_bytes)
    assert got.fct_ps() == first * (20 + 80 + 80) + whole * 20 + 4 * DELAY_PS
    assert 1 <= packets.fct_ps() / got.fct_ps() < 1.02


def test_a_slow_link_among_those_of_a_sprayed_message_adds_no_time_that_grows_with_it():
    # One of four uplinks has a quarter of the rate: a quarter of the bytes goes over it, at 25 of
    # the 100 Gb/s of the host. Ten times the bytes take ten times as long, but for the latency.
    took_ps = []
    for size_bytes in (2_000_000, 20_000_000):
        network, flows = leaf_spine(2, 1, 4, RATE, DELAY_PS), one_flow(0, 1, size_bytes)
        slow = next(i for i, link in enumerate(network.links) if link[:2] == (10_000, 20_003))
        network.links[slow] = (10_000, 20_003, 0, RATE // 4, *network.links[slow][4:])
        took_ps.append(fluid(network, flows, SPRAYED).fct_ps())
        least_ps = fct.Framing(4096, 62, 0, 20).message_wire_bytes(size_bytes) * 80
        assert least_ps < took_ps[-1] < least_ps + 4 * DELAY_PS + 8 * 4178 * 80
    assert took_ps[1] < 10 * took_ps[0]


def test_sprayed_beside_hashed_messages_share_link_by_link():
    # Leaf 0 has two hosts and two spines. Host 0 is sprayed: half of its rate on each spine. Host
    # 1 keeps to one. Rates rise together to r: 1.5 r = C on that spine link, so r = 2 C / 3; no
    # host link is full.
    network, flows = leaf_spine(2, 2, 2, RATE, DELAY_PS), Flows()
    flows.add(0, 2, 9_000_000, transport=0)
    flows.add(1, 3, 9_000_000, transport=1)
    got = fluid(network, flows, [*SPRAYED, *ROCE])

    # The sprayed one has 16 B less to send and is through first; beyond its bytes a message takes
    # four delays and three more packets of 4096 + 82 B.
    sprayed = fct.Framing(4096, 62, 0, 20).message_wire_bytes(9_000_000)
    beyond_ps = 4 * DELAY_PS + 3 * (4096 + 82) * 80
    assert got.fct_ps(0) == sprayed * 80 * 3 // 2 + beyond_ps


def test_messages_that_wait_start_at_the_ends_that_packets_give_them():
    flows = Flows()
    flows.add(0, 1, 100_000)
    flows.add(1, 2, 100_000)
    flows.add(0, 2, 0)  # a point in time: a computation of 3 us after the first is acknowledged
    flows.add(0, 3, 50_000)
    waits = [(1, 0, 0, 0), (2, 0, 1, 3 * US_PS), (3, 2, 1, 0)]
    network = star(4, RATE, DELAY_PS)
    got, packets = (
        fluid(network, flows, dependencies=waits),
        run(network, flows, ROCE, dependencies=waits),
    )

    assert got["flows"]["start_ps"].tolist() == packets["flows"]["start_ps"].tolist()
    assert got.flow(2)["start_ps"] == got.flow(0)["sender_end_ps"] + 3 * US_PS
    assert got.fct_ps(1) == got.fct_ps(0)  # nothing else at its hosts


def test_computations_and_messages_that_share_a_link_by_hand():
    # Host 2 sends A wire bytes to host 0 from 0 on. Host 1 computes until T and then sends it B:
    # both have C / 2 until B is through at T + 2 B / C, and A is at (A + B) / C. Host 0 then
    # computes for 7 us, passes a barrier with a computation of another stream, and answers.
    flows, compute_ps = Flows(), 20 * US_PS
    flows.add(2, 0, 2_000_000)
    flows.add(1, 0, 600_000)
    flows.add(0, 1, 300_000)
    tasks = [(10, 0, 1, 0, compute_ps), (11, 0, 0, 0, 7 * US_PS), (12, 0, 0, 1, 3 * US_PS),
             (13, 2, 0, 0, 0)]  # fmt: skip
    waits = [(1, 10, 0), (11, 0, 0), (11, 1, 0), (13, 11, 0), (13, 12, 0), (2, 13, 0)]
    got = fluid(star(3, RATE, DELAY_PS), flows, tasks=tasks, dependencies=waits)

    alone = {n: fct.unloaded_fct_ps(n, [RATE] * 2, [DELAY_PS] * 2, FRAMING)
             for n in (2_000_000, 600_000, 300_000)}  # fmt: skip
    first, second = wire_bytes(2_000_000) * 80, wire_bytes(600_000) * 80
    ends = {
        0: second + alone[2_000_000],
        1: compute_ps + second + alone[600_000],
        10: compute_ps,
        12: 3 * US_PS,
    }
    ends[11] = ends[13] = ends[0] + 7 * US_PS
    ends[2] = ends[13] + alone[300_000]
    assert compute_ps + 2 * second < first + second  # B is through first
    table = got["tasks"]
    for task, end, after in zip(table["task"], table["end_ps"], table["after"], strict=True):
        assert end == pytest.approx(ends[task], rel=1e-9), task
        assert after == {1: 10, 11: 0, 13: 11, 2: 13}.get(task, NEVER)


def test_tasks_that_a_stop_cuts_off_have_not_ended():
    flows = one_flow(0, 1, 1000)
    tasks = [(1, 0, 0, 0, 30 * US_PS), (2, 0, 0, 0, 30 * US_PS)]
    got = fluid(star(2, RATE, DELAY_PS), flows, tasks=tasks, stop_ps=40 * US_PS)

    rows = zip(*(got["tasks"][name].tolist() for name in ("start_ps", "end_ps")), strict=True)
    assert list(rows)[1:] == [(0, 30 * US_PS), (30 * US_PS, NEVER)]


def test_a_link_that_slows_down_slows_down_what_crosses_it():
    # W wire bytes at C until T, then at C / 4.
    size_bytes, change_ps = 2_000_000, 40 * US_PS
    got = fluid(
        line([RATE] * 3, [DELAY_PS] * 3), one_flow(0, 1, size_bytes),
        link_events=[(change_ps, 10, 11, RATE // 4)],
    )  # fmt: skip

    whole = wire_bytes(size_bytes) * 80
    beyond = fct.unloaded_fct_ps(size_bytes, [RATE] * 3, [DELAY_PS] * 3, FRAMING) - whole
    assert got.fct_ps() == change_ps + 4 * (whole - change_ps) + beyond


def test_routes_follow_a_cut_after_the_convergence_time_and_bytes_are_counted_once():
    # The path is cut at T and routes follow at T + D: the message stands still for D.
    size_bytes, cut_ps, converge_ps = 2_000_000, 40 * US_PS, 15 * US_PS
    network = leaf_spine(2, 1, 2, RATE, DELAY_PS)
    before = fluid(network, one_flow(0, 1, size_bytes))
    spine = before.paths()[0][1][1]
    got = fluid(
        network, one_flow(0, 1, size_bytes), link_events=[(cut_ps, 10_000, spine, 0)],
        convergence_ps=converge_ps,
    )  # fmt: skip

    assert got.fct_ps() == before.fct_ps() + converge_ps
    other = 20_000 + (spine == 20_000)
    assert got.port(10_000, spine)["sent_bytes"] == cut_ps // 80
    assert got.port(10_000, other)["sent_bytes"] == wire_bytes(size_bytes) - cut_ps // 80


@pytest.mark.parametrize("ends", [(0, 10), (10, 11), (11, 1)])
def test_a_message_that_begins_while_its_path_is_cut_takes_its_time_from_the_restoration(ends):
    # The path is there again at T: what the message takes alone, counted from then.
    rates, delays = [RATE] * 3, [DELAY_PS] * 3
    start_ps, back_ps, size_bytes = 10 * US_PS, 40 * US_PS, 2_000_000
    got = fluid(
        line(rates, delays), one_flow(0, 1, size_bytes, start_ps),
        link_events=[(US_PS, *ends, 0), (back_ps, *ends, RATE)],
    )  # fmt: skip

    alone_ps = fct.unloaded_fct_ps(size_bytes, rates, delays, FRAMING)
    assert got.fct_ps() == back_ps - start_ps + alone_ps
    assert got.flow(0)["sender_end_ps"] > got.flow(0)["receiver_end_ps"]


def test_what_has_no_path_never_ends_and_who_waits_for_it_never_starts():
    flows = Flows()
    flows.add(0, 1, 1_000_000)
    flows.add(1, 0, 1_000)
    got = fluid(
        line([RATE] * 2, [DELAY_PS] * 2), flows, dependencies=[(1, 0, 0)], stop_ps=MS_PS,
        link_events=[(US_PS, 10, 1, 0)],
    )  # fmt: skip

    assert got["flows"]["receiver_end_ps"].tolist() == [NEVER, NEVER]
    assert got["flows"]["start_ps"].tolist() == [0, NEVER]
    assert got.stop_reason == "no events left"


def test_the_order_of_the_rows_changes_nothing():
    rng = np.random.default_rng(3)
    network, rows = leaf_spine(3, 4, 2, RATE, DELAY_PS), []
    for flow in range(60):
        src, dst = rng.choice(12, 2, replace=False)
        rows.append((flow, int(src), int(dst), int(rng.integers(1, 10**6)),
                     int(rng.integers(0, 10**8)), 0))  # fmt: skip
    results = []
    for _ in range(2):
        rng.shuffle(rows)
        results.append(fluid(network, Flows([tuple(map(int, row)) for row in rows])))

    for table in ("flows", "ports", "paths"):
        for column, values in results[0][table].items():
            assert values.tolist() == results[1][table][column].tolist(), column


def test_every_link_carries_just_the_bytes_of_its_messages():
    rng = np.random.default_rng(4)
    network, flows = leaf_spine(3, 4, 2, RATE, DELAY_PS), Flows()
    for _ in range(100):
        src, dst = rng.choice(12, 2, replace=False)
        flows.add(int(src), int(dst), int(rng.integers(1, 10**6)), int(rng.integers(0, 10**8)))
    got = fluid(network, flows)

    expected = {}
    for flow, links in got.paths().items():
        for link in links:
            expected[link] = expected.get(link, 0) + wire_of(int(got.flow(flow)["bytes"]))
    ports = got["ports"]
    for node, peer, sent in zip(ports["node"], ports["peer"], ports["sent_bytes"], strict=True):
        assert sent == expected.get((node, peer, 0), 0)


def wire_of(size_bytes):
    """As `wire_bytes`, with the least frame of 64 bytes for a short last packet."""
    full, last = divmod(size_bytes, 4096)
    frames = [4096 + 62] * full + ([last + 62] if last else [])
    frames[0] += 16
    return sum(max(frame, 64) + 20 for frame in frames)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"forwarding": "ns3::Flowlet"}, "ns3::Flowlet chooses by queues or pauses between packets"),
     ({"forwarding": "ns3::LeastLoaded"}, "ns3::LeastLoaded chooses by queues"),
     ({"program": "ns3::Conga"}, "ns3::Conga takes or routes packets")],
)  # fmt: skip
def test_what_only_packets_decide_is_refused_before_the_run(options, message):
    network = leaf_spine(2, 1, 2, RATE, DELAY_PS)

    with pytest.raises(SimulationError, match=message):
        fluid(network, one_flow(0, 1, 1000), **options)


def test_what_tables_are_refused_with_packets_is_refused_here():
    network = Network(hosts=[0, 1], switches=[(10, 1)])
    network.link(0, 10, RATE, DELAY_PS)

    with pytest.raises(SimulationError, match="host 1 has no link"):
        fluid(network, one_flow(0, 1, 1000))


@pytest.mark.parametrize(
    ("table", "row"),
    [("rate_changes", {"time_ps": 1, "flow": 0, "rate_bps": GBPS}),
     ("routes", {"flow": 0, "node": 10, "peer": 1, "from_ps": 1})],
)  # fmt: skip
def test_a_plan_that_changes_is_refused_before_the_run(table, row):
    network = line([RATE, RATE], [DELAY_PS] * 2)
    fabric = Fabric(seed=1)
    fabric.engine = {"type": "fluid"}
    fabric.transport("ns3::RoceTransport", ROCE[0][1])
    fabric.forwarding("ns3::ExplicitRoutes")
    for name, columns in (("nodes", network.nodes_table()), ("links", network.links_table()),
                          ("flows", one_flow(0, 1, 1000).table()),
                          (table, {key: [value] for key, value in row.items()})):  # fmt: skip
        fabric.table(name, columns)

    with pytest.raises(SimulationError, match="fluid engine knows no plan that changes"):
        fabric.build(fabric.load())


def test_a_controller_that_looks_at_the_run_is_refused_before_it():
    fabric = Fabric(seed=1)
    fabric.engine = {"type": "fluid"}
    fabric.control(0, {"type": "wan_demands"})

    with pytest.raises(SimulationError, match="the fluid engine does not pause"):
        fabric.controllers()
