# SPDX-License-Identifier: GPL-2.0-only
"""A network that is written for InfraGraph and read again is the same, or is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from pyorch import spec
from pyorch.errors import SpecError
from pyorch.export import infragraph
from pyorch.render import input_tables
from pyorch.spec.scenario import parse_scenario

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
SCENARIO = """\
name: small
topology: {type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 1 MB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""
RAIL = {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 1, "planes": 2}
RAILS = {"type": "rails", "devices": 3, "rail": RAIL,
         "scale_up": {"rate": "3.6 Tb/s", "delay": "25 ps", "planes": 2}}  # fmt: skip


def planned(folder=".", **changes):
    scenario = parse_scenario(SCENARIO, f"{folder}/small.yaml")
    (run,) = spec.plan(scenario, sets=list(changes.items()), typeids_file=TYPEIDS)
    return run.spec, input_tables(run.spec)


def rows(table, *names):
    ends = np.sort([table["node_a"], table["node_b"]], axis=0)
    return sorted(zip(*ends.tolist(), *(table[name].tolist() for name in names), strict=True))


@pytest.mark.parametrize(
    "topology",
    [
        {"type": "leaf_spine", "leaves": 4, "hosts_per_leaf": 2, "spines": 2, "parallel": 3,
         "planes": 2, "uplink_rate": "333333333 bit/s", "uplink_delay": "12345 ps"},
        {"type": "fat_tree", "tiers": 3, "radix": 4},
        RAILS,
    ],
)  # fmt: skip
def test_a_network_is_read_again_as_it_was_written(tmp_path, topology):
    made, before = planned(topology=topology)
    (text,) = infragraph.files(made, before).values()
    (tmp_path / "net.json").write_text(text)
    again = {"type": "infragraph", "file": "net.json"}
    if topology is RAILS:
        links = [its["name"] for its in json.loads(text)["links"] if "scale_up" in its["name"]]
        again["scale_up"] = {"links": links}
    after = planned(tmp_path, topology=again)[1]

    for name in ("node", "is_switch", "tier", "plane"):
        assert before["nodes"][name].tolist() == after["nodes"][name].tolist()
    columns = ("parallel", "rate_bps", "delay_ps", "loss_ratio")
    assert rows(before["links"], *columns) == rows(after["links"], *columns)


def test_the_file_has_devices_instances_and_an_edge_for_each_cable():
    # By hand: 8 hosts, 6 switches, 8 + 8 cables, of one kind; a leaf has 4 ports.
    (text,) = infragraph.files(*planned()).values()
    found = json.loads(text)
    assert [(its["name"], its["count"]) for its in found["instances"]] == [
        ("host", 8), ("switch", 6)]  # fmt: skip
    assert len(found["edges"]) == 16 and len(found["links"]) == 1
    assert found["links"][0]["physical"] == {
        "bandwidth": {"choice": "gigabits_per_second", "gigabits_per_second": 100},
        "latency": {"choice": "ns", "ns": 500},
    }
    assert found["devices"][1]["components"][1]["count"] == 4
    ends = [tuple(edge[key].values()) for edge in found["edges"] for key in ("ep1", "ep2")]
    assert len(set(ends)) == 32  # no port has two cables


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"link.loss": 0.1}, "link.loss_ratio: InfraGraph has none. Make it 0."),
        ({"switch.processing_delay": "1 us"}, "switch.processing_delay: InfraGraph has none."),
        ({"topology": RAILS | {"nics": {"delay": "1 ns"}}}, "tier: a file of InfraGraph would say"),
    ],
)
def test_what_it_cannot_say_is_refused(changes, message):
    with pytest.raises(SpecError) as caught:
        infragraph.files(*planned(**changes))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_rails_that_no_switch_joins_have_the_relays_of_rails(tmp_path):
    # Each pair of devices, beside the relays of `rails` itself: device of the sender's rack on the
    # rail of the destination.
    made, before = planned(topology=RAILS)
    (text,) = infragraph.files(made, before).values()
    (tmp_path / "net.json").write_text(text)
    links = [its["name"] for its in json.loads(text)["links"] if "scale_up" in its["name"]]
    again = {"type": "infragraph", "file": "net.json", "scale_up": {"links": links}}
    after = planned(tmp_path, topology=again)[0]
    src, dst = (ends.ravel() for ends in np.meshgrid(range(12), range(12)))

    assert after.topology.relays(src, dst).tolist() == made.topology.relays(src, dst).tolist()
    assert after.topology.reach(src, dst).tolist() == made.topology.reach(src, dst).tolist()
    assert after.topology.counts()["rails"] == 3
