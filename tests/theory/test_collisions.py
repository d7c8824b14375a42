# SPDX-License-Identifier: GPL-2.0-only
"""The fullest of many links, against counting every outcome and against drawn permutations."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from pyorch.spec.resolved import Link
from pyorch.theory import collisions, ecmp, paths
from pyorch.topology import leaf_spine
from pyorch.workload import permutation

LINK = Link(rate_bps=10**12, delay_ps=1)


def counted(flows, links, groups):
    """Chance of each most loaded link, by trying every choice of every flow of one group."""
    most = Counter(max(Counter(choice).values()) for choice in product(range(links), repeat=flows))
    at_most = [
        (Fraction(sum(n for k, n in most.items() if k <= limit), links**flows)) ** groups
        for limit in range(flows + 1)
    ]
    return np.diff([0.0, *map(float, at_most)])


@settings(max_examples=40)
@given(flows=st.integers(1, 6), links=st.integers(1, 4), groups=st.integers(1, 9))
def test_it_is_what_counting_every_outcome_gives(flows, links, groups):
    got = collisions.chance_of_most(flows, links, groups)

    assert got == pytest.approx(counted(flows, links, groups)[: len(got)], abs=1e-9)
    assert got.sum() == pytest.approx(1, abs=1e-9)


def test_it_is_what_permutations_draw():
    # 16 leaves x 8 hosts x 8 spines. Uplinks and downlinks share flows, so that they are only
    # nearly independent: 400 draws would show a difference of 8 points in one class.
    tables = leaf_spine.tables(
        leaf_spine.Params.model_validate(
            {"leaves": 16, "hosts_per_leaf": 8, "spines": 8}, context={"link": LINK}
        ),
        LINK,
    )
    network = paths.Network(tables["nodes"], tables["links"])
    message = permutation.Params.model_validate({"message": "1 MB"})
    drawn = []
    for seed in range(1, 401):
        flows = permutation.flows(message, tables["nodes"], tables["links"], seed)
        choose = paths.random_choice(np.random.default_rng([seed, 3]))
        routes = network.routes(flows["src"], flows["dst"], choose)
        drawn.append(int(ecmp.flows_per_link(routes, len(network.rate_bps)).max()))
    chance = collisions.chance_in_leaf_spine(16, 8, 8)
    observed = [drawn.count(3), drawn.count(4), drawn.count(5), sum(d > 5 for d in drawn)]
    expected = 400 * np.array([chance[3], chance[4], chance[5], chance[6:].sum()])

    assert sum(observed) == 400
    # False alarm once in a million.
    assert chisquare(observed, expected * 400 / expected.sum()).pvalue > 1e-6


def test_one_link_takes_all_and_many_links_rarely_two():
    assert collisions.chance_of_most(5, 1).tolist() == pytest.approx([0, 0, 0, 0, 0, 1])
    # Birthdays: 23 in 365 days share one with a chance of 50.73 %.
    assert collisions.chance_of_most(23, 365)[1] == pytest.approx(1 - 0.507297, abs=1e-6)
