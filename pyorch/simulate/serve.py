# SPDX-License-Identifier: GPL-2.0-only
"""Answers requests while a run goes on: what ends lets the next batches begin, as further tables.

A run pauses at barriers that decide, after all of that time has happened. Arrivals are such
barriers, and so are the ends of batches.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from pyorch import plugins
from pyorch.errors import SimulationError

Columns = dict[str, np.ndarray]
Tables = dict[str, Columns]
REQUESTS = ("arrival_ps", "prompt_tokens", "answer_tokens")
TIMES = ("prefill_start_ps", "first_token_ps", "transfer_start_ps", "transfer_end_ps",
         "last_token_ps")  # fmt: skip


class Server:
    """Who answers the requests of one workload.

    Parameters
    ----------
    index : int
        Of the workload.
    workload, topology : mapping
        As in the resolved spec.
    requests : mapping of ndarray
        ``task``, at which each arrives, ``arrival_ps``, ``prompt_tokens`` and ``answer_tokens``.
    hosts : ndarray of int
        Node of each device.
    """

    def __init__(
        self, index: int, workload: Mapping[str, object], topology: Mapping[str, object],
        requests: Columns, hosts: np.ndarray,
    ):  # fmt: skip
        # These take a second, which other runs need not wait.
        self._rows = plugins.on_demand("pyorch.render.further")
        self._limits = plugins.on_demand("pyorch.spec.limits")
        self._serving = plugins.on_demand("pyorch.serving")
        load = plugins.on_demand("pyorch.spec.resolved").Workload.model_validate(workload)
        self._index, self._hosts, self._carriers = index, hosts, load.carriers
        self._topology = plugins.on_demand("pyorch.spec.parts").Topology.model_validate(topology)
        self._service = load.module.service(load.params)
        tokens = [requests[name] for name in REQUESTS[1:]]
        self._scheduler = load.module.scheduler(load.params, *tokens)
        self._request_of = {task: i for i, task in enumerate(requests["task"].tolist())}
        self._requests = {name: requests[name] for name in REQUESTS}
        self._requests |= {name: np.full(len(requests["task"]), -1) for name in TIMES}
        #: By barrier at which one ends: its number. By number: barriers that are left.
        self._batch_of: dict[int, int] = {}
        self._left: list[int] = []
        self._batches: list = []
        self._log: list[list[int]] = []

    def act(self, now_ps: int, decided: Sequence[int], next_id: int) -> list[Tables]:
        """Return what begins now that tasks have ended, with ids from `next_id` on."""
        for task in sorted(decided):
            if task in self._request_of:
                self._scheduler.arrive(self._request_of[task])
            elif task in self._batch_of:
                number = self._batch_of.pop(task)
                self._left[number] -= 1
                if not self._left[number]:
                    self._end(number, now_ps)
        begun = []
        for batch in self._scheduler.begin():
            begun.append(self._begin(batch, now_ps, next_id))
            next_id = self._log[-1][-1] + 1
        return begun

    def _end(self, number: int, now_ps: int) -> None:
        """Note the end of a batch."""
        batch = self._batches[number]
        self._log[number][3] = now_ps
        if batch.phase == self._serving.PREFILL:
            self._note("first_token_ps", batch.requests, now_ps)
        elif batch.phase == self._serving.TRANSFER:
            self._note("transfer_end_ps", batch.requests, now_ps)
        self._note("last_token_ps", self._scheduler.end(batch), now_ps)

    def _begin(self, batch, now_ps: int, next_id: int) -> Tables:
        """Return the tasks of a batch."""
        work = self._serving.work_of(self._service, batch)
        hosts = self._hosts[self._service.devices_of(batch)]
        tables, ids = self._rows.further(
            work.graph, hosts, now_ps, next_id, self._topology, self._carriers, self._index
        )
        ends = ids[work.ends]
        tables["tasks"]["decides"] = np.isin(tables["tasks"]["task"], ends).astype(np.int64)
        last_id = int(tables["tasks"]["task"].max())
        if last_id > (most := self._limits.MOST_TASKS):
            raise SimulationError(f"requests: more than {most:,} tasks. Ask for fewer.")
        number = len(self._batches)
        self._batches.append(batch)
        self._left.append(len(ends))
        self._batch_of |= dict.fromkeys(ends.tolist(), number)
        if batch.phase == self._serving.PREFILL:
            self._note("prefill_start_ps", batch.requests, now_ps)
        elif batch.phase == self._serving.TRANSFER:
            self._note("transfer_start_ps", batch.requests, now_ps)
        sent_bytes = int(work.graph.size_bytes.sum())
        self._log.append(
            [batch.phase, batch.instance, now_ps, -1, len(batch.requests), sum(batch.tokens),
             work.compute_ps, sent_bytes, next_id, last_id]
        )  # fmt: skip
        return tables

    def _note(self, what: str, requests: Sequence[int], now_ps: int) -> None:
        self._requests[what][list(requests)] = now_ps

    def requests(self) -> Columns:
        """Return what became of each request."""
        number = np.arange(len(self._requests["arrival_ps"]))
        return {"workload": np.full_like(number, self._index), "request": number, **self._requests}

    def batches(self) -> Columns:
        """Return what was done when, one row for each batch."""
        names = ("phase", "instance", "start_ps", "end_ps", "requests", "tokens", "compute_ps",
                 "sent_bytes", "first_task", "last_task")  # fmt: skip
        rows = np.array(self._log, dtype=np.int64).reshape(-1, len(names))
        found = {name: rows[:, i].copy() for i, name in enumerate(names)}
        return {"workload": np.full(len(rows), self._index), **found}


def act(
    servers: Sequence[Server], now_ps: int, decided: Sequence[int], next_id: int
) -> tuple[list[Tables], int]:
    """Return what begins now that tasks have ended, and the first id that is free then."""
    begun = []
    for server in servers:
        begun += server.act(now_ps, decided, next_id)
        next_id = int(begun[-1]["tasks"]["task"].max()) + 1 if begun else next_id
    return begun, next_id


def tables(servers: Sequence[Server]) -> dict[str, Columns]:
    """Return the tables ``requests`` and ``batches``; none if nobody has asked."""
    found = {}
    for name in ("requests", "batches") if servers else ():
        parts = [getattr(server, name)() for server in servers]
        found[name] = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    return found
