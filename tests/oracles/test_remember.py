# SPDX-License-Identifier: GPL-2.0-only
"""Episodes that are replayed: every result is that of the run that executes them, to the last bit.

Here a few random graphs; more: ``PYORCH_REMEMBER_GRAPHS=300 pytest`` and the name of this file.
"""

import os
from dataclasses import dataclass, field

import numpy as np
import pytest
from oracle_network import (
    GBPS,
    MS_PS,
    NS_PS,
    US_PS,
    Flows,
    Network,
    leaf_spine,
    one_flow,
    run,
    star,
)

from pyorch.errors import SimulationError

pytestmark = pytest.mark.ns3

COMPUTATION, BARRIER = 0, 2
TASKS = 1_000_000  # ids of tasks begin here
SPRAY, ROCE = ("ns3::SprayTransport", {}), ("ns3::RoceTransport", {})
#: What says how much was executed, and that differs if less was.
EXECUTED = ("events", "frames_allocated_peak", "memory_bytes")
GRAPHS = int(os.environ.get("PYORCH_REMEMBER_GRAPHS", "30"))
MTU = 4096


def racks(n_racks, ranks, *, rails=True):
    """Return racks of hosts around a fast switch each, and hosts of one rank around a slow one."""
    network = Network(hosts=list(range(n_racks * ranks)))
    network.switches = [(1000 + rack, 1) for rack in range(n_racks)]
    network.switches += [(2000 + rank, 1) for rank in range(ranks) if rails]
    for host in network.hosts:
        network.link(host, 1000 + host // ranks, 400 * GBPS, 50 * NS_PS)
        if rails:
            network.link(host, 2000 + host % ranks, 100 * GBPS, 500 * NS_PS)
    return network


@dataclass
class Graph:
    """Messages and tasks that wait for each other; `after` is a list of (id, at its sender)."""

    flows: Flows = field(default_factory=Flows)
    tasks: list = field(default_factory=list)
    waits: list = field(default_factory=list)

    def message(self, src, dst, size_bytes, after=(), start_ps=0):
        return self._wait(self.flows.add(src, dst, size_bytes, start_ps), after)

    def task(self, host, duration_ps, after=(), kind=COMPUTATION, stream=0):
        self.tasks.append((TASKS + len(self.tasks), kind, host, stream, duration_ps))
        return self._wait(self.tasks[-1][0], after)

    def _wait(self, item, after):
        self.waits += [(item, before, at_sender) for before, at_sender in after]
        return item

    def ring(self, hosts, size_bytes, begin):
        """Add an all-reduce that rank i begins after begin[i]; return what tells each its end."""
        n = len(hosts)
        came = [[(item, 0)] for item in begin]
        for _ in range(2 * (n - 1)):
            sent = [
                self.message(hosts[i], hosts[(i + 1) % n], size_bytes, came[i]) for i in range(n)
            ]
            came = [[(sent[i - 1], 0)] for i in range(n)]
        return [self.task(host, 0, after, BARRIER) for host, after in zip(hosts, came, strict=True)]

    def run(self, network, transports=(SPRAY,), **options):
        return run(
            network, self.flows, transports,
            tasks=self.tasks, dependencies=self.waits, **options,
        )  # fmt: skip


def layers(graph, hosts, times, compute_ps, size_bytes=200_000, begin=None):
    """Add computations with a ring after each, one after the other."""
    at = begin or [None] * len(hosts)
    for _ in range(times):
        computed = [
            graph.task(host, compute_ps, [(one, 0)] if one is not None else [])
            for host, one in zip(hosts, at, strict=True)
        ]
        at = graph.ring(hosts, size_bytes, computed)
    return at


def results(got):
    """Return all columns of a run but those of what was executed and what was replayed."""
    return {
        (table, column): values.tolist()
        for table, columns in got.tables.items()
        for column, values in columns.items()
        if table not in ("replays", "replayed_flows") and column not in EXECUTED
    }


def same(graph, network, transports=(SPRAY,), **options):
    """Run a graph with memory and without; everything must be the same. Return the former."""
    full = graph.run(network, transports, **options)
    got = graph.run(network, transports, **options, remember=True)
    there, here = results(full), results(got)
    assert here.keys() == there.keys()
    assert [name for name in there if here[name] != there[name]] == []
    # What was replayed is counted once for each message and once for each episode.
    per_flow = dict(
        zip(*(got["replayed_flows"][c].tolist() for c in ("flow", "replayed_packets")), strict=True)
    )
    assert sum(per_flow.values()) == got["replays"]["replayed_packets"].sum()
    assert sum(n > 0 for n in per_flow.values()) == got["replays"]["flows"].sum()
    sent = dict(
        zip(*(got["flows"][c].tolist() for c in ("flow", "sent_data_packets")), strict=True)
    )
    assert all(n in (0, sent[flow]) for flow, n in per_flow.items())
    return got


def replayed(got):
    """Return how many episodes were replayed."""
    return len(got["replays"]["time_ps"])


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


def test_where_frames_have_a_choice_of_ways_nothing_is_replayed():
    graph = Graph()
    layers(graph, [0, 2, 4, 6], 5, 5 * US_PS)

    got = same(graph, leaf_spine(4, 2, 2, 100 * GBPS, US_PS), forwarding="ns3::EntropyModulo")

    assert replayed(got) == 0


def test_steady_states_elsewhere_are_skipped_and_rings_stay_exact():
    # Oracle: racks and rails share no link, so a ring ends when it does in a full run.
    graph, ranks = Graph(), 4
    for rack in range(2):
        layers(graph, list(range(rack * ranks, (rack + 1) * ranks)), 12, 100 * US_PS)
    rings = len(graph.flows.rows)
    for rank in range(ranks):
        graph.message(rank, ranks + rank, 30_000_000)
    full = graph.run(racks(2, ranks))

    got = graph.run(racks(2, ranks), skip_ppm=10_000, remember=True)

    assert replayed(got) == 2 * 11
    assert got["skips"]["skipped_ps"].sum() > 0.3 * MS_PS
    for column in ("start_ps", "receiver_end_ps", "sender_end_ps", "sent_data_packets"):
        assert got["flows"][column][:rings].tolist() == full["flows"][column][:rings].tolist()
    assert got.fcts_ps()[rings:] == pytest.approx(full.fcts_ps()[rings:], rel=0.005)
    # and counters of the racks are exact: nothing of what is replayed is taken for a rate.
    for got_port, port in zip(*(rows_of_racks(one) for one in (got, full)), strict=True):
        assert got_port == port


def rows_of_racks(got):
    """Return the rows of ports of racks' switches, without their peaks."""
    ports = got["ports"]
    here = (ports["node"] >= 1000) & (ports["node"] < 2000)
    names = [name for name in ports if not name.startswith("max_")]
    return list(zip(*(ports[name][here].tolist() for name in names), strict=True))


def random_graph(seed):
    """Draw a pattern of messages in racks, repeated after computations, and what disturbs it."""
    rng = np.random.default_rng(seed)
    n_racks, ranks = int(rng.integers(1, 4)), int(rng.integers(2, 6))
    graph = Graph()
    sizes = [1, MTU, 50_000, 120_001]
    pattern = [
        (int(src), int((src + rng.integers(1, ranks)) % ranks), int(rng.choice(sizes)),
         sorted(int(i) for i in np.flatnonzero(rng.random(n) < 1.5 / (n + 1))))
        for n, src in enumerate(rng.integers(0, ranks, int(rng.integers(3, 12))))
    ]  # fmt: skip
    compute_ps = [int(ps) for ps in rng.choice([0, 1, 3 * US_PS, 7 * US_PS], ranks)]
    for rack in range(n_racks):
        hosts = [rack * ranks + rank for rank in range(ranks)]
        at = [None] * ranks
        for _ in range(int(rng.integers(3, 7))):
            begun = [
                graph.task(host, ps + 2 * US_PS, [(one, 0)] if one is not None else [])
                for host, one, ps in zip(hosts, at, compute_ps, strict=True)
            ]
            at = once(graph, hosts, pattern, begun)
    disturb(graph, rng, n_racks * ranks, ranks)
    return graph, racks(n_racks, ranks)


def once(graph, hosts, pattern, begun):
    """Add the pattern once; a message waits for those before it that its source knows of."""
    items, ends = [], [[(one, 0)] for one in begun]
    for src, dst, size_bytes, before in pattern:
        after = [(begun[src], 0)]
        for other in before:
            if pattern[other][0] == src:
                after.append((items[other], 1))
            elif pattern[other][1] == src:
                after.append((items[other], 0))
        items.append(graph.message(hosts[src], hosts[dst], size_bytes, after))
        ends[src].append((items[-1], 1))
        ends[dst].append((items[-1], 0))
    return [graph.task(host, 0, after, BARRIER) for host, after in zip(hosts, ends, strict=True)]


def disturb(graph, rng, n_hosts, ranks):
    """Add messages at times of their own, in racks and on rails, some of which wait for others."""
    for _ in range(int(rng.integers(0, 6))):
        src = int(rng.integers(n_hosts))
        stays = rng.random() < 0.4 or n_hosts == ranks
        rack, rank = divmod(src, ranks)
        if stays:
            dst = rack * ranks + (rank + int(rng.integers(1, ranks))) % ranks
        else:
            dst = (src + ranks * int(rng.integers(1, n_hosts // ranks))) % n_hosts
        first = graph.message(src, dst, int(rng.integers(1, 400_000)),
                              start_ps=int(rng.integers(0, 150)) * US_PS)  # fmt: skip
        if rng.random() < 0.5:
            graph.message(dst, dst // ranks * ranks + (dst + 1) % ranks
                          if (dst + 1) % ranks != dst % ranks else src,
                          int(rng.integers(1, 50_000)), [(first, 0)])  # fmt: skip


def test_random_graphs_are_as_full_runs_are():
    episodes, executed = 0, 0
    for seed in range(GRAPHS):
        graph, network = random_graph(seed)
        got = same(graph, network, [SPRAY, ROCE][seed % 2 : seed % 2 + 1], seed=seed + 1)
        episodes += replayed(got)
        executed += int((got["replayed_flows"]["replayed_packets"] == 0).sum())
    assert episodes > GRAPHS / 2
    assert executed > 10 * GRAPHS


def test_beside_skips_just_what_was_foreseen_comes():
    # The engine ends a run in which a message starts on an island that replays something else.
    # Long messages on the rails are skipped, with the largest tolerance, and others in the racks
    # wait for them.
    episodes, jumps = 0, 0
    for seed in range(GRAPHS):
        graph, network = random_graph(seed)
        ranks = sum(switch >= 2000 for switch, _ in network.switches)
        hosts = len(network.hosts)
        rng = np.random.default_rng(10_000 + seed)
        for src in rng.integers(0, hosts, 3 if hosts > ranks else 0).tolist():
            dst = (src + ranks) % hosts
            long = graph.message(src, dst, int(rng.integers(2, 8)) * 1_000_000)
            near = dst // ranks * ranks + (dst + 1) % ranks
            graph.message(dst, near if near != dst else src, 30_000, [(long, 0)])
        got = graph.run(network, skip_ppm=100_000, remember=True, seed=seed + 1)
        assert (got["flows"]["receiver_end_ps"] >= got["flows"]["start_ps"]).all()
        episodes += replayed(got)
        jumps += len(got["skips"]["time_ps"])
    assert episodes > GRAPHS / 2
    assert jumps > GRAPHS / 2


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
