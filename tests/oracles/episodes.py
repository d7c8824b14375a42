# SPDX-License-Identifier: GPL-2.0-only
"""Graphs of messages and computations in racks, with episodes that are replayed and without."""

from dataclasses import dataclass, field

from oracle_network import GBPS, NS_PS, Flows, Network, run

COMPUTATION, BARRIER = 0, 2
TASKS = 1_000_000  # ids of tasks begin here
SPRAY, ROCE = ("ns3::SprayTransport", {}), ("ns3::RoceTransport", {})
#: What says how much was executed, and that differs if less was.
EXECUTED = ("events", "frames_allocated_peak", "memory_bytes")
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
