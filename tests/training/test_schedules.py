# SPDX-License-Identifier: GPL-2.0-only
"""Steps of a pipeline end when an independent recurrence says, to the picosecond."""

from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
import pipeline_oracle
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pipeline_oracle import Job, Messages
from test_step import ends_ps

from pyorch.errors import TheoryError
from pyorch.theory import schedules
from pyorch.theory.schedules import (
    BACKWARD,
    FORWARD,
    INPUT,
    SCHEDULES,
    WEIGHT,
    Costs,
    Pass,
    schedule,
    step_ps,
)
from pyorch.training import COMPUTE, MESSAGE
from pyorch.training import step as steps
from pyorch.training.graph import stream_edges
from pyorch.training.plan import Amounts, Shape

MESSAGE_PS = 700
ALIKE = Messages(MESSAGE_PS, MESSAGE_PS, MESSAGE_PS, MESSAGE_PS)
#: DualPipe has rules of its own below.
RULED = [name for name in SCHEDULES if name != "dualpipe"]


def plan(job):
    """Return the plan of a job; buffers have room for all rings and chunks."""
    parts = job.members * job.peers * job.chunks
    one = Amounts(job.forward_ps, job.backward_ps, job.tensor, 8, parts, parts, 8, parts, parts)
    return steps.Plan(
        Shape(job.stages, job.peers, job.members, job.tensor), one, job.layers, job.schedule,
        job.micro_batches, job.model_chunks, job.overlap, job.chunks, zero=job.zero,
    )  # fmt: skip


def graph_ps(job):
    """Return when the last task of the graph ends, where each message takes the same time."""
    return int(ends_ps(steps.build(plan(job)), MESSAGE_PS).max())


@st.composite
def jobs(draw):
    name, stages = draw(st.sampled_from(RULED)), draw(st.integers(1, 5))
    layers = draw(st.integers(1, 3))
    chunks = draw(st.integers(1, 3)) if name == "interleaved" else 1
    batches = draw(st.integers(1, 7))
    unit = 12 * layers
    return Job(
        name, stages, draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 2)),
        layers, batches * stages if name == "interleaved" else batches, chunks,
        draw(st.integers(1, 5)), draw(st.sampled_from(["pass", "none"])),
        draw(st.sampled_from([0, 1, 3])), unit * draw(st.integers(1, 60)),
        unit * 2 * draw(st.integers(1, 60)),
    )  # fmt: skip


PLAIN = Job("1f1b", 4, 3, 2, 1, 1, 6, 1, 4, "pass", 0, 1200, 2400)


@settings(max_examples=150)
@given(job=jobs())
@example(PLAIN)
@example(PLAIN._replace(schedule="interleaved", micro_batches=8, model_chunks=2))
def test_a_step_ends_when_the_recurrence_says(job):
    assert graph_ps(job) == pipeline_oracle.step_ps(job, ALIKE)


def _reduce_first(self, stage, found, group, given, last):
    """Hand on only after the reduction: reductions of all stages, one after the other."""
    done, sent = _GROUP(self, stage, found, group, given, last)
    if self.reduced[stage] and group[-1].kind == BACKWARD:
        late = self._join(stage, BACKWARD, done, *self.reduced[stage].values())
        for rows in sent.values():
            self.built.wait(rows, late)
    return done, sent


def _forget_the_wait(self, stage, to, done):
    return self.built.message(
        self.devices[stage], self.devices[to], self.plan.amounts.pipeline_bytes, steps.PIPELINE
    )


def _chunks_in_another_order(self, stage, found, group, given, last):
    turned = tuple(one._replace(chunk=self.plan.model_chunks - 1 - one.chunk) for one in group)
    own = replace(found, orders=tuple(
        tuple(p._replace(chunk=self.plan.model_chunks - 1 - p.chunk) for p in order)
        for order in found.orders
    ))  # fmt: skip
    done, _ = _GROUP(self, stage, own, turned, given, last)
    sent = {}
    for one in group:
        if (to := found.following(stage, one)) is not None:
            key = (to[0], one.lane, to[1], one.micro_batch)
            sent[key] = self._hand_over(stage, to[0], last if last is not None else done)
    return done, sent


_GROUP = steps._Step._group
MISTAKES = {
    "reductions one after the other": ("_group", _reduce_first, PLAIN),
    "a message that waits for nothing": ("_hand_over", _forget_the_wait, PLAIN),
    "no ring waits for the one before": (
        "_chain",
        lambda self, stage, ready, rings, free=None: _CHAIN(self, stage, ready, rings, None),
        PLAIN._replace(schedule="interleaved", micro_batches=8, model_chunks=2, forward_ps=12,
                       backward_ps=24, layers=1),
    ),
    "gradients before their pass": (
        "_reduce", lambda self, stage, ready, done: _REDUCE(self, stage, ready[:1] * 4, done),
        PLAIN._replace(backward_ps=24_000),
    ),
    "results of the pass before": (
        "_group", _chunks_in_another_order,
        PLAIN._replace(schedule="interleaved", micro_batches=8, model_chunks=2),
    ),
}  # fmt: skip
_CHAIN, _REDUCE = steps._Step._chain, steps._Step._reduce


@pytest.mark.parametrize("name", MISTAKES)
def test_the_recurrence_finds_planted_mistakes(name, monkeypatch):
    method, wrong, job = MISTAKES[name]
    assert graph_ps(job) == pipeline_oracle.step_ps(job, ALIKE)
    monkeypatch.setattr(steps._Step, method, wrong)
    assert graph_ps(job) != pipeline_oracle.step_ps(job, ALIKE)


def test_a_wrong_order_of_passes_is_found(monkeypatch):
    # That of another schedule: GPipe waits for a message between stages once and not at each turn.
    wrong = schedule("gpipe", PLAIN.stages, PLAIN.micro_batches)
    monkeypatch.setattr(steps, "schedule", lambda *given: wrong)
    assert graph_ps(PLAIN) < pipeline_oracle.step_ps(PLAIN, ALIKE)


def test_passes_that_wait_for_each_other_are_no_step(monkeypatch):
    # The first stage wants its first micro-batch back before it begins the second one, with which
    # the second stage begins.
    first = [Pass(kind, i) for i in range(2) for kind in (FORWARD, BACKWARD)]
    wrong = replace(schedule("1f1b", 2, 2), orders=(tuple(first), (*first[2:], *first[:2])))
    monkeypatch.setattr(steps, "schedule", lambda *given: wrong)
    with pytest.raises(TheoryError, match="passes of a schedule wait for each other"):
        graph_ps(PLAIN._replace(stages=2, micro_batches=2))
    with pytest.raises(TheoryError, match="passes of a schedule wait for each other"):
        step_ps(wrong, Costs(1.0, 2.0, 1.0))


@pytest.mark.parametrize("name", ["1f1b", "gpipe", "zero_bubble"])
def test_exposed_data_parallelism_does_not_grow_with_the_pipeline(name):
    # Stage 0 ends last, and only its own reduction is behind that: (2 + 2) rings of a rack of 2
    # and 3 peers, once after the last pass.
    found = []
    for stages in (1, 2, 4, 8):
        job = PLAIN._replace(schedule=name, stages=stages, micro_batches=16, overlap="none")
        alone = job._replace(peers=1, members=1)
        found.append(graph_ps(job) - graph_ps(alone))
    per_piece = [MESSAGE_PS, 2 * MESSAGE_PS, 2 * MESSAGE_PS, MESSAGE_PS]
    assert found == [sum(per_piece) + 3 * max(per_piece)] * 4  # four pieces through four rings


@settings(max_examples=60)
@given(job=jobs(), data=st.data())
def test_the_closed_form_of_a_step_is_the_same_chain(job, data):
    # Without tensor parallelism, and gradients reduced in one ring after the pass. Reductions of
    # two model chunks are one behind the other there; here their two halves overlap.
    job = job._replace(tensor=1, members=1, peers=data.draw(st.integers(1, 3)), zero=0, chunks=1,
                       overlap="none")  # fmt: skip
    each = Costs(
        job.forward_ps * job.layers, job.backward_ps * job.layers,
        job.backward_ps * job.layers // 2, send_ps=MESSAGE_PS,
        reduce_ps=2 * (job.peers - 1) * MESSAGE_PS,
    )  # fmt: skip
    found = schedule(job.schedule, job.stages, job.micro_batches, job.model_chunks)
    expected = pipeline_oracle.step_ps(job, ALIKE)
    if job.model_chunks == 1:
        assert step_ps(found, each) == expected
    else:
        assert expected <= step_ps(found, each) <= expected + job.model_chunks * each.reduce_ps


@settings(max_examples=60)
@given(job=jobs(), data=st.data())
def test_the_closed_form_with_sharded_weights_is_the_same_chain(job, data):
    # ZeRO-3: each piece is one ring among peers, so a gather is `chunks` of them one after the
    # other, and so is a reduction, which is not gathered again. One layer, so that pieces end with
    # whole parts of the arithmetic.
    job = job._replace(tensor=1, members=1, peers=data.draw(st.integers(1, 3)), zero=3, layers=1,
                       chunks=data.draw(st.sampled_from([1, 2, 4])), overlap="pass")  # fmt: skip
    ring_ps = (job.peers - 1) * MESSAGE_PS
    costs = Costs(
        job.forward_ps, job.backward_ps, job.backward_ps // 2, send_ps=MESSAGE_PS,
        gather_ps=job.chunks * ring_ps, reduce_ps=job.chunks * ring_ps, pieces=job.chunks,
    )  # fmt: skip
    found = schedule(job.schedule, job.stages, job.micro_batches, job.model_chunks)
    assert step_ps(found, costs) == pipeline_oracle.step_ps(job, ALIKE)


def sharded(name, stages, micro_batches, gather_ps):
    """Return the graph of a step whose weights come from one other peer, at 1 ps a byte.

    In 4 pieces: a ring of two sends half of each. All other messages have a byte or few.
    """
    own = Amounts(100_000, 200_000, 1, 1, 1, 8, 1, weight_rail_bytes=2 * gather_ps)
    model_chunks = 2 if name == "interleaved" else 1
    return steps.build(steps.Plan(
        Shape(stages, 2, 1, 1), own, 1, name, micro_batches, model_chunks, "pass", 4, zero=3,
    ))  # fmt: skip


def waits_of(graph):
    """Return which tasks wait for which, as a graph of networkx."""
    later, before = stream_edges(graph)
    found = nx.DiGraph()
    found.add_nodes_from(range(len(graph.kind)))
    found.add_edges_from(zip([*graph.after, *before], [*graph.task, *later], strict=True))
    return found


def longest_chain_ps(graph):
    """Return the longest chain of tasks, where no message slows another down."""
    took = np.where(graph.kind == MESSAGE, graph.size_bytes, graph.duration_ps).tolist()
    waits, ends = waits_of(graph), {}
    for task in nx.topological_sort(waits):
        ends[task] = max((ends[each] for each in waits.predecessors(task)), default=0) + took[task]
    return max(ends.values())


def shared_ps(graph):
    """Return when the last task ends, where the messages that a device sends share its rate."""
    waits = waits_of(graph)
    missing = dict(waits.in_degree())
    left = np.where(graph.kind == MESSAGE, graph.size_bytes, graph.duration_ps).tolist()
    is_message, device = (graph.kind == MESSAGE).tolist(), graph.device.tolist()
    under_way = {task for task, number in missing.items() if not number}
    now = 0.0
    while under_way:
        sending = Counter(device[task] for task in under_way if is_message[task])
        slower = {task: sending[device[task]] if is_message[task] else 1 for task in under_way}
        passed = min(left[task] * slower[task] for task in under_way)
        now += passed
        for task in list(under_way):
            left[task] -= passed / slower[task]
            if left[task] < 1e-6:  # of a byte or picosecond: rounding
                under_way.remove(task)
                for follower in waits.successors(task):
                    missing[follower] -= 1
                    if not missing[follower]:
                        under_way.add(follower)
    return now


GATHERS = [50_000, 150_000, 400_000]  # shorter than a forward pass, than a backward one, longer


@pytest.mark.parametrize("name", RULED)
@pytest.mark.parametrize("gather_ps", GATHERS)
def test_gathers_are_as_long_as_the_longest_chain_of_the_graph(name, gather_ps):
    # Gradients of weights need no weights: passes for these alone wait for nothing.
    graph = sharded(name, 4, 8, gather_ps)
    found = schedule(name, 4, 8, 2 if name == "interleaved" else 1)
    costs = Costs(100_000, 200_000, 100_000, gather_ps=gather_ps)
    # All chains together have less than 100 messages of a byte.
    assert 0 <= longest_chain_ps(graph) - step_ps(found, costs) < 100


@pytest.mark.parametrize("gather_ps", GATHERS)
@pytest.mark.parametrize("micro_batches", [8, 20])
def test_gathers_of_passes_in_turn_share_their_network(micro_batches, gather_ps):
    graph = sharded("dualpipe", 4, micro_batches, gather_ps)
    costs = Costs(100_000, 200_000, 100_000, gather_ps=gather_ps)
    found = step_ps(schedule("dualpipe", 4, micro_batches), costs)

    assert found == pytest.approx(shared_ps(graph), abs=1000)  # what has a byte is sent, too
    assert found >= longest_chain_ps(graph) - 100
    # Each stage gathers for each micro-batch, forward and backward, over one network.
    assert found >= 2 * micro_batches * gather_ps


@pytest.mark.parametrize("late", [0, 3_000, 9_000, 20_000])
def test_two_gathers_that_begin_a_time_apart(late):
    # One pass forward and one backward in turn, of 2 halves each: F/2, B/2, F/2, B/2. By hand: the
    # gather of the first one has the network alone for `late`, then both have half of it until it
    # has ended, and the second one has it alone again.
    pair = (Pass(FORWARD, 1, 0, True), Pass(BACKWARD, 0, 1))
    gather_ps = 12_000
    began = [5_000, 5_000 + late]
    ends = schedules._with_weights(
        began, [0, 0], pair, Costs(2_000, 4_000, 2_000, gather_ps=gather_ps), max
    )
    together = max(0, gather_ps - late)  # left of the first one when the second one begins
    assert ends[0] == began[0] + min(late, gather_ps) + 2 * together
    assert ends[1] == (began[0] + 2 * gather_ps if together else began[1] + gather_ps)


def test_steps_of_many_rates_are_those_of_each_rate():
    # Symmetry: an array of gathers is each of them alone.
    for name in SCHEDULES:
        found = schedule(name, 4, 8)
        costs = Costs(100.0, 200.0, 100.0, 10.0, 10.0, send_ps=5.0, reduce_ps=60.0, pieces=4)
        alone = [step_ps(found, replace(costs, gather_ps=each)) for each in (0.0, 150.0, 400.0)]
        together = step_ps(found, replace(costs, gather_ps=np.array([0.0, 150.0, 400.0])))
        assert together.tolist() == alone


BUBBLES = {  # [deepseek24] table 2, with F forward, B backward, W of its weights; m micro-batches
    "gpipe": lambda p, f, b, w: (p - 1) * (f + b),
    "1f1b": lambda p, f, b, w: (p - 1) * (f + b),
    "zero_bubble": lambda p, f, b, w: (p - 1) * (f + b - 2 * w),
    "dualpipe": lambda p, f, b, w: (p // 2 - 1) * (f + b + b - 3 * w),
}


@pytest.mark.parametrize("name", BUBBLES)
@pytest.mark.parametrize("stages", [2, 4, 6, 8])
@pytest.mark.parametrize("times", [2, 3, 5])
def test_bubbles_are_those_of_the_sources(name, stages, times):
    # Passes of one length, as the sources draw them. Of two passes that take turns the sources let
    # both end at one time; here the forward one ends earlier, so DualPipe is shorter than that.
    f, b, w = 1.0, 2.0, 1.0
    found = schedule(name, stages, times * stages)
    bubble = step_ps(found, Costs(f, b, w, slots=2)) - times * stages * (f + b)
    expected = BUBBLES[name](stages, f, b, w)
    assert bubble == expected if name != "dualpipe" else 0 <= bubble <= expected


@pytest.mark.parametrize("stages, times, chunks", [(2, 2, 2), (4, 2, 2), (4, 1, 3), (6, 3, 4)])
def test_interleaved_stages_have_the_bubble_of_one_chunk(stages, times, chunks):
    found = schedule("interleaved", stages, times * stages, chunks)
    assert step_ps(found, Costs(1.0, 2.0, 1.0)) == 3 * (times * stages * chunks + stages - 1)


@settings(max_examples=80)
@given(
    name=st.sampled_from(sorted(SCHEDULES)), stages=st.integers(1, 8), batches=st.integers(1, 20),
    chunks=st.integers(1, 4),
)  # fmt: skip
def test_every_micro_batch_passes_every_model_chunk_once_each_way(name, stages, batches, chunks):
    try:
        found = schedule(name, stages, batches, chunks)
    except TheoryError:
        assume(False)
    per_way = batches // (2 if found.mirrored else 1)
    for order in found.orders:
        for kinds in ((FORWARD,), (BACKWARD, INPUT)):
            own = [(p.chunk, p.micro_batch) for p in order if p.kind in kinds]
            assert sorted(own) == [(c, i) for c in range(found.chunks) for i in range(per_way)]
        split = [(p.chunk, p.micro_batch) for p in order if p.kind == INPUT]
        assert sorted(split) == sorted((p.chunk, p.micro_batch) for p in order if p.kind == WEIGHT)
        for at, one in enumerate(order):
            if one.paired:
                assert (one.kind, order[at + 1].kind) == (FORWARD, BACKWARD)


def test_dual_pipe_hides_messages_of_one_pass_behind_the_other():
    # Two stages, no bubble: each message of a tensor group is shorter than the arithmetic of the
    # other pass, so pairs cost none of them. Oracle: an identity, the same step without messages,
    # and what is not paired: passes that stand alone wait for all of their own.
    job = PLAIN._replace(schedule="dualpipe", stages=2, micro_batches=8, tensor=2, overlap="none",
                         members=1, peers=1, forward_ps=24_000, backward_ps=48_000)  # fmt: skip
    graph = steps.build(plan(job))
    found = schedule("dualpipe", 2, 8)
    waits = 2 * 2 * MESSAGE_PS  # two all-reduces of two messages each
    costs = Costs(24_000, 48_000, 24_000, waits, waits, send_ps=MESSAGE_PS, slots=2)
    whole = step_ps(found, costs)
    assert int(ends_ps(graph, MESSAGE_PS).max()) == whole
    one_by_one = step_ps(
        replace(found, orders=tuple(
            tuple(p._replace(paired=False) for p in order) for order in found.orders
        )), costs,
    )  # fmt: skip
    n_pairs = sum(p.paired for p in found.orders[0])
    assert n_pairs > 3 and one_by_one - whole >= n_pairs * waits
    busy = np.bincount(graph.device, graph.duration_ps * (graph.kind == COMPUTE))
    assert busy.tolist() == [8 * 72_000] * 4
