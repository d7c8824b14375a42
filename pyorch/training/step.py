# SPDX-License-Identifier: GPL-2.0-only
"""Takes amounts and a schedule, leaves the tasks of one step.

Every pass of a layer is two computations, after each of which its tensor-parallel group all-reduces
activations: nothing hides that. Gradients are reduced in the rack, among peers, and gathered back,
in chunks that follow each other through these four rings, so that both networks are in use.

Source: [hotnets24] sections 4, 4.1 and 6, figure 2.
"""

from dataclasses import dataclass

import numpy as np

from pyorch.collective import direct, ring
from pyorch.collective._graph import Call
from pyorch.training.builder import Builder, Rows
from pyorch.training.graph import TaskGraph
from pyorch.training.plan import Amounts, Shape
from pyorch.training.schedule import Pass, one_forward_one_backward

#: Lanes of computations, and of messages by what they are for.
FORWARD, BACKWARD = "forward", "backward"
TENSOR, EXPERT, PIPELINE = "TP", "EP", "PP"
DATA = ("DP 1 reduce-scatter", "DP 2 reduce-scatter", "DP 4 all-gather", "DP 5 all-gather")
#: All-reduces of activations in each layer and pass: after attention and after feed-forward.
HALVES = 2
#: What happens in one step.
STEADY, PIPELINED = "steady", "1f1b"
#: Beside what the gradients are reduced.
COMPUTE, PASS = "compute", "pass"
#: Who has the weights of a stage: every device those of its place in it, or peers a part each.
WHOLE, SHARDED = "whole", "sharded"
#: Stages of data parallelism: among whom, and what.
SCATTER = (("rack", "reduce_scatter", DATA[0]), ("rail", "reduce_scatter", DATA[1]))
GATHER = (("rail", "all_gather", DATA[2]), ("rack", "all_gather", DATA[3]))


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
        the pipeline had been full for ever; `PIPELINED`: all micro-batches of a step.
    micro_batches, model_chunks : int
        Of a step; of a stage, interleaved. 1 and 1 if steady.
    overlap : str
        `COMPUTE`, as in the source: gradients are reduced beside the arithmetic of the backward
        pass, and what that pass sends comes after both. `PASS`: chunk by chunk as the pass goes
        on, beside all of it.
    chunks : int
        Parts in which gradients are reduced; with `PASS` the backward pass has so many too.
    experts : int
        Members of a rack that exchange tokens, in groups of so many; 1: nobody does.
    weights : str
        `WHOLE`: what is reduced is gathered again, once in a step. `SHARDED`: weights are gathered
        for the forward and for the backward pass, beside the arithmetic of these, and gradients
        are scattered only (ZeRO stage 3). Steady steps with the overlap `COMPUTE` alone.
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
    weights: str = WHOLE


def build(plan: Plan) -> TaskGraph:
    """Return the tasks of one step.

    Devices are counted rack by rack; the racks of one replica of the pipeline follow each other.
    """
    step = _Step(plan)
    return step.steady() if plan.schedule == STEADY else step.pipelined()


class _Step:
    """The tasks of a step while they are put together; rows are peers x members x tensor."""

    def __init__(self, plan: Plan):
        self.plan, self.built = plan, Builder(plan.shape.devices)
        stages, peers, members, tensor = plan.shape
        racks = np.arange(peers * stages).reshape(peers, stages).T
        within = np.arange(members * tensor).reshape(members, tensor)
        #: stages x peers x members x tensor
        self.devices = racks[:, :, None, None] * members * tensor + within

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
            chains = GATHER + SCATTER if self.plan.weights == SHARDED else SCATTER + GATHER
            sent = self._chain(stage, [came[stage]] * self.plan.chunks, chains)
            done = self._beside(stage, BACKWARD, came[stage], sent)
            back.append(done)
        self._hand_on(back, -1)
        return self.built.graph()

    def _forward(self, stage: int) -> Rows:
        """Add a forward pass; sharded weights come beside the arithmetic of the one before."""
        if self.plan.weights == WHOLE:
            return self._pass(stage, FORWARD, None)
        began = self.built.barrier(self.devices[stage], FORWARD)
        came = self._chain(stage, [began] * self.plan.chunks, GATHER)
        return self._beside(stage, FORWARD, began, came)

    def _beside(self, stage: int, lane: str, began: Rows, sent: Rows) -> Rows:
        """Add the arithmetic of a pass; after that and what is sent beside it, its own messages."""
        computed = self._compute(stage, lane, self._duration_ps(lane), began)
        done = self._join(stage, lane, computed, sent)
        for half in range(HALVES * self.plan.layers):
            if self._is_feed_forward(lane, half):  # tokens go out and come back
                done = self._exchange(stage, self._exchange(stage, done))
            done = self._tensor(stage, done)
        return done

    @staticmethod
    def _is_feed_forward(lane: str, half: int) -> bool:
        return half % HALVES == (1 if lane == FORWARD else 0)

    def pipelined(self) -> TaskGraph:
        """Return a step of all micro-batches, in the order of 1F1B on each stage."""
        plan = self.plan
        stages, total = plan.shape.stages, plan.shape.stages * plan.model_chunks
        orders = [
            one_forward_one_backward(stage, stages, plan.micro_batches, plan.model_chunks)
            for stage in range(stages)
        ]
        came: dict[tuple[int, bool, int], Rows] = {}  # position, backward, micro-batch
        last: list[Rows | None] = [None] * stages
        at = [0] * stages
        while any(at[stage] < len(orders[stage]) for stage in range(stages)):
            moved = False
            for stage in range(stages):
                if at[stage] == len(orders[stage]):
                    continue
                one = orders[stage][at[stage]]
                position = one.chunk * stages + stage
                first = 0 if not one.backward else total - 1
                if position != first and (position, one.backward, one.micro_batch) not in came:
                    continue
                given = came.pop((position, one.backward, one.micro_batch), None)
                is_last = at[stage] + 1 == len(orders[stage])
                done = self._one(stage, one, given, last[stage], is_last)
                self._send_on(one, position, done, came)
                last[stage], moved = done, True
                at[stage] += 1
            assert moved, "the passes of a schedule wait for each other"
        return self.built.graph()

    def _one(self, stage: int, one: Pass, came: Rows | None, last: Rows | None, is_last: bool):
        """Add a pass after what came and after the pass before it; reduce gradients in the last."""
        lane = BACKWARD if one.backward else FORWARD
        given = [rows for rows in (came, last) if rows is not None]
        after = self._join(stage, lane, *given) if given else None
        if is_last:
            return self._backward_with_gradients(stage, after)
        return self._pass(stage, lane, after)

    def _send_on(self, one: Pass, position: int, done: Rows, came: dict) -> None:
        """Hand a micro-batch on to the model chunk that comes next, if there is one."""
        stages = self.plan.shape.stages
        to = position + (-1 if one.backward else 1)
        if not 0 <= to < stages * self.plan.model_chunks:
            return
        if stages == 1:
            came[to, one.backward, one.micro_batch] = done
            return
        sent = self.built.message(
            self.devices[position % stages], self.devices[to % stages],
            self.plan.amounts.pipeline_bytes, PIPELINE,
        )  # fmt: skip
        self.built.wait(sent, done)
        came[to, one.backward, one.micro_batch] = sent

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

    def _pass(self, stage: int, lane: str, after: Rows | None) -> Rows:
        """Add all halves of all layers, each with its all-reduce."""
        halves = HALVES * self.plan.layers
        for index in range(halves):
            after = self._half(stage, lane, index, halves, after)
        return after

    def _half(
        self, stage: int, lane: str, index: int, halves: int, after: Rows | None,
        ready: list[Rows] | None = None,
    ) -> Rows:  # fmt: skip
        """Add half a layer; with `ready`, chunk by chunk of its gradients, which are put there."""
        total_ps, parts = self._duration_ps(lane), halves
        mine = [index]
        if ready is not None:
            parts = max(halves, self.plan.chunks)
            mine = list(range(parts * index // halves, parts * (index + 1) // halves))
        is_feed_forward = self._is_feed_forward(lane, index)
        if is_feed_forward:
            after = self._exchange(stage, after)
        for part in mine:
            own_ps = total_ps * (part + 1) // parts - total_ps * part // parts
            after = self._compute(stage, lane, own_ps, after)
            if ready is not None and len(ready) < self.plan.chunks * (part + 1) // parts:
                ready.append(after)
        if is_feed_forward:
            after = self._exchange(stage, after)
        return self._tensor(stage, after)

    def _backward_with_gradients(self, stage: int, after: Rows | None) -> Rows:
        """Add a backward pass and the reduction of its gradients, as it goes on."""
        halves = HALVES * self.plan.layers
        ready: list[Rows] = []
        for index in range(halves):
            after = self._half(stage, BACKWARD, index, halves, after, ready)
        return self._join(stage, BACKWARD, after, self._chain(stage, ready, SCATTER + GATHER))

    def _chain(self, stage: int, ready: list[Rows], rings: tuple) -> Rows:
        """Add rings for each chunk, one after the other; `ready` is when each chunk may begin."""
        plan, sharded = self.plan, self.plan.weights == SHARDED
        gradients = {"rack": plan.amounts.rack_bytes, "rail": plan.amounts.rail_bytes}
        weights = {"rack": plan.amounts.weight_rack_bytes, "rail": plan.amounts.weight_rail_bytes}
        before: list[Rows | None] = [None] * len(rings)
        for rows in ready:
            for index, (where, operation, lane) in enumerate(rings):
                if before[index] is not None:
                    rows = self._join(stage, lane, rows, before[index])
                size = (weights if sharded and operation == "all_gather" else gradients)[where]
                rows = self._ring(stage, where, operation, size // plan.chunks, rows, lane)
                before[index] = rows
        return rows

    def _tensor(self, stage: int, after: Rows) -> Rows:
        return self._ring(
            stage, "group", "all_reduce", self.plan.amounts.tensor_bytes, after, TENSOR
        )

    def _ring(
        self, stage: int, where: str, operation: str, size_bytes: int, after: Rows, lane: str
    ) -> Rows:
        """Add a ring in each group: of a rack's members, a rail's peers, or a tensor group."""
        axis = {"rail": 0, "rack": 1, "group": 2}[where]
        members = self.devices[stage].shape[axis]
        if members == 1:
            return after
        messages = ring.graph(Call(operation, members, size_bytes), ring.Params())
        return self._among(stage, axis, members, messages, after, lane)

    def _exchange(self, stage: int, after: Rows | None) -> Rows | None:
        """Add the all-to-all in which tokens go to their experts, or come back."""
        experts = self.plan.experts
        if experts == 1:
            return after
        if after is None:
            after = self.built.barrier(self.devices[stage], EXPERT)
        size_bytes = -(-self.plan.amounts.expert_bytes // experts) * experts
        params = direct.Params()
        messages = direct.graph(Call("all_to_all", experts, size_bytes), params)
        return self._among(stage, 1, experts, messages, after, EXPERT)

    def _among(self, stage: int, axis: int, ranks: int, messages, after: Rows, lane: str) -> Rows:
        """Add a collective among devices that lie along an axis, in groups of `ranks`."""
        devices = np.moveaxis(self.devices[stage], axis, -1)
        begin = np.moveaxis(after, axis, -1)
        done = self.built.collective(
            messages, devices.reshape(-1, ranks), begin.reshape(-1, ranks), lane
        )
        return np.moveaxis(done.reshape(devices.shape), -1, axis)

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

    def _duration_ps(self, lane: str) -> int:
        """Return the arithmetic of one pass through one model chunk of a stage [ps]."""
        amounts = self.plan.amounts
        layer_ps = amounts.forward_ps if lane == FORWARD else amounts.backward_ps
        return layer_ps * self.plan.layers
