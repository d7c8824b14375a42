# SPDX-License-Identifier: GPL-2.0-only
"""In which order the stages of a pipeline do their passes, and when each of them ends.

Sources: GPipe: Huang et al., NeurIPS 2019. One forward, one backward (1F1B): Narayanan et al.,
PipeDream, SOSP 2019, section 3.2. Interleaved: Narayanan et al., SC 2021, section 2.2. Zero bubble
(ZB-H1): Qi et al., ICLR 2024, section 3. DualPipe: [deepseek24], section 3.2.1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from typing import NamedTuple

import numpy as np

from pyorch.errors import TheoryError
from pyorch.theory._quantities import Real

#: Every stage does one micro-batch at a time as if the pipeline had been full for ever.
STEADY = "steady"
#: A backward pass has the gradients of its inputs and of its weights; some schedules split them.
FORWARD, BACKWARD, INPUT, WEIGHT = "forward", "backward", "input", "weight"
#: Of all stages of a step, forward and backward.
MOST_PASSES = 2**20
TANGLED = "the passes of a schedule wait for each other."


class Pass(NamedTuple):
    """One pass of a micro-batch through one model chunk of a stage."""

    kind: str
    micro_batch: int
    chunk: int = 0  #: of the model chunks of a stage
    paired: bool = False  #: it takes turns with the pass behind it, which is under way meanwhile

    @property
    def lane(self) -> str:
        """Which way the micro-batch goes."""
        return FORWARD if self.kind == FORWARD else BACKWARD


@dataclass(frozen=True)
class Schedule:
    """The passes of all stages.

    Attributes
    ----------
    orders : tuple of tuples of Pass, one per stage
        Passes in the order in which the stage does them.
    chunks : int
        Model chunks of a stage; chunk c of stage s has place c * stages + s in the model. With
        `mirrored` there are two: stage s has place s, and place stages - 1 - s once more, and
        micro-batches come from both ends.
    """

    orders: tuple[tuple[Pass, ...], ...]
    chunks: int = 1
    mirrored: bool = False

    @property
    def stages(self) -> int:
        """How many there are."""
        return len(self.orders)

    def following(self, stage: int, one: Pass) -> tuple[int, int] | None:
        """Return the stage and the model chunk that wait for the result of a pass, if any do."""
        if one.kind == WEIGHT:
            return None
        step = 1 if one.kind == FORWARD else -1
        if self.mirrored:
            to = stage + (step if one.chunk == 0 else -step)
            return (to, one.chunk) if 0 <= to < self.stages else None
        place = one.chunk * self.stages + stage + step
        if not 0 <= place < self.stages * self.chunks:
            return None
        return place % self.stages, place // self.stages

    def waits(self, stage: int, one: Pass) -> bool:
        """Return whether a pass needs the result of another model chunk."""
        back = INPUT if one.kind == FORWARD else FORWARD
        return one.kind != WEIGHT and self.following(stage, one._replace(kind=back)) is not None

    @cached_property
    def _last(self) -> list[frozenset[Pass]]:
        ends = [
            {p.chunk: p for p in order if p.kind in (BACKWARD, WEIGHT)} for order in self.orders
        ]
        return [frozenset(by_chunk.values()) for by_chunk in ends]

    def is_last(self, stage: int, one: Pass) -> bool:
        """Return whether a model chunk has all gradients of its weights after this pass."""
        return one in self._last[stage]

    def kept(self) -> int:
        """Return the passes of a model chunk whose activations a stage keeps at most."""
        most = 0
        for order in self.orders:
            count = 0
            for one in order:
                count += {FORWARD: 1, INPUT: 0}.get(one.kind, -1)
                most = max(most, count)
        return most


@lru_cache(maxsize=64)
def schedule(name: str, stages: int, micro_batches: int, chunks: int = 1) -> Schedule:
    """Return the schedule of this name.

    Raises
    ------
    TheoryError
        There is none, or not for so many stages, micro-batches and model chunks.
    """
    if name not in SCHEDULES:
        raise TheoryError(f"no schedule '{name}'. Known: {', '.join((STEADY, *SCHEDULES))}.")
    if (passes := 2 * stages * micro_batches * chunks) > MOST_PASSES:
        raise TheoryError(
            f"{stages} stages, {micro_batches} micro-batches and {chunks} model chunks are"
            f" {passes:,} passes in all; at most {MOST_PASSES:,}. Take fewer micro-batches."
        )
    if chunks > 1 and name != "interleaved":
        raise TheoryError(
            f"schedule {name} has one model chunk per stage and not {chunks}. Take interleaved."
        )
    return SCHEDULES[name](stages, micro_batches, chunks)


def _gpipe(stages: int, micro_batches: int, _: int) -> Schedule:
    """All forward passes, then all backward passes, the last micro-batch first."""
    ahead = [Pass(FORWARD, i) for i in range(micro_batches)]
    back = [Pass(BACKWARD, i) for i in reversed(range(micro_batches))]
    return Schedule((tuple(ahead + back),) * stages)


def _one_forward_one_backward(stages: int, micro_batches: int, _: int) -> Schedule:
    ahead = [Pass(FORWARD, i) for i in range(micro_batches)]
    back = [Pass(BACKWARD, i) for i in range(micro_batches)]
    return Schedule(tuple(_alternate(ahead, back, stages - stage - 1) for stage in range(stages)))


def _interleaved(stages: int, micro_batches: int, chunks: int) -> Schedule:
    """Groups of as many micro-batches as stages go through all model chunks in turn."""
    if micro_batches % stages:
        raise TheoryError(
            f"{micro_batches} micro-batches are no multiple of {stages} stages, as interleaving"
            f" wants. Take {-(-micro_batches // stages) * stages}."
        )

    def passed(index: int, kind: str) -> Pass:
        group, within = divmod(index, stages * chunks)
        chunk = within // stages
        return Pass(
            kind, group * stages + within % stages, chunk if kind == FORWARD else chunks - 1 - chunk
        )

    total = micro_batches * chunks
    ahead = [passed(i, FORWARD) for i in range(total)]
    back = [passed(i, BACKWARD) for i in range(total)]
    first = (chunks - 1) * stages if chunks > 1 else 0
    each = 2 if chunks > 1 else 1
    return Schedule(
        tuple(_alternate(ahead, back, each * (stages - s - 1) + first) for s in range(stages)),
        chunks,
    )


def _alternate(ahead: list[Pass], back: list[Pass], first: int) -> tuple[Pass, ...]:
    """Return some forward passes, then one forward and one backward in turn, then the others."""
    first = min(first, len(ahead))
    turns = [one for pair in zip(ahead[first:], back, strict=False) for one in pair]
    return (*ahead[:first], *turns, *back[len(ahead) - first :])


def _zero_bubble(stages: int, micro_batches: int, _: int) -> Schedule:
    """1F1B with gradients of inputs alone; stage s does those of weights s micro-batches later.

    So each stage keeps the activations of at most as many micro-batches as there are stages.
    """
    orders = []
    for stage, order in enumerate(_one_forward_one_backward(stages, micro_batches, 1).orders):
        found: list[Pass] = []
        for one in order:
            found.append(one if one.kind == FORWARD else one._replace(kind=INPUT))
            if one.kind == BACKWARD and one.micro_batch >= stage:
                found.append(Pass(WEIGHT, one.micro_batch - stage))
        left = range(max(0, micro_batches - stage), micro_batches)
        orders.append((*found, *(Pass(WEIGHT, i) for i in left)))
    return Schedule(tuple(orders))


def _dual_pipe(stages: int, micro_batches: int, _: int) -> Schedule:
    """Micro-batches from both ends; a forward pass of one takes turns with a backward one."""
    if stages % 2 or micro_batches % 2 or micro_batches < 2 * stages:
        raise TheoryError(
            f"DualPipe of {stages} stages and {micro_batches} micro-batches: it takes an even"
            " number of stages, and an even number of micro-batches, at least twice as many. Take"
            f" {_least_dual(stages, micro_batches)}."
        )
    return Schedule(
        tuple(_dual_order(stage, stages, micro_batches) for stage in range(stages)), 2, True
    )


def _least_dual(stages: int, micro_batches: int) -> str:
    """Return what DualPipe takes instead."""
    if stages % 2:
        return f"{stages + 1} stages, and {max(2 * stages + 2, micro_batches)} micro-batches"
    return f"{max(2 * stages, micro_batches + micro_batches % 2)} micro-batches"


def _dual_order(stage: int, stages: int, micro_batches: int) -> tuple[Pass, ...]:
    """Return the passes of one stage in the eight parts of the source's figure 5."""
    near = 0 if stage < stages // 2 else 1  # the model chunk whose micro-batches come here sooner
    far, place = 1 - near, min(stage, stages - 1 - stage)
    inner = stages // 2 - 1 - place  # stages between this one and the middle
    counts: dict[tuple[str, int], int] = {}
    late: list[Pass] = []
    order: list[Pass] = []

    def do(kind: str, chunk: int, paired: bool = False) -> None:
        index = counts.setdefault((kind if kind == FORWARD else BACKWARD, chunk), 0)
        counts[kind if kind == FORWARD else BACKWARD, chunk] += 1
        order.append(Pass(kind, index, chunk, paired))
        if kind == INPUT:
            late.append(Pass(WEIGHT, index, chunk))

    def pair(ahead: int, back: int) -> None:
        do(FORWARD, ahead, True)
        do(BACKWARD, back)

    for _ in range(2 * inner):
        do(FORWARD, near)
    for _ in range(place + 1):
        do(FORWARD, near)
        do(FORWARD, far)
    for _ in range(inner):
        do(INPUT, far)
        order.append(late.pop(0))
        do(FORWARD, far)
    for turn in range(micro_batches // 2 - stages + place + 1):
        if turn == 0 and inner == 0:  # the middle has nothing to take turns with yet
            do(FORWARD, near)
            do(BACKWARD, far)
        else:
            pair(near, far)
        pair(far, near)
    for _ in range(inner):
        do(BACKWARD, far)
        pair(far, near)
    for turn in range(2 * (place + 1)):
        do(INPUT if turn > place else BACKWARD, far if turn % 2 == 0 else near)
    for _ in range(inner):
        order.append(late.pop(0))
        do(INPUT, near)
    return (*order, *late)


#: Schedules of a whole step by name.
SCHEDULES = {
    "gpipe": _gpipe,
    "1f1b": _one_forward_one_backward,
    "interleaved": _interleaved,
    "zero_bubble": _zero_bubble,
    "dualpipe": _dual_pipe,
}


@dataclass(frozen=True)
class Costs:
    """What the passes of one model chunk of a stage take [ps], on a network without contention.

    Attributes
    ----------
    forward_ps, backward_ps : float or array
        Arithmetic of a forward pass, and of a backward pass with both kinds of gradients.
    weight_ps : float or array
        Part of the latter that is for gradients of weights.
    forward_wait_ps, backward_wait_ps : float or array
        Messages of a pass that its own arithmetic waits for.
    gather_ps : float or array
        Weights that arrive beside a pass with activations, alone on their network.
    send_ps : float or array
        A message to the next stage.
    reduce_ps : float or array
        Reduction of the gradients of a model chunk, in so many `pieces`.
    slots : int
        Parts of a pass in turn with those of another one, each with its share of the messages.
    """

    forward_ps: Real
    backward_ps: Real
    weight_ps: Real
    forward_wait_ps: Real = 0.0
    backward_wait_ps: Real = 0.0
    gather_ps: Real = 0.0
    send_ps: Real = 0.0
    reduce_ps: Real = 0.0
    pieces: int = 1
    slots: int = 2

    def parts(self, kind: str) -> tuple[Real, Real]:
        """Return the arithmetic of a pass, and the messages that it waits for [ps]."""
        return {
            FORWARD: (self.forward_ps, self.forward_wait_ps),
            BACKWARD: (self.backward_ps, self.backward_wait_ps),
            INPUT: (self.backward_ps - self.weight_ps, self.backward_wait_ps),
            WEIGHT: (self.weight_ps, 0.0),
        }[kind]


def step_ps(found: Schedule, costs: Costs) -> Real:
    """Return how long a step takes: the longest chain of passes, messages and reductions [ps].

    Gradients of a model chunk are reduced piece by piece as the arithmetic of its last pass with
    gradients of weights goes on, chunk after chunk on each stage, and hold back nobody.

    It is the longest chain of the task graph of such a step, where nothing shares a network, but
    for one thing: two passes in turn gather weights at once, and share their network evenly. So a
    stage takes at least all its gathers one after the other. Gathers, reductions and other messages
    do not slow each other down here: a run in which they share a network takes longer.
    """
    later: Callable = max if _is_scalar(costs) else np.maximum
    came: dict[tuple[int, str, int, int], Real] = {}
    free: list[Real] = [0.0] * found.stages
    reduced: list[Real] = [0.0] * found.stages
    at = [0] * found.stages
    waiting = list(range(found.stages))
    while waiting:
        stage = waiting.pop()
        order = found.orders[stage]
        while at[stage] < len(order):
            group = order[at[stage] : at[stage] + (2 if order[at[stage]].paired else 1)]
            keys = [_key(stage, one) for one in group if found.waits(stage, one)]
            if any(key not in came for key in keys):
                break
            given = [came.get(_key(stage, one), 0.0) for one in group]
            began, done = _run(free[stage], group, given, costs, later)
            ends = _with_weights(began, done, group, costs, later)
            free[stage] = reduce(later, ends)
            for one, start, own, end in zip(group, began, done, ends, strict=True):
                if found.is_last(stage, one):
                    reduced[stage] = _reduced(reduced[stage], start, own, costs, later)
                if (to := found.following(stage, one)) is not None:
                    came[to[0], one.lane, to[1], one.micro_batch] = end + costs.send_ps * (
                        to[0] != stage
                    )
                    if to[0] not in waiting:
                        waiting.append(to[0])
            at[stage] += len(group)
    if any(n < len(order) for n, order in zip(at, found.orders, strict=True)):
        raise TheoryError(TANGLED)
    return reduce(later, [*free, *reduced])


def _is_scalar(costs: Costs) -> bool:
    return all(np.ndim(value) == 0 for value in vars(costs).values())


def _key(stage: int, one: Pass) -> tuple[int, str, int, int]:
    return stage, one.lane, one.chunk, one.micro_batch


def _run(
    free: Real, group: tuple[Pass, ...], given: list[Real], costs: Costs, later: Callable
) -> tuple[list[Real], list[Real]]:
    """Return when each pass of a group begins, and when its arithmetic and messages end [ps]."""
    began = [later(free, at) for at in given]
    if len(group) == 1:
        return began, [began[0] + sum(costs.parts(group[0].kind))]
    chain, now = list(began), free
    for _ in range(costs.slots):
        for index, one in enumerate(group):
            computed, waited = costs.parts(one.kind)
            now = later(now, chain[index]) + computed / costs.slots
            chain[index] = now + waited / costs.slots
    return began, chain


def _with_weights(
    began: list[Real], done: list[Real], group: tuple[Pass, ...], costs: Costs, later: Callable
) -> list[Real]:
    """Return when passes end that began and would be done at these times, with their weights [ps].

    Two gathers that begin a time d apart and need G each alone are both late by G - d, if that is
    more than 0: the second one has half of the network while the first one has the other half.
    """
    shared = 0.0
    if len(group) == 2:
        shared = later(0.0, costs.gather_ps - abs(began[0] - began[1]))
    return [
        end if one.kind == WEIGHT else later(end, start + costs.gather_ps + shared)
        for one, start, end in zip(group, began, done, strict=True)
    ]


def _reduced(before: Real, began: Real, done: Real, costs: Costs, later: Callable) -> Real:
    """Return when the gradients of a model chunk are reduced whose last pass took this long."""
    now = before
    for piece in range(1, costs.pieces + 1):
        ready = began + (done - began) * piece / costs.pieces
        now = later(now, ready) + costs.reduce_ps / costs.pieces
    return now
