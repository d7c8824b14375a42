# SPDX-License-Identifier: GPL-2.0-only
"""Tables of a leaf-spine against hand counts and their closed form."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.spec.resolved import Link
from pyorch.topology import leaf_spine

LINK = Link(rate_bps=800 * 10**9, delay_ps=500_000)


def params(**given_):
    return leaf_spine.Params.model_validate(given_, context={"link": LINK})


def test_a_small_one_by_hand():
    tables = leaf_spine.tables(params(leaves=2, hosts_per_leaf=2, spines=1), LINK)

    # hosts 0-3, leaves 4 and 5, spine 6
    ends = list(zip(tables["links"]["node_a"], tables["links"]["node_b"], strict=True))
    assert ends == [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (5, 6)]
    assert tables["nodes"]["tier"].tolist() == [0, 0, 0, 0, 1, 1, 2]
    assert tables["nodes"]["is_switch"].tolist() == [0, 0, 0, 0, 1, 1, 1]


def test_uplinks_may_be_several_and_of_another_kind():
    tables = leaf_spine.tables(
        params(leaves=2, hosts_per_leaf=1, spines=1, parallel=2, uplink_rate="400 Gb/s"), LINK
    )

    assert tables["links"]["parallel"].tolist() == [0, 0, 0, 1, 0, 1]
    assert tables["links"]["rate_bps"].tolist() == [8 * 10**11] * 2 + [4 * 10**11] * 4
    assert tables["links"]["delay_ps"].tolist() == [500_000] * 6


def test_every_host_has_a_port_in_every_plane_and_planes_do_not_touch():
    tables = leaf_spine.tables(params(leaves=2, hosts_per_leaf=2, spines=2, planes=3), LINK)
    plane = dict(zip(tables["nodes"]["node"], tables["nodes"]["plane"], strict=True))
    ends = list(zip(tables["links"]["node_a"], tables["links"]["node_b"], strict=True))

    for host in range(4):
        assert sorted(plane[b] for a, b in ends if a == host) == [0, 1, 2]
    assert all(plane[a] == plane[b] for a, b in ends if a >= 4)


@settings(max_examples=60)
@given(
    leaves=st.integers(1, 6), hosts_per_leaf=st.integers(1, 5), spines=st.integers(1, 5),
    parallel=st.integers(1, 3), planes=st.integers(1, 3),
)  # fmt: skip
def test_the_tables_have_as_many_rows_as_the_closed_form_says(**numbers):
    given_ = params(**numbers)
    tables, counts = leaf_spine.tables(given_, LINK), leaf_spine.counts(given_)

    hosts = int((tables["nodes"]["is_switch"] == 0).sum())
    assert (hosts, len(tables["nodes"]["node"]) - hosts) == (counts["hosts"], counts["switches"])
    assert len(tables["links"]["node_a"]) == counts["access_links"] + counts["fabric_links"]
    assert len(np.unique(tables["nodes"]["node"])) == counts["hosts"] + counts["switches"]
    ends = np.column_stack([tables["links"][key] for key in ("node_a", "node_b", "parallel")])
    assert len(np.unique(ends, axis=0)) == len(ends)
    assert all(column.dtype == np.int64 for name, column in tables["links"].items()
               if name != "loss_ratio")  # fmt: skip


def test_the_fabric_of_the_paper_has_all_its_nodes():
    tables = leaf_spine.tables(params(leaves=128, hosts_per_leaf=64, spines=64), LINK)

    assert len(tables["nodes"]["node"]) == 8192 + 128 + 64
