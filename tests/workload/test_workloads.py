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
from pyorch.spec.network import Network
from pyorch.spec.resolved import Link
from pyorch.topology import leaf_spine
from pyorch.workload import all_to_all, incast, outcast_incast, permutation, single, stride

LINK = Link(rate_bps=800 * 10**9, delay_ps=500_000)
EXAMPLES = {
    "permutation": {"message": "1 MB", "start": "5 ns"},
    "incast": {"senders": 3, "message": "1 MB", "start": "5 ns", "random_senders": True},
    "single": {"message": "1 MB", "start": "5 ns"},
    "all_to_all": {"message": "1 MB", "start": "5 ns", "hosts": 5, "spacing": 2},
    "stride": {"message": "1 MB", "start": "5 ns", "stride": 5},
    "training": {
        "preset": "dense-100t",
        "start": "5 ns",
        "peers": 3,
        "members": 2,
        "tensor": 2,
        "divide": 1000,
        "chunks": 2,
    },
    "companion": {
        "what": "checkpoint",
        "preset": "llama3-70b",
        "devices": 4,
        "peers": 4,
        "first_peer": 4,
        "divide": 1000,
        "start": "5 ns",
    },
    "trace": {"format": "goal", "file": "ping.goal", "start": "5 ns"},
    "outcast_incast": {"targets": 3, "senders": 4, "message": "1 MB", "start": "5 ns"},
    "poisson": {"load": 0.5, "duration": "1 ms", "sizes": "websearch", "start": "5 ns"},
    "collective": {
        "algorithm": "tree",
        "operation": "broadcast",
        "bytes": "1 MB",
        "ranks": 6,
        "groups": 2,
        "start": "5 ns",
    },
    "nccl": {"operation": "all_reduce", "bytes": "1 MB", "ranks": 6, "local": 6, "start": "5 ns"},
    "flow_table": {"file": "flows.csv"},
    "htsim_cm": {"file": "flows.cm"},
    "hpcc_flows": {"file": "flow.txt"},
}
FILES = {
    "flows.csv": "flow,src,dst,bytes,start_ps\n7,0,11,1000000,5000\n3,4,2,1000000,5000\n",
    "flows.cm": "Nodes 12\nConnections 1\n0->11 id 7 start 5000 size 1000000\n",
    "ping.goal": "num_ranks 2\nrank 0 {\nsend 1000000b to 1\n}\nrank 1 {\n"
    "recv 1000000b from 0\n}\n",
    "flow.txt": "1\n0 11 3 100 1000000 0.000000005\n",
}


def fabric(leaves=4, hosts_per_leaf=3):
    given_ = {"leaves": leaves, "hosts_per_leaf": hosts_per_leaf, "spines": 2}
    params = leaf_spine.Params.model_validate(given_, context={"link": LINK})
    return leaf_spine.tables(params, LINK), leaf_spine.counts(params)


def flows(module, tables, seed=1, **given_):
    params = module.Params.model_validate(given_)
    return module.flows(params, tables["nodes"], tables["links"], seed)


@pytest.mark.parametrize("name", plugins.names("pyorch.workload"))
def test_the_contract_of_every_workload(name, tmp_path):
    if name == "wan_demands":
        pytest.skip("is between the sites of multi_site: test_wan_demands.py")
    if name in ("serving", "session"):
        pytest.skip("has no messages before the run: test_serving.py, test_session.py")
    assert name in EXAMPLES, f"give {name} an example here"
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    module, (tables, counts) = plugins.load("pyorch.workload", name), fabric()
    params = module.Params.model_validate(EXAMPLES[name], context={"folder": tmp_path})
    module.check(params, Network(counts, tables["nodes"], tables["links"]), 10**12)

    got = module.flows(params, tables["nodes"], tables["links"], 7)
    again = module.flows(params, tables["nodes"], tables["links"], 7)

    assert set(got) - {"flow", "connection"} == {"src", "dst", "bytes", "start_ps"}
    assert len({len(column) for column in got.values()}) == 1
    assert all(column.dtype == np.int64 for column in got.values())
    assert all((got[column] == again[column]).all() for column in got)
    assert set(got["src"]) | set(got["dst"]) <= set(range(12))
    assert (got["src"] != got["dst"]).all()
    assert got["bytes"].min() >= 1 and got["start_ps"].min() >= 5000
    if name not in ("poisson", "training", "companion", "nccl"):
        assert set(got["bytes"]) == {10**6} and set(got["start_ps"]) == {5000}


@settings(max_examples=50)
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


@settings(max_examples=50)
@given(seed=st.integers(1, 10**6), few=st.floats(0.1, 0.5), more=st.floats(0.5, 1))
def test_active_hosts_permute_among_themselves_and_stay_active_at_a_larger_share(seed, few, more):
    # 128 hosts in leaves of 8; half of the active ones below one leaf is out of the question.
    tables, _ = fabric(16, 8)
    small, large = (flows(permutation, tables, seed, message="1 B", active=s) for s in (few, more))

    for got, share in ((small, few), (large, more)):
        assert len(got["src"]) == int(share * 128 + 0.5)
        assert sorted(got["dst"]) == sorted(got["src"])
        assert (got["src"] // 8 != got["dst"] // 8).all()
    assert set(small["src"]) <= set(large["src"])


def test_every_host_is_equally_often_active():
    # 16 of 64 hosts in 400 seeds: each host is active Binomial(400, 1/4) times, mean 100 and
    # standard deviation 8.66; beyond 5 of these for any of 64 hosts: once in 3 * 10^4.
    tables, _ = fabric(16, 4)
    seen = Counter(
        host for seed in range(400)
        for host in flows(permutation, tables, seed, message="1 B", active=0.25)["src"].tolist()
    )  # fmt: skip

    assert len(seen) == 64 and all(abs(count - 100) < 5 * 8.66 for count in seen.values())


def test_a_permutation_of_two_active_hosts_of_different_leaves_is_found():
    # 8 hosts in 2 leaves: 3 of 7 draws of 2 hosts lie below one leaf and are drawn again.
    tables, _ = fabric(2, 4)
    for seed in range(30):
        got = flows(permutation, tables, seed, message="1 B", active=0.25)
        assert (got["src"] // 4 != got["dst"] // 4).all() and len(got["src"]) == 2


def test_jitter_spreads_the_starts_evenly_and_moves_nothing_else():
    tables, _ = fabric(leaves=100, hosts_per_leaf=10)
    given_ = {"message": "1 MB", "start": "5 ns"}
    spread = flows(permutation, tables, **given_, jitter="10 ns")
    late_ps = spread["start_ps"] - 5000

    assert (spread["dst"] == flows(permutation, tables, **given_)["dst"]).all()
    assert late_ps.min() >= 0
    assert late_ps.max() <= 10_000
    # Ten classes of equal chance, 1000 draws: chi-squared with 9 degrees, false alarm 1e-6.
    counts = np.bincount(np.minimum(late_ps // 1000, 9), minlength=10)
    assert ((counts - 100) ** 2 / 100).sum() < chi2.ppf(1 - 1e-6, 9)


def test_a_host_starts_at_one_time_whatever_share_is_active():
    tables, _ = fabric(leaves=20, hosts_per_leaf=5)
    few = flows(permutation, tables, message="1 MB", active=0.2, jitter="1 ms")
    most = flows(permutation, tables, message="1 MB", active=0.8, jitter="1 ms")
    at = dict(zip(most["src"].tolist(), most["start_ps"].tolist(), strict=True))

    assert len(few["src"]) == 20
    assert [at[host] for host in few["src"].tolist()] == few["start_ps"].tolist()


def test_stride_goes_around():
    tables, _ = fabric()
    got = flows(stride, tables, message="1 B", stride=5)

    assert got["dst"].tolist() == [(host + 5) % 12 for host in range(12)]


def test_all_to_all_has_every_ordered_pair_once():
    tables, _ = fabric()
    got = flows(all_to_all, tables, message="1 B", hosts=3, spacing=4)

    pairs = sorted(zip(got["src"].tolist(), got["dst"].tolist(), strict=True))
    assert pairs == [(0, 4), (0, 8), (4, 0), (4, 8), (8, 0), (8, 4)]


def test_hosts_of_a_server_send_each_other_nothing():
    tables, _ = fabric()
    got = flows(all_to_all, tables, message="1 B", hosts=6, server_hosts=2)

    pairs = set(zip(got["src"].tolist(), got["dst"].tolist(), strict=True))
    assert pairs == {(a, b) for a in range(6) for b in range(6) if a // 2 != b // 2}
    assert len(got["src"]) == len(pairs)


def test_several_messages_have_the_same_ends():
    tables, _ = fabric()
    got = flows(single, tables, message="3 B", messages=4, source=2, target=5)

    assert got["src"].tolist() == [2] * 4 and got["dst"].tolist() == [5] * 4
    assert got["bytes"].tolist() == [3] * 4


@pytest.mark.parametrize("random_hosts", [False, True])
def test_outcast_and_incast_share_exactly_one_message(random_hosts):
    tables, _ = fabric()
    got = flows(outcast_incast, tables, message="1 B", targets=3, senders=4,
                random_hosts=random_hosts)  # fmt: skip
    sender, receiver = got["src"][0], got["dst"][0]

    assert (got["src"] == sender).sum() == 3 and (got["dst"] == receiver).sum() == 4
    assert ((got["src"] == sender) & (got["dst"] == receiver)).sum() == 1
    assert len(set(got["src"]) | set(got["dst"])) == 7


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
        (single, {"source": 11, "message": "1 B"}, "-1: is the source too. Choose another"),
        (permutation, {"active": 0.1, "message": "1 B"}, "0.1 of 12 hosts is 1; a permutation"),
        (stride, {"stride": 24, "message": "1 B"}, "24: with 12 hosts each would send to itself"),
        (all_to_all, {"hosts": 4, "spacing": 5, "message": "1 B"}, "4 hosts of 3 .every 5. of 12"),
        (outcast_incast, {"targets": 6, "senders": 7, "message": "1 B"}, "are 13 different hosts"),
    ],
)
def test_what_does_not_fit_the_topology_is_refused(module, given_, message):
    tables, counts = fabric()
    network = Network(counts, tables["nodes"], tables["links"])
    with pytest.raises(FieldError, match=message):
        module.check(module.Params.model_validate(given_), network, 10**12)


@pytest.mark.parametrize(("hosts", "fits"), [(2236, True), (2237, False)])
def test_all_to_all_has_a_bound_that_is_known_before_any_message_is_made(hosts, fits):
    # 2236 x 2235 = 4,997,460 and 2237 x 2236 = 5,001,932: the bound is 5 million.
    params = all_to_all.Params.model_validate({"message": "1 B"})
    network = Network({"hosts": hosts}, {}, {})
    if fits:
        all_to_all.check(params, network, 1)
    else:
        with pytest.raises(FieldError, match="2237 hosts send 5,001,932 messages; at most 5,000"):
            all_to_all.check(params, network, 1)
