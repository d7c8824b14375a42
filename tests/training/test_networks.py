# SPDX-License-Identifier: GPL-2.0-only
"""A device of a smaller step sends through each network what it sends in the whole one, divided.

Expected bytes are counted by hand: a reduce-scatter or all-gather of n sends (n-1)/n of its buffer.
"""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from pyorch.errors import SpecError
from pyorch.theory import parallelism, preset
from pyorch.training import COMPUTE, MESSAGE, check
from pyorch.training.plan import Amounts, Shape, amounts
from pyorch.training.step import BACKWARD, CONTEXT, DATA, FORWARD, Plan, build

#: A layer of Mixtral 8x7B and of Llama 3 8B: queries and outputs, keys and values of 8 heads; three
#: matrices of the feed-forward, of one expert.
ATTENTION = 2 * 4096**2 + 2 * 4096 * 1024
FEED_FORWARD = 3 * 4096 * 14336
#: Gradients are FP32; weights FP8, so that two gathers of these are no scatter of gradients.
GRADIENT_BYTES, WEIGHT_BYTES = 4, 1
DIVIDE = 100


def others(n):
    """Return the share of a buffer that a ring of n sends."""
    return (n - 1) / n


def rack_of(shape, device):
    return device // (shape.members * shape.tensor)


def sent(graph, shape, lanes, by="device"):
    """Return what each device sends (or receives: `peer`) in its rack and out of it [byte]."""
    check(graph)
    rows = (graph.kind == MESSAGE) & np.isin(np.array(graph.lanes)[graph.lane], lanes)
    leaves = rack_of(shape, graph.device) != rack_of(shape, graph.peer)
    return [
        np.bincount(getattr(graph, by)[rows & where], graph.size_bytes[rows & where], shape.devices)
        for where in (~leaves, leaves)
    ]


def mixtral(experts, tensor=1):
    """Return Mixtral in 16 stages of 2 layers on 64 racks: 4 of a stage."""
    return preset.training("mixtral-8x7b", [
        ("gpu.memory", "800 GB"), ("cluster.racks", 64), ("parallelism.layers_per_stage", 2),
        ("parallelism.data", 0), ("parallelism.experts", experts), ("parallelism.tensor", tensor),
        ("parallelism.zero", 0), ("precision.weight", "FP8"),
    ]).setup  # fmt: skip


@pytest.mark.parametrize(
    ("experts", "tensor", "shape"),
    [
        (2, 1, Shape(1, 2, 8, 1)), (2, 1, Shape(1, 4, 4, 1)), (4, 1, Shape(1, 3, 8, 1)),
        (8, 1, Shape(1, 2, 8, 1)), (2, 2, Shape(2, 2, 4, 2)), (8, 2, Shape(1, 4, 4, 2)),
        (2, 1, Shape(1, 2, 4, 1, 2)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("zero", [0, 1])
def test_gradients_of_routed_experts_use_both_networks(experts, tensor, shape, zero):
    setup, chunks = mixtral(experts, tensor), 4
    given = amounts(setup, shape, DIVIDE, 2, chunks)
    plan = Plan(shape, given, 2, chunks=chunks, experts=experts, zero=zero)
    lanes = [name for name in DATA if "exchange" not in name]
    inside, outside = sent(build(plan), shape, lanes)

    members, racks = 8 // tensor, 4
    near, far = min(experts, members), max(1, experts // members)
    expected = np.zeros(2)
    for parameters, within, beyond in (
        (ATTENTION, members, racks),
        (8 * FEED_FORWARD / experts, members // near, racks // far),
    ):
        parts = 2 * parameters / tensor / DIVIDE
        for bytes_ in (GRADIENT_BYTES, WEIGHT_BYTES if zero else GRADIENT_BYTES):
            expected += bytes_ * parts * np.array([others(within), others(beyond) / within])
    # Each device of a rack sends as much as the others.
    for found, one in zip((inside, outside), expected, strict=True):
        assert found == pytest.approx(np.full(shape.devices, one), rel=1e-3)
    if not zero:
        times = parallelism.stage_times(setup)
        closed = [times.dp1_ps * 3.6e12, times.dp2_ps * 400e9]
        assert expected == pytest.approx(np.array(closed) / 8e12 / DIVIDE)


@pytest.mark.parametrize(("experts", "tensor"), [(2, 1), (4, 1), (8, 1), (8, 2)])
@pytest.mark.parametrize("racks", [1, 2])
def test_routed_experts_are_shared_in_groups_of_racks_too(experts, tensor, racks):
    # Of 4 racks `racks` share a whole; experts that are spread over two racks are not shared then.
    setup, members = mixtral(experts, tensor), 8 // tensor
    setup = replace(setup, degrees=replace(setup.degrees, shard=racks * members, zero=1))
    shape = Shape(1, 4, members, 1)
    given = amounts(setup, shape, DIVIDE, 2, 4)
    graph = build(Plan(shape, given, 2, chunks=4, experts=experts, zero=1))

    near, far = min(experts, members), max(1, experts // members)
    expected = 0.0
    for parameters, within, beyond, share in (
        (ATTENTION, members, 4, racks),
        (8 * FEED_FORWARD / experts, members // near, 4 // far, max(1, racks // far)),
    ):
        each = 2 * parameters / tensor / DIVIDE / within
        reduced = others(share) + 2 * others(beyond // share) / share
        expected += each * (GRADIENT_BYTES * reduced + WEIGHT_BYTES * others(share))
    _, outside = sent(graph, shape, DATA)
    assert outside == pytest.approx(np.full(shape.devices, expected), rel=1e-3)


def test_replicas_of_the_same_experts_reduce_with_each_other():
    # 4 racks of 8: experts 0 to 3 have two replicas in each rack. Messages are told by their bytes.
    shape = Shape(1, 4, 8, 1)
    own = Amounts(
        1000, 2000, 1, 1, 8 * 11, 4 * 13, 4, routed_rack_bytes=2 * 17, routed_bytes=4 * 19
    )
    graph = build(Plan(shape, own, chunks=1, experts=4))
    check(graph)

    routed = (graph.kind == MESSAGE) & np.isin(graph.size_bytes, [17, 19])
    joined = nx.Graph(zip(graph.device[routed].tolist(), graph.peer[routed].tolist(), strict=True))
    together = sorted(sorted(each) for each in nx.connected_components(joined))
    assert together == [list(range(first, 32, 4)) for first in range(4)]
    leaves = rack_of(shape, graph.device) != rack_of(shape, graph.peer)
    for size, crosses, number in ((17, False, 2 * 1), (19, True, 2 * 3)):
        rows = graph.size_bytes == size
        assert (leaves[rows] == crosses).all()
        assert np.bincount(graph.device[rows]).tolist() == [number] * 32
    rails = graph.size_bytes == 19
    assert (graph.device[rails] % 8 == graph.peer[rails] % 8).all()


def llama(**degrees):
    """Return Llama 3 8B: one stage of 8 racks of 8."""
    sets = [("gpu.memory", "800 GB"), ("precision.weight", "FP8"), ("parallelism.data", 0)]
    sets += [(f"parallelism.{name}", value) for name, value in degrees.items()]
    return preset.training("llama3-8b", sets).setup


@pytest.mark.parametrize("shape", [Shape(1, 4, 8, 1), Shape(1, 8, 2, 1), Shape(1, 6, 4, 1, 2)])
@pytest.mark.parametrize("zero", [0, 1, 3])
@pytest.mark.parametrize("racks", [1, 2, 4, 8])
def test_groups_of_racks_that_share_a_whole_reduce_with_each_other(racks, zero, shape):
    # Weights are gathered among `racks`, gradients scattered among these and, of what a device then
    # has, all-reduced among the 8 / racks groups.
    setup, chunks = llama(shard=8 * racks, zero=zero), 4
    given = amounts(setup, shape, DIVIDE, 1, chunks)
    graph = build(Plan(shape, given, chunks=chunks, zero=zero))
    lanes = [name for name in DATA if "exchange" not in name]
    inside, outside = sent(graph, shape, lanes)

    layer = (ATTENTION + FEED_FORWARD) / DIVIDE
    gathered = {0: GRADIENT_BYTES, 1: WEIGHT_BYTES, 3: 2 * WEIGHT_BYTES}[zero]
    expected_inside = others(8) * layer * (GRADIENT_BYTES + gathered)
    reduced = others(racks) + 2 * others(8 // racks) / racks
    expected_outside = layer / 8 * (GRADIENT_BYTES * reduced + gathered * others(racks))
    if not zero:  # as one ring, however it is divided
        assert expected_outside == pytest.approx(2 * layer / 8 * GRADIENT_BYTES * others(8))
    assert inside == pytest.approx(np.full(shape.devices, expected_inside), rel=1e-3)
    assert outside == pytest.approx(np.full(shape.devices, expected_outside), rel=1e-3)
    if zero == 3:
        # Closed form of all 32 layers: gradients, and weights once for each of two passes.
        times = parallelism.stage_times(setup)
        gather_bytes = 32 * layer / 8 * WEIGHT_BYTES * others(racks) * DIVIDE
        scatter_bytes = times.dp2_ps * 400e9 / 8e12
        assert scatter_bytes + 2 * gather_bytes == pytest.approx(32 * expected_outside * DIVIDE)
    twins = (graph.kind == MESSAGE) & (graph.lane == (
        graph.lanes.index(DATA[2]) if DATA[2] in graph.lanes else -1
    ))  # fmt: skip
    total = np.bincount(graph.device[twins], graph.size_bytes[twins], shape.devices)
    held = layer * GRADIENT_BYTES / 64 if shape.sites > 1 else 0
    assert total == pytest.approx(np.full(shape.devices, held), rel=1e-3)


def test_weights_stay_in_the_group_that_shares_them():
    # 6 racks in two groups of three. Messages are told by their bytes: gradients within a group 13,
    # weights 17, gradients from group to group 19.
    shape = Shape(1, 6, 1, 1)
    own = Amounts(1000, 2000, 1, 1, 6, 3 * 13, 4, weight_rail_bytes=3 * 17, copies=2,
                  copies_bytes=2 * 19)  # fmt: skip
    graph = build(Plan(shape, own, chunks=1, zero=3))
    check(graph)
    group = [0, 0, 0, 1, 1, 1]
    pairs = {
        size: {(group[a], group[b], a % 3 == b % 3) for a, b in zip(
            graph.device[graph.size_bytes == size].tolist(),
            graph.peer[graph.size_bytes == size].tolist(), strict=True,
        )}
        for size in (13, 17, 19)
    }  # fmt: skip
    assert pairs[13] == pairs[17] == {(0, 0, False), (1, 1, False)}
    assert pairs[19] == {(0, 1, True), (1, 0, True)}
    # Scattered once, gathered forward and backward; a ring of two both scatters and gathers.
    for size, number in ((13, 2), (17, 2 * 2), (19, 2)):
        assert np.bincount(graph.device[graph.size_bytes == size]).tolist() == [number] * 6


@pytest.mark.parametrize("peers", [2, 3, 5])
def test_racks_that_cannot_make_such_groups_are_refused(peers):
    with pytest.raises(SpecError, match=f"{peers} racks with the same weights are not several.*"
                       "as 4 groups of 2 do in the preset. Take twice as many."):  # fmt: skip
        amounts(llama(shard=16), Shape(1, peers, 8, 1), DIVIDE)
    assert amounts(llama(shard=16), Shape(1, 1, 8, 1), DIVIDE).copies == 1
    assert amounts(llama(shard=8), Shape(1, peers, 8, 1), DIVIDE).copies == peers


@pytest.mark.parametrize(
    ("context", "shape"),
    [
        (4, Shape(1, 2, 8, 1)), (8, Shape(1, 2, 8, 1)), (16, Shape(1, 2, 8, 1)),
        (16, Shape(1, 8, 4, 1)), (32, Shape(2, 4, 8, 1)), (64, Shape(1, 8, 8, 1)),
        (64, Shape(1, 16, 4, 1)), (16, Shape(1, 2, 8, 1, 2)),
    ],
)  # fmt: skip
def test_keys_and_values_come_by_rail_and_then_by_rack(context, shape):
    # Keys and values of 8 heads of 128, BF16, of 8192 tokens: 33.6 MB. A device gets from other
    # racks the parts of those with its place, and hands all of them on in its rack. Forward they
    # are gathered, backward gathered and their gradients scattered.
    layers, setup = 2, llama(context=context)
    given = amounts(setup, shape, DIVIDE, layers)
    graph = build(Plan(shape, given, layers, context=context, overlap="pass", chunks=1))
    whole, members = 2 * 1024 * 8192 * 2 / DIVIDE, min(context, 8)
    racks = context // members
    each = whole * others(members), whole / members * others(racks)

    for by in ("device", "peer"):
        for found, one in zip(sent(graph, shape, [CONTEXT], by), each, strict=True):
            assert found == pytest.approx(np.full(shape.devices, 3 * layers * one), rel=1e-3)
    # Conservation: all of the sequence comes but what a device has.
    assert sum(each) == pytest.approx(whole * others(context))
    closed_ps = each[0] * 8e12 / 3.6e12 + each[1] * 8e12 / 400e9
    assert 32 * closed_ps * DIVIDE == pytest.approx(parallelism.stage_times(setup).context_ps)


@pytest.mark.parametrize("lane", [FORWARD, BACKWARD])
@pytest.mark.parametrize(
    ("context", "shape"),
    [(2, Shape(1, 2, 4, 1)), (8, Shape(1, 4, 4, 1)), (12, Shape(1, 6, 4, 1, 2))],
)
def test_attention_begins_with_the_keys_of_the_whole_sequence(context, shape, lane):
    # Who has begun before a device computes: those that share its sequence, and nobody else.
    own = Amounts(1000, 2000, 1, 1, 24, 24, 1, context_bytes=4, context_rail_bytes=12)
    graph = build(Plan(shape, own, context=context, overlap="pass", chunks=1))
    waits = nx.DiGraph()
    waits.add_nodes_from(range(len(graph.kind)))
    waits.add_edges_from(zip(graph.after.tolist(), graph.task.tolist(), strict=True))
    computes = (graph.kind == COMPUTE) & (graph.lane == graph.lanes.index(lane))
    for device in range(shape.devices):
        # Backward attention is the second half, behind the feed-forward.
        rows = np.flatnonzero(computes & (graph.device == device))
        task = rows[0 if lane == FORWARD else 1]
        before = {int(graph.device[each]) for each in nx.ancestors(waits, task)} | {device}
        first = device // context * context
        assert before == set(range(first, first + context))


def test_a_spec_has_amounts_that_most_steps_lack_only_where_they_are():
    # Runs of steps without them keep their names.
    seldom = {"copies", "copies_bytes", "routed_rack_bytes", "weight_routed_rack_bytes",
              "routed_copies", "routed_copies_bytes", "context_rail_bytes"}  # fmt: skip
    shape = Shape(1, 4, 8, 1)
    for setup, own in (
        (mixtral(8), set()),
        (llama(), set()),
        (llama(context=8), set()),
        (mixtral(2), {"routed_rack_bytes", "weight_routed_rack_bytes"}),
        (llama(shard=16), {"copies", "copies_bytes"}),
        (llama(context=16), {"context_rail_bytes"}),
    ):
        found = amounts(setup, shape, DIVIDE)
        assert set(found.plain()) & seldom == own
        assert Amounts(**found.plain()) == found
    both = replace(mixtral(2), degrees=replace(mixtral(2).degrees, shard=16))
    assert set(amounts(both, shape, DIVIDE).plain()) & seldom == seldom - {"context_rail_bytes"}
