# SPDX-License-Identifier: GPL-2.0-only
"""Routes beside a file of flows: obeyed hop by hop, refused with file, row and reason."""

import numpy as np
import pandas as pd
import pytest

import pyorch
from pyorch.errors import SpecError
from pyorch.spec.fields import FieldError
from pyorch.spec.network import Network
from pyorch.spec.resolved import Link
from pyorch.topology import leaf_spine
from pyorch.workload import flow_table, htsim_cm

LINK = Link(rate_bps=10**11, delay_ps=10**6)
# Hosts 0 to 7, leaves 8 to 11 with two hosts each, spines 12 and 13.
PARAMS = leaf_spine.Params.model_validate(
    {"leaves": 4, "hosts_per_leaf": 2, "spines": 2}, context={"link": LINK}
)
TABLES = leaf_spine.tables(PARAMS, LINK)
NETWORK = Network(leaf_spine.counts(PARAMS), TABLES["nodes"], TABLES["links"])
WAY = "flow,hop,node,peer\n0,0,0,8\n0,1,8,12\n0,2,12,9\n0,3,9,2\n"


def check(folder, routes, flows="src,dst,bytes\n0,2,1000\n"):
    (folder / "flows.csv").write_text(flows)
    (folder / "routes.csv").write_text(routes)
    params = flow_table.Params.model_validate(
        {"file": "flows.csv", "routes": "routes.csv"}, context={"folder": folder}
    )
    flow_table.check(params, NETWORK, 10**12)
    return flow_table.routes(params, NETWORK.nodes, NETWORK.links)


def test_a_path_is_read_as_it_stands_in_any_order_of_rows(tmp_path):
    got = check(tmp_path, "flow,hop,node,peer\n0,2,12,9\n0,1,8,12\n0,3,9,2\n")

    assert got["node"].tolist() == [12, 8, 9] and got["parallel"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("routes", "message"),
    [
        (WAY + "1,0,0,8\n", "row 5: flow 1: there is no such flow"),
        (WAY.replace("0,1,8,12", "0,1,8,15"), "row 2: flow 0: there is no link from node 8 to no"),
        (WAY.replace("0,2,12,9", "0,2,13,9"), "row 3: .* hop 2 leaves node 13, but .* to node 12"),
        (WAY.replace("0,3,9,2\n", ""), "row 3: .* ends at node 9, not at its destination 2"),
        (WAY.replace("0,3,9,2", "0,3,9,3"), "row 4: .* ends at node 3, not at its destination 2"),
        ("flow,hop,node,peer\n0,1,9,12\n0,2,12,9\n", "row 1: .* begins at node 9, which is neith"),
        (
            "flow,hop,node,peer\n0,1,8,12\n0,2,12,8\n0,3,8,13\n",
            "row 2: flow 0: its path comes to node 8 twice",
        ),
        ("flow,hop,node,peer,reverse\n0,0,2,9,2\n", "row 1: .* reverse is 2. Write 0 or 1"),
        ("flow,hop,node,peer,reverse\n0,1,8,12,1\n", "row 1: .* begins at node 8, which is neith"),
        ("flow,hop,node\n0,0,0\n", "has no column 'peer'"),
    ],
)
def test_a_path_that_is_none_is_refused_with_its_row(tmp_path, routes, message):
    with pytest.raises(FieldError, match=message) as caught:
        check(tmp_path, routes)

    assert caught.value.field == "routes" and "\n" not in str(caught.value)


def scenario(workload, forwarding, seed=1):
    return {
        "name": "paths", "seed": seed, "workload": workload, "stop": "1 ms",
        "topology": {"type": "leaf_spine", "leaves": 4, "hosts_per_leaf": 4, "spines": 4},
        "link": {"rate": "100 Gb/s", "delay": "500 ns"},
        "switch": {"buffer": "8 MB", "forwarding": {"type": forwarding}},
        "transport": {"type": "ns3::RoceTransport"},
    }  # fmt: skip


def test_routes_that_nobody_looks_at_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flows.csv").write_text("src,dst,bytes\n0,4,1000\n")
    (tmp_path / "routes.csv").write_text("flow,hop,node,peer\n0,1,16,20\n0,2,20,17\n0,3,17,4\n")
    load = {"type": "flow_table", "file": "flows.csv", "routes": "routes.csv"}

    with pytest.raises(SpecError, match="EcmpHash does not look at the routes of flow_table"):
        pyorch.run(scenario(load, "ns3::EcmpHash"), results=tmp_path)


@pytest.mark.ns3
@pytest.mark.parametrize("kind", ["flow_table", "htsim_cm"])
def test_paths_of_another_run_are_taken_again_link_by_link(tmp_path, monkeypatch, kind):
    # Oracle: the paths that a hash drew with seed 1, as input with seed 2, come out again; the
    # hash itself draws others with that seed.
    monkeypatch.chdir(tmp_path)
    flows = pd.DataFrame({"flow": range(1, 17), "src": range(16)})
    flows = flows.assign(dst=(flows["src"] + 4) % 16, bytes=20_000)
    if kind == "flow_table":
        flows.to_csv("flows.csv", index=False)
    else:
        lines = [f"{f.src}->{f.dst} id {f.flow} start 0 size 20000" for f in flows.itertuples()]
        (tmp_path / "flows.csv").write_text("\n".join(["Nodes 16", "Connections 16", *lines]))
    load = {"type": kind, "file": "flows.csv"}
    first, other = (
        pyorch.run(scenario(load, "ns3::EcmpHash", seed), results=tmp_path).paths for seed in (1, 2)
    )
    assert not np.array_equal(first["peer"], other["peer"])
    first.to_parquet("routes.parquet")

    load["routes"] = "routes.parquet"
    again = pyorch.run(scenario(load, "ns3::ExplicitRoutes", 2), results=tmp_path).paths

    pd.testing.assert_frame_equal(again, first)


def test_a_matrix_of_htsim_may_have_routes(tmp_path):
    (tmp_path / "a.cm").write_text("Nodes 8\nConnections 1\n0->2 id 7 start 0 size 10\n")
    (tmp_path / "routes.csv").write_text(WAY.replace("\n0,", "\n7,"))
    given = {"file": "a.cm", "routes": "routes.csv"}
    params = htsim_cm.Params.model_validate(given, context={"folder": tmp_path})
    htsim_cm.check(params, NETWORK, 10**12)

    assert set(htsim_cm.routes(params, NETWORK.nodes, NETWORK.links)["flow"]) == {7}
