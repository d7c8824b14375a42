# SPDX-License-Identifier: GPL-2.0-only
"""Random networks, loads, failures, buffers and transports; no oracle lives here.

Topologies, loads and outages come out of the generators that scenarios use.
"""

import csv
import tempfile
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import numpy as np
from conservation_run import Case, headroom_bytes, largest_frame_bytes
from hypothesis import strategies as st
from oracle_network import GBPS, MS_PS, NS_PS, US_PS, Columns

from pyorch import plugins
from pyorch.failure._outage import link_events, together
from pyorch.spec import typeids

#: Long after all else is over: while the probe is on its way, nothing else is.
PROBE_PS = 2000 * MS_PS
#: Enough for timeouts that have doubled as often as they may, again and again.
AMPLE_STOP_PS = 12_000 * MS_PS
#: Where a message never fits, it would be sent again and again until then.
HOPELESS_STOP_PS = 50 * MS_PS
#: Outages begin before this; those that end have ended by a few times this.
TROUBLE_PS = 300 * US_PS
MOST_FLOWS = 24

RATES = st.sampled_from([rate * GBPS for rate in (1, 7, 10, 56, 100, 400, 800)])
DELAYS_PS = st.sampled_from([1, 999, 50 * NS_PS, 500 * NS_PS, 2 * US_PS, 20 * US_PS])
LOSSES = st.sampled_from([0.0, 0.0, 0.0, 1e-3, 2e-2])
SIZES = st.one_of(
    st.sampled_from([1, 2, 255, 256, 257, 4096, 4097]), st.integers(1, 9_000), st.integers(1, 10**5)
)
STARTS_PS = st.sampled_from([0, 0, 0, 1, 5 * US_PS, 123_456_789])


# ---- topologies


@dataclass
class Net:
    """Node and link tables and what their generator counts."""

    nodes: Columns
    links: Columns
    counts: dict[str, int]

    @property
    def hosts(self) -> list[int]:
        return self.nodes["node"][self.nodes["is_switch"] == 0].tolist()

    @property
    def switches(self) -> list[int]:
        return self.nodes["node"][self.nodes["is_switch"] == 1].tolist()


@st.composite
def networks(draw) -> Net:
    """Return any topology that a scenario can name, some of its links unlike the others."""
    link = {"rate_bps": draw(RATES), "delay_ps": draw(DELAYS_PS), "loss_ratio": draw(LOSSES)}
    kind = draw(st.sampled_from(["leaf_spine", "fat_tree", "dumbbell", "from_file"]))
    with tempfile.TemporaryDirectory() as folder:
        given = draw(PARAMETERS[kind](link, Path(folder)))
        module = plugins.load("pyorch.topology", kind)
        params = module.Params.model_validate(given, context={"link": link, "folder": folder})
        tables, counts = module.tables(params, link), module.counts(params)
    links = {name: column.copy() for name, column in tables["links"].items()}
    for row in draw(st.lists(st.integers(0, len(links["node_a"]) - 1), max_size=3)):
        links["rate_bps"][row] = draw(RATES)
        links["loss_ratio"][row] = draw(st.sampled_from([0.0, 0.0, 0.2]))
    ratio = draw(st.sampled_from([0.0, 0.0, 0.0, 1e-6]))  # loses 3 % of frames of 4 kB
    links["bit_error_ratio"] = np.full(len(links["node_a"]), ratio)
    return Net(tables["nodes"], links, counts)


def uplinks(draw) -> tuple[str, str]:
    return f"{draw(RATES)} bit/s", f"{draw(DELAYS_PS)} ps"


@st.composite
def leaf_spine(draw, link, folder) -> dict:
    rate, delay = uplinks(draw)
    per_leaf = draw(st.integers(1, 4))
    return {
        "leaves": draw(st.integers(1 if per_leaf > 1 else 2, 4)),
        "hosts_per_leaf": per_leaf,
        "spines": draw(st.integers(1, 3)),
        "parallel": draw(st.integers(1, 2)),
        "planes": draw(st.integers(1, 2)),
        "uplink_rate": rate,
        "uplink_delay": delay,
    }


@st.composite
def fat_tree(draw, link, folder) -> dict:
    tiers = draw(st.integers(2, 4))
    half = draw(st.sampled_from([1, 2, 3] if tiers == 2 else [1, 2]))
    ups = [draw(st.sampled_from([up for up in (1, 2, 3) if half % up == 0]))
           for _ in range(tiers - 1)]  # fmt: skip
    parallel = [draw(st.sampled_from([p for p in (1, 2, 3) if up % p == half % p == 0]))
                for up in ups]  # fmt: skip
    hosts_of_pod = half * prod(half // p for p in parallel[:-1])
    return {
        "tiers": tiers,
        "radix": 2 * half,
        "oversubscription": [half / up for up in ups],
        "parallel": parallel,
        "pods": draw(st.integers(1 if hosts_of_pod > 1 else 2, 2 * half // parallel[-1])),
        "planes": draw(st.integers(1, 2)),
    }


@st.composite
def dumbbell(draw, link, folder) -> dict:
    rate, delay = uplinks(draw)
    return {
        "left": draw(st.integers(1, 4)),
        "right": draw(st.integers(1, 4)),
        "parallel": draw(st.integers(1, 3)),
        "bottleneck_rate": rate,
        "bottleneck_delay": delay,
    }


@st.composite
def from_file(draw, link, folder) -> dict:
    """Write a connected graph of switches, with cycles, and hosts with one or two links each."""
    n_switches, n_hosts = draw(st.integers(1, 6)), draw(st.integers(2, 7))
    ids = draw(st.permutations(range(n_switches + n_hosts)))
    switches, hosts = ids[:n_switches], ids[n_switches:]
    any_switch = st.sampled_from(switches)
    pairs = [(switches[i], switches[draw(st.integers(0, i - 1))]) for i in range(1, n_switches)]
    extra = draw(st.lists(st.tuples(any_switch, any_switch), max_size=6))
    pairs += [pair for pair in extra if pair[0] != pair[1]]
    for host in hosts:
        pairs += [(host, switch) for switch in draw(st.lists(any_switch, min_size=1, max_size=2))]
    seen: dict[tuple, int] = {}
    rows = []
    for a, b in pairs:
        key = (min(a, b), max(a, b))
        seen[key] = seen.get(key, -1) + 1
        rows.append((a, b, seen[key], draw(RATES), draw(DELAYS_PS), draw(LOSSES)))
    names = ("node_a", "node_b", "parallel", "rate_bps", "delay_ps", "loss_ratio")
    _write(folder / "links.csv", names, rows)
    _write(folder / "nodes.csv", ("node", "is_switch"),
           [(i, int(i in switches)) for i in ids])  # fmt: skip
    return {"nodes": "nodes.csv", "links": "links.csv"}


PARAMETERS = {
    "leaf_spine": leaf_spine, "fat_tree": fat_tree, "dumbbell": dumbbell, "from_file": from_file
}  # fmt: skip


def _write(path: Path, names: tuple, rows: list[tuple]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])


@st.composite
def rings(draw) -> Net:
    """Return switches in a ring with a host at each: what goes half round closes the circle."""
    n, rate = draw(st.integers(4, 6)), draw(RATES)
    link = {"rate_bps": rate, "delay_ps": draw(DELAYS_PS)}
    nodes = {
        "node": np.arange(2 * n),
        "is_switch": np.repeat([0, 1], n),
        "tier": np.repeat([0, 1], n),
        "plane": np.zeros(2 * n, dtype=np.int64),
    }
    host, switch = np.arange(n), n + np.arange(n)
    links = {
        "node_a": np.concatenate([host, switch]),
        "node_b": np.concatenate([switch, np.roll(switch, -1)]),
        "parallel": np.zeros(2 * n, dtype=np.int64),
        **{name: np.full(2 * n, value) for name, value in link.items()},
        "loss_ratio": np.zeros(2 * n),
        "bit_error_ratio": np.zeros(2 * n),
    }
    return Net(nodes, links, {"hosts": n, "hosts_per_leaf": 1})


# ---- loads


@st.composite
def loads(draw, net: Net, n_transports: int) -> Columns:
    """Return the flows of one or two workloads, cut to what a test can carry."""
    parts = []
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from([*WORKLOADS, "flow_table"]))
        part = draw(listed(net) if kind == "flow_table" else generated(net, kind))
        rows = min(len(part["src"]), MOST_FLOWS)
        of_load = np.full(rows, draw(st.integers(0, n_transports - 1)))
        parts.append({**{name: column[:rows] for name, column in part.items()},
                      "transport": of_load})  # fmt: skip
    flows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    largest = draw(st.sampled_from([3_000, 60_000, 200_000]))
    flows["bytes"] = np.minimum(flows["bytes"], largest)
    first, step = draw(st.integers(0, 5)), draw(st.sampled_from([1, 7]))
    flows["flow"] = first + step * np.arange(len(flows["src"]))
    return flows


@st.composite
def dependencies(draw, flows: Columns) -> Columns:
    """Return flows that wait for others, each for some with a smaller id."""
    n = len(flows["flow"])
    if n < 2 or draw(st.booleans()):
        return {}
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] < p[1])
    rows = draw(st.dictionaries(pairs, st.integers(0, 1), min_size=1, max_size=6))
    after, flow = (np.array(column) for column in zip(*rows, strict=True))
    return {
        "flow": flows["flow"][flow],
        "after": flows["flow"][after],
        "at_sender": np.array(list(rows.values())),
    }


@st.composite
def generated(draw, net: Net, kind: str) -> Columns:
    module = plugins.load("pyorch.workload", kind)
    given = draw(WORKLOADS[kind](net.counts))
    params = module.Params.model_validate(given)
    module.check(params, net.counts)
    return module.flows(params, net.nodes, net.links, draw(st.integers(1, 1000)))


@st.composite
def listed(draw, net: Net) -> Columns:
    """Return any pairs, also the same again and again, through a file."""
    pair = st.lists(st.sampled_from(net.hosts), min_size=2, max_size=2, unique=True)
    rows = draw(st.lists(st.tuples(pair, SIZES, STARTS_PS), min_size=1, max_size=12))
    module = plugins.load("pyorch.workload", "flow_table")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flows.csv"
        names = ("src", "dst", "bytes", "start_ps")
        _write(path, names, [(*pair, size, start) for pair, size, start in rows])
        params = module.Params.model_validate({"file": "flows.csv"}, context={"folder": folder})
        return module.flows(params, net.nodes, net.links, 1)


@st.composite
def alike(draw, **more) -> dict:
    given = {name: draw(values) for name, values in more.items()}
    return {"message": f"{draw(SIZES)} B", "start": f"{draw(STARTS_PS)} ps", **given}


def permutation(counts):
    fits = counts["hosts_per_leaf"] * 2 <= counts["hosts"]
    return alike(inter_leaf=st.booleans() if fits else st.just(False))


def outcast_incast(counts):
    most = counts["hosts"] - 1
    return st.integers(1, most).flatmap(
        lambda n: alike(
            targets=st.just(n),
            senders=st.integers(1, counts["hosts"] - n),
            random_hosts=st.booleans(),
        )
    )


def poisson(counts):
    return st.fixed_dictionaries(
        {
            "load": st.sampled_from([0.1, 0.9]),
            "duration": st.sampled_from(["10 us", "100 us"]),
            "sizes": st.sampled_from(["fb_hdp", "websearch", "ali_storage_2019"]),
            "start": st.just("0 ps"),
        }
    )


WORKLOADS = {
    "permutation": permutation,
    "stride": lambda c: alike(stride=st.integers(1, c["hosts"] - 1)),
    "incast": lambda c: alike(
        senders=st.integers(1, c["hosts"] - 1),
        receiver=st.integers(0, c["hosts"] - 1),
        random_senders=st.booleans(),
    ),
    "outcast_incast": outcast_incast,
    "all_to_all": lambda c: alike(hosts=st.integers(2, min(5, c["hosts"]))),
    "single": lambda c: alike(target=st.integers(1, c["hosts"] - 1)),
    "poisson": poisson,
}


# ---- transports

COMMON = {
    "MtuBytes": st.sampled_from([256, 1000, 4096]),
    "Priority": st.sampled_from([2, 3, 3, 3, 4]),
    "ControlPriority": st.sampled_from([6, 6, 6, 3, 0]),
    "Rto": st.sampled_from(["100us", "300us"]),
}
ROCE = {
    **COMMON,
    "Recovery": st.sampled_from(["GoBackN", "SelectiveRepeat"]),
    "AckInterval": st.sampled_from([1, 1, 4]),
    "WindowBytes": st.sampled_from([0, 0, 1, 20_000]),
    "ReorderPackets": st.sampled_from([1, 8]),
    "MaxBackoff": st.sampled_from([4, 7]),
    "Entropy": st.sampled_from(["ns3::FlowEntropy"] * 3 + ["ns3::RandomEntropy[Paths=3]"]),
    "EcnCapable": st.booleans(),
}
SPRAY = {
    **COMMON,
    "Entropy": st.sampled_from(
        [
            "ns3::PermutedEntropy",
            "ns3::PermutedEntropy[Paths=5]",
            "ns3::RandomEntropy",
            "ns3::FlowEntropy",
        ]
    ),
    "WindowBdp": st.sampled_from([0.1, 1.0, 3.0]),
    "ReorderPackets": st.sampled_from([0, 1, 8]),
}
TRANSPORTS = st.lists(
    st.one_of(
        st.tuples(st.just("ns3::RoceTransport"), st.fixed_dictionaries(ROCE)),
        st.tuples(st.just("ns3::SprayTransport"), st.fixed_dictionaries(SPRAY)),
    ),
    min_size=1,
    max_size=3,
)
#: One small packet that is sent again when it is lost, but not while it may still be on its way.
PROBE_TRANSPORT = ("ns3::SprayTransport", {"Rto": "2ms"})


# ---- switches


def forwarding_policies() -> list[tuple[str, dict]]:
    """Return every policy that the modules have, and some with other attributes."""
    known = typeids.load(typeids.TYPEIDS_FILE).choices("forwarding")
    more = [("ns3::LeastLoaded", {"Choices": 0}), ("ns3::Flowlet", {"Gap": "1us"})]
    return [(name, {}) for name in known] + more


@st.composite
def switches(draw, net: Net, transports: list, options: dict) -> dict:
    """Return buffer, queue and flow control that an engine accepts together."""
    frame = largest_frame_bytes(transports)
    if draw(st.booleans()):
        pfc, buffer_bytes = draw(flow_control(net, transports, options))
    else:
        sizes = [0, 10**7, 200_000, 3 * frame, frame, frame - 1]
        pfc, buffer_bytes = None, draw(st.sampled_from(sizes))
    return {"buffer_bytes": buffer_bytes, "pfc": pfc, "queue": draw(queues(frame, buffer_bytes))}


@st.composite
def queues(draw, frame: int, buffer_bytes: int) -> tuple[str, dict] | None:
    kind = draw(st.sampled_from([None, "ns3::DropTail", "ns3::RedEcn", "ns3::PerPriority"]))
    if kind is None:
        return None
    if kind == "ns3::PerPriority":
        return kind, {"Priority3": "ns3::RedEcn[KminBytes=0|KmaxBytes=5000]"}
    attributes = {"LimitBytes": draw(st.sampled_from([0, 0, 20_000, frame, frame - 1]))}
    if buffer_bytes:
        attributes["Alpha"] = draw(st.sampled_from([0, 0, 0.125, 1, 8]))
    if kind == "ns3::RedEcn":
        kmin, width = draw(st.sampled_from([0, 5_000])), draw(st.sampled_from([0, 20_000]))
        pmax = draw(st.sampled_from([0.2, 1]))
        attributes |= {"KminBytes": kmin, "KmaxBytes": kmin + width, "Pmax": pmax}
    return kind, attributes


@st.composite
def flow_control(draw, net: Net, transports: list, options: dict) -> tuple[dict, int]:
    """Return attributes of ns3::Pfc, and a buffer that holds what they ask for."""
    frame = largest_frame_bytes(transports)
    xoff = draw(st.sampled_from([1, frame, 20_000, 100_000]))
    of_data = sum({1 << given.get("Priority", 3) for _, given in transports})
    pfc = {
        "XoffBytes": xoff,
        "XonOffsetBytes": draw(st.sampled_from([0, xoff // 2, xoff])),
        "Alpha": draw(st.sampled_from([0, 0, 0.125, 1, 8])),
        "HeadroomBytes": draw(st.sampled_from([0, 0, 0, frame, 30_000])),
        "Priorities": draw(st.sampled_from([of_data, of_data, 8, 255])),
    }
    if not pfc["Alpha"] and draw(st.booleans()):
        return pfc, 0
    ports = np.concatenate([net.links["node_a"], net.links["node_b"]])
    each = np.tile(headroom_bytes(net.links, pfc, transports, options), 2)
    each += 0 if pfc["Alpha"] else xoff
    needed = int(np.bincount(ports, weights=each)[net.switches].max())
    slack = draw(st.sampled_from([0, 5_000, 10**6]))
    return pfc, needed * pfc["Priorities"].bit_count() + slack


@st.composite
def pipelines(draw) -> dict:
    return {
        "framing_bytes": draw(st.sampled_from([20, 20, 0])),
        "switch_delay_ps": draw(st.sampled_from([0, 0, 300 * NS_PS])),
        "cut_through_bytes": draw(st.sampled_from([0, 0, 64, 1000])),
        "convergence_ps": draw(st.sampled_from([0, 5 * US_PS, 100 * US_PS])),
    }


# ---- trouble

MOMENTS = st.integers(0, TROUBLE_PS)
LENGTHS_PS = st.sampled_from([1, 100 * NS_PS, US_PS, 3 * US_PS, 30 * US_PS, 200 * US_PS])


@st.composite
def trouble(draw, net: Net) -> Columns:
    """Return when links change, from kinds of failure or as any list of changes."""
    kind = draw(st.sampled_from(["none", "none", "failures", "changes"]))
    if kind == "none":
        return {}
    if kind == "changes":
        return draw(changes(net))
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(["scheduled", "scheduled", "random"]))
        given = draw(scheduled(net) if name == "scheduled" else at_random(net))
        module = plugins.load("pyorch.failure", name)
        params = module.Params.model_validate(given)
        module.check(params, net.nodes, net.links, AMPLE_STOP_PS)
        seed = draw(st.integers(1, 1000))
        parts.append(module.outages(params, net.nodes, net.links, seed, TROUBLE_PS))
    return link_events(together(parts), net.links)


@st.composite
def scheduled(draw, net: Net) -> dict:
    row = draw(st.integers(0, len(net.links["node_a"]) - 1))
    ends = [int(net.links[name][row]) for name in ("node_a", "node_b")]
    what = draw(
        st.sampled_from(
            [
                {"links": [ends]},
                {"links": [ends]},
                {"switches": [draw(st.sampled_from(net.switches))]},
                {"planes": [draw(st.sampled_from(np.unique(net.nodes["plane"]).tolist()))]},
            ]
        )
    )
    length = draw(LENGTHS_PS)
    given = {**what, "at": f"{draw(MOMENTS)} ps", "duration": f"{length} ps"}
    again = draw(st.sampled_from(["once", "once", "flaps", "for good"]))
    if again == "flaps":
        gap = draw(LENGTHS_PS)
        given |= {"times": draw(st.integers(2, 4)), "every": f"{length + gap} ps"}
    elif again == "for good":
        del given["duration"]
    if draw(st.booleans()):
        given["rate"] = f"{draw(RATES)} bit/s"
    return given


@st.composite
def at_random(draw, net: Net) -> dict:
    kinds = ["links", "fabric_links", "switches", "planes"]
    given = {
        "what": draw(st.sampled_from(kinds if len(net.switches) > 1 else ["links", "switches"])),
        "mtbf": "200 us",
        "mttr": f"{draw(LENGTHS_PS)} ps",
    }
    if draw(st.booleans()):
        given["rate"] = f"{draw(RATES)} bit/s"
    return given


@st.composite
def changes(draw, net: Net) -> Columns:
    """Return changes in any order, also of links that were well; maybe all are in the end."""
    n_links = len(net.links["node_a"])
    slower = st.sampled_from([0, 0, 1, 2, 10])  # 0 is a cut, else the rate is divided by it
    rows = draw(
        st.dictionaries(st.tuples(MOMENTS, st.integers(0, n_links - 1)), slower, min_size=1,
                        max_size=10)
    )  # fmt: skip
    if draw(st.booleans()):
        rows |= {(TROUBLE_PS + 1, link): 1 for link in range(n_links)}
    time_ps, link = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    divisor = np.array(list(rows.values()))
    rate_bps = np.where(divisor == 0, 0, net.links["rate_bps"][link] // np.maximum(divisor, 1))
    ends = {name: net.links[name][link] for name in ("node_a", "node_b", "parallel")}
    return {"time_ps": time_ps, **ends, "rate_bps": rate_bps}


@st.composite
def scripted_losses(draw, net: Net) -> Columns:
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, len(net.links["node_a"]) - 1), st.booleans(), st.integers(1, 20)
            ),
            max_size=3,
            unique=True,
        )
    )
    if not rows:
        return {}
    link, turned, ordinal = (np.array(column) for column in zip(*rows, strict=True))
    a, b = net.links["node_a"][link], net.links["node_b"][link]
    return {
        "node": np.where(turned, b, a),
        "peer": np.where(turned, a, b),
        "parallel": net.links["parallel"][link],
        "ordinal": ordinal,
    }


# ---- all together


@st.composite
def circles(draw) -> Case:
    """Return a ring with PFC in which every buffer may wait for the next one."""
    net, given = draw(rings()), draw(st.fixed_dictionaries({**ROCE, "Priority": st.just(3)}))
    n = len(net.hosts)
    src = np.tile(net.hosts, draw(st.integers(1, 6)))
    transports, options = [("ns3::RoceTransport", given)], draw(pipelines())
    pfc, buffer_bytes = draw(flow_control(net, transports, options))
    return Case(
        nodes=net.nodes,
        links=net.links,
        flows={
            "flow": np.arange(len(src)),
            "src": src,
            "dst": (src + 2) % n,
            "bytes": np.full(len(src), draw(st.sampled_from([10_000, 100_000, 10**6]))),
            "start_ps": np.zeros(len(src), dtype=np.int64),
            "transport": np.zeros(len(src), dtype=np.int64),
        },
        link_events=draw(st.one_of(st.just({}), changes(net))),
        drops={},
        dependencies={},
        transports=transports,
        forwarding=("ns3::EcmpHash", {}),
        options={
            **options, "buffer_bytes": buffer_bytes, "trace_pauses": True, "sample_ps": 0
        },
        queue=None,
        pfc=pfc,
        seed=draw(st.integers(1, 1000)),
        stop_ps=AMPLE_STOP_PS,
        probe=False,
    )  # fmt: skip


@st.composite
def cases(draw) -> Case:
    """Return something to simulate.

    One in three is stopped anywhere, one ends with its last flow, one with a probe that is sent
    when all else is over.
    """
    net, transports, options = draw(networks()), draw(TRANSPORTS), draw(pipelines())
    ending = draw(st.sampled_from(["probe", "last flow", "stopped"]))
    flows = draw(loads(net, len(transports)))
    waits = draw(dependencies(flows))
    if ending == "probe":
        transports = [*transports, PROBE_TRANSPORT]
        src, dst = draw(st.permutations(net.hosts))[:2]
        row = (src, dst, 1, PROBE_PS, len(transports) - 1, int(flows["flow"].max(initial=-1)) + 1)
        names = ("src", "dst", "bytes", "start_ps", "transport", "flow")
        flows = {
            name: np.append(flows[name], value) for name, value in zip(names, row, strict=True)
        }
    switch = draw(switches(net, transports, options))
    case = Case(
        nodes=net.nodes,
        links=net.links,
        flows=flows,
        link_events=draw(trouble(net)),
        drops=draw(scripted_losses(net)),
        dependencies=waits,
        transports=transports,
        forwarding=draw(st.sampled_from(forwarding_policies())),
        options={
            **options,
            "buffer_bytes": switch["buffer_bytes"],
            "trace_pauses": draw(st.booleans()),
            "sample_ps": draw(st.sampled_from([0, 10 * (US_PS if ending == "stopped" else MS_PS)])),
        },
        queue=switch["queue"],
        pfc=switch["pfc"],
        seed=draw(st.integers(1, 1000)),
        stop_ps=draw(st.integers(0, 200 * US_PS)) if ending == "stopped" else AMPLE_STOP_PS,
        probe=ending == "probe",
    )
    hopeless = any(case.never_fits(flow) for flow in range(len(flows["flow"])))
    return replace(case, stop_ps=min(case.stop_ps, HOPELESS_STOP_PS)) if hopeless else case
