# SPDX-License-Identifier: GPL-2.0-only
"""Episodes that are replayed: every result is that of the run that executes them, to the bit."""

import numpy as np
import pytest
from episodes import BARRIER, MTU, ROCE, SPRAY, Graph, layers, racks, replayed, same
from oracle_network import (
    GBPS,
    MS_PS,
    US_PS,
    Flows,
    leaf_spine,
    one_flow,
    run,
    star,
)

from pyorch.errors import SimulationError

pytestmark = pytest.mark.ns3


@pytest.mark.parametrize("transport", [SPRAY, ROCE], ids=["spray", "roce"])
def test_a_ring_is_executed_twice_in_all_racks_and_then_replayed(transport):
    # Oracle: racks are alike and work side by side. Of the first two rings that begin, whatever
    # racks they are in, the second is recorded; its racks finish what they have begun together.
    graph, (n_racks, ranks, times) = Graph(), (3, 4, 6)
    for rack in range(n_racks):
        layers(graph, list(range(rack * ranks, (rack + 1) * ranks)), times, 5 * US_PS)

    got = same(graph, racks(n_racks, ranks, rails=False), [transport])

    assert replayed(got) == n_racks * (times - 1)
    assert set(got["replays"]["flows"]) == {2 * (ranks - 1) * ranks}
    executed = graph.run(racks(n_racks, ranks, rails=False), [transport])
    assert got["summary"]["events"][0] < executed["summary"]["events"][0] / 4


def test_a_rack_that_begins_later_replays_all_that_another_has_done():
    # Rack 1 executes nothing, so its counters and peaks are those of rack 0 alone.
    graph = Graph()
    layers(graph, [0, 1, 2, 3], 4, 5 * US_PS)
    waited = [graph.task(host, 400 * US_PS) for host in (4, 5, 6, 7)]
    layers(graph, [4, 5, 6, 7], 4, 5 * US_PS, begin=waited)

    got = same(graph, racks(2, 4, rails=False))

    of_rack_1 = got["flows"]["src"] >= 4
    replayed_packets = got["replayed_flows"]["replayed_packets"]
    assert (replayed_packets[of_rack_1] == got["flows"]["sent_data_packets"][of_rack_1]).all()
    assert replayed(got) == 2 + 4
    assert got.port(1001, 4)["max_queue_bytes"] == got.port(1000, 0)["max_queue_bytes"] > 0


def test_one_rack_alone_remembers_from_the_third_ring_on():
    graph, times = Graph(), 5
    layers(graph, [0, 1, 2, 3], times, 5 * US_PS)
    assert replayed(same(graph, racks(1, 4, rails=False))) == times - 2


def test_ranks_that_are_late_by_the_same_times_are_remembered_and_by_others_not():
    # A clock of each host ticks every 300 us; a ring begins 1, 2, 3 and 4 us after that. The third
    # time it is 1, 2, 4 and 4. Oracle: the first is met, the second and third are recorded.
    graph, hosts, at = Graph(), [0, 1, 2, 3], [[]] * 4
    for late_us in ([1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 4, 4], [1, 2, 3, 4], [1, 2, 4, 4]):
        at = [
            [(graph.task(host, 300 * US_PS, before, stream=1), 0)]
            for host, before in zip(hosts, at, strict=True)
        ]
        computed = [
            graph.task(host, us * US_PS, before)
            for host, before, us in zip(hosts, at, late_us, strict=True)
        ]
        graph.ring(hosts, 200_000, computed)
    got = same(graph, racks(1, 4, rails=False))
    assert [int(ps) // (300 * US_PS) for ps in got["replays"]["time_ps"]] == [4, 5]


def by_the_clock(graph, hosts, times, period_ps=300 * US_PS):
    """Add a ring each time that the clocks of its hosts tick, whenever the one before ended."""
    at = [[]] * len(hosts)
    for _ in range(times):
        at = [
            [(graph.task(host, period_ps, before, stream=1), 0)]
            for host, before in zip(hosts, at, strict=True)
        ]
        graph.ring(hosts, 200_000, [before[0][0] for before in at])


@pytest.mark.parametrize("at_us", [1510, 1520.3, 1500, 1499.9])
def test_a_message_of_another_job_in_the_middle_is_executed_with_all_it_meets(at_us):
    # Rings take 26 us, the fifth begins at 1500 us; the message is there from at_us for 6 us.
    graph = Graph()
    by_the_clock(graph, [0, 1, 2, 3], 8)
    foreign = graph.message(2, 1, 300_000, start_ps=int(at_us * US_PS))

    got = same(graph, racks(1, 4, rails=False))

    assert [int(ps) // (300 * US_PS) for ps in got["replays"]["time_ps"]] == [3, 4, 6, 7, 8]
    assert got["replayed_flows"]["replayed_packets"][foreign] == 0


@pytest.mark.parametrize(("rail_bytes", "executed"), [(3_000_000, {3}), (6_000_000, {3, 4})])
def test_a_message_that_may_come_too_early_keeps_an_episode_from_being_replayed(
    rail_bytes, executed
):
    # It waits for one on the rail, whose end nobody knows: while that is under way nothing is
    # sure. It is from 890 us on, and takes 80 us for each MB.
    graph = Graph()
    by_the_clock(graph, [0, 1, 2, 3], 6)
    rail = graph.message(0, 4, rail_bytes, start_ps=890 * US_PS)
    back = graph.message(4, 0, 4096, [(rail, 0)])
    graph.message(0, 2, 4096, [(back, 0)])

    got = same(graph, racks(2, 4))

    rings = {int(ps) // (300 * US_PS) for ps in got["replays"]["time_ps"]}
    assert rings == {3, 4, 5, 6} - executed


def test_what_waits_for_a_message_that_is_replayed_elsewhere_is_foreseen():
    # Rings of two racks side by side; in the fifth the first message of rack 0 is awaited on a
    # rail, and that by a message in the middle of the ring of rack 1, which has to be executed.
    graph = Graph()
    by_the_clock(graph, [0, 1, 2, 3], 6)
    per_ring = len(graph.flows.rows) // 6
    by_the_clock(graph, [4, 5, 6, 7], 6)
    rail = graph.message(1, 5, 4096, [(4 * per_ring, 0)])
    graph.message(5, 7, 4096, [(rail, 0)])

    got = same(graph, racks(2, 4))

    rings = [int(ps) // (300 * US_PS) for ps in got["replays"]["time_ps"]]
    assert sorted(rings) == [2, 2, 3, 3, 4, 4, 5, 6, 6]


def test_messages_that_are_admitted_to_a_rate_are_executed():
    # The third ring of four is slower; nothing else tells it from the others.
    class Admitted(Flows):
        def table(self):
            table = super().table()
            is_third = table["flow"] // (len(table["flow"]) // 4) == 2
            return table | {"rate_bps": np.where(is_third, 10 * GBPS, 0)}

    graph = Graph(flows=Admitted())
    layers(graph, [0, 1, 2, 3], 4, 5 * US_PS)

    assert replayed(same(graph, racks(1, 4, rails=False))) == 0


def two_transports(graph, network):
    graph.flows.add(0, 1, 300_000, 5 * MS_PS, transport=1)
    return {"transports": [SPRAY, ROCE]}


def given_routes(graph, network):
    return {"forwarding": "ns3::ExplicitRoutes"}


@pytest.mark.parametrize("changed", [two_transports, given_routes])
def test_where_more_may_decide_what_happens_all_is_executed(changed):
    graph, network = Graph(), racks(1, 4, rails=False)
    layers(graph, [0, 1, 2, 3], 4, 5 * US_PS)

    assert replayed(same(graph, network, **changed(graph, network))) == 0


def test_what_goes_on_elsewhere_at_the_same_hosts_is_the_same():
    # Long messages on the rails beside rings in the racks: hosts have one transport for both.
    graph, ranks = Graph(), 4
    for rack in range(2):
        layers(graph, list(range(rack * ranks, (rack + 1) * ranks)), 6, 5 * US_PS)
    for rank in range(ranks):
        graph.message(rank, ranks + rank, 2_000_000 + rank)
        graph.message(ranks + rank, rank, 2_000_000 - rank, start_ps=3 * US_PS)

    got = same(graph, racks(2, ranks))

    assert replayed(got) > 0


def test_a_run_that_ends_in_the_middle_of_an_episode_has_counted_until_then():
    graph = Graph()
    layers(graph, [0, 1, 2, 3], 8, 5 * US_PS)
    network = racks(1, 4, rails=False)
    whole_ps = int(graph.run(network)["flows"]["sender_end_ps"].max())
    for share in (0.5, 0.55, 0.6):
        assert replayed(same(graph, network, stop_ps=int(whole_ps * share))) > 0


def test_lost_packets_are_not_remembered():
    # 3 to 1 into a queue of 8 packets: some are lost and sent again.
    graph, at = Graph(), None
    for _ in range(4):
        begin = [(graph.task(0, 5 * US_PS, [(at, 0)] if at is not None else []), 0)]
        told = [(graph.message(0, src, 64, begin), 0) for src in (1, 2, 3)]
        sent = [graph.message(src, 0, 400_000, [told[src - 1]]) for src in (1, 2, 3)]
        at = graph.task(0, 0, [(one, 0) for one in sent], BARRIER)

    queue = ("ns3::DropTail", {"LimitBytes": 8 * 4158})
    got = same(graph, racks(1, 4, rails=False), queue=queue)

    assert got["flows"]["retransmitted_packets"].sum() > 0
    lossy = got["flows"]["retransmitted_packets"] > 0
    assert (got["replayed_flows"]["replayed_packets"][lossy] == 0).all()


def test_marks_of_a_queue_that_does_not_draw_are_remembered():
    graph, at = Graph(), None
    for _ in range(5):
        begin = [(graph.task(0, 5 * US_PS, [(at, 0)] if at is not None else []), 0)]
        told = [(graph.message(0, src, 64, begin), 0) for src in (1, 2, 3)]
        sent = [graph.message(src, 0, 400_000, [told[src - 1]]) for src in (1, 2, 3)]
        at = graph.task(0, 0, [(one, 0) for one in sent], BARRIER)

    queue = ("ns3::RedEcn", {"KminBytes": 20_000, "KmaxBytes": 20_000})
    got = same(graph, racks(1, 4, rails=False), queue=queue)

    assert replayed(got) == 3
    assert got["ports"]["ecn_marked_packets"].sum() > 0


def test_where_frames_have_a_choice_of_paths_nothing_is_replayed():
    graph = Graph()
    layers(graph, [0, 2, 4, 6], 5, 5 * US_PS)

    got = same(graph, leaf_spine(4, 2, 2, 100 * GBPS, US_PS), forwarding="ns3::EntropyModulo")

    assert replayed(got) == 0


def test_steady_states_elsewhere_are_skipped_and_rings_stay_exact():
    # Oracle: racks and rails share no link, so a ring ends when it does in a full run.
    graph, ranks = Graph(), 4
    for rack in range(2):
        layers(graph, list(range(rack * ranks, (rack + 1) * ranks)), 12, 100 * US_PS)
    for rank in range(ranks):
        graph.message(rank, ranks + rank, 30_000_000)
    full = graph.run(racks(2, ranks))

    got = graph.run(racks(2, ranks), skip_ppm=10_000, remember=True)

    assert replayed(got) == 2 * 11
    # On the rails whole periods are skipped between the rings, and no rate is guessed.
    assert got["skips"]["skipped_ps"].sum() > 1.5 * MS_PS
    assert len(got["skips"]["exact"]) > 10 and (got["skips"]["exact"] == 1).all()
    for column in ("start_ps", "receiver_end_ps", "sender_end_ps", "sent_data_packets"):
        assert got["flows"][column].tolist() == full["flows"][column].tolist()
    # and counters of the racks are exact: nothing of what is replayed is taken for a rate.
    for got_port, port in zip(*(rows_of_racks(one) for one in (got, full)), strict=True):
        assert got_port == port


def rows_of_racks(got):
    """Return the rows of ports of racks' switches, without their peaks."""
    ports = got["ports"]
    here = (ports["node"] >= 1000) & (ports["node"] < 2000)
    names = [name for name in ports if not name.startswith("max_")]
    return list(zip(*(ports[name][here].tolist() for name in names), strict=True))


REFUSED = [
    ({"skip_ppm": 10_000, "sample_ps": US_PS}, "samples, arrivals, pauses and packet captures"),
    ({"trace_arrivals": True}, "samples, arrivals, pauses and packet captures have all that"),
    ({"drops": [(0, 1000, 1)]}, "links lose frames at random, or scripted ones"),
    ({"link_events": [(US_PS, 0, 1000, 50 * GBPS)]}, "links change, and what happened before"),
    ({"pfc": {"XoffBytes": "100000"}, "buffer_bytes": 10**7}, "ns3::Pfc may hold back what is"),
    ({"program": "ns3::InbandTelemetry"}, "ns3::InbandTelemetry may know of what was before"),
    ({"queue": ("ns3::RedEcn", {})}, "ns3::RedEcn, as it is set, may draw random numbers"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_may_not_happen_again_is_refused(options, message):
    with pytest.raises(SimulationError, match=f"{message}.*leave out engine.remember"):
        run(star(2, GBPS, US_PS), one_flow(0, 1, MTU), [SPRAY], remember=True, **options)


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        ("Ndp", {}),
        ("Spray", {"CongestionControl": "ns3::Swift"}),
        ("Spray", {"Entropy": "ns3::RepsEntropy"}),
        ("Spray", {"Order": "LeastRemaining"}),
    ],
)
def test_a_transport_that_knows_of_more_is_refused_by_its_name(kind, attributes):
    message = f"ns3::{kind}Transport, as it is set, lets what was before decide"
    with pytest.raises(SimulationError, match=message):
        transports = [(f"ns3::{kind}Transport", attributes)]
        queue = ("ns3::TrimmingQueue", {"LimitBytes": 33_280})
        run(star(2, GBPS, US_PS), one_flow(0, 1, MTU), transports, remember=True, queue=queue)
