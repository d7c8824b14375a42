# SPDX-License-Identifier: GPL-2.0-only
"""When a step of a pipeline ends, by a recurrence of its own: longest chains of times (max-plus).

Nothing of pyorch is used. Each stage is a list of passes, found here by rules and not from a table;
every message takes a time that depends on what it is for, whoever else sends. Times are iterated
from 0 until none of them grows any more, so no order of evaluation can hide a wait.
"""

from typing import NamedTuple

FORWARD, BACKWARD, INPUT, WEIGHT = "F", "B", "I", "W"


class Messages(NamedTuple):
    """Times of messages [ps]; of a ring of n members there are n - 1, one after the other."""

    tensor_ps: int
    pipeline_ps: int
    rack_ps: int
    rail_ps: int


class Job(NamedTuple):
    """A step; names are those of the workload `training`."""

    schedule: str
    stages: int
    peers: int
    members: int
    tensor: int
    layers: int
    micro_batches: int
    model_chunks: int
    chunks: int
    overlap: str
    zero: int
    forward_ps: int
    backward_ps: int


def passes(job, stage):
    """Return what a stage does: (kind, micro-batch, model chunk) in its order."""
    p, m, v, s = job.stages, job.micro_batches, job.model_chunks, stage
    if job.schedule == "gpipe":
        return [(FORWARD, i, 0) for i in range(m)] + [(BACKWARD, i, 0) for i in range(m)[::-1]]
    if job.schedule == "interleaved":
        turns = [(i + g, c) for g in range(0, m, p) for c in range(v) for i in range(p)]
        ahead = [(FORWARD, i, c) for i, c in turns]
        back = [(BACKWARD, i, v - 1 - c) for i, c in turns]
        early = min(len(ahead), p - 1 - s if v == 1 else 2 * (p - 1 - s) + (v - 1) * p)
        order, todo = ahead[:early], ahead[early:]
        for one in back:
            order += [todo.pop(0), one] if todo else [one]
        return order
    # 1F1B and zero bubble: begin another one while fewer than p - s are under way.
    order, begun, back, weights = [], 0, 0, 0
    split = job.schedule == "zero_bubble"
    while back < m or (split and weights < m):
        if split and (back - weights > s or back == m):
            order.append((WEIGHT, weights, 0))
            weights += 1
        elif begun < m and begun - back < p - s:
            order.append((FORWARD, begun, 0))
            begun += 1
        else:
            order.append((INPUT if split else BACKWARD, back, 0))
            back += 1
    return order


def step_ps(job, messages):
    """Return when the last task of a step ends [ps]."""
    orders = [passes(job, stage) for stage in range(job.stages)]
    arrived = {}
    while True:
        before = dict(arrived)
        ends = [_stage_ps(job, messages, s, orders[s], arrived) for s in range(job.stages)]
        if arrived == before:
            return max(ends)


def _stage_ps(job, messages, stage, order, arrived):
    """Do the passes of a stage after what has arrived; leave what it hands on; return its end."""
    free = last_ps = 0
    rings = {}
    total = job.stages * job.model_chunks
    for number, (kind, micro_batch, chunk) in enumerate(order):
        place = chunk * job.stages + stage
        way = FORWARD if kind == FORWARD else BACKWARD
        began = free
        if kind != WEIGHT:
            began = max(free, arrived.get((way, place, micro_batch), 0))
        later = [one for one in order[number + 1 :] if one[2] == chunk]
        ends_chunk = kind in (BACKWARD, WEIGHT) and not any(
            one[0] in (BACKWARD, WEIGHT) for one in later
        )
        done, ready = _pass_ps(job, messages, kind, began)
        if job.zero == 3 and kind != WEIGHT:
            done = max(done, _gathered_ps(job, messages, began))
        if kind != WEIGHT:
            to = place + (1 if kind == FORWARD else -1)
            if 0 <= to < total:
                sent = messages.pipeline_ps if job.stages > 1 else 0
                arrived[way, to, micro_batch] = done + sent
        if ends_chunk:
            pieces = ready if job.overlap == "pass" else [done] * job.chunks
            last_ps = max(last_ps, _reduced_ps(job, messages, pieces, rings))
        free = done
    return max(free, last_ps)


def _pass_ps(job, messages, kind, began):
    """Return when a pass has ended, and when each piece of its gradients is there."""
    arithmetic = {FORWARD: job.forward_ps, BACKWARD: job.backward_ps}.get(
        kind, job.backward_ps // 2
    )
    halves, now, ready = 2 * job.layers, began, []
    own = arithmetic * job.layers
    waits = 0 if kind == WEIGHT else 2 * (job.tensor - 1) * messages.tensor_ps
    finest = max(halves, job.chunks) if kind in (BACKWARD, WEIGHT) else halves
    for half in range(halves):
        for part in range(finest * half // halves, finest * (half + 1) // halves):
            now += own * (part + 1) // finest - own * part // finest
            ready += [now] * (job.chunks * (part + 1) // finest - len(ready))
        now += waits
    return now, ready


def _rings(job, messages):
    """Return the rings of a reduction, of the two halves, by who they are among [ps]."""
    rack, rail = (job.members - 1) * messages.rack_ps, (job.peers - 1) * messages.rail_ps
    return [rack, rail], [rail, rack]


def _reduced_ps(job, messages, pieces, rings):
    scatter, gather = _rings(job, messages)
    chain = scatter if job.zero == 3 else scatter + gather
    end = 0
    for ready in pieces:
        end = ready
        for ring, took in enumerate(chain):
            if took:
                end = rings[ring] = max(end, rings.get(ring, 0)) + took
    return end


def _gathered_ps(job, messages, began):
    _, gather = _rings(job, messages)
    rings = {}
    for _ in range(job.chunks):
        end = began
        for ring, took in enumerate(gather):
            if took:
                end = rings[ring] = max(end, rings.get(ring, 0)) + took
    return end
