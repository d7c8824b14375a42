# SPDX-License-Identifier: GPL-2.0-only
"""Small networks written by hand, and the engine run on them; no oracle lives here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pyorch.simulate import run as running
from pyorch.simulate.fabric import Fabric, output_columns
from pyorch.spec import typeids
from pyorch.spec.sections import key_of
from tests import alone

GBPS = 10**9
NS_PS = 1000
US_PS = 10**6
MS_PS = 10**9
NEVER = -1

Columns = dict[str, np.ndarray]


@dataclass
class Network:
    """Hosts, switches and links, as rows of the engine's input tables."""

    hosts: list[int] = field(default_factory=list)
    switches: list[tuple[int, int]] = field(default_factory=list)  # (id, tier)
    #: (a, b, parallel, rate_bps, delay_ps, loss, bit error ratio)
    links: list[tuple] = field(default_factory=list)

    def link(self, a, b, rate_bps, delay_ps, *, parallel=0, loss=0.0, bit_errors=0.0):
        self.links.append((a, b, parallel, rate_bps, delay_ps, loss, bit_errors))

    def nodes_table(self) -> Columns:
        rows = [(host, 0, 0) for host in self.hosts]
        rows += [(switch, 1, tier) for switch, tier in self.switches]
        return _columns(rows, ("node", "is_switch", "tier"))

    def links_table(self) -> Columns:
        names = ("node_a", "node_b", "parallel", "rate_bps", "delay_ps", "loss_ratio")
        table = _columns(self.links, names)
        table["loss_ratio"] = np.array([row[5] for row in self.links], dtype=np.float64)
        table["bit_error_ratio"] = np.array([row[6] for row in self.links], dtype=np.float64)
        return table


@dataclass
class Flows:
    """Rows of the engine's table of flows; ids count from 0 unless given."""

    rows: list[tuple] = field(default_factory=list)

    def add(self, src, dst, size_bytes, start_ps=0, *, transport=0, flow=None) -> int:
        flow = len(self.rows) if flow is None else flow
        self.rows.append((flow, src, dst, size_bytes, start_ps, transport))
        return flow

    def table(self) -> Columns:
        return _columns(self.rows, ("flow", "src", "dst", "bytes", "start_ps", "transport"))


def one_flow(src, dst, size_bytes, start_ps=0) -> Flows:
    flows = Flows()
    flows.add(src, dst, size_bytes, start_ps)
    return flows


def line(rates_bps: Sequence[int], delays_ps: Sequence[int]) -> Network:
    """Return host 0 and host 1 joined by a chain of links, a switch between any two of them."""
    network = Network(hosts=[0, 1])
    network.switches = [(10 + i, 1) for i in range(len(rates_bps) - 1)]
    chain = [0, *(switch for switch, _ in network.switches), 1]
    for i, (rate_bps, delay_ps) in enumerate(zip(rates_bps, delays_ps, strict=True)):
        network.link(chain[i], chain[i + 1], rate_bps, delay_ps)
    return network


def star(n_hosts: int, rate_bps: int, delay_ps: int) -> Network:
    """Return hosts 0..n-1 around switch 1000."""
    network = Network(hosts=list(range(n_hosts)), switches=[(1000, 1)])
    for host in network.hosts:
        network.link(host, 1000, rate_bps, delay_ps)
    return network


def leaf_spine(leaves: int, hosts_per_leaf: int, spines: int, rate_bps: int, delay_ps: int):
    """Return hosts 0.., leaves 10000.., spines 20000..; leaf 10000 + l has hosts l * per leaf .."""
    network = Network(hosts=list(range(leaves * hosts_per_leaf)))
    network.switches = [(10_000 + leaf, 1) for leaf in range(leaves)]
    network.switches += [(20_000 + spine, 2) for spine in range(spines)]
    for host in network.hosts:
        network.link(host, 10_000 + host // hosts_per_leaf, rate_bps, delay_ps)
    for leaf in range(leaves):
        for spine in range(spines):
            network.link(10_000 + leaf, 20_000 + spine, rate_bps, delay_ps)
    return network


def fat_tree(k: int, rate_bps: int, delay_ps: int) -> Network:
    """Return k pods of k / 2 leaves (10000..) and k / 2 switches above them (20000..); k even.

    Hosts count from 0, k / 2 below each leaf; switch a of each pod has k / 2 cores (30000..).
    """
    half = k // 2
    network = Network(hosts=list(range(k * half * half)))
    network.switches = [(10_000 + i, 1) for i in range(k * half)]
    network.switches += [(20_000 + i, 2) for i in range(k * half)]
    network.switches += [(30_000 + i, 3) for i in range(half * half)]
    for host in network.hosts:
        network.link(host, 10_000 + host // half, rate_bps, delay_ps)
    for pod in range(k):
        for a in range(half):
            middle = 20_000 + pod * half + a
            for other in range(half):
                network.link(10_000 + pod * half + other, middle, rate_bps, delay_ps)
                network.link(middle, 30_000 + a * half + other, rate_bps, delay_ps)
    return network


def inter_leaf_permutation(leaves: int, hosts_per_leaf: int, rng) -> np.ndarray:
    """Return a destination per host, each host once, none under the leaf of its source."""
    hosts = leaves * hosts_per_leaf
    leaf = np.arange(hosts) // hosts_per_leaf
    destination = rng.permutation(hosts)
    while (bad := np.flatnonzero(leaf[destination] == leaf)).size:
        other = rng.integers(0, hosts, bad.size)
        for i, j in zip(bad, other, strict=True):
            destination[[i, j]] = destination[[j, i]]
    return destination


@dataclass
class Captures:
    """Hosts whose frames go to ``host_<id>.pcap`` in a folder."""

    folder: Path
    hosts: Sequence[int]
    snaplen_bytes: int = 65535


@dataclass
class Outcome:
    """Output tables of one run; why it ended, as its user is told, if flows are unfinished."""

    tables: dict[str, Columns]
    cycle: list[int] = field(default_factory=list)  # switches of a PFC deadlock
    stop_reason: str = ""

    def __getitem__(self, table: str) -> Columns:
        return self.tables[table]

    def flow(self, flow: int) -> dict[str, int]:
        row = int(np.flatnonzero(self["flows"]["flow"] == flow)[0])
        return {name: int(values[row]) for name, values in self["flows"].items()}

    def fct_ps(self, flow: int = 0) -> int:
        found = self.flow(flow)
        assert found["receiver_end_ps"] != NEVER, f"flow {flow} did not finish"
        return found["receiver_end_ps"] - found["start_ps"]

    def fcts_ps(self) -> np.ndarray:
        assert (self["flows"]["receiver_end_ps"] != NEVER).all(), "a flow did not finish"
        return self["flows"]["receiver_end_ps"] - self["flows"]["start_ps"]

    def port(self, node: int, peer: int, parallel: int = 0) -> dict[str, int]:
        ports = self["ports"]
        here = (ports["node"] == node) & (ports["peer"] == peer) & (ports["parallel"] == parallel)
        row = int(np.flatnonzero(here)[0])
        return {name: int(values[row]) for name, values in ports.items()}

    def drops(self) -> int:
        ports = self["ports"]
        return sum(int(ports[name].sum()) for name in ports if name.startswith("dropped_"))

    def paths(self) -> dict[int, list[tuple[int, int, int]]]:
        """Return the links (node, peer, parallel) of each flow in order."""
        found: dict[int, list] = {}
        columns = (self["paths"][name] for name in ("flow", "node", "peer", "parallel"))
        for flow, *link in zip(*columns, strict=True):
            found.setdefault(int(flow), []).append(tuple(int(part) for part in link))
        return found


def run(
    network: Network,
    flows: Flows,
    transports: Sequence[tuple[str, Mapping]] = (("ns3::RoceTransport", {}),),
    *,
    forwarding: str | tuple[str, Mapping] | None = "ns3::EcmpHash",
    queue: tuple[str, Mapping] | None = None,
    pfc: Mapping | None = None,
    drops: Sequence[tuple[int, int, int]] = (),
    link_events: Sequence[tuple[int, int, int, int]] = (),
    dependencies: Sequence[tuple[int, int, int]] = (),
    tasks: Sequence[tuple[int, int, int, int, int]] = (),
    sampled: Sequence[int] = (),
    captures: Captures | None = None,
    seed: int = 1,
    stop_ps: int = 10**12,
    **options,
) -> Outcome:
    """Run the engine in this process; one network lives at a time.

    Parameters
    ----------
    pfc : mapping, optional
        Attributes of ns3::Pfc; None is a network without flow control.
    drops : sequence of (node, peer, ordinal)
        Scripted losses.
    link_events : sequence of (time_ps, node_a, node_b, rate_bps), maybe with rate_back_bps
        New rates of links; 0 is a cut.
    dependencies : sequence of (flow, after, at_sender) or (flow, after, at_sender, delay_ps)
        Flows that wait for others.
    tasks : sequence of (task, kind, node, stream, duration_ps)
        Computations, kind 0, and barriers, kind 2.
    sampled : sequence of int
        Nodes whose ports are sampled; none: all.
    captures : Captures, optional
        Hosts whose frames go to pcap files.
    options
        ``engine`` (packets), ``skip_ppm``, ``threads``, ``domains``, ``program`` and
        ``scheduler`` of switches, ``link_control``, ``host`` (options of all transports),
        ``loss_changes`` (rows of time_ps, node, peer, loss_ratio, bit_error_ratio);
        of sections of a resolved spec: ``framing_bytes``, ``buffer_bytes``, ``arrivals``.
    """
    return run_tables(
        network.nodes_table(),
        network.links_table(),
        flows.table(),
        transports,
        forwarding=forwarding,
        queue=queue,
        pfc=pfc,
        drops=drops,
        link_events=link_events,
        dependencies=dependencies,
        tasks=tasks,
        sampled=sampled,
        captures=captures,
        seed=seed,
        stop_ps=stop_ps,
        **options,
    )


def run_tables(
    nodes, links, flows, transports, *, forwarding, queue, pfc, drops, seed, stop_ps,
    link_events=(), dependencies=(), tasks=(), sampled=(), captures=None, engine="packets",
    program=None, scheduler=None, link_control=None, skip_ppm=None, threads=1, domains=None,
    host=None, loss_changes=(), **options,
) -> Outcome:  # fmt: skip
    """Run on tables as they stand, also on wrong ones."""
    fabric = Fabric(seed=seed)
    say(fabric, options)
    fabric.threads, fabric.domains = threads, domains
    if engine != "packets":
        fabric.engine = {"type": engine}
    if skip_ppm:
        fabric.engine = {"skip_ppm": skip_ppm}
    fabric.table("nodes", nodes)
    fabric.table("links", links)
    fabric.table("flows", flows)
    if drops:
        fabric.table("drops", _columns(drops, ("node", "peer", "ordinal")))
    if link_events:
        names = ("time_ps", "node_a", "node_b", "rate_bps", "rate_back_bps")
        fabric.table("link_events", _columns(link_events, names[: len(link_events[0])]))
    if loss_changes:
        columns = _columns(loss_changes, ("time_ps", "node", "peer"))
        for name, place in (("loss_ratio", 3), ("bit_error_ratio", 4)):
            columns[name] = np.array([row[place] for row in loss_changes], dtype=np.float64)
        fabric.table("loss_changes", columns)
    if dependencies:
        names = ("flow", "after", "at_sender", "delay_ps")
        rows = [(*row, 0)[:4] for row in dependencies]
        fabric.table("dependencies", _columns(rows, names))
    if tasks:
        names = ("task", "kind", "node", "stream", "duration_ps")
        fabric.table("tasks", _columns(tasks, names))
    if sampled:
        fabric.table("sampled", {"node": np.array(sampled, dtype=np.int64)})
    if forwarding:
        fabric.forwarding(*([forwarding] if isinstance(forwarding, str) else forwarding))
    if queue:
        fabric.queue(*queue)
    if scheduler:
        fabric.scheduler(*scheduler)
    if program:
        fabric.program(*([program] if isinstance(program, str) else program))
    if pfc is not None:
        fabric.flow_control("ns3::Pfc", pfc)
    if link_control:
        fabric.flow_control(*([link_control] if isinstance(link_control, str) else link_control))
    for type_name, attributes in transports:
        index = fabric.transport(type_name, attributes)
        if host:
            fabric.host(index, **host)
    if captures:
        fabric.trace(snaplen_bytes=captures.snaplen_bytes)
    for host in captures.hosts if captures else ():
        fabric.capture(host)
    return run_fabric(fabric, stop_ps, captures.folder if captures else Path())


def say(fabric: Fabric, options: Mapping[str, object]) -> None:
    """Give options, by their keys in a resolved spec, to the section that has them."""
    types = typeids.load()
    left = dict(options)
    for section in ("wire", "switch", "trace"):
        known = [key_of(a["name"]) for a in types.section(f"ns3::{section.title()}")]
        getattr(fabric, section)(**{key: left.pop(key) for key in known if key in left})
    assert not left, left


def run_fabric(fabric: Fabric, stop_ps: int, out: Path = Path()) -> Outcome:
    facade = fabric.build(fabric.load(), out)
    try:
        while not facade.RunSlice(stop_ps, 60.0):
            pass
        facade.Finish()
        got = Outcome(output_columns(facade))
        assert got["ports"].get("refused_verdicts", np.zeros(1)).sum() == 0, "not possible"
        if facade.FlowsDone() < facade.FlowsTotal():
            got.cycle = [int(node) for node in facade.DeadlockCycle()]
            got.stop_reason = running._stop_reason(facade)
        alone.check_outcome(fabric, got.tables)
        return got
    finally:
        facade.__destruct__()  # now, not when the garbage collector comes by


def _columns(rows: Sequence[tuple], names: Sequence[str]) -> Columns:
    return {
        name: np.array([row[i] for row in rows], dtype=np.int64) for i, name in enumerate(names)
    }
