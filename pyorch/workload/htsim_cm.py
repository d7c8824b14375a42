# SPDX-License-Identifier: GPL-2.0-only
"""A connection matrix of htsim (.cm): src->dst with id, start [ps] or trigger, and size [byte].

Hosts are counted from 0 as in htsim. A start may be written with decimals; it must come out as
whole picoseconds. Flows keep their ids. What waits for a trigger starts, without any delay, when
the flows that activate it have ended (`_triggers`). Priorities (prio) are read by NDP of htsim
alone and change nothing here.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from pydantic import Field

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import Closed, FieldError, TimePs
from pyorch.spec.files import InputFile, numbered_lines
from pyorch.spec.network import Network
from pyorch.units import parse_whole
from pyorch.workload import _triggers
from pyorch.workload._hosts import hosts
from pyorch.workload._listed import check_listed
from pyorch.workload._routes import check_routes, read_routes

KEY = "file"
HEADER = ("Nodes", "Connections", "Triggers", "Failures")
#: Words of a connection that are followed by a number.
WORDS = ("id", "start", "size", "trigger", "send_done_trigger", "recv_done_trigger", "prio")


class Params(Closed):
    """The file, relative to the scenario.

    In htsim a trigger is heard everywhere at once. `trigger_delay` is how long it takes here until
    another host than the one where a flow has ended learns of it; without it, such a file is
    refused. `routes` is a file with the paths of flows, by node ids of the topology.
    """

    file: InputFile
    routes: InputFile | None = None
    trigger_delay_ps: TimePs = Field(0, alias="trigger_delay")


class Matrix(NamedTuple):
    """What a file says.

    Attributes
    ----------
    nodes : int
        Number of hosts.
    flows : dict of int64 arrays, n_flows rows
        src, dst, bytes, start_ps, and flow if they have ids.
    rows : tuple of str, n_flows rows
        Where each flow stands.
    waits : dict of int64 arrays
        Rows of flows: flow, after; and at_sender 0 or 1.
    has_priorities : bool
        A flow has a prio.
    """

    nodes: int
    flows: dict[str, np.ndarray]
    rows: tuple[str, ...]
    waits: dict[str, np.ndarray]
    has_priorities: bool


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if the messages do not fit the network, or begin when the run has ended."""
    _check_counts(params, network.counts)
    _check_times(params, network.largest_message_bytes, stop_ps)
    check_routes(params.routes, flows(params, network.nodes, network.links, 0), network)


def _check_counts(params: Params, counts: dict[str, int]) -> None:
    """Raise FieldError if the matrix is for another number of hosts."""
    nodes = _read(params.file["path"], params.file["sha256"]).nodes
    if nodes > counts["hosts"]:
        raise FieldError(
            KEY, f"{params.file['path']}: Nodes {nodes}, but the topology has {counts['hosts']}"
            " hosts. Take another file or a larger topology.",
        )  # fmt: skip


def _check_times(params: Params, most_bytes: int, stop_ps: int) -> None:
    """Raise FieldError for the first flow that cannot be sent."""
    matrix = _read(params.file["path"], params.file["sha256"])
    hint = f"Nodes {matrix.nodes}, so hosts are 0 to {matrix.nodes - 1}"
    known = np.arange(matrix.nodes)
    check_listed(
        params.file["path"], matrix.flows, matrix.rows.__getitem__, known, stop_ps, hint, most_bytes
    )
    far = np.flatnonzero(_is_far(matrix))
    if len(far) and params.trigger_delay_ps == 0:
        flow, after = (int(matrix.waits[name][far[0]]) for name in ("flow", "after"))
        raise FieldError(
            "trigger_delay", f"{matrix.rows[flow]}: starts when the flow of line"
            f" {matrix.rows[after].rpartition(':')[2]} ends, which another host learns. Say how"
            " long the news takes, for example trigger_delay: 1 us.",
        )  # fmt: skip


def _is_far(matrix: Matrix) -> np.ndarray:
    """Return, for each row of `waits`, whether another host learns of the end than starts."""
    src, dst = matrix.flows["src"], matrix.flows["dst"]
    flow, after, at_sender = (matrix.waits[name] for name in ("flow", "after", "at_sender"))
    return np.where(at_sender == 1, src[after], dst[after]) != src[flow]


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return the flows in the order of the file; one that waits may begin at 0."""
    table = _read(params.file["path"], params.file["sha256"]).flows
    ids = hosts(nodes)
    return {**table, "src": ids[table["src"]], "dst": ids[table["dst"]]}


def remarks(params: Params) -> tuple[str, ...]:
    """Return a sentence on priorities, if the file has some."""
    has_priorities = _read(params.file["path"], params.file["sha256"]).has_priorities
    return (f"{params.file['path']}: not used: prio.",) if has_priorities else ()


def dependencies(params: Params) -> dict[str, np.ndarray]:
    """Return which rows of `flows` wait for which: flow, after, at_sender, and delay_ps if any."""
    matrix = _read(params.file["path"], params.file["sha256"])
    far = _is_far(matrix)
    if not far.any():
        return matrix.waits
    return matrix.waits | {"delay_ps": np.where(far, params.trigger_delay_ps, 0)}


def routes(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the paths that are given: flow, hop, node, peer, parallel, reverse."""
    return read_routes(params.routes) if params.routes else {}


@lru_cache(maxsize=4)
def _read(path: str, sha256: str) -> Matrix:
    header: dict[str, int] = {}
    found, rows = [], []
    triggers: dict[int, _triggers.Trigger] = {}
    for number, words in numbered_lines({"path": path, "sha256": sha256}, KEY):
        where = f"{path}:{number}"
        if words[0] in header:
            raise FieldError(KEY, f"{where}: {words[0]} stands twice. Keep one.")
        if words[0] in HEADER:
            header[words[0]] = _number(words[1:], where, f"{words[0]} and a whole number")
        elif "->" in words[0]:
            found.append(_connection(words, where))
            rows.append(where)
        elif words[0] == "trigger":
            trigger = _triggers.parse(words, where)
            if trigger.id in triggers:
                raise FieldError(KEY, f"{where}: trigger {trigger.id} stands twice. Keep one.")
            triggers[trigger.id] = trigger
        elif words[0] == "failure":
            raise FieldError(
                KEY,
                f"{where}: failures of links are no part of a workload here. Take the line out.",
            )
        else:
            raise FieldError(
                KEY, f"{where}: {quoted(words[0])} does not belong here. A line is Nodes n,"
                " Connections n, a trigger, or a flow: 0->13 id 1 start 0 size 2000000."
                f"{did_you_mean(words[0], HEADER)}",
            )  # fmt: skip
    counted = (("Connections", len(found)), ("Triggers", len(triggers)), ("Failures", 0))
    for name, there in counted:
        if header.get(name, -1 if name == "Connections" else 0) != there:
            raise FieldError(
                KEY, f"{path}: {there} {name.lower()}, but the header says"
                f" {name} {header.get(name, 'nothing')}. Is the file cut off?",
            )  # fmt: skip
    if "Nodes" not in header:
        raise FieldError(KEY, f"{path}: the header has no Nodes n.")
    waits = _triggers.waits(found, triggers, rows)
    has_priorities = any("prio" in flow for flow in found)
    return Matrix(header["Nodes"], _columns(found, rows), tuple(rows), waits, has_priorities)


def _columns(found: list[dict[str, int]], rows: list[str]) -> dict[str, np.ndarray]:
    """Return the columns of the flows; ids only if all flows have one."""
    with_id = [row for row, flow in zip(rows, found, strict=True) if "id" in flow]
    if with_id and len(with_id) < len(found):
        raise FieldError(KEY, f"{with_id[0]}: has an id, but not every flow has. Give all or none.")
    names = {"src": "src", "dst": "dst", "bytes": "size", "start_ps": "start"}
    names |= {"flow": "id"} if with_id else {}
    return {
        column: np.array([flow[name] for flow in found], dtype=np.int64)
        for column, name in names.items()
    }


def _connection(words: list[str], where: str) -> dict[str, int]:
    """Return what a line says of one flow; one that waits may begin at 0."""
    src, _, dst = words[0].partition("->")
    flow = {"src": _number([src], where, "0->13"), "dst": _number([dst], where, "0->13")}
    rest = iter(words[1:])
    for word in rest:
        if word not in WORDS:
            raise FieldError(
                KEY, f"{where}: {quoted(word)} is no word of a flow. There are {', '.join(WORDS)}."
                f"{did_you_mean(word, WORDS)}",
            )  # fmt: skip
        if word in flow:
            raise FieldError(KEY, f"{where}: {word} stands twice. Keep one.")
        flow[word] = _number([next(rest, "")], where, f"{word} and a whole number")
    if "trigger" in flow:
        if "start" in flow:
            raise FieldError(KEY, f"{where}: has a start and waits for a trigger. Keep one.")
        if "id" not in flow:
            raise FieldError(KEY, f"{where}: waits for a trigger, so htsim asks for its id.")
        flow["start"] = 0
    for word in ("start", "size"):
        if word not in flow:
            raise FieldError(KEY, f"{where}: has no {word}. Is the line cut off?")
    if flow.get("id", 1) < 1:
        raise FieldError(KEY, f"{where}: id {flow['id']} is not allowed by htsim. Count from 1.")
    return flow


def _number(words: list[str], where: str, wanted: str) -> int:
    """Return a whole number that fits 64 bits; decimals may be zeros."""
    try:
        (word,) = words
        return parse_whole(word)
    except ValueError:
        raise FieldError(KEY, f"{where}: {quoted(' '.join(words))}: write {wanted}.") from None
