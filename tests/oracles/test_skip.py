# SPDX-License-Identifier: GPL-2.0-only
"""Steady states that are skipped: closed forms, and the full run beside random networks.

Here a few random networks; more: ``PYORCH_SKIP_NETWORKS=200 pytest tests/oracles/test_skip.py``.
"""

import os

import numpy as np
import pytest
from oracle_network import (
    GBPS,
    MS_PS,
    US_PS,
    Flows,
    inter_leaf_permutation,
    leaf_spine,
    one_flow,
    run,
    run_tables,
    star,
)

from pyorch.errors import SimulationError
from pyorch.spec import typeids

pytestmark = pytest.mark.ns3

TOLERANCE = 0.01
SKIP = {"skip_ppm": 10_000}
RATE, BYTE_PS, DELAY_PS = 100 * GBPS, 80, US_PS
MTU = 4096
DATA_PS = (MTU + 62 + 20) * BYTE_PS
SPRAY, ROCE = "ns3::SprayTransport", "ns3::RoceTransport"
NETWORKS = int(os.environ.get("PYORCH_SKIP_NETWORKS", "7"))
TRIMMING = "ns3::TrimmingQueue"
#: A bandwidth-delay product of the networks below, marked from a fifth of it on.
MARKS = {"LimitBytes": 120_000, "KminBytes": 24_000, "KmaxBytes": 96_000, "Pmax": 1}
#: Transports with what their switches need; windows are wide enough for the networks below.
KINDS = {
    "spray": ((SPRAY, {"WindowBdp": 1.25}), {"forwarding": "ns3::EntropyModulo"}),
    "random spray": ((SPRAY, {"WindowBdp": 1.25}), {"forwarding": "ns3::RandomSpray"}),
    "one path": ((ROCE, {"Recovery": "SelectiveRepeat"}), {}),
    "pfc": ((ROCE, {}), {"pfc": {"XoffBytes": "100000"}, "buffer_bytes": 16_000_000}),
    "ndp": (
        ("ns3::NdpTransport", {}),
        {"forwarding": "ns3::EntropyModulo", "queue": (TRIMMING, {"LimitBytes": 33_280})},
    ),
    "rccc": (
        ("ns3::UecTransport", {"ReceiverCredit": True, "Trimmable": True}),
        {"queue": (TRIMMING, MARKS)},
    ),
    "eqds": (("ns3::EqdsTransport", {}), {"queue": (TRIMMING, {"LimitBytes": 120_000})}),
}


def skipped(got):
    """Return time [ps], packets of the log of jumps; the accounts of flows must agree."""
    packets = int(got["skips"]["skipped_packets"].sum())
    assert packets == got["skipped_flows"]["skipped_packets"].sum()
    return int(got["skips"]["skipped_ps"].sum()), packets


def check_equal(got, full):
    """All that ports and messages count is what the full run has, to the last."""
    assert (got["skips"]["exact"] == 1).all()
    for table in ("flows", "ports"):
        for column, values in full[table].items():
            assert got[table][column].tolist() == values.tolist(), f"{table}: {column}"


def check_bytes(got, flows):
    """Every payload byte is counted once, executed or skipped."""
    assert got["flows"]["bytes"].tolist() == [row[3] for row in flows.rows]
    first_copies = got["flows"]["sent_data_packets"] - got["flows"]["retransmitted_packets"]
    assert first_copies.tolist() == [-(-row[3] // MTU) for row in flows.rows]


def test_a_message_alone_takes_as_long_as_its_packets_do():
    # Oracle: n packets one behind the other on the first link, then the last one on the second:
    # (n + 1) of its times and two delays. Several jumps may be wrong by half of the tolerance.
    packets = 100_000
    flows = one_flow(0, 1, packets * MTU)

    got = run(star(2, RATE, DELAY_PS), flows, [(SPRAY, {"WindowBdp": 2})], **SKIP)

    skipped_ps, skipped_packets = skipped(got)
    assert skipped_packets > 0.9 * packets
    alone_ps = (packets + 1) * DATA_PS + 2 * DELAY_PS
    assert got.fct_ps() == pytest.approx(alone_ps, rel=TOLERANCE / 2)
    assert skipped_ps == pytest.approx(skipped_packets * DATA_PS, rel=TOLERANCE / 2)
    check_bytes(got, flows)


def test_an_incast_takes_as_long_as_its_packets_on_the_last_link():
    # Oracle: the last link is never idle, so it carries all packets of all hosts in a row.
    packets, hosts = 20_000, 5
    flows = Flows()
    for host in range(1, hosts + 1):
        flows.add(host, 0, packets * MTU)

    got = run(star(hosts + 1, RATE, DELAY_PS), flows, [(SPRAY, {"WindowBdp": 2})], **SKIP)

    assert skipped(got)[1] > 0.8 * packets * hosts
    last_ps = (packets * hosts + 1) * DATA_PS + 2 * DELAY_PS
    assert got.fcts_ps().max() == pytest.approx(last_ps, rel=TOLERANCE / 2)
    check_bytes(got, flows)


def test_what_happens_at_a_time_of_the_world_does_so_to_the_picosecond():
    # The second message starts while the first is skipped, and shares its last link from then on;
    # then that link is slower: 100 Gb/s for 20 ms, half of it for each of two, then 50 Gb/s.
    flows = Flows()
    flows.add(1, 0, 600_000_000)
    flows.add(2, 0, 50_000_000, 20 * MS_PS)
    options = {"link_events": [(40 * MS_PS, 0, 1000, 50 * GBPS)]}

    full = run(star(3, RATE, DELAY_PS), flows, [(SPRAY, {})], **options)
    got = run(star(3, RATE, DELAY_PS), flows, [(SPRAY, {})], **options, **SKIP)

    assert got["flows"]["start_ps"].tolist() == [0, 20 * MS_PS]
    began, length = got["skips"]["time_ps"], got["skips"]["skipped_ps"]
    for at_ps in (20 * MS_PS, 40 * MS_PS):
        assert not ((began < at_ps) & (at_ps < began + length)).any()
        assert (began < at_ps).any() and (began > at_ps).any()
    assert got.fcts_ps() == pytest.approx(full.fcts_ps(), rel=TOLERANCE / 2)
    check_bytes(got, flows)


def test_a_message_that_waits_starts_when_the_one_before_has_ended_and_not_earlier():
    flows = Flows()
    flows.add(0, 1, 200_000_000)
    flows.add(1, 2, 200_000_000)

    got = run(
        star(3, RATE, DELAY_PS), flows, [(SPRAY, {})], dependencies=[(1, 0, 0, 3 * MS_PS)], **SKIP
    )

    first, second = got.flow(0), got.flow(1)
    assert second["start_ps"] == first["receiver_end_ps"] + 3 * MS_PS
    assert second["receiver_end_ps"] - second["start_ps"] == pytest.approx(
        first["receiver_end_ps"], rel=TOLERANCE / 2
    )


def test_a_run_ends_at_its_stop_time_with_that_much_sent():
    # Oracle: 10 ms at one packet every DATA_PS.
    flows = one_flow(0, 1, 10**9)

    got = run(star(2, RATE, DELAY_PS), flows, [(SPRAY, {})], stop_ps=10 * MS_PS, **SKIP)

    assert got.stop_reason == "stop time"
    sent = got.port(0, 1000)["sent_data_packets"]
    assert sent == pytest.approx(10 * MS_PS / DATA_PS, rel=TOLERANCE / 2)
    assert got.flow(0)["bytes"] == 10**9


def test_samples_of_what_is_skipped_grow_evenly_and_are_marked():
    # Oracle: a packet every DATA_PS, in each period, executed or skipped; sums are the totals.
    packets, period_ps = 100_000, 100 * US_PS
    flows = one_flow(0, 1, packets * MTU)

    got = run(
        star(2, RATE, DELAY_PS), flows, [(SPRAY, {"WindowBdp": 2})], sample_ps=period_ps, **SKIP
    )

    arrived = got["flow_samples"]["arrived_packets"]
    assert arrived.sum() == packets
    assert arrived[1:-1] == pytest.approx(period_ps / DATA_PS, abs=2)
    assert got["flow_samples"]["arrived_bytes"].sum() == packets * (MTU + 62)
    of_first_link = got["port_samples"]["node"] == 0
    assert got["port_samples"]["sent_bytes"][of_first_link].sum() == got.port(0, 1000)["sent_bytes"]
    marked, skips = got["skipped_samples"], got["skips"]
    assert marked["skipped_ps"].sum() == skips["skipped_ps"].sum()
    assert marked["skipped_ps"].max() == period_ps
    first, last = skips["time_ps"].min(), (skips["time_ps"] + skips["skipped_ps"]).max()
    assert marked["time_ps"].min() - period_ps < first < marked["time_ps"].min()
    assert marked["time_ps"].max() - period_ps < last


@pytest.mark.parametrize("seed", [2, 3, 10])
def test_sums_of_samples_are_totals_where_ports_are_paused_and_many_send(seed):
    network, flows, kind = random_case(seed)
    transport, options = KINDS[kind]

    got = run(network, flows, [transport], sample_ps=50 * US_PS, **options, **SKIP)

    assert skipped(got)[1] > 0
    for column in ("sent_bytes", "paused_ps"):
        assert got["port_samples"][column].sum() == got["ports"][column].sum()
    assert (got["ports"]["paused_ps"].sum() > 0) == (kind == "pfc")
    flows_sent = got["flows"]["sent_data_packets"].sum()
    lost = got["ports"]["dropped_buffer_frames"].sum() + got["ports"]["trimmed_packets"].sum()
    assert got["flow_samples"]["arrived_packets"].sum() == pytest.approx(flows_sent, abs=int(lost))


PAIRS = ((0, 1), (2, 3), (4, 5))
RING = tuple((host, (host + 1) % 6) for host in range(6))
INCAST = tuple((host, 0) for host in range(1, 6))
LINES = (
    ("one path", (ROCE, {"Recovery": "SelectiveRepeat"}), {}),
    *((kind, *KINDS[kind]) for kind in ("spray", "pfc")),
)


@pytest.mark.parametrize(("kind", "transport", "options"), LINES)
@pytest.mark.parametrize("pairs", [PAIRS[:1], PAIRS, RING, INCAST])
def test_what_repeats_to_the_picosecond_is_skipped_without_any_error(
    kind, transport, options, pairs
):
    # Oracle: the full run. Most of it repeats: paths are given, and nothing is drawn. (Not what is
    # left of a ring: data and acknowledgements of unlike lengths repeat after 2089 packets there.)
    flows = Flows()
    for i, (src, dst) in enumerate(pairs):
        packets = 8000 if pairs == RING else 8000 + 2000 * i
        flows.add(src, dst, packets * MTU + 17 * i, i * 777_777)
    if pairs == INCAST and kind == "one path":
        options = {"queue": ("ns3::DropTail", {"LimitBytes": 10**9})}
        transport = (ROCE, {"Recovery": "SelectiveRepeat", "WindowBytes": 100_000})
    network = star(6, RATE, DELAY_PS)

    full = run(network, flows, [transport], **options)
    got = run(network, flows, [transport], **options, **SKIP)

    assert skipped(got)[1] > 0.5 * full["flows"]["sent_data_packets"].sum()
    check_equal(got, full)


def test_periods_are_skipped_until_the_last_packet_of_a_message_and_no_further():
    # Oracle: n packets, the last one of a byte, one behind the other on the first link, then the
    # last one on the second. Whatever n is of the packets of a span, one is left of each message.
    last_ps = (64 + 20) * BYTE_PS
    for packets in range(2000, 2066):
        flows = one_flow(0, 1, (packets - 1) * MTU + 1)

        got = run(star(2, RATE, DELAY_PS), flows, [(SPRAY, {"WindowBdp": 2})], **SKIP)

        assert skipped(got)[1] > 0.5 * packets
        assert (got["skips"]["exact"] == 1).all()
        assert got.fct_ps() == (packets - 1) * DATA_PS + DATA_PS + last_ps + 2 * DELAY_PS


@pytest.mark.parametrize("most_bytes", [20_000, 50_000, 400_000])
def test_periods_are_exact_with_marks_but_for_those_that_are_drawn(most_bytes):
    # Oracle: the full run. Between two thresholds a queue draws whom it marks, which no period
    # tells beforehand: then rates serve. Above both, as here above 50 kB, it marks all.
    flows = Flows()
    for host in (1, 2):
        flows.add(host, 0, 8000 * MTU)
    queue = ("ns3::RedEcn", {"KminBytes": 20_000, "KmaxBytes": most_bytes, "LimitBytes": 10**9})
    transport = (ROCE, {"Recovery": "SelectiveRepeat", "WindowBytes": 100_000})
    network = star(3, RATE, DELAY_PS)

    full = run(network, flows, [transport], queue=queue)
    got = run(network, flows, [transport], queue=queue, **SKIP)

    assert skipped(got)[1] > 0.5 * 2 * 8000
    assert full["flows"]["ecn_marked_packets"].sum() > 0
    if most_bytes > 50_000:
        assert not got["skips"]["exact"].any()
    else:
        check_equal(got, full)


def test_what_is_drawn_inside_another_discipline_repeats_no_period():
    flows = Flows()
    for host in (1, 2):
        flows.add(host, 0, 8000 * MTU)
    red = "ns3::RedEcn[KminBytes=20000|KmaxBytes=400000|LimitBytes=1000000000]"
    transport = (ROCE, {"Recovery": "SelectiveRepeat", "WindowBytes": 100_000})
    queue = ("ns3::PerDirection", {"ToHosts": red})

    got = run(star(3, RATE, DELAY_PS), flows, [transport], queue=queue, **SKIP)

    assert got["flows"]["ecn_marked_packets"].sum() > 0
    assert not got["skips"]["exact"].any()


def test_nothing_is_skipped_while_a_message_waits_for_its_timeout():
    # Oracle: the full run. Two messages fill a queue in turns that repeat; the first two
    # of five packets of another one find no room, and its timer has to run out when it is to.
    flows = Flows()
    for host in (1, 2):
        flows.add(host, 0, 20_000 * MTU)
    flows.add(3, 0, 5 * MTU, 500 * US_PS, transport=1)
    queue = ("ns3::DropTail", {"LimitBytes": 150_000})
    transports = [(ROCE, {"WindowBytes": window, "Rto": "5ms"}) for window in (100_000, 2 * MTU)]
    network = star(4, RATE, DELAY_PS)

    full = run(network, flows, transports, queue=queue)
    got = run(network, flows, transports, queue=queue, **SKIP)

    assert full.flow(2)["timeouts"] > 0
    assert skipped(got)[1] > 0
    check_equal(got, full)


def test_what_leaves_the_state_as_it_is_ends_no_period():
    # Oracle: the full run. Computations end at a host of which nothing is sent, 20 times.
    packets, every_ps = 20_000, 300 * US_PS
    flows = one_flow(0, 1, packets * MTU)
    tasks = [(1 + i, 0, 2, i, (1 + i) * every_ps) for i in range(20)]
    network, transport = star(3, RATE, DELAY_PS), (SPRAY, {"WindowBdp": 2})

    got = run(network, flows, [transport], tasks=tasks, **SKIP)

    assert skipped(got)[1] > 0.9 * packets
    assert len(got["skips"]["exact"]) > 20
    check_equal(got, run(network, flows, [transport], tasks=tasks))


def random_case(seed):
    """Draw a network, who sends what to whom, and how."""
    rng = np.random.default_rng(seed)
    leaves, per_leaf, spines = rng.integers(2, 5), rng.integers(2, 5), rng.integers(2, 5)
    network = leaf_spine(leaves, per_leaf, spines, RATE, DELAY_PS)
    hosts = leaves * per_leaf
    to = inter_leaf_permutation(leaves, per_leaf, rng)
    size = int(rng.integers(20, 40)) * 1_000_000
    flows = Flows()
    for host in range(hosts):
        dst = 0 if seed % 3 == 2 and host else int(to[host])
        flows.add(host, dst, size + int(rng.integers(0, 5000)), int(rng.integers(0, 50)) * US_PS)
    kind = sorted(KINDS)[seed % len(KINDS)]
    return network, flows, kind


def deterministic_case(seed):
    """Draw a network and a few messages with given paths, and how they are sent."""
    rng = np.random.default_rng(seed)
    leaves, per_leaf, spines = rng.integers(2, 4), rng.integers(1, 4), rng.integers(1, 4)
    flows = Flows()
    for _ in range(rng.integers(1, 4)):
        src, dst = rng.choice(leaves * per_leaf, 2, replace=False)
        size = int(rng.integers(2000, 8000)) * MTU + int(rng.integers(0, MTU))
        flows.add(int(src), int(dst), size, int(rng.integers(0, 2_000_000_000)))
    windows = (ROCE, {"Recovery": "SelectiveRepeat", "WindowBytes": 100_000}), {}
    return leaf_spine(leaves, per_leaf, spines, RATE, DELAY_PS), flows, (windows, KINDS["pfc"])


def test_random_networks_that_are_skipped_by_periods_are_as_full_runs_to_the_picosecond():
    exact = 0
    for seed in range(NETWORKS):
        network, flows, kinds = deterministic_case(seed)
        transport, options = kinds[seed % 2]
        got = run(network, flows, [transport], **options, **SKIP)
        if (got["skips"]["exact"] == 1).all():
            check_equal(got, run(network, flows, [transport], **options))
            exact += len(got["skips"]["exact"]) > 0
    assert exact >= NETWORKS / 4


def test_random_networks_are_as_full_runs_are():
    # What is promised of 99 in 100: 1 % of a message, and half of it of the slowest of a network.
    errors, slowest = [], []
    for seed in range(NETWORKS):
        network, flows, kind = random_case(seed)
        transport, options = KINDS[kind]
        full = run(network, flows, [transport], **options)
        got = run(network, flows, [transport], **options, **SKIP)
        errors.append(np.abs(got.fcts_ps() / full.fcts_ps() - 1))
        slowest.append(abs(got.fcts_ps().max() / full.fcts_ps().max() - 1))
        check_bytes(got, flows)
    assert np.quantile(np.concatenate(errors), 0.99) <= TOLERANCE
    assert np.quantile(slowest, 0.99) <= TOLERANCE / 2


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_a_second_run_is_the_same_to_the_picosecond(seed):
    network, flows, kind = random_case(seed)
    transport, options = KINDS[kind]

    first, second = (run(network, flows, [transport], **options, **SKIP) for _ in range(2))

    assert {t: {c: v.tolist() for c, v in cs.items()} for t, cs in second.tables.items()} == {
        t: {c: v.tolist() for c, v in cs.items()} for t, cs in first.tables.items()
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"arrivals": True}, "arrivals, pauses and packet captures have all that"),
        ({"drops": [(0, 1000, 1)]}, "links lose frames at random, or scripted ones"),
        ({"program": "ns3::Hedera"}, "ns3::Hedera may have a clock of its own"),
        ({"link_control": "ns3::CreditFlowControl"}, "ns3::CreditFlowControl holds messages back"),
    ],
)
def test_what_a_steady_state_would_hide_is_refused(options, message):
    with pytest.raises(SimulationError, match=message):
        run(star(2, RATE, DELAY_PS), one_flow(0, 1, MTU), [(SPRAY, {})], **options, **SKIP)


def test_a_transport_that_cannot_is_refused_by_its_name():
    message = "ns3::WanTransport does not know how to skip a steady state of its messages"
    with pytest.raises(SimulationError, match=message):
        run(star(2, RATE, DELAY_PS), one_flow(0, 1, MTU), [("ns3::WanTransport", {})], **SKIP)


RED = ("ns3::RedEcn", {"KminBytes": 50_000, "KmaxBytes": 200_000})
DCQCN = (ROCE, {"CongestionControl": "ns3::Dcqcn"})
CONTROLLED = {"queue": RED, "pfc": {"XoffBytes": "300000"}, "buffer_bytes": 16_000_000}
CONTROLS = [a["name"] for a in typeids.entries() if a["contract"] == "congestion_control"]


@pytest.mark.parametrize("control", sorted({*CONTROLS} - {"ns3::Dcqcn"}))
def test_a_congestion_control_that_is_never_at_rest_is_refused(control):
    transport = {"ns3::Smartt": SPRAY, "ns3::Nscc": "ns3::UecTransport"}.get(control, ROCE)
    attributes = {"CongestionControl": control} | ({"WindowBdp": 0} if transport == SPRAY else {})
    message = f"{transport}: CongestionControl is never at rest: it moves windows or rates for"
    with pytest.raises(SimulationError, match=message):
        run(
            star(2, RATE, DELAY_PS), one_flow(0, 1, MTU), [(transport, attributes)], queue=RED,
            program="ns3::InbandTelemetry", **SKIP,
        )  # fmt: skip


def test_a_message_whose_congestion_control_is_at_rest_is_skipped_without_any_error():
    flows = one_flow(0, 1, 8000 * MTU + 17)
    network = star(2, RATE, DELAY_PS)

    got = run(network, flows, [DCQCN], **CONTROLLED, **SKIP)

    assert skipped(got)[1] > 0.5 * 8000
    check_equal(got, run(network, flows, [DCQCN], **CONTROLLED))


def test_nothing_is_skipped_once_a_congestion_control_has_cut_a_rate():
    # Two messages share a link from 1 ms on: from the first mark on rates go down and up.
    flows = Flows()
    flows.add(1, 0, 30_000_000)
    flows.add(2, 0, 30_000_000, MS_PS)
    network = star(3, RATE, DELAY_PS)

    got = run(network, flows, [DCQCN], **CONTROLLED, **SKIP)

    assert skipped(got)[1] > 0
    assert (got["skips"]["time_ps"] + got["skips"]["skipped_ps"]).max() < MS_PS + 10 * US_PS
    check_equal(got, run(network, flows, [DCQCN], **CONTROLLED))


def controlled_case(seed):
    """Draw who sends what to whom: over spines, around a ring, in pairs that a third one joins, or
    to one host, one after the other."""
    rng = np.random.default_rng(seed)
    hosts = int(rng.integers(4, 9))
    network = star(hosts, RATE, DELAY_PS)
    pairs, late_us = [(host, (host + 1) % hosts) for host in range(hosts)], 50
    if seed % 4 == 0:
        leaves, per_leaf, spines = rng.integers(2, 4), rng.integers(2, 4), rng.integers(2, 4)
        network = leaf_spine(leaves, per_leaf, spines, RATE, DELAY_PS)
        pairs = [*enumerate(inter_leaf_permutation(leaves, per_leaf, rng))]
    elif seed % 4 == 2:
        pairs, late_us = [*pairs[:-1:2], (0, int(rng.integers(1, hosts)))], 1000
    elif seed % 4 == 3:
        pairs, late_us = [(host, 0) for host in range(1, hosts)], 1000
    flows = Flows()
    size = int(rng.integers(10, 30)) * 1_000_000
    for src, dst in pairs:
        bytes_ = size + int(rng.integers(0, 5000))
        flows.add(int(src), int(dst), bytes_, int(rng.integers(0, late_us)) * US_PS)
    return network, flows


def test_random_networks_with_congestion_control_are_as_full_runs_to_the_picosecond():
    packets = 0
    for seed in range(NETWORKS):
        network, flows = controlled_case(seed)
        got = run(network, flows, [DCQCN], **CONTROLLED, **SKIP)
        packets += skipped(got)[1]
        if len(got["skips"]["exact"]) > 0:
            check_equal(got, run(network, flows, [DCQCN], **CONTROLLED))
    assert packets > 0


def test_domains_are_refused():
    # Each would have a clock of its own; `tests/spec/test_engine.py` has the line for a scenario.
    network = star(2, RATE, DELAY_PS)
    nodes = network.nodes_table()
    nodes |= {"domain": np.arange(len(nodes["node"])) % 2}
    tables = nodes, network.links_table(), one_flow(0, 1, MTU).table(), [(SPRAY, {})]
    rest = {"forwarding": None, "queue": None, "pfc": None, "drops": (), "seed": 1, "stop_ps": 1}

    with pytest.raises(SimulationError, match="steady states are skipped in one domain; leave out"):
        run_tables(*tables, **rest, **SKIP)
