# SPDX-License-Identifier: GPL-2.0-only
"""What a batch computes and sends, by hand from the shapes of the models."""

import numpy as np
import pytest

from pyorch.serving import DECODE, PREFILL, TRANSFER, Batch, Pool, Routing, Service, work_of
from pyorch.serving.costs import costs
from pyorch.serving.routing import zipf
from pyorch.theory import preset
from pyorch.training.graph import COMPUTE, MESSAGE, check

MEMORY_BPS = 26_800_000_000_000


def service(name, prefill, decode=None, *, layers=None, divide=1, exponent=0.0):
    """Return a service of a preset."""
    found = costs(preset.training(name).setup, MEMORY_BPS)
    routing = Routing(zipf(found.experts, exponent), found.active_experts)
    apart = decode is not None
    return Service(
        found, routing, prefill, decode or prefill, apart, layers or found.layers, divide
    )


def sent(graph, lane):
    """Return the bytes of all messages of a lane."""
    rows = (graph.kind == MESSAGE) & (graph.lane == graph.lanes.index(lane))
    return int(graph.size_bytes[rows].sum())


@pytest.mark.parametrize(
    ("name", "tensor", "expected"),
    [
        # Keys and values of 8 heads of 128 in 80 layers, 2 bytes each: 2.68 GB for 8192 tokens.
        ("llama3-70b", 8, 8192 * 80 * 2 * 8 * 128 * 2),
        ("llama3-70b", 1, 8192 * 80 * 2 * 8 * 128 * 2),
        # Latent attention keeps 512 + 64 numbers in 61 layers; without heads nothing is divided.
        ("deepseek-v3", 1, 8192 * 61 * (512 + 64) * 2),
        ("deepseek-v3", 4, 4 * 8192 * 61 * (512 + 64) * 2),
    ],
)
def test_keys_and_values_on_their_way(name, tensor, expected):
    pools = Pool(1, tensor, 1), Pool(2, tensor, 1)
    batch = Batch(TRANSFER, 1, (0,), (0,), (8192,), (0, 0))

    work = work_of(service(name, *pools), batch)

    assert sent(work.graph, "KV") == expected
    assert work.graph.device.tolist()[:tensor] == list(range(tensor))  # each to its like
    assert work.graph.peer.tolist()[:tensor] == list(range(tensor, 2 * tensor))
    # Of two instances of decoding the second one: behind the prefill and the first.
    then = 2 * tensor + np.arange(tensor)
    assert service(name, *pools).devices_of(batch).tolist() == [*range(tensor), *then]


def test_eight_devices_send_to_two_and_two_to_eight():
    kv_bytes = 1000 * 80 * 2 * 8 * 128 * 2
    for here, there in ((8, 2), (2, 8)):
        graph = work_of(
            service("llama3-70b", Pool(1, here, 1), Pool(1, there, 1)),
            Batch(TRANSFER, 0, (0,), (0,), (1000,)),
        ).graph
        rows = graph.kind == MESSAGE
        assert graph.size_bytes[rows].tolist() == [kv_bytes // 8] * 8
        assert np.bincount(graph.device[rows]).tolist() == [8 // here] * here
        assert np.bincount(graph.peer[rows])[here:].tolist() == [8 // there] * there


@pytest.mark.parametrize("phase", [PREFILL, DECODE])
def test_all_reduces_of_a_dense_model(phase):
    # A ring of 8 sends 2 x 7/8 of the activations from each device: two in each of 80 layers.
    tokens = 3000 if phase == PREFILL else 2

    graph = work_of(
        service("llama3-70b", Pool(1, 8, 1)), Batch(phase, 0, (0, 1), (0, 0), (1000, 2000))
    ).graph

    assert sent(graph, "TP") == 80 * 2 * 2 * 7 * tokens * 8192 * 2
    check(graph)


def test_times_of_llama_by_hand():
    # Attention of one layer: 8192 x 128 x (64 + 8) x 2 parameters, feed-forward 3 x 8192 x 28672.
    attention, feed_forward = 2 * 8192 * 128 * 72, 3 * 8192 * 28672
    flop_per_s, bytes_per_s = 989e12 * 0.5676, MEMORY_BPS / 8
    one = service("llama3-70b", Pool(1, 8, 1), layers=1)

    # Prefill of 8192 tokens: arithmetic; each looks at all of the prompt, as in the training step.
    prefill = work_of(one, Batch(PREFILL, 0, (0,), (0,), (8192,)))
    scores = 2 * 64 * 2 * 128 * 8192**2
    expected = [
        (2 * attention * 8192 + scores) / 8 / flop_per_s, 2 * feed_forward * 8192 / 8 / flop_per_s,
    ]  # fmt: skip
    computes = prefill.graph.kind == COMPUTE
    found = np.unique(prefill.graph.duration_ps[computes])
    assert found == pytest.approx(sorted(np.array(expected) * 1e12), abs=1)
    assert prefill.compute_ps == pytest.approx(sum(expected) * 1e12, abs=2)

    # Decoding of two requests: weights, and keys and values of 1000 + 3000 tokens, are read.
    decode = work_of(one, Batch(DECODE, 0, (0, 1), (0, 0), (1000, 3000)))
    read = (attention * 2 + 4000 * 2 * 8 * 128 * 2) / 8 / bytes_per_s
    expected = read + feed_forward * 2 / 8 / bytes_per_s
    assert decode.compute_ps == pytest.approx(expected * 1e12, abs=2)


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 3.0])
def test_all_to_alls_have_all_copies_of_all_tokens(exponent):
    # Oracle: tokens x 8 experts x 7168 x (1 byte there, 2 back), of which a share stays at home.
    one = service("deepseek-v3", Pool(1, 1, 16), layers=1, exponent=exponent)
    groups = tuple(range(16))
    batch = Batch(PREFILL, 0, groups, groups, (100,) * 16)

    copies = one.routing.copies(0, np.full(16, 100))
    at_home = sum(copies.reshape(16, 16, 16).sum(axis=2).diagonal().tolist())
    graph = work_of(one, batch).graph

    assert copies.sum(axis=1).tolist() == [800] * 16
    assert copies.max() <= 100  # no token visits an expert twice
    assert sent(graph, "EP") == (1600 * 8 - at_home) * 7168 * 3
    check(graph)


def test_balanced_is_an_exponent_of_zero():
    assert zipf(256, 0).tolist() == [1 / 256] * 256
    found = Routing(np.full(256, 1 / 256), 8).copies(0, np.array([1000]))
    assert found.sum() == 8000
    # One token of each of 16 groups: 128 copies, at 16 groups of 16 experts 8 each, or one beside.
    few = Routing(np.full(256, 1 / 256), 8).copies(0, np.ones(16)).reshape(16, 16, 16)
    assert few.sum() == 128 and few.max() == 1
    assert set(few.sum(axis=(0, 2)).tolist()) <= {7, 8, 9}
    assert set(np.unique(found)) == {31, 32}  # 31.25


def test_shares_above_one_copy_of_each_token_go_to_the_others():
    # Two of four experts, 0.9 of all to the first: it gets every token once, a half; the others
    # share the other half as 0.05 : 0.03 : 0.02.
    routing = Routing(np.array([0.9, 0.05, 0.03, 0.02]), 2)

    assert routing.shares[0].tolist() == pytest.approx([0.5, 0.25, 0.15, 0.1])
    assert routing.copies(0, np.array([100])).tolist() == [[100, 50, 30, 20]]


def test_the_busiest_group_computes_longest():
    # All of 16 tokens go to 8 of the 16 experts of the first group.
    shares = np.zeros(256)
    shares[:8] = 1 / 8
    one = service("deepseek-v3", Pool(1, 1, 16), layers=1)._replace(routing=Routing(shares, 8))
    groups = tuple(range(16))

    graph = work_of(one, Batch(DECODE, 0, groups, groups, (1,) * 16)).graph

    rows = np.flatnonzero(graph.kind == COMPUTE)
    feed_forward = rows[16:]
    # Each reads the shared expert; the first also 8 of its own, 44 M parameters of 1 byte each.
    expert_ps = 3 * 7168 * 2048 / (MEMORY_BPS / 8) * 1e12
    expected = [9 * expert_ps] + [expert_ps] * 15
    assert graph.duration_ps[feed_forward] == pytest.approx(expected, abs=1)


def test_a_service_that_is_smaller():
    whole = work_of(service("llama3-70b", Pool(1, 8, 1), layers=2), _batch())
    small = work_of(service("llama3-70b", Pool(1, 8, 1), layers=2, divide=100), _batch())

    assert small.compute_ps == pytest.approx(whole.compute_ps / 100, abs=4)
    assert sent(small.graph, "TP") == pytest.approx(sent(whole.graph, "TP") / 100, rel=1e-4)


def _batch():
    return Batch(PREFILL, 0, (0,), (0,), (4096,))
