# SPDX-License-Identifier: GPL-2.0-only
"""Warns before a run of what is allowed and may surprise."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pyorch.workload._hosts import hosts, leaf_of

#: Attributes of a transport that hold what is under way, in each of its connections [byte].
BUFFERS = ("SendBufferBytes", "ReceiveBufferBytes")
#: Of a path selector that has an entropy for each path, whatever their number.
ONE_FOR_EACH_PATH = 0
#: Entropies for each uplink from which on a hash spreads them well enough not to be told of.
ENOUGH_FOR_EACH_UPLINK = 2

Attributes = Mapping[str, str]
#: Role, class of switches or links, type and attributes, as a `Fabric` is told.
Roles = Sequence[tuple[str, int, str, Attributes]]
Tables = Mapping[str, Mapping[str, np.ndarray]]


class Plugin(NamedTuple):
    """A type with the attributes that were given and what the engine says of it with them."""

    name: str
    given: Attributes
    traits: Mapping[str, int]


Plugins = Sequence[Plugin]


def small_buffers(tables: Tables, transports: Plugins) -> Iterator[str]:
    """Yield one line for each buffer below the bandwidth-delay product of a path.

    Parameters
    ----------
    tables : mapping of tables
        Columns of links and flows, as the engine takes them.
    transports : sequence of Plugin
        In the order of ``flows.transport``.
    """
    for index, (name, given, _) in enumerate(transports):
        held = {key: int(given[key]) for key in BUFFERS if key in given}
        ends = _ends(tables["flows"], index) if held else {}
        if not ends:
            continue
        needs = [(path.product_bytes, flow) for path, flow in _paths(tables, ends)]
        if not needs:
            continue  # no path at all: the engine says so
        need_bytes, flow = max(needs)
        connections = int(given.get("Connections", 1))
        for key, size in held.items():
            if connections * size < need_bytes:
                yield (
                    f"{name}: {key} is {size}, times {connections} for the connections of a"
                    f" message, but {need_bytes} bytes (rate times round trip) are under way on"
                    f" the path of flow {flow}: it cannot be filled. Raise {key}."
                )


def far_ends(tables: Tables, transports: Plugins) -> Iterator[str]:
    """Yield one line for each transport that takes the length of a path for congestion.

    Parameters
    ----------
    tables : mapping of tables
        Columns of links and flows, as the engine takes them.
    transports : sequence of Plugin
        In the order of ``flows.transport``.
    """
    for index, transport in enumerate(transports):
        target_ps, hop_ps = (transport.traits[key] for key in ("targetPs", "hopTargetPs"))
        ends = _ends(tables["flows"], index) if target_ps else {}
        beyond = [
            (2 * path.delay_ps, target_ps + path.links * hop_ps, flow)
            for path, flow in _paths(tables, ends)
            if 2 * path.delay_ps > target_ps + path.links * hop_ps
        ]
        if beyond:
            rtt_ps, most_ps, flow = max(beyond)
            yield (
                f"{transport.name}: a round trip of more than {most_ps / 1e6:g} us is congestion to"
                f" it, and the links of flow {flow} alone take {rtt_ps / 1e6:g} us: it slows down"
                " while nothing queues. Raise BaseTarget (of ns3::Swift or ns3::FalconTransport)"
                " or HighRtt (of ns3::Timely)."
            )


def _ends(flows: Mapping[str, np.ndarray], index: int) -> dict[int, dict[int, int]]:
    """Return the last flow from each source to each destination of one of the transports."""
    own = np.flatnonzero(flows.get("transport", np.zeros_like(flows["src"])) == index)[::-1]
    beyond = int(flows["dst"][own].max(initial=0)) + 1
    _, last = np.unique(flows["src"][own] * beyond + flows["dst"][own], return_index=True)
    ends: dict[int, dict[int, int]] = {}
    columns = (flows[name][own[last]].tolist() for name in ("src", "dst", "flow"))
    for src, dst, flow in zip(*columns, strict=True):
        ends.setdefault(src, {})[dst] = flow
    return ends


class _Path(NamedTuple):
    """Its slowest link [bit/s], the delays of all [ps], and their number."""

    rate_bps: int
    delay_ps: int
    links: int

    @property
    def product_bytes(self) -> int:
        """Rate times round trip."""
        return self.rate_bps * 2 * self.delay_ps // (8 * 10**12)


def _paths(tables: Tables, ends: dict[int, dict[int, int]]) -> Iterator[tuple[_Path, int]]:
    """Yield the first shortest path between some hosts, with the flow that takes it."""
    links = tables["links"]
    near: dict[int, list[tuple[int, int, int]]] = {}
    for a, b, rate_bps, delay_ps in zip(
        *(links[key].tolist() for key in ("node_a", "node_b", "rate_bps", "delay_ps")), strict=True
    ):
        near.setdefault(a, []).append((b, rate_bps, delay_ps))
        near.setdefault(b, []).append((a, rate_bps, delay_ps))
    for src, flows in ends.items():
        path = {src: _Path(2**63 - 1, 0, 0)}  # to each node
        waiting = deque([src])
        while waiting:
            node = waiting.popleft()
            for peer, rate_bps, delay_ps in near.get(node, ()):
                if peer not in path:
                    so_far = path[node]
                    path[peer] = _Path(
                        min(so_far.rate_bps, rate_bps), so_far.delay_ps + delay_ps, so_far.links + 1
                    )
                    waiting.append(peer)
        yield from ((path[dst], flow) for dst, flow in flows.items() if dst in path)


def few_entropies(tables: Tables, transports: Plugins, policies: Plugins) -> Iterator[str]:
    """Yield one line for each transport that sprays over so few entropies that hashes collide.

    Parameters
    ----------
    tables : mapping of tables
        Columns of nodes and links, as the engine takes them.
    transports, policies : sequence of Plugin
        Who chooses entropies, and how switches choose by them.
    """
    uplinks = _most_uplinks(tables)
    hashes = [policy.name for policy in policies if policy.traits["hashesEntropy"]]
    if uplinks < 2 or not hashes:
        return
    for transport in transports:
        entropies = transport.traits["entropies"]
        if entropies == ONE_FOR_EACH_PATH:
            said = "as many entropies as there are paths"
        elif 1 < entropies <= ENOUGH_FOR_EACH_UPLINK * uplinks:
            said = f"{entropies} entropies"
        else:
            continue
        yield (
            f"{transport.name}: {_selector(transport)} has {said}, which {hashes[0]} spreads over"
            f" {uplinks} uplinks by chance: some get several of them and some none. Choose"
            " ns3::EntropyModulo, or more entropies, for example"
            f" {_selector(transport)}[Paths=256]."
        )


def narrow_incasts(tables: Tables) -> Iterator[str]:
    """Yield one line for each incast that stays at one switch, where there are hosts elsewhere.

    It is one if a host only receives, at one time and messages of one size, from hosts that send
    nothing else.

    Parameters
    ----------
    tables : mapping of tables
        Columns of nodes, links and flows, as the engine takes them.
    """
    flows, nodes = tables["flows"], tables["nodes"]
    ids, leaves = hosts(nodes), leaf_of(nodes, tables["links"])
    if len(np.unique(leaves)) < 2:
        return
    leaf = dict(zip(ids.tolist(), leaves.tolist(), strict=True))
    sent, received = _counts(flows["src"]), _counts(flows["dst"])
    for receiver, n_senders in received.items():
        if n_senders < 2 or receiver in sent:  # most hosts of most workloads
            continue
        own = flows["dst"] == receiver
        senders = flows["src"][own].tolist()
        alike = all(len(np.unique(flows[name][own])) == 1 for name in ("bytes", "start_ps"))
        alone = all(sent[sender] == 1 for sender in senders)
        here = {leaf.get(host) for host in (*senders, receiver)}
        if alike and alone and len(here) == 1:
            (switch,) = here
            n_hosts = list(leaf.values()).count(switch)
            yield (
                f"workload: the {n_senders} senders of the incast to host {receiver} are all at its"
                f" own switch, {switch}, so no other switch and no uplink is used. An incast's"
                " senders are the hosts that follow its receiver; random_senders: true draws them"
                f" from all hosts, and more than {n_hosts - 1} senders reach beyond this switch."
            )


def _counts(column: np.ndarray) -> dict[int, int]:
    """Return how often each value of a column occurs, in the order of the values."""
    values, counts = np.unique(column, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def _selector(transport: Plugin) -> str:
    """Return the type of a path selector as far as it was given."""
    return transport.given.get("PathSelector", "").partition("[")[0] or "its path selector"


def _most_uplinks(tables: Tables) -> int:
    """Return how many links to a higher tier the switch with the most of them has."""
    nodes, links = tables["nodes"], tables["links"]
    order = np.argsort(nodes["node"])
    a, b = (order[np.searchsorted(nodes["node"][order], links[f"node_{end}"])] for end in "ab")
    tier = nodes["tier"]
    low = np.where(tier[a] < tier[b], a, b)
    uplinks = low[(tier[a] != tier[b]) & (nodes["is_switch"][low] == 1)]
    return int(np.bincount(uplinks).max(initial=0))


def skip_surprises(tables: Tables) -> Iterator[str]:
    """Yield one line for each thing that a small error of skipped steady states may decide.

    Parameters
    ----------
    tables : mapping of tables
        As the engine takes them.
    """
    reasons = {
        "links change, and when decides which packets are lost": tables.get("link_events"),
        "messages wait for others, and when they begin decides which ones meet": tables.get(
            "dependencies"
        ),
    }
    for reason, table in reasons.items():
        if table and len(next(iter(table.values()))):
            yield (
                f"engine.skip: {reason}, so single completion times may differ by more than the"
                " tolerance. docs/skip.md has what was measured."
            )


def overtaking(transports: Plugins, policies: Plugins) -> Iterator[str]:
    """Yield one line for each transport that takes packets that are overtaken for lost.

    Parameters
    ----------
    transports, policies : sequence of Plugin
        Who sends, and how switches choose between paths.
    """
    spraying = next((one.name for one in policies if not one.traits["keepsOrder"]), "")
    for transport in transports:
        traits = transport.traits
        by = spraying or ("" if traits["keepsOrder"] else _selector(transport))
        if not by or (traits["acceptsOutOfOrder"] and traits["reorderPackets"] != 1):
            continue
        what, advice = (
            (
                "ReorderPackets=1 takes a packet that one other has overtaken for lost",
                "Write ReorderPackets of at least the packets that paths may differ by",
            )
            if traits["acceptsOutOfOrder"]
            else (
                "its destination takes packets in order alone (go-back-N)",
                "Let it take them in any order (ns3::RoceTransport has DirectPlacement and"
                " Recovery=SelectiveRepeat, ns3::UecTransport Delivery=Unordered)",
            )
        )
        yield (
            f"{transport.name}: {what}, and {by} lets packets of a message overtake each other."
            f" {advice}, or keep messages on one path."
        )


def late_marks(roles: Roles, transports: Plugins) -> Iterator[str]:
    """Yield one line for each queue that marks after PFC has stopped its senders.

    Parameters
    ----------
    roles : sequence of (str, int, str, mapping)
        Plug-ins of switches and links.
    transports : sequence of Plugin
        Who sends.
    """
    limits = [
        (int(given["XoffBytes"]), name)
        for role, _, name, given in roles
        if role == "flow_control" and "XoffBytes" in given and float(given.get("Alpha", 0)) == 0
    ]
    if not limits or not any(transport.traits["needsMarks"] for transport in transports):
        return
    xoff, pausing = min(limits)
    for role, _, name, given in roles:
        kmin = int(given.get("KminBytes", 0))
        if role == "queue" and kmin > xoff:
            yield (
                f"{name}: KminBytes is {kmin}, but {pausing} stops a sender whose frames take more"
                f" than XoffBytes, {xoff}: it pauses before it marks. Lower KminBytes (and"
                " KmaxBytes), or raise XoffBytes."
            )


def never_trimmed(tables: Tables, roles: Roles, transports: Plugins) -> Iterator[str]:
    """Yield one line for each transport whose data no switch trims, because its class is lossless.

    Parameters
    ----------
    tables : mapping of tables
        As the engine takes them.
    roles : sequence of (str, int, str, mapping)
        Plug-ins of switches and links.
    transports : sequence of Plugin
        Who sends.
    """
    trimming = [name for role, _, name, its in roles if role == "queue" and "TrimBytes" in its]
    controls = {index: (name, its) for role, index, name, its in roles if role == "flow_control"}
    used = np.unique(tables["links"].get("class", 0)).tolist()
    if not trimming or not controls.keys() >= set(used):
        return
    lossless = np.bitwise_and.reduce([_lossless_classes(controls[index][1]) for index in used])
    for transport in transports:
        priority = int(transport.given.get("Priority", 0))
        if transport.given.get("Trimmable") == "true" and lossless >> priority & 1:
            yield (
                f"{trimming[0]} trims nothing of {transport.name}: its Priority, {priority}, is"
                f" lossless with {controls[used[0]][0]}, so its packets are neither trimmed nor"
                " dropped, and LimitBytes bounds no queue of that priority. Write flow_control:"
                " none, or a Priority that is not lossless."
            )


def _lossless_classes(control: Attributes) -> int:
    """Return a bit for each class that a flow control never loses a frame of."""
    return int(control.get("Priorities", (1 << int(control.get("Lanes", 0))) - 1))


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
    slow["rate_bps"] = np.minimum(slow["rate_bps"], slow.get("rate_back_bps", slow["rate_bps"]))
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
    ends = np.concatenate([slow["node_a"][slow_links], slow["node_b"][slow_links]])
    if len(own := np.intersect1d(ends, hosts(nodes))):
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
