# SPDX-License-Identifier: GPL-2.0-only
"""Reads workloads of SimAI and AICB: one program of layers, which all ranks follow.

The first line has the policy and sizes of groups, the second the number of rows. A row has twelve
words: name, dependency, then duration [ns], operation and bytes of forward pass, input gradient
and weight gradient, and a time that passes after each operation [ns]. Ranks go through the rows
forward, and backward through the others; they do not wait for operations of weight gradients.

Source: SimAI 1.7, astra-sim/workload/Workload.cc and Layer.cc; groups: MockNcclGroup.cc of 1.6.
"""

import re
from typing import NamedTuple

import numpy as np

from pyorch.collective._graph import Call
from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.limits import LARGEST_MESSAGE_BYTES, LONGEST_PS, MOST_NODES, MOST_TASKS
from pyorch.training.builder import Builder, Rows
from pyorch.training.foreign import Algorithm, Padded, Trace

_PS_PER_NS = 1000
TRANSFORMERS = ("HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER")
MICRO = "MICRO"
OPERATIONS = {
    "ALLREDUCE": "all_reduce", "ALLGATHER": "all_gather", "REDUCESCATTER": "reduce_scatter",
    "ALLTOALL": "all_to_all",
}  # fmt: skip
#: Operations of older files that SimAI passes over.
IGNORED = "BROADCAST"
GROUPS = ("TP", "DP", "EP", "DP_EP")
#: Keys of the first line: of sizes, of amounts that decide nothing in packets, and of lists.
SIZES = {"model_parallel_NPU_group": "TP", "ep": "EP", "pp": "PP", "all_gpus": "gpus"}
_OTHERS = ("vpp", "ga", "pp_comm")
_LISTS = ("checkpoints", "checkpoint_initiates")
#: A forward operation is at least so large there.
_LEAST_FORWARD_BYTES = 4096
_COLUMNS = 12
_WHOLE = re.compile(r"\d{1,19}", re.ASCII)


class Communication(NamedTuple):
    """An operation [byte] in a kind of group."""

    operation: str
    group: str
    size_bytes: int


class Pass(NamedTuple):
    """What a row does in one pass: first it computes [ns]."""

    duration_ns: int
    communication: Communication | None


class Row(NamedTuple):
    """One layer."""

    forward: Pass
    input_gradient: Pass
    weight_gradient: Pass
    update_ns: int

    def passes(self, policy: str) -> tuple[Pass, ...]:
        """Return the passes that ranks do."""
        if policy == MICRO:
            return (self.weight_gradient,)
        return self.forward, self.input_gradient, self.weight_gradient


class Workload(NamedTuple):
    """What a file says: `sizes` by TP, EP, PP and gpus; `others` are keys that decide nothing."""

    policy: str
    sizes: dict[str, int]
    others: tuple[str, ...]
    rows: list[Row]
    ignored: int


def read(
    text: str,
    algorithm: Algorithm,
    gpus: int | None = None,
    where: str = "workload",
    key: str = "file",
    step_ps: int = 0,
) -> Trace:
    """Return the tasks of a file.

    Parameters
    ----------
    text : str
        What is in it.
    algorithm : callable
        Module of `pyorch.collective` that does an operation, and its parameters.
    gpus : int, optional
        How many ranks there are; by default `all_gpus` over `pp`, those of one pipeline stage.
    where, key : str
        File and key of the scenario, for messages.
    step_ps : int
        Passes before a message of an operation that waits for others, when they are there [ps].

    Raises
    ------
    FieldError
        With file and line: what is no such workload, or does not fit the number of ranks.
    """
    work = parse(text, where, key)
    ranks = _ranks(work, gpus, where)
    n_steps = sum(
        bool(its.duration_ns) + bool(its.communication)
        for row in work.rows
        for its in row.passes(work.policy)
    )
    if n_steps * ranks > MOST_TASKS:
        raise FieldError(
            key, f"{where}: {n_steps:,} computations and operations of {ranks:,} ranks; at most"
            f" {MOST_TASKS:,} in all.",
        )  # fmt: skip
    program = _Program(work, Builder(ranks, step_ps), algorithm, where, key)
    if work.policy == MICRO:
        for row in work.rows:
            program.do(row.weight_gradient, row.update_ns, "all")
    else:
        for row in work.rows:
            program.do(row.forward, row.update_ns, "forward")
        for row in reversed(work.rows):
            program.do(row.input_gradient, row.update_ns, "backward")
            program.beside(row.weight_gradient, row.update_ns)
    return Trace(program.build.graph(), _remarks(work, ranks, program.padded, where))


def parse(text: str, where: str, key: str) -> Workload:
    """Return what stands in a file; FieldError names the line of what is wrong."""
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1)]
    lines = [(number, words) for number, words in lines if words]
    if len(lines) < 2:
        raise FieldError(key, f"{where}: has no two lines: is it cut short, or of another format?")
    policy = lines[0][1][0]
    known = (*TRANSFORMERS, MICRO)
    if policy not in known:
        raise FieldError(
            key, f"{where}:{lines[0][0]}: policy {quoted(policy)} is none of {', '.join(known)}."
            f"{did_you_mean(policy, known)}",
        )  # fmt: skip
    sizes, others = _first_line(lines[0][1][1:], f"{where}:{lines[0][0]}", key)
    at = f"{where}:{lines[1][0]}"
    if len(lines[1][1]) > 1:
        raise FieldError(key, f"{at}: {quoted(lines[1][1][1])} stands behind the number of rows.")
    n_rows = _number(lines[1][1][0], "number of rows", MOST_TASKS, at, key)
    if len(lines) - 2 != n_rows or not n_rows:
        raise FieldError(
            key, f"{at}: says {n_rows} rows, but there are {len(lines) - 2}: is it cut short?"
        )
    rows, ignored = [], 0
    for number, words in lines[2:]:
        rows.append(_row(words, policy, f"{where}:{number}", key))
        ignored += sum(words[column] == IGNORED for column in (3, 6, 9))
    return Workload(policy, sizes, tuple(others), rows, ignored)


def _first_line(words: list[str], at: str, key: str) -> tuple[dict[str, int], list[str]]:
    """Return sizes of groups, and keys that decide nothing."""
    sizes, others = {}, []
    seen = set()
    for name, value in zip(words[::2], words[1::2], strict=False):
        name = name.rstrip(":")
        if name in seen:
            raise FieldError(key, f"{at}: {quoted(name)} stands twice.")
        seen.add(name)
        if name in SIZES:
            sizes[SIZES[name]] = _number(value, name, MOST_NODES, at, key)
            if not sizes[SIZES[name]]:
                raise FieldError(key, f"{at}: {name} is 0; write 1 or more.")
        elif name in _OTHERS:
            if _number(value, name, 2**63, at, key) > (name != "pp_comm"):
                others.append(name)
        elif name not in _LISTS:
            allowed = (*SIZES, *_OTHERS, *_LISTS)
            raise FieldError(
                key, f"{at}: {quoted(name)} is none of {', '.join(allowed)}."
                f"{did_you_mean(name, allowed)}",
            )  # fmt: skip
        elif _number(value, name, MOST_TASKS, at, key):
            raise FieldError(
                key, f"{at}: {name} {value}: layers that are computed twice are not read. Write 0,"
                " and their second forward pass as rows.",
            )  # fmt: skip
    if len(words) % 2:
        raise FieldError(key, f"{at}: {quoted(words[-1])} has no value.")
    return sizes, others


def _row(words: list[str], policy: str, at: str, key: str) -> Row:
    """Return one layer."""
    if len(words) != _COLUMNS:
        raise FieldError(key, f"{at}: {len(words)} words; a row has {_COLUMNS}.")
    longest_ns = LONGEST_PS // _PS_PER_NS
    passes = []
    for first, default in ((2, "TP"), (5, "TP"), (8, "DP")):
        duration_ns = _number(words[first], "duration", longest_ns, at, key)
        size = _number(words[first + 2], "bytes", LARGEST_MESSAGE_BYTES, at, key)
        if policy == MICRO:
            default = "all"
        elif first == 2 and size:
            size = max(size, _LEAST_FORWARD_BYTES)
        passes.append(Pass(duration_ns, _communication(words[first + 1], size, default, at, key)))
    forward, input_gradient, weight_gradient = passes
    update_ns = _number(words[-1], "update", longest_ns, at, key)
    return Row(forward, input_gradient, weight_gradient, update_ns)


def _communication(word: str, size: int, default: str, at: str, key: str) -> Communication | None:
    """Return an operation by its word, ``ALLTOALL_EP``; nothing for those that do nothing."""
    if word in ("NONE", IGNORED):
        return None
    name, _, group = word.partition("_")
    group = group or default
    if name not in OPERATIONS or group not in (*GROUPS, "all"):
        raise FieldError(
            key, f"{at}: {quoted(word)} is none of NONE, {', '.join(OPERATIONS)}, maybe with _EP or"
            " _DP_EP.",
        )  # fmt: skip
    return Communication(OPERATIONS[name], group, size) if size else None


def _number(word: str, what: str, most: int, at: str, key: str) -> int:
    """Return a whole number that is not too large for what it counts."""
    if not _WHOLE.fullmatch(word) or int(word) > most:
        raise FieldError(key, f"{at}: {what} {quoted(word)} is no whole number up to {most}.")
    return int(word)


def _ranks(work: Workload, gpus: int | None, where: str) -> int:
    """Return how many ranks there are."""
    sizes = work.sizes
    if gpus is None and "gpus" not in sizes:
        raise FieldError("gpus", f"{where}: does not say how many GPUs there are. Write gpus: 64.")
    stages = sizes.get("PP", 1)
    if gpus is None and sizes["gpus"] % stages:
        raise FieldError(
            "gpus", f"{where}: {sizes['gpus']} GPUs are not {stages} equal pipeline stages. Write"
            " the GPUs of one stage, gpus: 64.",
        )  # fmt: skip
    ranks = gpus or sizes["gpus"] // stages
    together = sizes.get("TP", 1) * sizes.get("EP", 1)
    if ranks < 2 or ranks % together:
        raise FieldError(
            "gpus", f"{where}: {ranks} ranks are not whole groups of {sizes.get('TP', 1)} (tensor)"
            f" times {sizes.get('EP', 1)} (experts). Write gpus: {max(together, 2)}.",
        )  # fmt: skip
    return ranks


def groups(kind: str, sizes: dict[str, int], ranks: int) -> np.ndarray:
    """Return the ranks of each group of a kind, one row for each group.

    Parameters
    ----------
    kind : str
        ``TP``: neighbours. ``DP``: those with a place in their tensor-parallel group. ``EP``: of
        these, neighbours; ``DP_EP``: of these, those with a place in their group of experts.
        ``all``: all.
    sizes : dict
        How many are in a group of ``TP`` and ``EP``; 1 if it is not said.
    ranks : int
        How many there are.

    Examples
    --------
    >>> groups("DP_EP", {"TP": 2, "EP": 2}, 8).tolist()
    [[0, 4], [1, 5], [2, 6], [3, 7]]
    """
    places = np.arange(ranks).reshape(-1, sizes.get("EP", 1), sizes.get("TP", 1))
    if kind == "all":
        return places.reshape(1, -1)
    if kind == "DP":
        return places.reshape(-1, sizes.get("TP", 1)).T
    axis = {"DP_EP": 0, "EP": 1, "TP": 2}[kind]
    return np.moveaxis(places, axis, -1).reshape(-1, places.shape[axis])


class _Program:
    """What all ranks do, one row after the other."""

    def __init__(self, work: Workload, build: Builder, algorithm: Algorithm, where: str, key: str):
        self.build = build
        self.padded = Padded(algorithm, where, key)
        self._sizes, self._all = work.sizes, np.arange(build.devices)
        self._now: Rows | None = None
        self._last: dict[str, Rows] = {}

    def do(self, its: Pass, update_ns: int, lane: str) -> None:
        """Let ranks compute, and wait for the operation and the time after it."""
        self._compute(its.duration_ns, lane)
        if its.communication is not None:
            self._now = self._communicate(its.communication)
            self._compute(update_ns, "update")

    def beside(self, its: Pass, update_ns: int) -> None:
        """Let ranks compute, and begin an operation that they do not wait for."""
        self._compute(its.duration_ns, "backward")
        if its.communication is not None:
            done = self._communicate(its.communication)
            if update_ns:
                after = self.build.compute(self._all, update_ns * _PS_PER_NS, "update", 1)
                self.build.wait(after, done)

    def _compute(self, duration_ns: int, lane: str) -> None:
        """Let all ranks compute."""
        if duration_ns:
            task = self.build.compute(self._all, duration_ns * _PS_PER_NS, lane)
            if self._now is not None:
                self.build.wait(task, self._now)
            self._now = task

    def _communicate(self, its: Communication) -> Rows:
        """Return when each rank has its result; those of one kind of group follow each other."""
        members = groups(its.group, self._sizes, len(self._all))
        if members.shape[1] < 2:
            return self._begin()
        begin = self._begin()
        if its.group in self._last:
            both = self.build.barrier(self._all, its.group)
            self.build.wait(both, begin)
            self.build.wait(both, self._last[its.group])
            begin = both
        call = Call(its.operation, members.shape[1], its.size_bytes)
        messages = self.padded(call, len(members))
        done = self.build.collective(messages, members, begin[members], its.group)
        by_rank = np.empty_like(begin)
        by_rank[members] = done
        self._last[its.group] = by_rank
        return by_rank

    def _begin(self) -> Rows:
        if self._now is None:
            self._now = self.build.barrier(self._all, "begin")
        return self._now


def _remarks(work: Workload, ranks: int, padded: Padded, where: str) -> tuple[str, ...]:
    """Return what the tasks do not say."""
    found = list(padded.remarks())
    if (stages := work.sizes.get("PP", 1)) > 1:
        found.append(
            f"{ranks} ranks are one of {stages} pipeline stages; messages between stages and the"
            " bubble stand in no row and are not simulated"
        )
    if work.others:
        found.append(f"{', '.join(work.others)} are not used")
    if work.policy == MICRO:
        others = [its for row in work.rows for its in (row.forward, row.input_gradient)]
        if left_out := sum(bool(its.duration_ns or its.communication) for its in others):
            found.append(
                f"{left_out} forward passes and input gradients are left out: {MICRO} has weight"
                " gradients alone"
            )
    if idle := sum(
        bool(row.update_ns) and not any(its.communication for its in row.passes(work.policy))
        for row in work.rows
    ):
        found.append(f"{idle} updates are left out: their rows have no operation")
    if work.ignored:
        found.append(f"{work.ignored} {IGNORED}s are left out, as SimAI does")
    return (f"{where}: {'; '.join(found)}.",) if found else ()
