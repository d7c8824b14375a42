# SPDX-License-Identifier: GPL-2.0-only
"""InfraGraph files: expanded as their schema says, counted in closed form, refused in one line.

The reader gives the very cables of the package itself (3.1.0) for its single-tier, Clos and 2- and
3-level fat-tree fabrics, among them one of 64 DGX whose ports lie in nested devices.
"""

import copy
import json
import re

import numpy as np
import pytest
import yaml

import pyorch
from pyorch import plugins
from pyorch.spec.fields import FieldError
from pyorch.spec.files import _digest
from pyorch.spec.resolved import Link

LINK = Link(rate_bps=7, delay_ps=5)


def part(name, choice, count=1):
    return {"name": name, "choice": choice, "count": count}


def edge(ep1, ep2, link, scheme="one2one"):
    ends = [dict(zip(("instance", "component"), end, strict=True)) for end in (ep1, ep2)]
    return {"ep1": ends[0], "ep2": ends[1], "link": link, "scheme": scheme}


def gigabits(name, number, **latency):
    bandwidth = {"choice": "gigabits_per_second", "gigabits_per_second": number}
    physical = {"bandwidth": bandwidth}
    if latency:
        (unit,) = latency
        physical["latency"] = {"choice": unit, **latency}
    return {"name": name, "physical": physical}


def clos():
    """Return 4 servers with 2 nics, each below a leaf of its own, and 3 spines above all 4."""
    return {
        "name": "closfabric",
        "devices": [
            {"name": "server", "components": [part("cpu", "cpu"), part("xpu", "xpu", 2),
                                              part("nic", "nic", 2)]},
            {"name": "switch", "components": [part("asic", "cpu"), part("port", "port", 16)]},
        ],
        "instances": [
            {"name": "spinesw", "device": "switch", "count": 3},
            {"name": "host", "device": "server", "count": 4},
            {"name": "leafsw", "device": "switch", "count": 4},
        ],
        "links": [gigabits("leaf-link", 100), gigabits("spine-link", 400, ns=500)],
        "edges": [
            *[edge((f"host[{i}]", "nic"), (f"leafsw[{i}]", "port"), "leaf-link") for i in range(4)],
            *[edge((f"leafsw[{leaf}]", f"port[{2 + s}]"), (f"spinesw[{s}]", f"port[{leaf}]"),
                   "spine-link") for leaf in range(4) for s in range(3)],
        ],
    }  # fmt: skip


def written(folder, infrastructure, as_json=False):
    """Return the parameters of a topology whose file holds this."""
    path = folder / ("net.json" if as_json else "net.yaml")
    path.write_text((json.dumps if as_json else yaml.safe_dump)(infrastructure))
    stat = path.stat()
    file = {"path": str(path), "sha256": _digest(str(path), stat.st_mtime_ns, stat.st_size)}
    module = plugins.load("pyorch.topology", "infragraph")
    return module, module.Params.model_construct(file=file)


def tables(folder, infrastructure, **how):
    module, params = written(folder, infrastructure, **how)
    return module.tables(params, LINK)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_clos_of_two_tiers(tmp_path, as_json):
    # By hand: hosts 0 to 3, then switches in the order of their instances: spines 4 to 6, leaves 7
    # to 10. Cables: 4 x 2 from nics, 4 x 3 between leaves and spines.
    module, params = written(tmp_path, clos(), as_json)
    found = module.tables(params, LINK)
    links = found["links"]
    rows = sorted(zip(*(links[name].tolist() for name in (
        "node_a", "node_b", "parallel", "rate_bps", "delay_ps")), strict=True))  # fmt: skip

    below = [(i, 7 + i, parallel, 100 * 10**9, 5) for i in range(4) for parallel in range(2)]
    above = [(4 + s, 7 + leaf, 0, 400 * 10**9, 500_000) for leaf in range(4) for s in range(3)]
    assert rows == sorted(below + above)
    assert found["nodes"]["tier"].tolist() == [0] * 4 + [2] * 3 + [1] * 4
    assert module.counts(params) == {
        "hosts": 4, "hosts_per_leaf": 1, "switches": 7, "top_switches": 3, "ports": 32,
        "access_links": 8, "fabric_links": 12, "cables": 20,
    }  # fmt: skip


@pytest.mark.parametrize("k, n_nics", [(4, 1), (8, 2)])
def test_a_fat_tree_has_the_counts_of_its_closed_form(tmp_path, k, n_nics):
    # Two tiers of k ports: 2 (k/2)^2 / n hosts of n nics, k leaves, k/2 spines, and as many cables
    # between leaves and spines as from nics.
    n_hosts, half = 2 * (k // 2) ** 2 // n_nics, k // 2
    infrastructure = clos()
    infrastructure["devices"][0]["components"][2]["count"] = n_nics
    infrastructure["devices"][1]["components"][1]["count"] = k
    for section, number in zip(infrastructure["instances"], (half, n_hosts, k), strict=True):
        section["count"] = number
    per_leaf = n_hosts // k
    infrastructure["edges"] = [
        edge((f"host[{leaf * per_leaf}:{(leaf + 1) * per_leaf}]", "nic"),
             (f"leafsw[{leaf}]", f"port[:{half}]"), "leaf-link") for leaf in range(k)
    ] + [
        edge((f"leafsw[{leaf}]", f"port[{half}:]"), ("spinesw", f"port[{leaf}]"), "spine-link")
        for leaf in range(k)
    ]  # fmt: skip
    module, params = written(tmp_path, infrastructure)
    found = module.counts(params)

    assert (found["hosts"], found["switches"]) == (n_hosts, k + half)
    assert found["access_links"] == found["fabric_links"] == n_hosts * n_nics
    links = module.tables(params, LINK)["links"]
    degree = np.bincount(np.concatenate([links["node_a"], links["node_b"]]))
    assert degree.tolist() == [n_nics] * n_hosts + [k] * (half + k)


@pytest.mark.parametrize(
    "ports, picked",
    [("port[3]", [3]), ("port[-1]", [15]), ("port[1:4]", [1, 2, 3]), ("port[13:]", [13, 14, 15]),
     ("port[::8]", [0, 8]), ("port[:-14]", [0, 1]), ("port", range(16)), ("port[]", range(16))],
)  # fmt: skip
def test_numbers_in_brackets_are_slices(tmp_path, ports, picked):
    # Cables to each of these ports from the ports of one other switch.
    more = clos()
    before = len(tables(tmp_path, more)["links"]["node_a"])
    more["edges"].append(edge(("leafsw[0]", ports), ("leafsw[1]", "port[15]"), "leaf-link",
                              "many2many"))  # fmt: skip
    assert len(tables(tmp_path, more)["links"]["node_a"]) == before + len(picked)


def test_ports_of_devices_in_devices(tmp_path):
    more = clos()
    more["devices"][0]["components"][2] = part("cx5", "device", 2)
    more["devices"].append({"name": "cx5", "components": [part("port", "port"), part("n", "nic")]})
    for one in more["edges"][:4]:
        one["ep1"]["component"] = "cx5[0:2].port"
    same, other = tables(tmp_path, clos()), tables(tmp_path, more)
    for table in ("nodes", "links"):
        for name, values in same[table].items():
            assert np.array_equal(values, other[table][name]), name


def test_a_cable_that_stands_twice_is_one(tmp_path):
    more = clos()
    more["edges"].append(edge(("leafsw[0]", "port[:2]"), ("host[0]", "nic"), "spine-link"))
    found = tables(tmp_path, more)["links"]
    assert len(found["node_a"]) == 20
    assert found["rate_bps"][found["node_a"] == 0].tolist() == [400 * 10**9] * 2  # the last holds


def changed(*path_and_value):
    """Return the Clos with another value at a path; a value that is None takes the key out."""
    *path, last, value = path_and_value
    found = section = copy.deepcopy(clos())
    for key in path:
        section = section[key]
    if value is None:
        del section[last]
    else:
        section[last] = value
    return found


MISTAKES = {
    "no section": ([], "is no infrastructure: devices, links, instances, edges."),
    "no edges": (changed("edges", None), "there is no edge between instances"),
    "no instances": (changed("instances", None), "there is no instance 'host[0]'"),
    "an unknown device": (
        changed("instances", 0, "device", "swich"),
        "instance spinesw: there is no device 'swich'. Did you mean switch?",
    ),
    "an unknown link": (
        changed("edges", 2, "link", "leaflink"),
        "edge 3: there is no link 'leaflink'. Did you mean leaf-link?",
    ),
    "an unknown component": (
        changed("edges", 0, "ep1", "component", "nics"),
        "edge 1: ep1: device server has no component 'nics'.",
    ),
    "a number too high": (
        changed("edges", 0, "ep1", "instance", "host[4]"), "edge 1: ep1: host[4]: there are 4",
    ),
    "no slice": (
        changed("edges", 0, "ep1", "instance", "host[1:2:3:4]"), "host[1:2:3:4]: there are 4",
    ),
    "a ring": (
        changed("edges", 0, "scheme", "ring"), "edge 1: scheme 'ring' is not one2one or many2many.",
    ),
    "no end": (changed("edges", 0, "ep2", None), "edge 1: ep2 is missing."),
    "a server of cpus": (
        changed("devices", 0, "components", [part("nic", "cpu", 2)]),
        "device server has neither nic nor xpu nor port nor switch, so it is neither host",
    ),
    "itself inside": (
        changed("devices", 0, "components", 0, part("server", "device")),
        "device server is part of itself.",
    ),
    "transfers": (
        changed("links", 0, "physical", "bandwidth", {"choice": "gigatransfers_per_second"}),
        "link leaf-link: bandwidth: 'gigatransfers_per_second' is none of gigabits_per_second",
    ),
    "no number": (
        changed("links", 0, "physical", "bandwidth", "gigabits_per_second", "fast"),
        "link leaf-link: bandwidth: 'fast' is no number from 0",
    ),
    "no rate at all": (
        changed("links", 0, "physical", "bandwidth", "gigabits_per_second", 0),
        "link leaf-link: a bandwidth is more than 0.",
    ),
    "a fraction of a ps": (
        changed("links", 1, "physical", "latency", "ns", 0.00001),
        "link spine-link: latency: 1e-05 ns is no whole number",
    ),
    "no count": (changed("instances", 0, "count", 0), "instance spinesw: count is 0; write 1 to"),
    "too many": (changed("instances", 0, "count", 2**22), "instances; at most 4194304."),
    "a part of its own": (
        changed("edges", clos()["edges"][:4]), "no path from host 0 to host 1",
    ),
    "hosts that are joined": (
        changed("edges", 0, "ep2", {"instance": "host[1]", "component": "nic"}),
        "both are hosts, which do not forward.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_missing_or_cannot_be_is_said_in_one_line(tmp_path, mistake):
    infrastructure, message = MISTAKES[mistake]
    with pytest.raises(FieldError, match=re.escape(message)) as caught:
        tables(tmp_path, infrastructure)
    assert "\n" not in str(caught.value) and str(tmp_path / "net.yaml") in str(caught.value)


def test_a_file_that_is_no_yaml_and_one_that_is_no_text(tmp_path):
    module, params = written(tmp_path, clos())
    for data, message in ((b"devices: [", "net.yaml"), (b"\xff\xfe\x00", "is not a text file")):
        (tmp_path / "net.yaml").write_bytes(data)
        again = module.Params.model_construct(
            file={"path": params.file["path"], "sha256": _digest(params.file["path"], 0, len(data))}
        )
        with pytest.raises(FieldError, match=message):
            module.tables(again, LINK)


@pytest.mark.ns3
@pytest.mark.usefixtures("loaded")
def test_messages_go_over_it(tmp_path):
    # One message of 1 MB over 2 links of 100 Gb/s, split over both nics of each host: 4 links of
    # the path, all bytes through both leaves.
    (tmp_path / "net.yaml").write_text(yaml.safe_dump(clos()))
    run = pyorch.run({
        "name": "infra", "topology": {"type": "infragraph", "file": str(tmp_path / "net.yaml")},
        "link": {"rate": "1 Gb/s", "delay": "500 ns"}, "switch": {"buffer": "8 MB"},
        "workload": {"type": "single", "source": 0, "target": 3, "message": "1 MB"},
        "transport": {"type": "ns3::SprayTransport"}, "stop": "1 ms",
    }, results=tmp_path)  # fmt: skip
    ports = run.table("ports").set_index(["node", "peer", "parallel"])
    sent = [ports.loc[(0, 7, parallel), "sent_data_packets"] for parallel in range(2)]
    assert sum(sent) == run.flows["sent_data_packets"].sum() and min(sent) > 0
    assert ports.loc[(0, 7, 0), "rate_bps"] == 100 * 10**9
