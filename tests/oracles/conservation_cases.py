# SPDX-License-Identifier: GPL-2.0-only
"""Random things to simulate, from the network to the stop time; no oracle lives here.

Hypothesis chooses the kinds of things and a seed; the rest comes from that seed, because what
Hypothesis draws itself is mostly small and much alike.
"""

from dataclasses import replace
from random import Random

import conservation_networks as networks
import numpy as np
from conservation_networks import Net
from conservation_run import Case, headroom_bytes, largest_frame_bytes
from hypothesis import strategies as st
from oracle_network import MS_PS, NS_PS, US_PS

from pyorch.spec import typeids

#: Long after all else is over: while the probe is on its way, nothing else is.
PROBE_PS = 2000 * MS_PS
#: Enough for timeouts that have doubled as often as they may, again and again.
AMPLE_STOP_PS = 12_000 * MS_PS
#: Where a message never fits, it would be sent again and again until then.
HOPELESS_STOP_PS = 50 * MS_PS

# ---- transports

COMMON = {
    "MtuBytes": [256, 1000, 4096, 4096],
    "Priority": [2, 3, 3, 3, 4],
    "ControlPriority": [6, 6, 6, 3, 0],
    "Rto": ["100us", "300us"],
}
ROCE = {
    **COMMON,
    "Recovery": ["GoBackN", "SelectiveRepeat"],
    "AckInterval": [1, 1, 4],
    "WindowBytes": [0, 0, 1, 20_000],
    "ReorderPackets": [1, 8],
    "MaxBackoff": [4, 7],
    "PathSelector": ["ns3::FlowEntropy"] * 3 + ["ns3::RandomEntropy[Paths=3]"],
    "EcnCapable": [True, False],
}
SPRAY = {
    **COMMON,
    "PathSelector": [
        "ns3::PermutedEntropy",
        "ns3::PermutedEntropy[Paths=5]",
        "ns3::RandomEntropy",
        "ns3::FlowEntropy",
    ],
    "WindowBdp": [0.1, 1.0, 3.0],
    "ReorderPackets": [0, 1, 8],
}
TRANSPORTS = {"ns3::RoceTransport": ROCE, "ns3::SprayTransport": SPRAY}
#: One small packet, more urgent than all else, that is sent again when it is lost, but not while it
#: may still be on its way.
PROBE_TRANSPORT = ("ns3::SprayTransport", {"Rto": "2ms", "Priority": 7, "ControlPriority": 7})


def transports(random: Random) -> list[tuple[str, dict]]:
    return [transport(random, random.choice([*TRANSPORTS])) for _ in range(random.randint(1, 3))]


def transport(random: Random, name: str) -> tuple[str, dict]:
    return name, {key: random.choice(values) for key, values in TRANSPORTS[name].items()}


# ---- switches


def forwarding_policies() -> list[tuple[str, dict]]:
    """Return every policy that the modules have, and some with other attributes."""
    known = typeids.load().choices("forwarding")
    more = [("ns3::LeastLoaded", {"Choices": 0}), ("ns3::Flowlet", {"Gap": "1us"})]
    return [(name, {}) for name in known] + more


def pipeline(random: Random) -> dict:
    return {
        "framing_bytes": random.choice([20, 20, 0]),
        "processing_delay_ps": random.choice([0, 0, 300 * NS_PS]),
        "cut_through_bytes": random.choice([None, None, 64, 1000]),
        "convergence_ps": random.choice([0, 5 * US_PS, 100 * US_PS]),
    }


def buffer_bytes(random: Random, frame: int) -> int:
    """Return the buffer of a switch without flow control: ample to starving, rarely hopeless."""
    return random.choice([0, 10**7, 10**7, 200_000, 50_000, 3 * frame, frame, frame - 1])


def queue(random: Random, frame: int, buffer: int) -> tuple[str, dict] | None:
    kind = random.choice([None, "ns3::DropTail", "ns3::RedEcn", "ns3::PerPriority"])
    if kind is None:
        return None
    if kind == "ns3::PerPriority":
        return kind, {"Priority3": "ns3::RedEcn[KminBytes=0|KmaxBytes=5000]"}
    attributes = {"LimitBytes": random.choice([0, 0, 20_000, 20_000, frame, frame - 1])}
    if buffer:
        attributes["Alpha"] = random.choice([0, 0, 0.125, 1, 8])
    if kind == "ns3::RedEcn":
        kmin, width = random.choice([0, 5_000]), random.choice([0, 20_000])
        pmax = random.choice([0.2, 1])
        attributes |= {"KminBytes": kmin, "KmaxBytes": kmin + width, "Pmax": pmax}
    return kind, attributes


def flow_control(random: Random, net: Net, used: list, options: dict) -> tuple[dict, int]:
    """Return attributes of ns3::Pfc, and a buffer that holds what they ask for."""
    frame = largest_frame_bytes(used)
    xoff = random.choice([1, frame, 20_000, 20_000, 100_000])
    of_data = sum({1 << given.get("Priority", 3) for _, given in used})
    pfc = {
        "XoffBytes": xoff,
        "XonOffsetBytes": random.choice([0, xoff // 2, xoff]),
        "Alpha": random.choice([0, 0, 0.125, 1, 8]),
        "HeadroomBytes": random.choice([0, 0, 0, frame, 30_000]),
        "Priorities": random.choice([of_data, of_data, 8, 255]),
    }
    if not pfc["Alpha"] and random.random() < 0.5:
        return pfc, 0
    ports = np.concatenate([net.links["node_a"], net.links["node_b"]])
    each = np.tile(headroom_bytes(net.links, pfc, used, options), 2)
    each += 0 if pfc["Alpha"] else xoff
    needed = int(np.bincount(ports, weights=each)[net.switches].max())
    slack = random.choice([0, 5_000, 50_000, 10**6])
    return pfc, needed * pfc["Priorities"].bit_count() + slack


# ---- all together


@st.composite
def cases(draw) -> Case:
    """Return anything to simulate.

    One in four is stopped anywhere, one ends with its last flow, two with a probe that is sent
    when all else is over.
    """
    kind = draw(st.sampled_from([*networks.TOPOLOGIES]))
    failing = draw(st.sampled_from(["nothing", "failures", "changes", "changes"]))
    ending = draw(st.sampled_from(["probe", "probe", "last flow", "stopped"]))
    has_pfc = draw(st.booleans())
    forwarding = draw(st.sampled_from(forwarding_policies()))
    random = Random(draw(st.integers(0, 2**24 - 1)))

    net, used, options = networks.network(random, kind), transports(random), pipeline(random)
    flows = networks.flows(random, net, len(used))
    waits = networks.dependencies(random, flows)
    if ending == "probe":
        used = [*used, PROBE_TRANSPORT]
        flows = _with_probe(flows, *random.sample(net.hosts, 2), transport=len(used) - 1)
    frame = largest_frame_bytes(used)
    pfc, buffer = None, buffer_bytes(random, frame)
    if has_pfc:
        pfc, buffer = flow_control(random, net, used, options)
    sample_ps = 10 * (US_PS if ending == "stopped" else MS_PS)
    options |= {
        "buffer_bytes": buffer,
        "pauses": random.random() < 0.5,
        "sample_ps": random.choice([None, sample_ps]),
    }
    case = Case(
        nodes=net.nodes,
        links=net.links,
        flows=flows,
        link_events=networks.trouble(random, net, flows, failing),
        drops=networks.scripted_losses(random, net),
        dependencies=waits,
        transports=used,
        forwarding=forwarding,
        options=options,
        queue=queue(random, frame, buffer),
        pfc=pfc,
        seed=random.randint(1, 1000),
        stop_ps=random.randint(0, 200 * US_PS) if ending == "stopped" else AMPLE_STOP_PS,
        probe=ending == "probe",
    )
    hopeless = any(case.never_fits(flow) for flow in range(len(flows["flow"])))
    return replace(case, stop_ps=min(case.stop_ps, HOPELESS_STOP_PS)) if hopeless else case


def _with_probe(flows: dict, src: int, dst: int, *, transport: int) -> dict:
    row = {
        "src": src,
        "dst": dst,
        "bytes": 1,
        "start_ps": PROBE_PS,
        "transport": transport,
        "flow": int(flows["flow"].max(initial=-1)) + 1,
    }
    return {name: np.append(flows[name], value) for name, value in row.items()}


@st.composite
def circles(draw) -> Case:
    """Return a ring with PFC in which every buffer may wait for the next one."""
    fails = draw(st.booleans())
    random = Random(draw(st.integers(0, 2**24 - 1)))
    net, options = networks.ring(random), pipeline(random)
    name, given = transport(random, "ns3::RoceTransport")
    used = [(name, {**given, "Priority": 3})]
    pfc, buffer = flow_control(random, net, used, options)
    n = len(net.hosts)
    src = np.tile(net.hosts, random.randint(1, 6))
    rows = random.choices(range(net.n_links), k=random.randint(1, 10))
    return Case(
        nodes=net.nodes,
        links=net.links,
        flows={
            "flow": np.arange(len(src)),
            "src": src,
            "dst": (src + 2) % n,
            "bytes": np.full(len(src), random.choice([10_000, 100_000, 300_000])),
            "start_ps": np.zeros(len(src), dtype=np.int64),
            "transport": np.zeros(len(src), dtype=np.int64),
        },
        link_events=networks.changes(random, net, rows) if fails else {},
        drops={},
        dependencies={},
        transports=used,
        forwarding=("ns3::EcmpHash", {}),
        options={**options, "buffer_bytes": buffer, "pauses": True, "sample_ps": None},
        queue=None,
        pfc=pfc,
        seed=random.randint(1, 1000),
        stop_ps=AMPLE_STOP_PS,
        probe=False,
    )
