# SPDX-License-Identifier: GPL-2.0-only
"""Takes amounts and a schedule, returns the tasks of one step.

Every pass of a layer is two computations, after each of which its tensor-parallel group all-reduces
activations: nothing hides that. Gradients are reduced in the rack, among peers, exchanged between
sites, and gathered back, in chunks that follow each other through these stages, so that all
networks are in use.

Source: [hotnets24] sections 4, 4.1 and 6, figure 2.
"""

import math
from dataclasses import dataclass

import numpy as np

from pyorch.collective import direct, ring
from pyorch.collective._graph import Call, Graph
from pyorch.errors import TheoryError
from pyorch.theory.schedules import (
    FORWARD,
    INPUT,
    STEADY,
    TANGLED,
    WEIGHT,
    Pass,
    Schedule,
    schedule,
)
from pyorch.training import by_rack
from pyorch.training.builder import Builder, Rows
from pyorch.training.graph import TaskGraph
from pyorch.training.plan import Amounts, Shape

#: Lane of computations that are no forward pass, and of messages by what they are for.
BACKWARD = "backward"
TENSOR, EXPERT, CONTEXT, PIPELINE = "TP", "EP", "CP", "PP"
DATA = (
    "DP 1 reduce-scatter", "DP 2 reduce-scatter", "DP 3 exchange", "DP 4 all-gather",
    "DP 5 all-gather",
)  # fmt: skip
#: All-reduces of activations in each layer and pass: after attention and after feed-forward.
HALVES = 2
#: Beside what the gradients are reduced.
NOTHING, COMPUTE, PASS = "none", "compute", "pass"
#: Stages of data parallelism: among whom, and what. Routed experts have replicas of their own.
SCATTER = (
    ("rack", "reduce_scatter", DATA[0]), ("routed_rack", "reduce_scatter", DATA[0]),
    ("rail", "reduce_scatter", DATA[1]), ("copies", "reduce_scatter", DATA[1]),
    ("routed", "reduce_scatter", DATA[1]), ("routed_copies", "reduce_scatter", DATA[1]),
)  # fmt: skip
EXCHANGE = (("site", "exchange", DATA[2]),)
#: Gradients for all groups of peers that share a whole each.
RETURN = (("routed_copies", "all_gather", DATA[3]), ("copies", "all_gather", DATA[3]))
GATHER = (
    ("routed", "all_gather", DATA[3]), ("rail", "all_gather", DATA[3]),
    ("routed_rack", "all_gather", DATA[4]), ("rack", "all_gather", DATA[4]),
)  # fmt: skip
#: Keys and values of a sequence that is shared: from other racks, then in the rack.
SHARE = (("context_rail", "all_gather"), ("context", "all_gather"))
#: Their gradients, the other way round.
SHARE_BACK = (("context", "reduce_scatter"), ("context_rail", "reduce_scatter"))
#: Axis along which each of these lies, where replicas that share something are neighbours: sites,
#: copies, peers of one copy, racks of neighbours, neighbours in a rack, devices of one of them.
AXES = {
    "site": 0, "copies": 1, "routed_copies": 1, "rail": 2, "routed": 2, "context_rail": 3,
    "rack": 4, "routed_rack": 4, "context": 5, "group": 6,
}  # fmt: skip
#: ZeRO: from this stage on peers have a part of the weights each.
SHARDED = 3


@dataclass(frozen=True)
class Plan:
    """One step.

    Attributes
    ----------
    shape, amounts
        Who takes part, what each does and sends.
    layers : int
        Of a model chunk.
    schedule : str
        `STEADY`: each stage has one micro-batch forward, hands it on, and has one backward, as if
        the pipeline had been full for ever; or one of `schedules`: all micro-batches of a step.
    micro_batches, model_chunks : int
        Of a step; of a stage, interleaved. 1 and 1 if steady.
    overlap : str
        `COMPUTE`, as in the source and for steady steps alone: gradients are reduced beside the
        arithmetic of the backward pass, and what that pass sends comes after both. `PASS`: chunk by
        chunk as the pass goes on, beside all of it. `NOTHING`: after it.
    chunks : int
        Parts in which gradients are reduced; with `PASS` the backward pass has so many too.
    experts, context : int
        Replicas that exchange tokens, and that share a sequence, in groups of so many neighbours,
        counted rack by rack; 1: nobody does.
    zero : int
        0: gradients are reduced and gathered again, once in a step. 1 and 2: weights are gathered
        in their place. 3: weights are gathered for each forward and each backward pass, beside the
        arithmetic of these, and gradients are scattered only. Each site has a whole copy, and each
        of the `copies` of `amounts` among its peers, which reduce what each has scattered (hybrid
        sharding).
    exchange : bool
        Whether sites exchange what they have reduced; in a step without, each goes on by itself.
    """

    shape: Shape
    amounts: Amounts
    layers: int = 1
    schedule: str = STEADY
    micro_batches: int = 1
    model_chunks: int = 1
    overlap: str = COMPUTE
    chunks: int = 16
    experts: int = 1
    context: int = 1
    zero: int = 0
    exchange: bool = True


def build(plan: Plan) -> TaskGraph:
    """Return the tasks of one step.

    Devices are counted site by site, then rack by rack; the racks of one replica of the pipeline
    follow each other.
    """
    step = _Step(plan)
    return step.steady() if plan.schedule == STEADY else step.scheduled()


class _Step:
    """The tasks of a step while they are put together.

    Rows of a stage are sites x peers x members x tensor.
    """

    def __init__(self, plan: Plan):
        self.plan, self.built = plan, Builder(plan.shape.devices)
        stages, peers, members, tensor, sites = plan.shape
        counted = np.arange(plan.shape.devices).reshape(sites, peers, stages, members, tensor)
        #: stages x sites x peers x members x tensor
        self.devices = np.moveaxis(counted, 2, 0)
        #: Of each stage, when each of its rings of gradients is free.
        self.reduced: list[dict[int, Rows]] = [{} for _ in range(stages)]
        #: Of the devices of a stage, counted from 0, those of each group, by what they share.
        self.orders: dict[str, np.ndarray] = {}
        #: Messages of each ring and exchange of tokens: most are needed many times.
        self.messages: dict[tuple, Graph] = {}

    def steady(self) -> TaskGraph:
        """Return a step in which every stage does the same at the same time."""
        stages = self.plan.shape.stages
        ahead = [self._forward(stage) for stage in range(stages)]
        came = self._hand_on(ahead, +1)
        back = []
        for stage in range(stages):
            if self.plan.overlap == PASS:
                back.append(self._backward_with_gradients(stage, came[stage]))
                continue
            chains = GATHER if self.plan.zero == SHARDED else ()
            sent = self._chain(stage, [came[stage]] * self.plan.chunks, chains + self._rings())
            done = self._beside(stage, BACKWARD, came[stage], sent)
            back.append(done)
        self._hand_on(back, -1)
        return self.built.graph()

    def _forward(self, stage: int) -> Rows:
        """Add a forward pass; sharded weights come beside the arithmetic of the one before."""
        if self.plan.zero != SHARDED:
            halves, done = HALVES * self.plan.layers, None
            for index in range(halves):
                done = self._half(stage, Pass(FORWARD, 0), index, halves, done)
            return done
        began = self.built.barrier(self.devices[stage], FORWARD)
        came = self._chain(stage, [began] * self.plan.chunks, GATHER)
        return self._beside(stage, FORWARD, began, came)

    def _beside(self, stage: int, lane: str, began: Rows, sent: Rows) -> Rows:
        """Add the arithmetic of a pass; after that and what is sent beside it, its own messages."""
        computed = self._compute(stage, lane, self._duration_ps(lane), began)
        done = self._join(stage, lane, computed, sent)
        for half in range(HALVES * self.plan.layers):
            if self._is_feed_forward(lane, half):  # tokens go out and come back
                done = self._exchange(stage, lane, self._exchange(stage, lane, done), back=True)
            else:
                done = self._share(stage, lane, done)
            done = self._tensor(stage, lane, done)
        return done

    @staticmethod
    def _is_feed_forward(lane: str, half: int) -> bool:
        return half % HALVES == (1 if lane == FORWARD else 0)

    def scheduled(self) -> TaskGraph:
        """Return a step of all micro-batches, in the order of its schedule on each stage."""
        plan, stages = self.plan, self.plan.shape.stages
        found = schedule(plan.schedule, stages, plan.micro_batches, plan.model_chunks)
        came: dict[tuple, Rows] = {}
        last: list[Rows | None] = [None] * stages
        at, waiting = [0] * stages, list(range(stages))
        while waiting:
            stage = waiting.pop()
            order = found.orders[stage]
            while at[stage] < len(order):
                group = order[at[stage] :][: 1 + order[at[stage]].paired]
                keys = [(stage, one.lane, one.chunk, one.micro_batch) for one in group]
                needed = [found.waits(stage, one) for one in group]
                if any(need and key not in came for need, key in zip(needed, keys, strict=True)):
                    break
                given = [came.get(key) if need else None
                         for need, key in zip(needed, keys, strict=True)]  # fmt: skip
                last[stage], sent = self._group(stage, found, group, given, last[stage])
                came |= sent
                waiting += [key[0] for key in sent]
                at[stage] += len(group)
        if any(n < len(order) for n, order in zip(at, found.orders, strict=True)):
            raise TheoryError(TANGLED)
        return self.built.graph()

    def _group(
        self, stage: int, found: Schedule, group: tuple[Pass, ...], given: list[Rows | None],
        last: Rows | None,
    ) -> tuple[Rows, dict[tuple, Rows]]:  # fmt: skip
        """Add a pass, or two in turn; return when both are done, and what they hand on.

        A pass hands on before gradients are reduced, and nobody waits for these.
        """
        after: list[Rows | None] = []
        for one, came in zip(group, given, strict=True):
            rows = [each for each in (came, last) if each is not None]
            after.append(self._join(stage, one.lane, *rows) if rows else None)
        began, ready = list(after), [[] for _ in group]
        total = HALVES * self.plan.layers
        for index in range(total):
            for which, one in enumerate(group):
                after[which] = self._half(
                    stage, one, index, total, after[which],
                    ready[which] if found.is_last(stage, one) else None,
                )  # fmt: skip
        sent = {}
        for which, one in enumerate(group):
            if self.plan.zero == SHARDED and one.kind != WEIGHT:
                after[which] = self._with_weights(stage, one.lane, began[which], after[which])
            to = found.following(stage, one)
            if to is not None:
                key = (to[0], one.lane, to[1], one.micro_batch)
                sent[key] = self._hand_over(stage, to[0], after[which])
            if found.is_last(stage, one):
                self._reduce(stage, ready[which], after[which])
        done = after[0] if len(group) == 1 else self._join(stage, group[0].lane, *after)
        return done, sent

    def _hand_over(self, stage: int, to: int, done: Rows) -> Rows:
        """Send a micro-batch on."""
        if stage == to:
            return done
        sent = self.built.message(
            self.devices[stage], self.devices[to], self.plan.amounts.pipeline_bytes, PIPELINE
        )
        self.built.wait(sent, done)
        return sent

    def _with_weights(self, stage: int, lane: str, began: Rows | None, done: Rows) -> Rows:
        """Add weights that come beside a pass."""
        if began is None:
            began = self.built.barrier(self.devices[stage], lane)
        return self._join(stage, lane, done, self._chain(stage, [began] * self.plan.chunks, GATHER))

    def _reduce(self, stage: int, ready: list[Rows], done: Rows) -> None:
        """Reduce the gradients of a model chunk, behind those of the stage's others."""
        if self.plan.overlap == NOTHING:
            ready = [done] * self.plan.chunks
        self._chain(stage, ready, self._rings(), self.reduced[stage])

    def _rings(self) -> tuple[tuple[str, str, str], ...]:
        """Return the stages in which gradients are reduced."""
        exchange = EXCHANGE if self.plan.exchange else ()
        return SCATTER + exchange + RETURN + (() if self.plan.zero == SHARDED else GATHER)

    def _hand_on(self, done: list[Rows], step: int) -> list[Rows]:
        """Send from each stage to the next one around; return what each stage has then."""
        stages = len(done)
        if stages == 1:
            return done
        came: list[Rows] = [done[0]] * stages
        for stage in range(stages):
            to = (stage + step) % stages
            sent = self.built.message(
                self.devices[stage], self.devices[to], self.plan.amounts.pipeline_bytes, PIPELINE
            )
            self.built.wait(sent, done[stage])
            came[to] = sent
        return [self._join(stage, PIPELINE, done[stage], came[stage]) for stage in range(stages)]

    def _half(
        self, stage: int, one: Pass, index: int, halves: int, after: Rows | None,
        ready: list[Rows] | None = None,
    ) -> Rows:  # fmt: skip
        """Add half a layer; with `ready`, chunk by chunk of its gradients, which are put there."""
        total_ps, parts = self._duration_ps(one.kind), halves
        mine = [index]
        if ready is not None:
            parts = max(halves, self.plan.chunks)
            mine = list(range(parts * index // halves, parts * (index + 1) // halves))
        is_feed_forward = self._is_feed_forward(one.lane, index)
        if one.kind != WEIGHT:
            after = (self._exchange(stage, one.lane, after) if is_feed_forward
                     else self._share(stage, one.lane, after))  # fmt: skip
        for part in mine:
            own_ps = total_ps * (part + 1) // parts - total_ps * part // parts
            after = self._compute(stage, one.lane, own_ps, after)
            if ready is not None and len(ready) < self.plan.chunks * (part + 1) // parts:
                ready.append(after)
        if one.kind == WEIGHT:
            return after
        if is_feed_forward:
            after = self._exchange(stage, one.lane, after, back=True)
        return self._tensor(stage, one.lane, after)

    def _backward_with_gradients(self, stage: int, after: Rows | None) -> Rows:
        """Add a backward pass and the reduction of its gradients, as it goes on."""
        halves = HALVES * self.plan.layers
        ready: list[Rows] = []
        for index in range(halves):
            after = self._half(stage, Pass(BACKWARD, 0), index, halves, after, ready)
        return self._join(stage, BACKWARD, after, self._chain(stage, ready, self._rings()))

    def _chain(
        self, stage: int, ready: list[Rows], rings: tuple, free: dict[int, Rows] | None = None
    ) -> Rows:
        """Add rings for each chunk, one after the other.

        Exchanges of several chunks are under way at once, as a message between sites is: what
        follows that of a chunk waits for those of the chunks before.

        Parameters
        ----------
        ready : list of Rows
            When each chunk may begin.
        free : dict
            By ring, what it has to end before; it is put there for those that come later.
        """
        free = {} if free is None else free
        for rows in ready:
            for index, (where, operation, lane) in enumerate(rings):
                size = self.plan.amounts.reduced_bytes(where, operation, self.plan.zero)
                if self._members(where) == 1:
                    continue
                before = [free[index]] if index in free else []
                if before and operation != "exchange":
                    rows = self._join(stage, lane, rows, *before)
                rows = self._ring(stage, where, operation, size // self.plan.chunks, rows, lane)
                if before and operation == "exchange":
                    rows = self._join(stage, lane, rows, *before)
                free[index] = rows
        return rows

    def _turns(self, lane: str) -> int:
        """Return how often a pass sends what a forward pass does."""
        return 1 if lane == FORWARD else self.plan.amounts.backward_turns

    def _tensor(self, stage: int, lane: str, after: Rows) -> Rows:
        for _ in range(self._turns(lane)):
            after = self._ring(
                stage, "group", "all_reduce", self.plan.amounts.tensor_bytes, after, TENSOR
            )
        return after

    def _ring(
        self, stage: int, where: str, operation: str, size_bytes: int, after: Rows, lane: str
    ) -> Rows:
        """Add a ring in each group of devices that share something; twins send to each other."""
        members = self._members(where)
        if members == 1:
            return after
        key = operation, members, size_bytes
        if key not in self.messages:
            self.messages[key] = (
                direct.graph(Call("all_reduce", members, size_bytes), direct.Params())
                if operation == "exchange"
                else ring.graph(Call(operation, members, size_bytes), ring.Params())
            )
        return self._among(stage, where, self.messages[key], after, lane)

    def _exchange(
        self, stage: int, lane: str, after: Rows | None, back: bool = False
    ) -> Rows | None:
        """Add the all-to-all in which tokens go to their experts, or come back."""
        if self.plan.experts == 1:
            return after
        if after is None:
            after = self.built.barrier(self.devices[stage], EXPERT)
        key = EXPERT, back
        if key not in self.messages:
            self.messages[key] = self._tokens(back)
        for _ in range(self._turns(lane)):
            after = self._among(stage, "experts", self.messages[key], after, EXPERT)
        return after

    def _tokens(self, back: bool) -> Graph:
        """Return the messages among those that share experts: a copy for each, or for each rack."""
        amounts, number = self.plan.amounts, self.plan.experts
        size, rail = amounts.expert_bytes, amounts.expert_rail_bytes
        if back:
            size, rail = amounts.combine_bytes, amounts.combine_rail_bytes
        racks, rest = divmod(number, self.plan.shape.members)
        if rail == 1 or racks < 2 or rest:
            call = Call("all_to_all", number, -(-size // number) * number)
            return direct.graph(call, direct.Params())
        return by_rack.graph(
            racks, self.plan.shape.members, -(-rail // racks), -(-size // number), back
        )

    def _share(self, stage: int, lane: str, after: Rows | None) -> Rows | None:
        """Add the all-gather of keys and values before attention, and of these their gradients."""
        if self.plan.context == 1:
            return after
        if after is None:
            after = self.built.barrier(self.devices[stage], CONTEXT)
        rings = SHARE * self._turns(lane) + (SHARE_BACK if lane != FORWARD else ())
        for where, operation in rings:
            size = getattr(self.plan.amounts, f"{where}_bytes")
            after = self._ring(stage, where, operation, size, after, CONTEXT)
        return after

    def _members(self, where: str) -> int:
        """Return how many devices a group has."""
        return self._order(where).shape[-1]

    def _order(self, where: str) -> np.ndarray:
        """Return the devices of each group, counted among those of a stage."""
        if where not in self.orders:
            shape = self.devices[0].shape
            self.orders[where] = self._grouped(np.arange(math.prod(shape)).reshape(shape), where)
        return self.orders[where]

    def _grouped(self, rows: np.ndarray, where: str) -> np.ndarray:
        """Return the rows of a stage as groups of devices, one each.

        Groups are tensor-parallel ones; members of a rack; peers of a rail that share a whole;
        those with the same place in copies of it; twins of the sites; neighbours among the replicas
        of a site that share experts, or a sequence in a rack or on a rail; and of the replicas of
        routed experts members, peers and copies.
        """
        plan, (sites, _, members, tensor) = self.plan, rows.shape
        if where == "experts":
            by_group = rows.reshape(sites, -1, plan.experts, tensor)
            return np.moveaxis(by_group, 2, -1).reshape(-1, plan.experts)
        degree, copies = 1, plan.amounts.copies
        if where.startswith("routed"):
            degree, copies = plan.experts, plan.amounts.routed_copies
            if degree == 1:
                return rows.reshape(-1, 1)
        elif where.startswith("context"):
            degree, copies = plan.context, 1
        near = plan.shape.spread(degree)
        apart = members // near.members
        split = rows.reshape(sites, copies, -1, near.racks, apart, near.members, tensor)
        return np.moveaxis(split, AXES[where], -1).reshape(-1, split.shape[AXES[where]])

    def _among(self, stage: int, where: str, messages, after: Rows, lane: str) -> Rows:
        """Add a collective in each group of devices."""
        devices = self.devices[stage]
        order = self._order(where)
        done = self.built.collective(messages, devices.ravel()[order], np.ravel(after)[order], lane)
        rows = np.empty(devices.size, dtype=np.int64)
        rows[order] = done
        return rows.reshape(devices.shape)

    def _compute(self, stage: int, lane: str, duration_ps: int, after: Rows | None) -> Rows:
        rows = self.built.compute(self.devices[stage], duration_ps, lane)
        if after is not None:
            self.built.wait(rows, after)
        return rows

    def _join(self, stage: int, lane: str, *rows: Rows) -> Rows:
        joined = self.built.barrier(self.devices[stage], lane)
        for each in rows:
            self.built.wait(joined, each)
        return joined

    def _duration_ps(self, kind: str) -> int:
        """Return the arithmetic of one pass through one model chunk of a stage [ps]."""
        amounts = self.plan.amounts
        if kind == FORWARD:
            return amounts.forward_ps * self.plan.layers
        whole_ps = amounts.backward_ps * self.plan.layers
        weight_ps = whole_ps // 2
        return {WEIGHT: weight_ps, INPUT: whole_ps - weight_ps}.get(kind, whole_ps)
