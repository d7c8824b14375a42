# SPDX-License-Identifier: GPL-2.0-only
"""Fluid draws of a permutation: a seed decides both who sends to whom and on which path."""

import numpy as np

from pyorch.draws import stream
from pyorch.theory import ecmp, fluid, paths
from pyorch.workload import permutation


def test_the_seed_decides_the_paths_also_of_one_and_the_same_permutation(monkeypatch):
    # 128 hosts, all with the same permutation in both draws: what differs is the paths alone.
    monkeypatch.setattr(fluid, "stream", lambda _, purpose: stream(7, purpose))

    one, same, other = (fluid.slowdown_of_permutation(128, seed) for seed in (1, 1, 2))

    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_the_seed_decides_the_permutation():
    assert fluid.slowest_of_permutation(128, 1) != fluid.slowest_of_permutation(128, 3)


def test_the_draw_is_that_of_the_workload(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        paths.Network, "routes", lambda self, src, dst, choose: drawn.append((src, dst))
    )
    monkeypatch.setattr(ecmp, "fluid_fct_ps", lambda *_: 0)
    fluid.slowdown_of_permutation(128, 5)

    tables = fluid.square_leaf_spine(128)
    params = permutation.Params.model_validate({"message": "1 MB"})
    flows = permutation.flows(params, tables["nodes"], tables["links"], 5)
    assert np.array_equal(drawn[0], [flows["src"], flows["dst"]])
