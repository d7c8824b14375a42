# SPDX-License-Identifier: GPL-2.0-only
"""Takes a resolved spec, refuses what can be known to be wrong before anything is simulated."""

from collections.abc import Iterable

import numpy as np

from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES, MOST_PACKETS, MOST_SAMPLES
from pyorch.spec.network import Network
from pyorch.spec.resolved import Spec, Trace, Transport
from pyorch.spec.typeids import TypeIds
from pyorch.units import SIZE, TIME, format_exact

#: Who reads marks and is made for switches that trim (docs/transports.md).
_TRIMMED = {"ns3::UecTransport", "ns3::Smartt"}


def largest_frame_bytes(transports: Iterable[Transport]) -> int:
    """Return the largest frame [byte] of these transports: payload and all headers."""
    return max(
        sum(int(t.attributes.get(key, 0)) for key in ("MtuBytes", "HeaderBytes", "RethBytes"))
        + _segment_bytes(t.attributes)
        for t in transports
    )


def largest_message_bytes(transports: Iterable[Transport], in_packets: bool) -> int:
    """Return the largest message [byte] that each of these transports can count in packets."""
    found = LARGEST_MESSAGE_BYTES
    for attributes in (transport.attributes for transport in transports):
        if in_packets and "MtuBytes" in attributes and "SegmentBytes" not in attributes:
            packets = MOST_PACKETS
            if parity := int(attributes.get("ParityPackets", 0)):  # are sent with each block
                block = int(attributes["BlockPackets"])
                packets = packets // (block + parity) * block
            found = min(found, packets * int(attributes["MtuBytes"]))
    return found


def _segment_bytes(attributes: dict) -> int:
    """Return a full segment of TCP with IPv4 and the longest TCP header, 0 for others [byte]."""
    return int(attributes["SegmentBytes"]) + 80 if "SegmentBytes" in attributes else 0


def check_trace(trace: Trace, nodes: dict[str, np.ndarray], stop_ps: int) -> None:
    """Raise FieldError unless what is sampled is there and has a period, and hosts are captured."""
    if trace.sample_ps and stop_ps / trace.sample_ps > MOST_SAMPLES:
        raise FieldError(
            "sample",
            f"{format_exact(trace.sample_ps, TIME)} makes {stop_ps / trace.sample_ps:.3g}"
            f" samples of each port until stop, {format_exact(stop_ps, TIME)}; at most"
            f" {MOST_SAMPLES:,}. Write a longer one, or lower stop.",
        )
    if trace.nodes and trace.sample_ps is None:
        raise FieldError("nodes", "these are sampled, so give a period too, sample: 10 us.")
    unknown = sorted(set(trace.nodes) - set(nodes["node"].tolist()))
    if unknown:
        raise FieldError(
            "nodes",
            f"the topology has no node {unknown[0]}; its nodes are {nodes['node'].min()} to"
            f" {nodes['node'].max()}.",
        )
    for key in ("nodes", "pcap"):
        ids, repeats = np.unique(getattr(trace, key), return_counts=True)
        if (repeats > 1).any():
            raise FieldError(key, f"node {ids[repeats > 1][0]} is there twice. Name it once.")
    hosts = nodes["node"][nodes["is_switch"] == 0]
    for node in trace.pcap:
        if node not in hosts:
            what = "is a switch, not a host" if node in nodes["node"] else "is no node"
            raise FieldError("pcap", f"{node} {what}. The {len(hosts)} hosts are {_ranges(hosts)}.")


def check_tiers(spec: Spec, network: Network) -> None:
    """Raise FieldError unless classes name tiers that there are, each switch and link once."""
    nodes = network.nodes
    tiers = sorted(set(nodes["tier"][nodes["is_switch"] == 1].tolist()))
    for section, known in (("switch", tiers), ("link", network.tier_pairs)):
        seen = set()
        for index, its in enumerate(getattr(spec, section).classes):
            named = its.tiers if section == "switch" else [its.tiers]
            for tier in named:
                where = f"{section}.classes.{index}.tiers"
                if tier not in known:
                    what = "switches of tier" if section == "switch" else "links between tiers"
                    there = ", ".join(map(_tier_text, known))
                    raise FieldError(where, f"no {what} {_tier_text(tier)}. There are {there}.")
                if tier in seen:
                    raise FieldError(where, f"{_tier_text(tier)} is in another class too.")
                seen.add(tier)


def _tier_text(tier: int | tuple[int, int]) -> str:
    return str(tier) if isinstance(tier, int) else f"{tier[0]} and {tier[1]}"


def check_jitter(spec: Spec) -> None:
    """Raise FieldError unless the jitter of cables is at most the time of one full frame."""
    frame_bytes = largest_frame_bytes(spec.transport) + spec.wire.framing_bytes
    frame_ps = frame_bytes * 8 * 10**12 // spec.link.rate_bps
    if spec.link.jitter_ps > frame_ps:
        raise FieldError(
            "link.jitter",
            f"{format_exact(spec.link.jitter_ps, TIME)} is more than a full frame lasts,"
            f" {format_exact(frame_ps, TIME)}. It is there to break ties. Cables get longer by tier"
            " with a key of the topology (uplink_delay of leaf_spine), or one by one with topology"
            " from_file (docs/scenarios.md, Cables of unequal length).",
        )


def check_buffer(spec: Spec) -> None:
    """Raise FieldError if a full frame does not fit a buffer, or ends before its cut-through."""
    frame_bytes = largest_frame_bytes(spec.transport)
    for where, its in (
        ("", spec.switch),
        *((f"classes.{i}.", c) for i, c in enumerate(spec.switch.classes)),
    ):
        if its.buffer_bytes is not None and its.buffer_bytes < frame_bytes:
            raise FieldError(
                f"{where}buffer",
                f"{format_exact(its.buffer_bytes, SIZE)} cannot hold one full frame of"
                f" {frame_bytes} B. Raise it.",
            )  # fmt: skip
        if (its.cut_through_bytes or 0) > frame_bytes:
            raise FieldError(
                f"{where}cut_through",
                f"{format_exact(its.cut_through_bytes, SIZE)} never come of a full frame of"
                f" {frame_bytes} B. Write at most that, or leave it out: store and forward.",
            )


def check_controllers(spec: Spec) -> None:
    """Raise FieldError if several controllers would each divide the whole wide area."""
    controlled = [i for i, load in enumerate(spec.workload) if load.control]
    if len(controlled) > 1:
        first, second = controlled[:2]
        raise FieldError(
            f"workload.{second}.control",
            f"workload.{first} has a controller already, and two know nothing of each other: both"
            " would give away the same links. Write all demands into one workload.",
        )


def check_controlled(spec: Spec, types: TypeIds) -> None:
    """Raise FieldError if a controller would change rates of a transport that keeps them.

    Without a controller that looks, changes are known once there are flows: the engine refuses.
    """
    controlled = {index for load in spec.workload if load.controller for index in load.carriers}
    for index in sorted(controlled):
        transport = spec.transport[index]
        if "rates" not in types.signals(transport, "reads"):
            raise FieldError(
                f"transport.{index}.type", f"{transport.type} keeps the rate with which a message"
                " has begun, so the controller of workload.control cannot change it. Take another"
                " transport, or leave control out.",
            )  # fmt: skip


def check_signals(spec: Spec, types: TypeIds) -> None:
    """Raise FieldError unless some switch writes what a sender reads: marks, or telemetry.

    The engine looks more closely: at every switch for telemetry, at each priority for marks.
    """
    parts = [part for its in spec.switch.kinds for part in (its.queue, *its.programs)]
    written = {signal for part in parts for signal in types.signals(part, "writes")}
    for transport in spec.transport:
        reads = types.signals(transport, "reads")
        if "marks" in reads and transport.attributes.get("EcnCapable") is False:
            raise FieldError(
                "transport", f"{reads['marks']} learns of queues by marks alone, but EcnCapable of"
                f" {transport.type} is false, so nothing is marked. Write EcnCapable: true.",
            )  # fmt: skip
        if "marks" in reads and "marks" not in written:
            raise FieldError(
                "switch.queue", f"{reads['marks']} learns of queues by marks alone, but"
                f" {spec.switch.queue.type} marks nothing. {_queue_that_marks(transport, reads)}",
            )  # fmt: skip
        if "telemetry" in reads and "telemetry" not in written:
            raise FieldError(
                "switch.programs", f"{reads['telemetry']} reads in-band telemetry, which no switch"
                " writes. Write programs: [{type: ns3::InbandTelemetry}].",
            )  # fmt: skip


def _queue_that_marks(transport: Transport, reads: dict[str, str]) -> str:
    """Return what to write for a queue that marks, and trims where the authors' own does."""
    made_for_it = [name for name in (transport.type, reads["marks"]) if name in _TRIMMED]
    if not made_for_it:
        return (
            "Write a queue that does, for example {type: ns3::RedEcn, attributes:"
            " {KminBytes: 100 kB, KmaxBytes: 400 kB}}."
        )
    trimmable = transport.attributes.get("Trimmable")
    flag = "" if trimmable else f" And write Trimmable: true for {transport.type}."
    return (
        f"{made_for_it[0]} is for switches that also trim. Write {{type: ns3::TrimmingQueue,"
        " attributes: {LimitBytes: 400 kB, KminBytes: 80 kB, KmaxBytes: 320 kB, Pmax: 1}}, with"
        f" LimitBytes of about one bandwidth-delay product.{flag}"
    )


def check_forwarding(spec: Spec) -> None:
    """Raise FieldError if routes are given and no switch would look at them."""
    types = [its.forwarding.type for its in spec.switch.kinds]
    for load in spec.workload:
        given = any(getattr(load.params, key, False) for key in ("routes", "routed"))
        if given and "ns3::ExplicitRoutes" not in types:
            raise FieldError(
                "forwarding", f"{types[0]} does not look at the routes of {load.type}. Write"
                " forwarding: {type: ns3::ExplicitRoutes}, or leave the routes out.",
            )  # fmt: skip


def _ranges(ids: np.ndarray) -> str:
    """Return ids as text, neighbours as one range; of many ranges the first ones."""
    shown = 8
    ids = np.sort(ids)
    runs = np.split(ids, np.flatnonzero(np.diff(ids) > 1) + 1)
    texts = [f"{run[0]} to {run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs[:shown]]
    return ", ".join(texts) + (", ..." if len(runs) > shown else "")
