# SPDX-License-Identifier: GPL-2.0-only
"""InfraGraph files with `scale_up`: accelerators are hosts, counted by hand.

The reader finds the accelerators, scale-up links, cables and nearest NICs that the graph of the
package itself (3.1.0) has, for its DGX, XE9680, XE9685L, MI300X, Ironwood and generic servers in
its single-tier, Clos, fat-tree, dragonfly and De Bruijn fabrics.
"""

import copy
import re

import numpy as np
import pytest
import yaml

import pyorch
from pyorch.spec.fields import FieldError
from pyorch.spec.resolved import Link
from pyorch.topology import infragraph

LINK = Link(rate_bps=7, delay_ps=5)
NVLINK = {"links": ["nvlink"]}


def part(name, choice, count=1):
    return {"name": name, "choice": choice, "count": count}


def inside(a, b, link, scheme="many2many"):
    return {"ep1": {"component": a}, "ep2": {"component": b}, "link": link, "scheme": scheme}


def cable(a, b, link="eth", scheme="one2one"):
    ends = [dict(zip(("instance", "component"), end, strict=True)) for end in (a, b)]
    return {"ep1": ends[0], "ep2": ends[1], "link": link, "scheme": scheme}


def link(name, gigabits=None, ns=None):
    physical = {}
    if gigabits is not None:
        physical["bandwidth"] = {"choice": "gigabits_per_second", "gigabits_per_second": gigabits}
    if ns is not None:
        physical["latency"] = {"choice": "ns", "ns": ns}
    return {"name": name, "physical": physical}


def boxes():
    """Return 2 boxes of 3 GPUs around 2 NVSwitches, each with a NIC of its own, and a switch."""
    box = {
        "name": "box",
        "components": [part("cpu", "cpu"), part("gpu", "xpu", 3), part("nvsw", "switch", 2),
                       part("slot", "custom", 3), part("nic", "nic", 3)],
        "links": [link("nvlink", 1000, 50), link("pcie", 256, 100), link("ddr")],
        "edges": [inside("gpu", "nvsw", "nvlink"), inside("cpu", "slot", "pcie"),
                  inside("gpu", "slot", "pcie", "one2one"),
                  inside("slot", "nic", "pcie", "one2one")],
    }  # fmt: skip
    switch = {"name": "switch", "components": [part("port", "port", 6)], "links": [], "edges": []}
    return {
        "devices": [box, switch],
        "instances": [{"name": "top", "device": "switch", "count": 1},
                      {"name": "box", "device": "box", "count": 2}],
        "links": [link("eth", 100, 500)],
        "edges": [cable(("box", "nic"), ("top", "port"))],
    }  # fmt: skip


def shared():
    """Return the same with 2 NICs for 3 GPUs: they meet at the processor."""
    found = boxes()
    box = found["devices"][0]
    box["components"][3:] = [part("nic", "nic", 2)]
    box["edges"] = [inside("gpu", "nvsw", "nvlink"), inside("gpu", "cpu", "pcie"),
                    inside("cpu", "nic", "pcie")]  # fmt: skip
    return found


def nested():
    """Return the same with GPUs and NICs that are devices, with ports of their own."""
    found = boxes()
    found["devices"][0]["components"] = [
        part("module", "device", 3), part("nvsw", "switch", 2), part("card", "device", 3)
    ]  # fmt: skip
    found["devices"][0]["edges"] = [
        inside("module.pin", "nvsw", "nvlink"),
        {**inside("edge", "edge", "pcie", "one2one"),
         "ep1": {"device": "module", "component": "edge"},
         "ep2": {"device": "card", "component": "edge"}},
    ]  # fmt: skip
    found["devices"] += [
        {"name": "module", "components": [part("gpu", "xpu"), part("pin", "port"),
                                          part("edge", "port")]},
        {"name": "card", "components": [part("asic", "nic"), part("port", "port"),
                                        part("edge", "port")]},
    ]  # fmt: skip
    found["edges"] = [cable(("box", "card.port"), ("top", "port"))]
    return found


def params(folder, infrastructure, scale_up=NVLINK, **more):
    (folder / "net.yaml").write_text(yaml.safe_dump(infrastructure))
    given = {"file": "net.yaml", "scale_up": scale_up, **more}
    return infragraph.Params.model_validate(given, context={"folder": folder})


def rows(tables):
    """Return ends, rate [Gb/s] and delay [ns] of each link, sorted."""
    columns = [tables["links"][name] for name in ("node_a", "node_b", "rate_bps", "delay_ps")]
    return sorted((int(a), int(b), rate / 1e9, delay / 1e3) for a, b, rate, delay in
                  zip(*columns, strict=True))  # fmt: skip


#: GPUs 0 to 5, NVSwitches 6 to 9, the switch 10, NICs 11 to 16.
OF_NVLINK = [(gpu, 6 + gpu // 3 * 2 + sw, 1000, 50) for gpu in range(6) for sw in range(2)]
OF_ETHERNET = [(10, 11 + gpu, 100, 500) for gpu in range(6)]


@pytest.mark.parametrize("infrastructure, ns", [(boxes(), 200), (nested(), 100)])
def test_gpus_are_hosts_with_nvswitches_and_a_nic_each(tmp_path, infrastructure, ns):
    # From a GPU to its NIC: 256 Gb/s, over a slot and so 2 x 100 ns, or 100 ns without one.
    its = params(tmp_path, infrastructure)
    tables = infragraph.tables(its, LINK)

    assert rows(tables) == sorted(
        OF_NVLINK + OF_ETHERNET + [(gpu, 11 + gpu, 256, ns) for gpu in range(6)]
    )
    assert tables["nodes"]["is_switch"].tolist() == [0] * 6 + [1] * 11
    assert tables["nodes"]["tier"].tolist() == [0] * 6 + [2] * 4 + [1] + [3] * 6
    assert tables["nodes"]["plane"].tolist() == [0] * 6 + [1, 2] * 2 + [0] + [3] * 6
    assert infragraph.networks(its, LINK) == ["scale_up"] * 10 + ["plane 0"] + ["nics"] * 6
    assert infragraph.top_switches(its, tables["nodes"]).tolist() == [10]
    ends = np.array([(0, 1), (0, 2), (0, 3), (5, 3), (2, 3)]).T
    assert infragraph.reach(its, *ends).tolist() == [0, 0, 1, 0, 1]
    assert infragraph.counts(its)["hosts_per_leaf"] == 3


def test_a_nic_of_several_gpus_is_behind_a_bus_of_each(tmp_path):
    # GPUs 0 to 5, NVSwitches 6 to 9, the switch 10, buses 11 to 16, NICs 17 to 20. A GPU reaches
    # another over NVSwitches in 2 links, over NICs in 4.
    tables = infragraph.tables(params(tmp_path, shared()), LINK)

    assert rows(tables) == sorted(
        OF_NVLINK
        + [(10, 17 + nic, 100, 500) for nic in range(4)]
        + [(gpu, 11 + gpu, 256, 0.001) for gpu in range(6)]
        + [(11 + gpu, 17 + gpu // 3 * 2 + nic, 256, 200) for gpu in range(6) for nic in range(2)]
    )


def test_what_the_file_has_not_the_scenario_has(tmp_path):
    # Two cables of 100 Gb/s at each NIC: a bus without bandwidth carries both.
    bare = boxes()
    bare["devices"][0]["links"] = [link("nvlink"), link("pcie"), link("ddr")]
    bare["devices"][1]["components"][0]["count"] = 12
    bare["edges"].append(cable(("box", "nic"), ("top", "port[6:]")))
    scale_up = NVLINK | {"rate": "3.6 Tb/s", "delay": "70 ns"}
    tables = infragraph.tables(params(tmp_path, bare, scale_up, nics={"delay": "1 us"}), LINK)

    found = rows(tables)
    assert [row for row in found if row[1] in range(6, 10)] == [
        (gpu, sw, 3600, 70) for gpu, sw, *_ in OF_NVLINK
    ]
    assert [row for row in found if row[0] < 6 and row[1] > 10] == [
        (gpu, 11 + gpu, 200, 1000) for gpu in range(6)
    ]


def test_gpus_joined_without_a_switch_have_routers(tmp_path):
    # 3 GPUs all connected: each has a router, 1000 times as fast as NVLink, 1 ps away.
    mesh = boxes()
    mesh["devices"][0]["edges"][0] = inside("gpu", "gpu", "nvlink")
    tables = infragraph.tables(params(tmp_path, mesh), LINK)

    # GPUs 0 to 5, routers 6 to 11, the switch 12, NICs 13 to 18.
    assert rows(tables)[:12] == sorted(
        [(gpu, 6 + gpu, 10**6, 0.001) for gpu in range(6)]
        + [(gpu, 13 + gpu, 256, 200) for gpu in range(6)]
    )
    assert [row for row in rows(tables) if row[0] in range(6, 12)] == [
        (6 + i + a, 6 + i + b, 1000, 50) for i in (0, 3) for a, b in ((0, 1), (0, 2), (1, 2))
    ]


def test_a_box_alone_is_a_network(tmp_path):
    one = boxes()
    one["instances"] = [{"name": "box", "device": "box", "count": 1}]
    one["edges"] = []
    its = params(tmp_path, one)
    assert rows(infragraph.tables(its, LINK)) == [
        (gpu, 3 + sw, 1000, 50) for gpu in range(3) for sw in range(2)]  # fmt: skip
    assert "rails" not in infragraph.counts(its)
    assert infragraph.relays(its, np.arange(2), np.arange(1, 3)).tolist() == [-1, -1]


def rail_boxes():
    """Return the boxes with a switch for each GPU's NIC, and nothing between the switches."""
    found = boxes()
    found["instances"][0]["count"] = 3
    found["edges"] = [cable((f"box[{box}]", f"nic[{i}]"), (f"top[{i}]", f"port[{box}]"))
                      for box in range(2) for i in range(3)]  # fmt: skip
    return found


def test_a_gpu_of_the_box_relays_to_its_rail(tmp_path):
    # By hand: from GPU 0 to GPU 4, on rail 1, over GPU 1; to GPU 3, on its own rail, over none.
    its = params(tmp_path, rail_boxes())
    src, dst = np.array([(0, 4), (0, 3), (5, 0), (1, 2), (2, 4)]).T
    assert infragraph.relays(its, src, dst).tolist() == [1, -1, 3, -1, 1]
    assert infragraph.counts(its)["rails"] == 3
    assert infragraph.relays(params(tmp_path, boxes()), src, dst).tolist() == [-1] * 5


def test_a_rail_that_a_box_does_not_reach_is_refused(tmp_path):
    lost = rail_boxes()
    lost["edges"].pop(1)  # box 0 has nothing to rail 1
    with pytest.raises(FieldError, match="no network in common|no path from host"):
        infragraph.tables(params(tmp_path, lost), LINK)


def test_a_nic_behind_the_switch_of_scale_up_needs_no_link_to_gpus(tmp_path):
    # As scaletether writes InfraGraph: GPUs, a switch, and one NIC that is a port of the switch.
    behind = boxes()
    box = behind["devices"][0]
    box["components"] = [part("gpu", "xpu", 3), part("sw", "switch"), part("nic", "nic")]
    box["edges"] = [inside("gpu", "sw", "nvlink"), inside("sw", "nic", "nvlink")]
    its = params(tmp_path, behind)

    # GPUs 0 to 5, switches 6 and 7, the switch 8, NICs 9 and 10.
    assert rows(infragraph.tables(its, LINK)) == sorted(
        [(gpu, 6 + gpu // 3, 1000, 50) for gpu in range(6)]
        + [(6 + box, 9 + box, 1000, 50) for box in range(2)]
        + [(8, 9 + box, 100, 500) for box in range(2)]
    )
    assert infragraph.relays(its, np.arange(5), np.arange(1, 6)).tolist() == [-1] * 5
    assert infragraph.reach(its, np.array([0, 2]), np.array([2, 3])).tolist() == [0, 1]


def test_switches_that_are_instances_scale_up_too(tmp_path):
    # Racks of NVL72's kind: the NVSwitch is an instance of its own, so all 6 GPUs are one island.
    rack = boxes()
    rack["devices"][0]["edges"][0] = inside("cpu", "cpu", "pcie")
    rack["links"].append(link("nvlink", 900, 20))
    rack["instances"].append({"name": "tray", "device": "switch", "count": 1})
    rack["edges"].append(cable(("box", "gpu"), ("tray", "port"), "nvlink"))
    its = params(tmp_path, rack)

    assert rows(infragraph.tables(its, LINK))[:12:2] == [(gpu, 6, 900, 20) for gpu in range(6)]
    assert set(infragraph.reach(its, np.arange(5), np.arange(1, 6))) == {0}


def test_what_is_left_out_is_said_once(tmp_path):
    more = boxes()
    more["annotations"] = more["edges"][0]["colour"] = more["devices"][0]["weight"] = 3
    more["edges"][0]["ep2"]["height"] = more["links"][0]["physical"]["mtu"] = 9000
    gt = {"choice": "gigatransfers_per_second", "gigatransfers_per_second": 32}
    more["devices"][0]["links"][1]["physical"]["bandwidth"] = gt
    more["edges"].append(cable(("top", "port[0]"), ("top", "port[1]")))

    assert [line.partition("net.yaml: ")[2] for line in infragraph.remarks(
        params(tmp_path, more))] == [
        "components that are left out: cpu, slot.",
        "transfers per second are no rate of data: pcie; a link to a NIC has the rate of the NIC's"
        " cables.",
        "1 cables of an instance to itself are left out.",
        "not used: annotations, devices.weight, edges.colour, ep2.height, physical.mtu.",
    ]  # fmt: skip
    whole = infragraph.remarks(params(tmp_path, boxes(), None))
    assert [line.partition("net.yaml: ")[2] for line in whole] == [
        "its 6 xpus are 2 hosts, one for each instance; scale_up tells them apart."
    ]


def test_far_gpus_may_leave_by_nics_and_that_is_said(tmp_path):
    ring = boxes()
    box = ring["devices"][0]
    for component in box["components"][1:]:
        component["count"] = 4
    ring["devices"][1]["components"][0]["count"] = 8
    box["edges"][0] = inside("gpu[:3]", "gpu[1:]", "nvlink", "one2one")
    said = infragraph.remarks(params(tmp_path, ring))
    assert "4 links or more apart over scale-up" in said[-1]


def test_devices_that_hold_each_other_many_times_are_read_at_once(tmp_path):
    # 9 layers of 8 devices, each with all 8 of the next layer: 8^8 ways from the first to the last.
    deep = boxes()
    for layer in range(9):
        inner = [part(f"d{layer + 1}_{i}", "device") for i in range(8)] if layer < 8 else []
        deep["devices"] += [{"name": f"d{layer}_{i}", "components": [*inner, part("x", "nic")]}
                            for i in range(8)]  # fmt: skip
    deep["devices"][0]["components"].append(part("d0_0", "device"))
    assert infragraph.counts(params(tmp_path, deep))["hosts"] == 6


def changed(change):
    found = copy.deepcopy(boxes())
    change(found)
    return found


@pytest.mark.parametrize(
    "infrastructure, scale_up, more, message",
    [
        (boxes(), {"links": ["nvlnk"]}, {}, "there is no link 'nvlnk'. It has ddr, eth, nvlink,"
         " pcie. Did you mean nvlink?"),
        (boxes(), NVLINK | {"rate": "1 Gb/s"}, {}, "net.yaml has the bandwidth of nvlink: rate:"
         " leave it out."),
        (changed(lambda its: its["devices"][0]["links"][0].pop("physical")), NVLINK, {},
         "net.yaml does not have the bandwidth of nvlink: rate: write it."),
        (changed(lambda its: its["devices"][0]["links"][1].pop("physical")), NVLINK, {},
         "net.yaml has no latency between box.0.gpu.0 and box.0.nic.0. Write nics: {delay: ...}."),
        (boxes(), NVLINK, {"nics": {"delay": "1 ns"}}, "no link to a NIC needs it. Leave it out."),
        (boxes(), None, {"nics": {"delay": "1 ns"}}, "are told apart only with scale_up."),
        (changed(lambda its: its["devices"][0]["edges"].append(inside("gpu", "x", "pcie"))), NVLINK,
         {}, "device box: edge 5: ep2: device box has no component 'x'."),
        (changed(lambda its: its["devices"][0]["edges"].append(inside("gpu", "cpu", "pci"))),
         NVLINK, {}, "device box: edge 5: there is no link 'pci'. Did you mean pcie?"),
        (changed(lambda its: its["devices"][0]["edges"].pop(3)), NVLINK, {},
         "no path from host 0 to host 3"),
        (changed(lambda its: its["devices"][0]["components"][1].update(count=3_000_000)), NVLINK,
         {}, "6000001 xpus and switches; at most"),
        (changed(lambda its: its["devices"][0]["components"][1].update(count=-1)), NVLINK, {},
         "component gpu: count is -1; write 1 to"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_in_one_line(tmp_path, infrastructure, scale_up, more, message):
    with pytest.raises(FieldError, match=re.escape(message)) as caught:
        infragraph.tables(params(tmp_path, infrastructure, scale_up, **more), LINK)
    assert "\n" not in str(caught.value)


@pytest.mark.ns3
@pytest.mark.usefixtures("loaded")
def test_messages_in_a_box_take_nvlink_and_others_the_nics(tmp_path):
    # 1 MB each from GPU 0 to 1 and to 3. In the box all leaves over NVLink, half by each of two
    # switches if sprayed; the other by the NIC alone.
    (tmp_path / "net.yaml").write_text(yaml.safe_dump(boxes()))
    run = pyorch.run({
        "name": "boxes", "stop": "1 ms",
        "topology": {"type": "infragraph", "file": str(tmp_path / "net.yaml"), "scale_up": NVLINK},
        "link": {"rate": "1 Gb/s", "delay": "500 ns"}, "switch": {"buffer": "8 MB"},
        "workload": [{"type": "single", "source": 0, "target": target, "message": "1 MB"}
                     for target in (1, 3)],
        "transport": {"type": "ns3::SprayTransport"},
    }, results=tmp_path)  # fmt: skip
    ports = run.table("ports").set_index(["node", "peer"])["sent_data_packets"]
    near, far = run.flows.sort_values("dst")["sent_data_packets"]
    assert ports[0, 6] + ports[0, 7] == near > 0 and ports[0, 11] == far > 0
    assert abs(ports[0, 6] - ports[0, 7]) <= near // 10 and ports[11, 10] == far
    # 1 MB at 100 Gb/s takes 80 us, at 2 x 1000 Gb/s 4 us; headers and delays add.
    near_ps, far_ps = run.flows.sort_values("dst")["receiver_end_ps"]
    assert 4_000_000 < near_ps < 5_000_000 and 80_000_000 < far_ps < 85_000_000


@pytest.mark.ns3
@pytest.mark.usefixtures("loaded")
def test_a_message_to_another_rail_crosses_nvlink_and_then_its_rail(tmp_path):
    # From GPU 0 to 4: over NVSwitches 6 and 7 to GPU 1, then NIC 14, switch 11, NIC 17.
    (tmp_path / "net.yaml").write_text(yaml.safe_dump(rail_boxes()))
    run = pyorch.run({
        "name": "rails", "stop": "1 ms",
        "topology": {"type": "infragraph", "file": str(tmp_path / "net.yaml"), "scale_up": NVLINK},
        "link": {"rate": "1 Gb/s", "delay": "500 ns"}, "switch": {"buffer": "8 MB"},
        "workload": {"type": "single", "source": 0, "target": 4, "message": "1 MB"},
        "transport": {"type": "ns3::SprayTransport"},
    }, results=tmp_path)  # fmt: skip
    sent = run.table("ports").set_index(["node", "peer"])["sent_data_packets"]
    all_of_it = run.flows["sent_data_packets"].max()
    assert sent[0, 6] + sent[0, 7] == sent[6, 1] + sent[7, 1] == all_of_it > 0
    assert sent[1, 14] == sent[14, 11] == sent[11, 17] == sent[17, 4] == all_of_it
    assert sorted(run.flows["dst"]) == [1, 4]
