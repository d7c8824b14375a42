# SPDX-License-Identifier: GPL-2.0-only
"""topology.txt and flow.txt of the HPCC simulator, and of those that have inherited its formats.

Flows stand in the order of their start, because HPCC starts them one after the other; the priority
group is the priority of the transport.
"""

import numpy as np

from pyorch.export._refusals import (
    Tables,
    refuse_difference,
    refuse_if,
    refuse_messages,
    refuse_network,
)
from pyorch.spec.resolved import Spec, Typed
from pyorch.topology import _graph, _hpcc

NAME = "HPCC"
#: What the examples of HPCC send on where a transport has no priority, and to which port.
GROUP, PORT = 3, 100
GBPS, PS_PER_NS, PS_PER_S = 10**9, 1000, 10**12


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
        Something of the network or of its flows that HPCC cannot be told.
    """
    refuse_network(spec, tables, NAME)
    refuse_messages(tables, NAME)
    refuse_if(
        spec.switch.processing_delay_ps > 0,
        f"switch.processing_delay: {NAME} has none",
        "Make it 0 s.",
    )
    return {"topology.txt": _topology(tables), "flow.txt": _flows(spec, tables)}


def starts_there(start_ps: np.ndarray) -> np.ndarray:
    """Return starts as HPCC reads them [ps]: in whole nanoseconds."""
    return start_ps - start_ps % PS_PER_NS


def _topology(tables: Tables) -> str:
    nodes, links = tables["nodes"], tables["links"]
    ids = np.sort(nodes["node"])
    refuse_if(
        not np.array_equal(ids, np.arange(len(ids))),
        f"topology: {NAME} counts nodes from 0", "Give the nodes other ids, without a gap.",
    )  # fmt: skip
    refuse_if(
        bool(np.any(links["parallel"])),
        f"topology: parallel links: {NAME} uses one link of each pair", "Write parallel: 1.",
    )  # fmt: skip
    switches = np.sort(nodes["node"][nodes["is_switch"] == 1])
    names = ("node_a", "node_b", "rate_bps", "delay_ps", "loss_ratio")
    rows = zip(*(links[name].tolist() for name in names), strict=True)
    lines = [f"{len(ids)} {len(switches)} {len(links['node_a'])}", " ".join(map(str, switches))]
    lines += [f"{a} {b} {_rate(rate)} {_delay(delay)} {loss!r}" for a, b, rate, delay, loss in rows]
    text = "\n".join([*lines, ""])
    read = _hpcc.parse(list(enumerate(map(str.split, lines), 1)), "topology.txt")
    nodes_again = _graph.with_tiers(read.nodes, read.links)
    refuse_difference(tables, {"nodes": nodes_again, "links": read.links}, NAME)
    return text


def _flows(spec: Spec, tables: Tables) -> str:
    flows = tables["flows"]
    refuse_if(
        "dependencies" in tables, f"workload: {NAME} cannot let a flow wait for another",
        "Take a workload of starts alone.",
    )  # fmt: skip
    used = [spec.transport[index] for index in np.unique(flows["transport"])]
    refuse_if(
        len({str(_without_priority(transport)) for transport in used}) > 1,
        f"transport: all flows of {NAME} have the same", "Let them differ in Priority alone.",
    )  # fmt: skip
    group = [t.attributes.get("Priority", GROUP) for t in spec.transport]
    order = np.lexsort([flows["flow"], flows["start_ps"]])
    names = ("src", "dst", "transport", "bytes", "start_ps")
    rows = zip(*(flows[name][order].tolist() for name in names), strict=True)
    lines = [
        f"{src} {dst} {group[transport]} {PORT} {size} {_seconds(start)}"
        for src, dst, transport, size, start in rows
    ]
    return "\n".join([str(len(lines)), *lines, ""])


def _without_priority(transport: Typed) -> tuple:
    attributes = {k: v for k, v in transport.attributes.items() if k != "Priority"}
    return transport.type, sorted(attributes.items())


def _rate(rate_bps: int) -> str:
    return f"{rate_bps}bps" if rate_bps % GBPS else f"{rate_bps // GBPS}Gbps"


def _delay(delay_ps: int) -> str:
    return f"{delay_ps}ps" if delay_ps % PS_PER_NS else f"{delay_ps // PS_PER_NS}ns"


def _seconds(time_ps: int) -> str:
    whole, part = divmod(time_ps, PS_PER_S)
    return f"{whole}.{part:012d}".rstrip("0").ljust(len(str(whole)) + 2, "0")
