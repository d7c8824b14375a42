# SPDX-License-Identifier: GPL-2.0-only
"""The tasks of a step: bubbles of a pipeline to the picosecond, bytes as counted."""

import numpy as np
import pytest

from pyorch.theory import preset
from pyorch.theory.chains import earliest_ends_ps
from pyorch.theory.schedules import BACKWARD, STEADY, schedule
from pyorch.training import COMPUTE, MESSAGE, check
from pyorch.training.graph import stream_edges
from pyorch.training.plan import Amounts, Shape, amounts
from pyorch.training.step import DATA, PASS, Plan, build

#: Even, because a pass is two computations.
FORWARD_PS, BACKWARD_PS = 1000, 2000
ONE = Amounts(FORWARD_PS, BACKWARD_PS, 1, 64, 1, 1, 1)


def ends_ps(graph, message_ps=0):
    """Return when each task ends at the earliest, if every message takes the same time."""
    check(graph)
    later, before = stream_edges(graph)
    took_ps = graph.duration_ps + np.where(graph.kind == MESSAGE, message_ps, 0)
    task, after = np.concatenate([graph.task, later]), np.concatenate([graph.after, before])
    gap_ps = np.concatenate([graph.delay_ps, np.zeros_like(later)])
    return earliest_ends_ps(took_ps, task, after, gap_ps)


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("micro_batches", [1, 3, 4, 8])
def test_the_bubble_of_1f1b(stages, micro_batches):
    # Oracle: p-1 micro-batches go by before the last stage has begun, or after the first has its
    # gradients: a step takes (m + p - 1) (F + B), of which each device computes m (F + B).
    shape = Shape(stages, 1, 1, 1)
    graph = build(Plan(shape, ONE, schedule="1f1b", micro_batches=micro_batches, overlap=PASS))

    each_ps = FORWARD_PS + BACKWARD_PS
    step_ps = ends_ps(graph).max()
    assert step_ps == (micro_batches + stages - 1) * each_ps
    busy_ps = np.bincount(graph.device, graph.duration_ps)
    assert busy_ps.tolist() == [micro_batches * each_ps] * stages


@pytest.mark.parametrize("stages, micro_batches, chunks", [(2, 4, 2), (4, 8, 2), (4, 4, 3)])
def test_the_bubble_of_interleaved_stages(stages, micro_batches, chunks):
    # Oracle: Narayanan et al. 2021, section 2.2: the bubble is (p-1) (F + B) of one model chunk.
    shape = Shape(stages, 1, 1, 1)
    plan = Plan(shape, ONE, schedule="interleaved", micro_batches=micro_batches,
                model_chunks=chunks, overlap=PASS)  # fmt: skip
    graph = build(plan)

    each_ps = FORWARD_PS + BACKWARD_PS
    assert ends_ps(graph).max() == (micro_batches * chunks + stages - 1) * each_ps
    sent = (graph.kind == MESSAGE).sum()
    assert sent == 2 * micro_batches * (stages * chunks - 1)


def test_the_order_of_passes_by_hand():
    # Stage 0 of 2 with 3 micro-batches: one ahead, then one forward and one backward in turn.
    order = schedule("1f1b", 2, 3).orders[0]
    assert [(p.kind == BACKWARD, p.micro_batch) for p in order] == [
        (False, 0), (False, 1), (True, 0), (False, 2), (True, 1), (True, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("overlap", ["compute", PASS])
@pytest.mark.parametrize("shape", [Shape(2, 3, 2, 4), Shape(1, 2, 1, 2), Shape(2, 1, 4, 1)])
def test_what_a_device_sends_in_a_steady_step(shape, overlap):
    # Oracle: a ring all-reduce sends 2 (n-1)/n of its buffer, a half of it (n-1)/n; two all-reduces
    # per pass; one message each way between stages, if there are any.
    setup = preset.training("dense-100t").setup
    chunks = 5
    given = amounts(setup, shape, 1000, chunks=chunks)
    graph = build(Plan(shape, given, schedule=STEADY, overlap=overlap, chunks=chunks))
    check(graph)

    def sent(n, size):
        return (n - 1) * size // n

    lanes = {
        "TP": 4 * 2 * sent(shape.tensor, given.tensor_bytes),
        "PP": 2 * given.pipeline_bytes if shape.stages > 1 else 0,
        DATA[0]: sent(shape.members, given.rack_bytes),
        DATA[1]: sent(shape.peers, given.rail_bytes),
        DATA[3]: sent(shape.peers, given.rail_bytes),
        DATA[4]: sent(shape.members, given.rack_bytes),
    }
    for name, expected in lanes.items():
        index = graph.lanes.index(name) if name in graph.lanes else -1
        own = (graph.kind == MESSAGE) & (graph.lane == index)
        total = np.bincount(graph.device[own], graph.size_bytes[own], shape.devices)
        assert total.tolist() == [expected] * shape.devices, name


@pytest.mark.parametrize("name", ["dense-100t", "moe-100t"])
def test_a_smaller_step_sends_through_each_port_what_the_whole_one_does(name):
    # Oracle: [hotnets24] sections 4 and 5, bytes of a ring: 2 (n-1)/n of each buffer, by hand.
    setup = preset.training(name).setup
    divide, shape = 1000, Shape(2, 4, 2, 6)
    given = amounts(setup, shape, divide)
    hidden, peers, factor = {"dense-100t": (244224, 87, 12), "moe-100t": (109568, 98, 68)}[name]
    activations, gradients = 32000 * hidden * 0.5, factor * hidden**2 * 0.5
    whole = {
        "tensor_bytes": (activations, 18, 6),
        "rack_bytes": (gradients / 18, 4, 2),
        "rail_bytes": (gradients / 72, peers, 4),
    }
    for field, (buffer, members, fewer) in whole.items():
        sent = buffer * (members - 1) / members / divide
        assert getattr(given, field) * (fewer - 1) / fewer == pytest.approx(sent, rel=1e-4)
    assert given.pipeline_bytes == pytest.approx(activations / 18 / divide, abs=0.5)


def test_computations_of_a_device_follow_each_other_also_where_all_is_interleaved():
    shape = Shape(4, 2, 2, 2)
    given = amounts(preset.training("moe-100t").setup, shape, 10_000, chunks=4)
    plan = Plan(shape, given, schedule="interleaved", micro_batches=8, model_chunks=2, overlap=PASS,
                chunks=4, experts=2)  # fmt: skip
    graph = build(plan)
    ends = ends_ps(graph, message_ps=777)
    for device in range(shape.devices):
        rows = (graph.kind == COMPUTE) & (graph.device == device)
        starts = ends[rows] - graph.duration_ps[rows]
        assert (np.sort(starts)[1:] >= np.sort(ends[rows])[:-1]).all()
        assert (np.diff(starts) > 0).all()


def test_sharded_weights_are_three_times_the_parameters_on_every_link():
    # Oracle: Rajbhandari et al., ZeRO, SC 2020, section 7: weights are gathered twice and gradients
    # scattered once, (n-1)/n of the parameters each, where a whole copy needs one scatter and one
    # gather. Weights of half the gradients' bytes make it 2 instead of 3 halves of that.
    shape, sent = Shape(1, 4, 2, 1), {}
    one = Amounts(FORWARD_PS, BACKWARD_PS, 1, 64, 2 * 4 * 8 * 10, 4 * 8 * 10, 1)
    same = one._replace(weight_rack_bytes=one.rack_bytes, weight_rail_bytes=one.rail_bytes)
    half = same._replace(
        weight_rack_bytes=one.rack_bytes // 2, weight_rail_bytes=one.rail_bytes // 2
    )
    for name, bytes_, zero in (("whole", same, 0), ("sharded", same, 3), ("half", half, 3)):
        graph = build(Plan(shape, bytes_, schedule=STEADY, chunks=4, zero=zero))
        check(graph)
        rows = (graph.kind == MESSAGE) & np.isin(
            graph.lane, [graph.lanes.index(d) for d in DATA if d in graph.lanes]
        )
        same_rack = graph.device // 2 == graph.peer // 2
        sent[name] = [
            int(graph.size_bytes[rows & where].sum()) for where in (same_rack, ~same_rack)
        ]
    # 8 devices: 2 (n-1)/n of 640 B among 2 members, and of 320 B among 4 peers.
    assert sent["whole"] == [8 * 640, 8 * 480]
    assert sent["sharded"] == [8 * 960, 8 * 720]
    assert sent["half"] == [8 * 640, 8 * 480]


@pytest.mark.parametrize("overlap", ["compute", PASS])
@pytest.mark.parametrize("zero", [0, 3])
def test_twins_exchange_what_each_has_reduced(zero, overlap):
    # Oracle: [hotnets24] section 4.1, stage 3: g / (t m n), 57.13 MB for each device of the dense
    # model, in which 87 racks of each site hold the gradients of a stage. No other stage crosses.
    if (zero, overlap) == (3, PASS):
        pytest.skip("refused for steady steps")
    chunks, shape = 5, Shape(1, 3, 2, 2, 2)
    given = amounts(preset.training("dense-100t").setup, shape, 1000, chunks=chunks)
    assert given.site_bytes == pytest.approx(57.13e6 / 1000, rel=1e-3)
    graph = build(Plan(shape, given, schedule=STEADY, overlap=overlap, chunks=chunks, zero=zero))
    check(graph)

    per_site = shape.devices // shape.sites
    sent = graph.kind == MESSAGE
    crosses = sent & (graph.device // per_site != graph.peer // per_site)
    assert {graph.lanes[lane] for lane in graph.lane[crosses]} == {DATA[2]}
    assert (graph.device[crosses] % per_site == graph.peer[crosses] % per_site).all()
    total = np.bincount(graph.device[crosses], graph.size_bytes[crosses], shape.devices)
    assert total.tolist() == [given.site_bytes] * shape.devices


def test_exchanges_of_several_chunks_are_under_way_at_once():
    # Oracle: all that is done is reduced. Four chunks cross at once, so the step is one crossing
    # longer than without, and not four.
    def last_ps(sites, message_ps):
        shape = Shape(1, 1, 1, 1, sites)
        one = Amounts(FORWARD_PS, 10 * BACKWARD_PS, 1, 8, 4, 4, 8, site_bytes=4)
        graph = build(Plan(shape, one, schedule="1f1b", overlap="none", chunks=4))
        return int(ends_ps(graph, message_ps).max())

    assert last_ps(2, 777) - last_ps(1, 777) == 777


def test_sites_have_whole_replicas_of_experts():
    # Experts are shared among neighbours of a site: none of their messages crosses.
    shape = Shape(1, 2, 2, 1, 2)
    given = amounts(preset.training("moe-100t").setup, shape, 10_000, chunks=2)
    graph = build(Plan(shape, given, schedule=STEADY, chunks=2, experts=2))
    crosses = (graph.kind == MESSAGE) & (graph.device // 4 != graph.peer // 4)
    assert {graph.lanes[lane] for lane in graph.lane[crosses]} == {DATA[2]}
