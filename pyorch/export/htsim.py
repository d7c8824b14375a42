# SPDX-License-Identifier: GPL-2.0-only
"""fabric.topo and flows.cm of htsim: a fat tree of 2 or 3 tiers, and a connection matrix.

Ids are left out where they are the place in the file; else they are written, one more each if there
is a 0. Dependencies become triggers. Starts are in ps; the RoCE of htsim takes them for us.
"""

from collections import Counter

import numpy as np

from pyorch.export._refusals import (
    Tables,
    refuse_difference,
    refuse_if,
    refuse_messages,
    refuse_network,
)
from pyorch.spec.resolved import Spec
from pyorch.topology import _htsim
from pyorch.workload._hosts import hosts
from pyorch.workload._triggers import ACTIVATES

NAME = "htsim"
LARGEST_SIZE = 2**31 - 1
GBPS, PS_PER_NS = 10**9, 1000


def files(spec: Spec, tables: Tables) -> dict[str, str]:
    """Return the text of both files.

    Parameters
    ----------
    spec : Spec
        Resolved spec.
    tables : dict
        Its input tables.

    Raises
    ------
    SpecError
        Something of the network or of its flows that htsim cannot be told.
    """
    refuse_network(spec, tables, NAME)
    refuse_messages(tables, NAME)
    refuse_if(
        bool(np.any(tables["links"]["loss_ratio"])), f"link.loss: files of {NAME} have no losses",
        "Leave it out.",
    )  # fmt: skip
    refuse_if(
        len(np.unique(tables["flows"]["transport"])) > 1,
        f"transport: all flows of {NAME} have the same", "Leave the other workloads out.",
    )  # fmt: skip
    return {"fabric.topo": _topology(spec, tables), "flows.cm": _matrix(tables)}


def starts_there(start_ps: np.ndarray) -> np.ndarray:
    """Return starts as htsim reads them [ps]: as floats of 32 bits."""
    return start_ps.astype(np.float32).astype(np.int64)


def remarks(tables: Tables) -> list[str]:
    """Return what htsim does with messages that wait for a receiver."""
    waits = tables.get("dependencies", {"flow": np.zeros(0)})
    at_receiver = waits["flow"][waits["at_sender"] == 0] if "at_sender" in waits else waits["flow"]
    if not (n := len(np.unique(at_receiver))):
        return []
    return [
        f"{n} message{'s wait' if n > 1 else ' waits'} until a receiver has another one"
        f" (recv_done_trigger). {NAME}'s own RoCE, NDP and UEC read that word and never fire the"
        " trigger, so there these messages never start. A version that fires it is needed."
    ]


# ---- Network ---------------------------------------------------------------------------------


def _topology(spec: Spec, tables: Tables) -> str:
    nodes, links = tables["nodes"], tables["links"]
    tiers = int(nodes["tier"].max())
    refuse_if(
        len(np.unique(nodes["plane"])) > 1, f"topology: {NAME} has one plane", "Write planes: 1."
    )
    refuse_if(
        tiers not in (2, 3),
        f"topology: switches in {tiers} tier{'s' * (tiers > 1)}; {NAME} has 2 or 3",
        "Take another topology.",
    )
    shape = _shape(nodes, links, tiers)
    n_hosts = len(hosts(nodes))
    pod = n_hosts if tiers == 2 else shape[0]["Radix_Down"] * (
        shape[1]["Radix_Down"] // shape[1]["Bundle"]
    )  # fmt: skip
    lines = [f"Nodes {n_hosts}", f"Tiers {tiers}", f"Podsize {pod}"]
    for tier, numbers in enumerate(shape):
        lines += [f"Tier {tier}", *(f"{name} {value}" for name, value in numbers.items())]
    latency_ns = _whole(
        spec.switch.processing_delay_ps, PS_PER_NS, "switch.processing_delay", "1 ns"
    )
    text = "\n".join([*lines, ""])
    read = _htsim.parse(list(enumerate(map(str.split, lines), 1)), "fabric.topo", 0.0)
    refuse_difference(tables, read, NAME)
    return text.replace("Switch_Latency_ns 0\n", f"Switch_Latency_ns {latency_ns}\n")


def _shape(nodes: dict, links: dict, tiers: int) -> list[dict[str, int]]:
    """Return what stands in the section of each tier, the lowest first."""
    tier = dict(zip(nodes["node"].tolist(), nodes["tier"].tolist(), strict=True))
    up, down, bundle = Counter(), Counter(), Counter()
    wires: dict[int, set[tuple[int, int]]] = {}
    names = ("node_a", "node_b", "rate_bps", "delay_ps")
    for a, b, rate_bps, delay_ps in zip(*(links[n].tolist() for n in names), strict=True):
        low, high = sorted((a, b), key=lambda node: tier[node])
        up[low] += 1
        down[high] += 1
        bundle[low, high] += 1
        wires.setdefault(tier[high], set()).add((rate_bps, delay_ps))
    shape = []
    for level in range(1, tiers + 1):
        switches = [node for node, t in tier.items() if t == level]
        rate_bps, delay_ps = _only(wires.get(level, set()), f"rates and delays below tier {level}")
        numbers = {
            "Downlink_speed_Gbps": _whole(rate_bps, GBPS, f"rate below tier {level}", "1 Gb/s"),
            "Downlink_Latency_ns": _whole(delay_ps, PS_PER_NS, "delay", "1 ns"),
            "Switch_Latency_ns": 0,
            "Radix_Down": _only({down[s] for s in switches}, f"ports down of tier {level}"),
            "Bundle": _only({n for (_, high), n in bundle.items() if tier[high] == level},
                            f"parallel links below tier {level}"),
        }  # fmt: skip
        if level < tiers:
            numbers["Radix_Up"] = _only({up[s] for s in switches}, f"ports up of tier {level}")
        shape.append(numbers)
    return shape


def _only(found: set, what: str):
    """Return the one value that all have."""
    values = ", ".join(map(str, sorted(found)[:5]))
    refuse_if(
        len(found) != 1, f"topology: {what} differ ({values}); in {NAME} all are alike",
        "Take a regular fat tree.",
    )  # fmt: skip
    return next(iter(found))


def _whole(value: int, unit: int, what: str, name: str) -> int:
    refuse_if(
        value % unit != 0, f"{what}: files of {NAME} count in {name}", "Take whole multiples of it."
    )
    return value // unit


# ---- Flows -----------------------------------------------------------------------------------


def _matrix(tables: Tables) -> str:
    flows = tables["flows"]
    waits = tables.get("dependencies", {"flow": np.zeros(0, dtype=np.int64)})
    index = np.zeros(int(tables["nodes"]["node"].max()) + 1, dtype=np.int64)
    index[hosts(tables["nodes"])] = np.arange(len(hosts(tables["nodes"])))
    ids = flows["flow"]
    large = flows["bytes"] > LARGEST_SIZE
    refuse_if(
        bool(large.any()), f"workload: a message of {flows['bytes'].max()} bytes; {NAME} reads up"
        f" to {LARGEST_SIZE}", "Make messages smaller.",
    )  # fmt: skip
    late = np.isin(ids, waits["flow"]) & (flows["start_ps"] > 0)
    refuse_if(
        bool(late.any()), f"workload: a flow that waits has a start as well; {NAME} knows one"
        " of the two", "Make the start 0 s.",
    )  # fmt: skip
    of_flow, triggers = _triggers(waits)
    written = len(waits["flow"]) > 0 or not np.array_equal(ids, np.arange(len(ids)))
    shift = int(ids.min() == 0)
    waiting = set(waits["flow"].tolist())
    lines = []
    names = ("flow", "src", "dst", "bytes", "start_ps")
    for id_, src, dst, size, start in zip(*(flows[n].tolist() for n in names), strict=True):
        words = [f"{index[src]}->{index[dst]}"] + [f"id {id_ + shift}"] * written
        said = of_flow.get(id_, [])
        words += [f"start {start}"] * (id_ not in waiting) + said
        lines.append(" ".join([*words, f"size {size}"]))
    header = [f"Nodes {len(hosts(tables['nodes']))}", f"Connections {len(lines)}"]
    header += [f"Triggers {len(triggers)}"] * bool(triggers)
    return "\n".join([*header, *lines, *triggers, ""])


def _triggers(waits: dict[str, np.ndarray]) -> tuple[dict[int, list[str]], list[str]]:
    """Return the words of the flows that wait and are waited for, and the lines of triggers."""
    refuse_if(
        bool(np.any(waits.get("delay_ps", 0))),
        f"workload.trigger_delay: in {NAME} a trigger is heard everywhere at once",
        "Let flows wait for what ends at their own host.",
    )  # fmt: skip
    ends: dict[int, set[tuple[int, int]]] = {}
    names = ("flow", "after", "at_sender")
    for flow, *end in zip(*(waits[n].tolist() for n in names if n in waits), strict=True):
        ends.setdefault(flow, set()).add(tuple(end))
    waiting: dict[frozenset, list[int]] = {}
    for flow, of_flow in ends.items():
        waiting.setdefault(frozenset(of_flow), []).append(flow)
    words: dict[int, list[str]] = {}
    activated: set[tuple[int, int]] = set()
    lines = []
    word_of = {at_sender: word for word, at_sender in ACTIVATES.items()}
    for number, (of_all, flows) in enumerate(waiting.items(), 1):
        kind = "oneshot" if len(of_all) == 1 else f"barrier count {len(of_all)}"
        lines.append(f"trigger id {number} {kind}")
        for flow in flows:
            words.setdefault(flow, []).insert(0, f"trigger {number}")
        for after, at_sender in sorted(of_all):
            refuse_if(
                (after, at_sender) in activated, f"workload: the end of flow {after} starts flows"
                f" that wait for different ones; in {NAME} it activates one trigger",
                "Let them wait for the same flows.",
            )  # fmt: skip
            activated.add((after, at_sender))
            words.setdefault(after, []).append(f"{word_of[at_sender]} {number}")
    return words, lines
