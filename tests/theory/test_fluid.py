# SPDX-License-Identifier: GPL-2.0-only
"""Fluid draws of a permutation: a seed decides both who sends to whom and on which path."""

import numpy as np

from pyorch.theory import fluid


def test_the_seed_decides_the_paths_also_of_one_and_the_same_permutation(monkeypatch):
    # 128 hosts, all with the same permutation in both draws: what differs is the paths alone.
    draw = fluid.permutation.flows
    monkeypatch.setattr(
        fluid.permutation, "flows", lambda params, nodes, links, _: draw(params, nodes, links, 7)
    )

    one, same, other = (fluid.slowdown_of_permutation(128, seed) for seed in (1, 1, 2))

    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_the_seed_decides_the_permutation():
    assert fluid.slowest_of_permutation(128, 1) != fluid.slowest_of_permutation(128, 3)
