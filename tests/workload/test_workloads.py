# SPDX-License-Identifier: GPL-2.0-only
"""Every workload keeps its contract, and random ones are uniform within a stated chance."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from pyorch import plugins
from pyorch.spec.fields import FieldError
from pyorch.topology import leaf_spine
from pyorch.workload import incast, permutation, single

LINK = {"rate_bps": 800 * 10**9, "delay_ps": 500_000, "loss_ratio": 0.0}
EXAMPLES = {
    "permutation": {"message": "1 MB", "start": "5 ns"},
    "incast": {"senders": 3, "message": "1 MB", "start": "5 ns", "random_senders": True},
    "single": {"message": "1 MB", "start": "5 ns"},
}


def fabric(leaves=4, hosts_per_leaf=3):
    given_ = {"leaves": leaves, "hosts_per_leaf": hosts_per_leaf, "spines": 2}
    params = leaf_spine.Params.model_validate(given_, context={"link": LINK})
    return leaf_spine.tables(params, LINK), leaf_spine.counts(params)


def flows(module, tables, seed=1, **given_):
    params = module.Params.model_validate(given_)
    return module.flows(params, tables["nodes"], tables["links"], seed)


@pytest.mark.parametrize("name", plugins.names("pyorch.workload"))
def test_the_contract_of_every_workload(name):
    assert name in EXAMPLES, f"give {name} an example here"
    module, (tables, counts) = plugins.load("pyorch.workload", name), fabric()
    params = module.Params.model_validate(EXAMPLES[name])
    module.check(params, counts)

    got = module.flows(params, tables["nodes"], tables["links"], 7)
    again = module.flows(params, tables["nodes"], tables["links"], 7)

    assert set(got) == {"src", "dst", "bytes", "start_ps"}
    assert len({len(column) for column in got.values()}) == 1
    assert all(column.dtype == np.int64 for column in got.values())
    assert all((got[column] == again[column]).all() for column in got)
    assert set(got["src"]) | set(got["dst"]) <= set(range(12))
    assert (got["src"] != got["dst"]).all()
    assert set(got["bytes"]) == {10**6} and set(got["start_ps"]) == {5000}


@settings(max_examples=50, deadline=None)
@given(leaves=st.integers(2, 8), hosts=st.integers(1, 8), seed=st.integers(1, 10**6))
def test_an_inter_leaf_permutation_is_one(leaves, hosts, seed):
    tables, _ = fabric(leaves, hosts)
    got = flows(permutation, tables, seed, message="1 B")

    assert sorted(got["dst"]) == sorted(got["src"]) == list(range(leaves * hosts))
    assert (got["src"] // hosts != got["dst"] // hosts).all()


def test_all_allowed_permutations_are_equally_likely():
    # 5 hosts below 5 leaves: the derangements of 5, of which there are 44. 4400 seeds give 100
    # each; chi-square with 43 degrees of freedom, false alarm once in 10^4 by its own quantile.
    tables, _ = fabric(5, 1)
    seen = Counter(tuple(flows(permutation, tables, seed, message="1 B")["dst"].tolist())
                   for seed in range(4400))  # fmt: skip

    assert len(seen) == 44
    statistic = sum((count - 100) ** 2 / 100 for count in seen.values())
    assert statistic < chi2.ppf(1 - 1e-4, 43)


def test_another_seed_is_another_permutation():
    tables, _ = fabric(8, 8)
    first, second = (flows(permutation, tables, seed, message="1 B")["dst"] for seed in (1, 2))

    assert (first != second).any()


def test_incast_takes_the_hosts_after_the_receiver():
    tables, _ = fabric()
    got = flows(incast, tables, message="1 B", senders=3, receiver=10)

    assert got["src"].tolist() == [11, 0, 1] and set(got["dst"]) == {10}


def test_random_senders_differ_from_each_other_and_from_the_receiver():
    tables, _ = fabric()
    for seed in range(50):
        src = flows(incast, tables, seed, message="1 B", senders=11, receiver=4,
                    random_senders=True)["src"]  # fmt: skip
        assert sorted(src) == [host for host in range(12) if host != 4]


def test_single_goes_from_the_first_to_the_last_host():
    tables, _ = fabric()
    got = flows(single, tables, message="1 B")

    assert (got["src"].tolist(), got["dst"].tolist()) == ([0], [11])


@pytest.mark.parametrize(
    ("module", "given_", "message"),
    [
        (incast, {"senders": 12, "message": "1 B"}, "12 senders and a receiver do not fit 12"),
        (incast, {"senders": 1, "receiver": 12, "message": "1 B"}, "12: hosts are counted from 0"),
        (single, {"source": 12, "message": "1 B"}, "12: hosts are counted from 0 to 11"),
        (single, {"source": 11, "message": "1 B"}, "source and target are the same host"),
    ],
)
def test_what_does_not_fit_the_topology_is_refused(module, given_, message):
    _, counts = fabric()
    with pytest.raises(FieldError, match=message):
        module.check(module.Params.model_validate(given_), counts)
