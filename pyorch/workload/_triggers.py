# SPDX-License-Identifier: GPL-2.0-only
"""Triggers of an htsim matrix as dependencies between flows, where they mean such.

A flow activates a trigger when its source has every ACK (send_done_trigger) or its sink has all
data (recv_done_trigger); a trigger that fires starts what waits for it at that very time. oneshot
fires when it is activated, and htsim aborts if it is activated again; barrier at the count-th
activation, and htsim aborts at one more. So both are a conjunction of flows or an error. multishot
starts one of its flows per activation, in the order in which others end; that is no dependency
unless there is one of each.

Source: sim/datacenter/connection_matrix.cpp and sim/trigger.cpp of htsim.
"""

from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

import numpy as np

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.limits import MOST_ROWS
from pyorch.units import parse_whole

KEY = "file"
KINDS = ("oneshot", "barrier", "multishot")
#: Word of a connection to `at_sender`.
ACTIVATES = {"recv_done_trigger": 0, "send_done_trigger": 1}

Flows = list[dict[str, int]]


class Trigger(NamedTuple):
    """One line: ``trigger id 3 barrier count 2``; a trigger without count has 0, as in htsim."""

    id: int
    kind: str
    count: int  # type: ignore[assignment]  # hides that of tuples
    where: str


def parse(words: list[str], where: str) -> Trigger:
    """Return what a line says of a trigger.

    Raises
    ------
    FieldError
        With file and line: a word that does not belong there, or one that is missing.
    """
    numbers, kinds = {"count": 0}, []
    rest = iter(words[1:])
    for word in rest:
        if word in KINDS:
            kinds.append(word)
        elif word in ("id", "count"):
            numbers[word] = _positive(next(rest, ""), word, where)
        else:
            known = ("id", "count", *KINDS)
            raise FieldError(
                KEY, f"{where}: {quoted(word)} is no word of a trigger. There are"
                f" {', '.join(known)}.{did_you_mean(word, known)}",
            )  # fmt: skip
    if len(kinds) != 1 or "id" not in numbers or len(words) != 4 + 2 * ("count" in words):
        raise FieldError(
            KEY, f"{where}: a trigger has an id and is one of {', '.join(KINDS)}, for example:"
            " trigger id 3 barrier count 2.",
        )  # fmt: skip
    return Trigger(numbers["id"], kinds[0], numbers["count"], where)


def waits(flows: Flows, triggers: dict[int, Trigger], rows: list[str]) -> dict[str, np.ndarray]:
    """Return which flows wait for which, by their place in the file.

    Parameters
    ----------
    flows : list of dict
        What each line says.
    triggers : dict
        By id.
    rows : list of str
        Where each flow stands.

    Returns
    -------
    dict of int64 arrays
        ``flow``, ``after``, ``at_sender``: one row for each flow and each end that it waits for.

    Raises
    ------
    FieldError
        A trigger that is not there, that never fires, on which htsim aborts, or that depends on
        which of several flows ends first; or flows that wait for each other.
    """
    waiting: dict[int, list[int]] = {}
    ends: dict[int, list[tuple[int, int]]] = {}
    for index, flow in enumerate(flows):
        for word in ("trigger", *ACTIVATES):
            if word in flow and flow[word] not in triggers:
                raise FieldError(
                    KEY, f"{rows[index]}: there is no trigger {flow[word]}. Add a line: trigger id"
                    f" {flow[word]} oneshot.",
                )  # fmt: skip
        if "trigger" in flow:
            waiting.setdefault(flow["trigger"], []).append(index)
        for word, at_sender in ACTIVATES.items():
            if word in flow:
                ends.setdefault(flow[word], []).append((index, at_sender))
    found = []
    for id_, indices in waiting.items():
        activations = ends.get(id_, [])
        _check(triggers[id_], len(activations), len(indices), rows[indices[0]])
        if len(found) + len(indices) * len(activations) > MOST_ROWS:
            raise FieldError(KEY, f"{triggers[id_].where}: more than {MOST_ROWS} dependencies.")
        found += [(index, *end) for index in indices for end in activations]
    _check_order(found, rows)
    columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return dict(zip(("flow", "after", "at_sender"), columns, strict=True))


def _check(trigger: Trigger, n_activations: int, n_waiting: int, first: str) -> None:
    """Raise FieldError unless a trigger fires once, when all who activate it have done so."""
    where, many = trigger.where, f"trigger {trigger.id} is activated {n_activations} times"
    if n_activations == 0:
        raise FieldError(
            KEY, f"{first}: waits for trigger {trigger.id}, which no flow activates, so it never"
            " starts. Give another flow send_done_trigger or recv_done_trigger.",
        )  # fmt: skip
    if trigger.kind == "barrier" and trigger.count != n_activations:
        raise FieldError(
            KEY, f"{where}: {many}, but its count is {trigger.count}: with fewer it never fires,"
            f" with more htsim aborts. Write count {n_activations}.",
        )  # fmt: skip
    if trigger.kind == "oneshot" and n_activations > 1:
        raise FieldError(
            KEY, f"{where}: {many}, but oneshot allows one; htsim aborts at the second. Write"
            f" barrier count {n_activations} if all of them must have ended.",
        )  # fmt: skip
    if trigger.kind == "multishot" and (n_activations > 1 or n_waiting > 1):
        raise FieldError(
            KEY, f"{where}: {many} and {n_waiting} flows wait for it; which of them starts when"
            " depends on which flow ends first. Name for each the flow that it waits for.",
        )  # fmt: skip


def _check_order(found: list[tuple[int, int, int]], rows: list[str]) -> None:
    """Raise FieldError if flows wait for each other."""
    graph: dict[int, set[int]] = {}
    for flow, after, _ in found:
        graph.setdefault(flow, set()).add(after)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        lines = [rows[index].rpartition(":")[2] for index in error.args[1][:-1]]
        raise FieldError(
            KEY, f"{rows[error.args[1][0]]}: flows wait for each other, so none of them ever"
            f" starts: lines {', '.join(lines[:10])}{', ...' * (len(lines) > 10)}.",
        ) from None  # fmt: skip


def _positive(word: str, name: str, where: str) -> int:
    try:
        if (value := parse_whole(word)) > 0:
            return value
    except ValueError:
        pass
    raise FieldError(KEY, f"{where}: {quoted(word)}: write {name} and a whole number from 1.")
