# SPDX-License-Identifier: GPL-2.0-only
"""Warns before a run of plug-ins that are allowed together and spoil each other's results."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pyorch.spec import typeids
from pyorch.spec.resolved import Typed

#: Policies of switches that send packets of one message and entropy over several paths.
SPRAYING_POLICIES = (
    "ns3::LeastLoaded", "ns3::RandomSpray", "ns3::RoundRobinSpray", "ns3::WeightedSpray",
)  # fmt: skip
#: Path selectors of hosts that keep a message, or what follows a pause of it, on one path.
KEEPING_SELECTORS = ("ns3::FlowEntropy", "ns3::FlowletEntropy")

Attributes = Mapping[str, str]
#: Role, class of switches or links, type and attributes, as a `Fabric` is told.
Roles = Sequence[tuple[str, int, str, Attributes]]
Transports = Sequence[tuple[str, Attributes]]
Tables = Mapping[str, Mapping[str, np.ndarray]]


def overtaking(roles: Roles, transports: Transports) -> Iterator[str]:
    """Yield one line for each transport that takes packets that are overtaken for lost.

    Parameters
    ----------
    roles : sequence of (str, int, str, mapping)
        Plug-ins of switches.
    transports : sequence of (str, mapping)
        TypeId and attributes.
    """
    policies = [name for role, _, name, _ in roles if role == "forwarding"]
    spraying = next((name for name in policies if name in SPRAYING_POLICIES), "")
    for name, given in transports:
        if name != "ns3::RoceTransport":
            continue
        selector = str(given.get("PathSelector") or "").split("[")[0]
        by = spraying or (selector if selector not in ("", *KEEPING_SELECTORS) else "")
        if not by:
            continue
        repeats = given.get("Recovery", "GoBackN") == "SelectiveRepeat"
        if repeats and int(given.get("ReorderPackets", 1)) > 1:
            continue
        what = (
            "ReorderPackets=1 takes a packet that one other has overtaken for lost"
            if repeats
            else "Recovery=GoBackN sends all again that follows a packet that was overtaken"
        )
        yield (
            f"{name}: {what}, and {by} lets packets of a message overtake each other. Write"
            " Recovery: SelectiveRepeat and ReorderPackets of at least the packets that paths may"
            " differ by, or keep messages on one path."
        )


def late_marks(roles: Roles, transports: Transports) -> Iterator[str]:
    """Yield one line for each queue that marks after PFC has stopped its senders.

    Parameters
    ----------
    roles : sequence of (str, int, str, mapping)
        Plug-ins of switches and links.
    transports : sequence of (str, mapping)
        TypeId and attributes.
    """
    limits = [
        int(given["XoffBytes"])
        for role, _, name, given in roles
        if role == "flow_control" and name == "ns3::Pfc" and "XoffBytes" in given
        and float(given.get("Alpha", 0)) == 0
    ]  # fmt: skip
    if not limits or not _anyone_reads_marks(transports):
        return
    for role, _, name, given in roles:
        kmin = int(given.get("KminBytes", 0))
        if role == "queue" and kmin > min(limits):
            yield (
                f"{name}: KminBytes is {kmin}, but ns3::Pfc stops a sender whose frames take more"
                f" than XoffBytes, {min(limits)}: it pauses before it marks. Lower KminBytes (and"
                " KmaxBytes), or raise XoffBytes."
            )


def _anyone_reads_marks(transports: Transports) -> bool:
    types = typeids.load()
    return any(
        "marks" in types.signals(Typed(type=name, attributes=dict(given)), "reads")
        for name, given in transports
    )


def kept_limits(tables: Tables, roles: Roles) -> Iterator[str]:
    """Yield one line for each thing that stays as it was when `link_events` slow a link down.

    Parameters
    ----------
    tables : mapping of tables
        As the engine takes them.
    roles : sequence of (str, int, str, mapping)
        Plug-ins of switches.
    """
    events, nodes = tables.get("link_events"), tables["nodes"]
    slower = events["rate_bps"] > 0 if events else np.zeros(0, dtype=bool)
    if not slower.any():
        return
    slow = {name: column[slower] for name, column in events.items()}
    slow_links = _below_nominal(tables["links"], slow)
    if not slow_links.any():
        return
    for role, _, name, given in roles:
        sized = [key for key in ("LimitBytes", "KminBytes") if int(given.get(key, 0)) > 0]
        if role == "queue" and sized and int(given.get("ReferenceRateBps", 0)) == 0:
            yield (
                f"{name}: links get slower, and {' and '.join(sized)} stay as many bytes there,"
                " which take longer. Write ReferenceRateBps, the rate that they are for, and they"
                " follow the rate of each link."
            )
    hosts = nodes["node"][nodes["is_switch"] == 0]
    ends = np.concatenate([slow["node_a"][slow_links], slow["node_b"][slow_links]])
    if len(own := np.intersect1d(ends, hosts)):
        yield (
            f"a link of host {own[0]} gets slower: rates, credits and windows that a transport"
            " derives from the link of its host are those of the beginning of the run or of the"
            " message."
        )


def _below_nominal(links: Mapping[str, np.ndarray], events: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return which events give a link less than the rate that it begins with."""
    zeros = np.zeros(len(links["node_a"]), dtype=np.int64)
    ends = zip(links["node_a"], links["node_b"], links.get("parallel", zeros), strict=True)
    nominal = dict(zip(ends, links["rate_bps"], strict=True))
    zeros = np.zeros(len(events["node_a"]), dtype=np.int64)
    rows = zip(
        events["node_a"], events["node_b"], events.get("parallel", zeros), events["rate_bps"],
        strict=True,
    )  # fmt: skip
    found = [
        rate < nominal.get((a, b, index), nominal.get((b, a, index), 0))
        for a, b, index, rate in rows
    ]
    return np.array(found, dtype=bool)
