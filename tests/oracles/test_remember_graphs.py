# SPDX-License-Identifier: GPL-2.0-only
"""Random graphs of messages and computations, replayed and executed.

Here a few; more: ``PYORCH_REMEMBER_GRAPHS=300 pytest`` and the name of this file.
"""

import os

import numpy as np
import pytest
from episodes import BARRIER, MTU, ROCE, SPRAY, Graph, racks, replayed, same
from oracle_network import US_PS

pytestmark = pytest.mark.ns3

GRAPHS = int(os.environ.get("PYORCH_REMEMBER_GRAPHS", "30"))


def random_graph(seed):
    """Draw a pattern of messages in racks, repeated after computations, and what disturbs it."""
    rng = np.random.default_rng(seed)
    n_racks, ranks = int(rng.integers(1, 4)), int(rng.integers(2, 6))
    graph = Graph()
    sizes = [1, MTU, 50_000, 120_001]
    pattern = [
        (int(src), int((src + rng.integers(1, ranks)) % ranks), int(rng.choice(sizes)),
         sorted(int(i) for i in np.flatnonzero(rng.random(n) < 1.5 / (n + 1))))
        for n, src in enumerate(rng.integers(0, ranks, int(rng.integers(3, 12))))
    ]  # fmt: skip
    compute_ps = [int(ps) for ps in rng.choice([0, 1, 3 * US_PS, 7 * US_PS], ranks)]
    for rack in range(n_racks):
        hosts = [rack * ranks + rank for rank in range(ranks)]
        at = [None] * ranks
        for _ in range(int(rng.integers(3, 7))):
            begun = [
                graph.task(host, ps + 2 * US_PS, [(one, 0)] if one is not None else [])
                for host, one, ps in zip(hosts, at, compute_ps, strict=True)
            ]
            at = once(graph, hosts, pattern, begun)
    disturb(graph, rng, n_racks * ranks, ranks)
    return graph, racks(n_racks, ranks)


def once(graph, hosts, pattern, begun):
    """Add the pattern once; a message waits for those before it that its source knows of."""
    items, ends = [], [[(one, 0)] for one in begun]
    for src, dst, size_bytes, before in pattern:
        after = [(begun[src], 0)]
        for other in before:
            if pattern[other][0] == src:
                after.append((items[other], 1))
            elif pattern[other][1] == src:
                after.append((items[other], 0))
        items.append(graph.message(hosts[src], hosts[dst], size_bytes, after))
        ends[src].append((items[-1], 1))
        ends[dst].append((items[-1], 0))
    return [graph.task(host, 0, after, BARRIER) for host, after in zip(hosts, ends, strict=True)]


def disturb(graph, rng, n_hosts, ranks):
    """Add messages at times of their own, in racks and on rails, some of which wait for others."""
    for _ in range(int(rng.integers(0, 6))):
        src = int(rng.integers(n_hosts))
        stays = rng.random() < 0.4 or n_hosts == ranks
        rack, rank = divmod(src, ranks)
        if stays:
            dst = rack * ranks + (rank + int(rng.integers(1, ranks))) % ranks
        else:
            dst = (src + ranks * int(rng.integers(1, n_hosts // ranks))) % n_hosts
        first = graph.message(src, dst, int(rng.integers(1, 400_000)),
                              start_ps=int(rng.integers(0, 150)) * US_PS)  # fmt: skip
        if rng.random() < 0.5:
            graph.message(dst, dst // ranks * ranks + (dst + 1) % ranks
                          if (dst + 1) % ranks != dst % ranks else src,
                          int(rng.integers(1, 50_000)), [(first, 0)])  # fmt: skip


def test_random_graphs_are_as_full_runs_are():
    episodes, executed = 0, 0
    for seed in range(GRAPHS):
        graph, network = random_graph(seed)
        got = same(graph, network, [SPRAY, ROCE][seed % 2 : seed % 2 + 1], seed=seed + 1)
        episodes += replayed(got)
        executed += int((got["replayed_flows"]["replayed_packets"] == 0).sum())
    assert episodes > GRAPHS / 2
    assert executed > 10 * GRAPHS


def test_beside_skips_just_what_was_foreseen_comes():
    # The engine ends a run in which a message starts on an island that replays something else.
    # Long messages on the rails are skipped, with the largest tolerance, and others in the racks
    # wait for them.
    episodes, jumps = 0, 0
    for seed in range(GRAPHS):
        graph, network = random_graph(seed)
        ranks = sum(switch >= 2000 for switch, _ in network.switches)
        hosts = len(network.hosts)
        rng = np.random.default_rng(10_000 + seed)
        for src in rng.integers(0, hosts, 3 if hosts > ranks else 0).tolist():
            dst = (src + ranks) % hosts
            long = graph.message(src, dst, int(rng.integers(2, 8)) * 1_000_000)
            near = dst // ranks * ranks + (dst + 1) % ranks
            graph.message(dst, near if near != dst else src, 30_000, [(long, 0)])
        got = graph.run(network, skip_ppm=100_000, remember=True, seed=seed + 1)
        assert (got["flows"]["receiver_end_ps"] >= got["flows"]["start_ps"]).all()
        episodes += replayed(got)
        jumps += len(got["skips"]["time_ps"])
    assert episodes > GRAPHS / 2
    assert jumps > GRAPHS / 2
