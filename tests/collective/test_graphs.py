# SPDX-License-Identifier: GPL-2.0-only
"""Every algorithm of collectives does what it says, in as many steps and bytes as it says."""

import numpy as np
import pytest
from carried import known

from pyorch import plugins
from pyorch.collective._graph import Call, counted_in_chunks, in_chunks
from pyorch.spec.fields import FieldError

ALGORITHMS = plugins.discover("pyorch.collective")
RANKS = (2, 3, 4, 5, 6, 7, 8, 12, 16, 24)
#: Parameters of each, where there are any.
GIVEN = {
    "msccl": [],  # needs a file: test_msccl.py
    "mscclpp": [],  # needs a file: test_mscclpp.py
    "pairwise": [{}, {"outstanding": 3}],
    "double_tree": [{}, {"local": 2}, {"local": 4}],
    "hierarchical": [
        {"local": 2}, {"local": 3, "printed": True}, {"local": 2, "sites": 2},
        {"local": 4, "sites": 2, "printed": True},
    ],
}  # fmt: skip
PART_BYTES = 48
#: Time to reduce a byte, over the time to send one.
REDUCTION = 3


def cases():
    """Return every operation of every algorithm, with its parameters, where it is allowed."""
    for name, module in ALGORITHMS.items():
        for given in GIVEN.get(name, [{}]):
            params = module.Params.model_validate(given)
            for call in [
                Call(operation, n, n * PART_BYTES) for operation in module.OPERATIONS for n in RANKS
            ]:
                try:
                    module.check(call, params)
                except FieldError:
                    continue
                yield pytest.param(
                    module, call, params,
                    id=f"{name}-{call.operation}-{call.ranks}-{'-'.join(map(str, given.values()))}",
                )  # fmt: skip


CASES = list(cases())


@pytest.mark.parametrize("module, call, params", CASES)
def test_everybody_has_heard_of_everybody_who_matters(module, call, params):
    # A result cannot be right without a chain of messages from each rank whose data are in it; what
    # a message waits for must have come to, or been sent by, the rank that sends it.
    graph, n = module.graph(call, params), call.ranks
    assert (graph.after < graph.flow).all()
    learns = np.where(graph.at_sender == 1, graph.src[graph.after], graph.dst[graph.after])
    assert (learns == graph.src[graph.flow]).all()
    assert (graph.src != graph.dst).all()

    if hasattr(module, "IN_NETWORK"):  # each rank gives, and one message to it stands for the sum
        assert sorted(graph.src) == sorted(graph.dst) == list(range(n))
        return
    heard = {rank: {rank} for rank in range(n)}
    for row, carried in enumerate(known(graph)):
        if graph.needed[row]:
            heard[int(graph.dst[row])] |= carried
    if call.operation in ("broadcast", "scatter"):
        assert all(0 in heard[rank] for rank in range(n))
    elif call.operation in ("gather", "reduce"):
        assert heard[0] == set(range(n))
    else:
        assert all(heard[rank] == set(range(n)) for rank in range(n))


@pytest.mark.parametrize("chunks", [1, 3])
@pytest.mark.parametrize("module, call, params", CASES)
def test_the_closed_form_counts_what_the_graph_has(module, call, params, chunks):
    # The longest chain is found row by row: what a row waits for stands above it.
    part = call._replace(data_bytes=call.data_bytes // 3 * (3 // chunks))
    graph = in_chunks(module.graph(part, params), chunks)
    counts = counted_in_chunks(module.counts(part, params), chunks)
    sent, received = (
        np.bincount(end, weights=graph.bytes, minlength=call.ranks)
        for end in (graph.src, graph.dst)
    )
    for latency_ps, ack_ps in ((1, 0), (1000, 0), (1000, 999)):
        ends = np.zeros(len(graph.src), dtype=np.int64)
        starts = np.zeros(len(graph.src), dtype=np.int64)
        rows = [[] for _ in graph.src]
        for flow, after, at_sender in zip(graph.flow, graph.after, graph.at_sender, strict=True):
            rows[flow].append((after, at_sender))
        for row, waits in enumerate(rows):
            starts[row] = max([0, *(ends[after] + at * ack_ps for after, at in waits)])
            ends[row] = starts[row] + latency_ps + graph.bytes[row]
        alone = counts.chain_ps(lambda size, latency=latency_ps: latency + size, ack_ps)
        assert ends.max() == alone

        # A rank sends on what it has reduced, and has its result when the last is reduced.
        for row, waits in enumerate(rows):
            reduced = graph.bytes * graph.reduced * REDUCTION
            starts[row] = max(
                [0, *(ends[after] + (ack_ps if at else reduced[after]) for after, at in waits)]
            )
            ends[row] = starts[row] + latency_ps + graph.bytes[row]
        done = (ends + graph.bytes * graph.reduced * REDUCTION).max()
        assert done == counts.chain_ps(
            lambda size, latency=latency_ps: latency + size, ack_ps, lambda size: REDUCTION * size
        )

    assert len(graph.src) == counts.messages
    assert graph.bytes.sum() == counts.sent_bytes
    assert max(sent.max(), received.max()) == counts.port_bytes


@pytest.mark.parametrize("module, call, params", CASES)
def test_a_rank_adds_what_all_others_have_and_nothing_else(module, call, params):
    # Each byte of the result is a sum of n: n - 1 additions, (n - 1) S in all. Recursive doubling,
    # whole vectors sent by all, and stages that are all-reduces themselves add more than once.
    graph, n = module.graph(call, params), call.ranks
    reduced = int((graph.bytes * graph.reduced).sum())
    if call.operation not in ("all_reduce", "reduce_scatter", "reduce") or hasattr(
        module, "IN_NETWORK"
    ):
        assert reduced == 0
        return
    least = (n - 1) * call.data_bytes
    lean = module.__name__.endswith(("ring", "halving_doubling", "tree"))
    lean |= call.operation == "reduce_scatter"
    assert reduced == least if lean else reduced >= least


@pytest.mark.parametrize("name", ["ring", "halving_doubling"])
@pytest.mark.parametrize(
    "operation, share", [("all_reduce", 2), ("reduce_scatter", 1), ("all_gather", 1)]
)
def test_rings_and_halving_send_the_least_that_can_be(name, operation, share):
    # Patarasuk and Yuan, section 3: no all-reduce sends less than 2 (n-1)/n S from each rank.
    module, n, size = ALGORITHMS[name], 16, 1 << 20
    graph = module.graph(Call(operation, n, size), module.Params())
    sent = np.bincount(graph.src, weights=graph.bytes)

    assert sent.tolist() == [share * (n - 1) * size // n] * n


@pytest.mark.parametrize("operation, steps", [("all_reduce", 8), ("all_gather", 4)])
def test_halving_takes_a_logarithm_of_steps(operation, steps):
    module = ALGORITHMS["halving_doubling"]
    assert module.counts(Call(operation, 16, 1 << 20), module.Params()).steps == steps


@pytest.mark.parametrize("n", [2, 3, 8, 12, 13, 14, 64, 1000])
def test_who_has_children_in_one_tree_has_none_in_the_other(n):
    # Sanders, Speck and Traeff, section 3: so no rank sends and receives more than S each way twice
    # over; each tree is binary. An odd number of ranks leaves rank 0 with children in both.
    call = Call("all_reduce", n, 2)
    graph = ALGORITHMS["double_tree"].graph(call, ALGORITHMS["double_tree"].Params())
    counts = ALGORITHMS["double_tree"].counts(call, ALGORITHMS["double_tree"].Params())
    half = np.arange(len(graph.src)) < len(graph.src) // 2
    parents = [graph.dst[graph.reduced & tree] for tree in (half, ~half)]

    assert set(parents[0].tolist()) & set(parents[1].tolist()) <= ({0} if n % 2 else set())
    assert all(np.bincount(parent).max() <= 2 for parent in parents)
    assert counts.steps <= 2 * np.ceil(np.log2(n))


@pytest.mark.parametrize(
    "n, tree, expected",
    [
        (14, 0, "8-0 4-8 12-8 2-4 6-4 10-12 13-12 1-2 3-2 5-6 7-6 9-10 11-10"),
        (12, 1, "3-11 7-3 1-3 9-7 5-7 10-9 8-9 6-5 4-5 2-1 0-1"),
        (13, 1, "9-1 5-9 0-9 3-5 7-5 11-0 2-3 4-3 6-7 8-7 10-11 12-11"),
    ],
)
def test_the_trees_are_those_that_nccl_draws(n, tree, expected):
    # As drawn in src/graph/trees.cc of NCCL 2.30.7: 14 ranks, 12 mirrored, 13 moved on.
    module = ALGORITHMS["double_tree"]
    graph = module.graph(Call("all_reduce", n, 2), module.Params())
    up = np.flatnonzero(graph.reduced & ((np.arange(len(graph.src)) < len(graph.src) // 2) ^ tree))
    drawn = {f"{graph.src[row]}-{graph.dst[row]}" for row in up}

    assert drawn == set(expected.split())


def test_the_five_stages_send_what_the_paper_prints():
    # [hotnets24] section 4.1, dense model: 3/4 g/18 four times over in the rack (all-reduce and
    # all-gather of 19.88 GB, 4 members), g/72 among 87 peers twice and once more, and one part of
    # 57 MB to the other site. Here in units of one part, 1/(4 x 87) of the buffer.
    module = ALGORITHMS["hierarchical"]
    params = module.Params(local=4, sites=2, printed=True)
    n = 4 * 87 * 2
    counts = module.counts(Call("all_reduce", n, 4 * 87), params)

    rack, rail = 3 * 87, 86  # (m-1)/m of the buffer, (n-1)/n of a quarter of it
    assert counts.port_bytes == 2 * rack + 2 * rail + 1 + rail + rack
    lean = module.counts(Call("all_reduce", n, 4 * 87), module.Params(local=4, sites=2))
    assert lean.port_bytes == rack + rail + 1 + rail + rack


def test_a_rank_that_is_late_in_a_stage_holds_back_what_it_adds_to():
    # In stage 2 a rank adds its own part to what comes, so nothing that it sends there may go
    # before its own result of stage 1; what it only hands on in stages 4 and 5 may.
    module = ALGORITHMS["hierarchical"]
    graph = module.graph(Call("all_reduce", 12, 12 * PART_BYTES), module.Params(local=3))
    waits = {}
    for flow, after in zip(graph.flow, graph.after, strict=True):
        waits.setdefault(int(flow), set()).add(int(after))

    first, second = np.flatnonzero(graph.step == 1), np.isin(graph.step, (2, 3, 4))
    result_of = {int(graph.dst[row]): int(row) for row in first}
    for row in np.flatnonzero(second):
        assert result_of[int(graph.src[row])] in waits[int(row)]
    passed_on = np.flatnonzero(graph.step == 6)
    assert all(len(waits[int(row)]) == 1 for row in passed_on)


def test_a_million_messages_take_seconds():
    module = ALGORITHMS["ring"]
    graph = module.graph(Call("all_reduce", 1000, 1_000_000), module.Params())

    assert len(graph.src) == 2 * 999 * 1000 and len(graph.flow) == (2 * 999 - 1) * 1000
