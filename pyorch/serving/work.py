# SPDX-License-Identifier: GPL-2.0-only
"""The tasks of one batch: computations and messages of its layers, or keys and values on their way.

Devices are those of the batch's instance, group by group; of a transfer first those of the group
that has computed, then those of the group that goes on. At the end each device passes a barrier.
"""

from typing import NamedTuple

import numpy as np

from pyorch.collective import ring
from pyorch.collective._graph import Call
from pyorch.serving.batching import DECODE, TRANSFER, Batch
from pyorch.serving.costs import Costs, Pool
from pyorch.serving.routing import Routing
from pyorch.training.builder import Builder, Rows
from pyorch.training.graph import COMPUTE, TaskGraph
from pyorch.training.step import EXPERT, TENSOR

KEYS_VALUES, END, COMPUTES = "KV", "end", "compute"


class Service(NamedTuple):
    """Who serves which model, and how much smaller.

    Attributes
    ----------
    prefill, decode : Pool
        The same one, if `apart` is false.
    layers : int
        That are computed, of the model's.
    divide : int
        Times and bytes are so many times smaller.
    """

    costs: Costs
    routing: Routing
    prefill: Pool
    decode: Pool
    apart: bool
    layers: int
    divide: int

    @property
    def devices(self) -> int:
        """All of them."""
        return self.prefill.devices + (self.decode.devices if self.apart else 0)

    def pool(self, phase: int) -> Pool:
        """Return the instances of a phase."""
        return self.decode if phase == DECODE else self.prefill

    def devices_of(self, batch: Batch) -> np.ndarray:
        """Return the devices of a batch, counted over all of the service."""
        behind = self.prefill.devices if self.apart else 0
        if batch.phase == TRANSFER:
            source, group = batch.source
            first = source * self.prefill.devices_each + group * self.prefill.tensor
            then = behind + batch.instance * self.decode.devices_each
            then += batch.groups[0] * self.decode.tensor
            return np.concatenate(
                [first + np.arange(self.prefill.tensor), then + np.arange(self.decode.tensor)]
            )
        pool = self.pool(batch.phase)
        first = behind if batch.phase == DECODE else 0
        return first + batch.instance * pool.devices_each + np.arange(pool.devices_each)


class Work(NamedTuple):
    """Tasks of a batch, the barriers at which it ends, and the mean time that a device computes."""

    graph: TaskGraph
    ends: np.ndarray
    compute_ps: int


def work_of(service: Service, batch: Batch) -> Work:
    """Return the tasks of a batch."""
    if batch.phase == TRANSFER:
        return _transfer(service, batch.tokens[0])
    return _Iteration(service, batch).work()


def _transfer(service: Service, tokens: int) -> Work:
    """Return one message for each pair of devices that have the same keys and values."""
    here, there = service.prefill.tensor, service.decode.tensor
    pairs = np.arange(max(here, there))
    target = there / len(pairs) * service.costs.kv_device_bytes(service.decode, tokens)
    built = Builder(here + there)
    src, dst = pairs * here // len(pairs), here + pairs * there // len(pairs)
    sent = built.message(src, dst, _bytes(service.layers * target, service.divide), KEYS_VALUES)
    ends = built.barrier(here + np.arange(there), END)
    built.wait(ends[dst - here], sent)
    return Work(built.graph(), ends, 0)


class _Iteration:
    """One pass of a batch through the layers."""

    def __init__(self, service: Service, batch: Batch):
        self.service, self.pool = service, service.pool(batch.phase)
        groups, tokens = np.array(batch.groups), np.array(batch.tokens)
        new = np.ones_like(tokens) if batch.phase == DECODE else tokens

        def by_group(values: np.ndarray) -> np.ndarray:
            return np.bincount(groups, values, self.pool.groups).astype(np.int64)

        self.tokens = by_group(new)
        self.scores, self.read = by_group(new * tokens), by_group(tokens)
        self.built = Builder(self.pool.devices_each)
        self.devices = np.arange(self.pool.devices_each).reshape(self.pool.groups, -1)

    def work(self) -> Work:
        """Return all layers."""
        after: Rows | None = None
        for layer in range(self.service.layers):
            after = self._layer(layer, after)
        ends = self.built.barrier(self.devices, END)
        self.built.wait(ends, after)
        graph = self.built.graph()
        computes = graph.duration_ps[graph.kind == COMPUTE].sum()
        return Work(graph, ends.ravel(), round(int(computes) / graph.devices))

    def _layer(self, layer: int, after: Rows | None) -> Rows:
        costs, pool = self.service.costs, self.pool
        after = self._compute(costs.attention_ps(pool, self.tokens, self.scores, self.read), after)
        after = self._reduce(after)
        copies = self.service.routing.copies(layer, self.tokens)
        # groups (from) x groups (to) x experts of a group
        copies = copies.reshape(pool.groups, pool.groups, -1)
        sent = copies.sum(axis=2)
        after = self._exchange(sent, costs.dispatch_bytes, after)
        experts = (copies.sum(axis=0) > 0).sum(axis=1)
        feed_forward = costs.feed_forward_ps(pool, self.tokens, sent.sum(axis=0), experts)
        after = self._compute(feed_forward, after)
        after = self._exchange(sent.T, costs.combine_bytes, after)
        return self._reduce(after)

    def _compute(self, time_ps: np.ndarray, after: Rows | None) -> Rows:
        """Add a computation of each device, of the time of its group."""
        own_ps = np.rint(time_ps / self.service.divide).astype(np.int64)
        rows = self.built.compute(self.devices, own_ps[:, None], COMPUTES)
        if after is not None:
            self.built.wait(rows, after)
        return rows

    def _reduce(self, after: Rows) -> Rows:
        """Add an all-reduce of what the tokens of each group are between two layers."""
        tensor = self.pool.tensor
        if tensor == 1:
            return after
        each = self.service.costs.activation_bytes / tensor
        done = after.copy()
        for tokens in np.unique(self.tokens[self.tokens > 0]).tolist():
            groups = self.tokens == tokens
            size_bytes = tensor * _bytes(each * tokens, self.service.divide)
            messages = ring.graph(Call("all_reduce", tensor, size_bytes), ring.Params())
            done[groups] = self.built.collective(
                messages, self.devices[groups], after[groups], TENSOR
            )
        return done

    def _exchange(self, copies: np.ndarray, token_bytes: float, after: Rows) -> Rows:
        """Add an all-to-all: `copies` of tokens from each group to each other one.

        A device sends the tokens that are its own in its group to its like in the other one.
        """
        others = copies * ~np.eye(len(copies), dtype=bool)
        src, dst = np.nonzero(others)
        if not len(src):
            return after
        sizes = [
            _bytes(n * token_bytes / self.pool.tensor, self.service.divide)
            for n in others[src, dst].tolist()
        ]
        rows = self.built.message(
            self.devices[src], self.devices[dst], np.array(sizes)[:, None], EXPERT
        )
        self.built.wait(rows, after[src])
        done = self.built.barrier(self.devices, EXPERT)
        self.built.wait(done, after)
        self.built.wait(done[dst], rows)
        return done


def _bytes(whole: float, divide: int) -> int:
    """Return a message that is so many times smaller, of a byte at least."""
    return max(1, round(whole / divide))
