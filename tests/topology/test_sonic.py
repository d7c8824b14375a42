# SPDX-License-Identifier: GPL-2.0-only
"""Testbeds of sonic-mgmt: cables by device and port, testers by their ports."""

import pytest

from pyorch.spec.fields import FieldError
from pyorch.spec.resolved import Link
from pyorch.topology import sonic

LINK = Link(rate_bps=10**9, delay_ps=500_000)
LINKS = """\
StartDevice,StartPort,EndDevice,EndPort,BandWidth,VlanID,VlanMode
t0-1,Ethernet0,tester,Card1/Port10,100000,2,Access
t0-1,Ethernet4,tester,Card1/Port2,100000,,
t0-2,Ethernet0,server-1,p4p1,,1681-1712,Trunk

t1-1,Ethernet0,t0-1,Ethernet8,400000,,
t1-1,Ethernet4,t0-2,Ethernet8,400000,,
t1-1,Ethernet8,t1-1,Ethernet12,400000,,
# a comment
other-1,Ethernet0,other-2,Ethernet0,40000,,
"""
DEVICES = """\
Hostname,ManagementIp,HwSku,Type,Protocol
t0-1,10.0.0.1/24,Arista-7060,DevSonic,
t0-2,10.0.0.2/24,Arista-7060,DevSonic,
t1-1,10.0.0.3/24,Arista-7060,DevSonic,
tester,10.0.0.4/24,SNAPPI-tester,DevSnappiChassis,
server-1,10.0.0.5/24,TestServ,Server,
other-1,10.0.0.6/24,X,DevSonic,
other-2,10.0.0.7/24,X,DevSonic,
"""
OWN = ["t*", "server*"]


def params(folder, links=LINKS, devices=DEVICES, **more):
    (folder / "links.csv").write_text(links)
    given = {"file": "links.csv", "only": OWN} | more
    if devices is not None:
        (folder / "devices.csv").write_text(devices)
        given["devices"] = "devices.csv"
    return sonic.Params.model_validate(given, context={"folder": folder})


def rows(tables):
    names = ("node_a", "node_b", "rate_bps", "delay_ps")
    return sorted(zip(*(tables["links"][name].tolist() for name in names), strict=True))


@pytest.mark.parametrize("more", [
    {}, {"hosts": ["TestServ", "SNAPPI*"]},
    {"devices": None, "hosts": ["tester", "server-1"]},
])  # fmt: skip
def test_ports_of_testers_and_servers_are_hosts(tmp_path, more):
    # Port 2 before port 10 of the tester, the server, then t0-1, t0-2 and t1-1.
    its = params(tmp_path, **more)
    tables = sonic.tables(its, LINK)

    assert rows(tables) == [
        (0, 3, 10**11, 500_000), (1, 3, 10**11, 500_000), (2, 4, 10**9, 500_000),
        (3, 5, 4 * 10**11, 500_000), (4, 5, 4 * 10**11, 500_000),
    ]  # fmt: skip
    assert tables["nodes"]["tier"].tolist() == [0, 0, 0, 1, 1, 2]
    assert sonic.counts(its)["hosts_per_leaf"] == 2


def test_what_is_left_out_is_said_once(tmp_path):
    said = sonic.remarks(params(tmp_path, LINKS.replace("VlanMode", "Colour")))
    assert [line.rpartition("/")[2] for line in said] == [
        "links.csv: not used: columns Colour, VlanID.",
        "devices.csv: not used: columns ManagementIp, Protocol.",
        "links.csv: 1 cables of a device to itself are left out.",
        "links.csv: 1 cables of other devices than `only` names are left out.",
    ]


@pytest.mark.parametrize(
    "links, devices, more, message",
    [
        (LINKS, DEVICES, {"only": ["*"], "hosts": ["t*er", "other-2"]}, "no path from host"),
        (LINKS, DEVICES, {"only": ["x*"]}, "no device with cables is Server,"),
        (LINKS, None, {}, "There are server-1, t0-1, t0-2, t1-1, tester. Write names, or name the"),
        (LINKS, DEVICES.replace("t0-2", "t0-3"), {}, "there is no 't0-2', which has a cable in"),
        (LINKS, DEVICES + "t0-2,,,DevSonic,\n", {}, "devices.csv: row 9: 't0-2' stands twice."),
        (LINKS, DEVICES.replace("Type", "Kind"), {}, "has 0 columns Type. It needs Hostname, Type"),
        (LINKS.replace("EndPort", "Endport"), DEVICES, {}, "has 0 columns EndPort. It needs"),
        ("", DEVICES, {}, "has 0 columns StartDevice."),
        (LINKS.replace("100000,2", "-100000,2"), DEVICES, {},
         "row 2: BandWidth is '-100000'; write Mb/s, 1 to 1000000000."),
        (LINKS.replace("100000,2", "0,2"), DEVICES, {}, "row 2: BandWidth is '0'; write Mb/s"),
        (LINKS.replace("100000,2", "100G,2"), DEVICES, {}, "row 2: BandWidth is '100G'"),
        (LINKS.replace("Card1/Port10", "Card1/Port2"), DEVICES, {},
         "row 3: port 'Card1/Port2' of 'tester' has a cable in row 2 too. Keep one."),
        (LINKS.replace("p4p1", ""), DEVICES, {}, "row 4: a device or a port is empty."),
        (LINKS.replace("2,Access", "2,Access,on,x"), DEVICES, {}, "row 2: 9 cells, but 7 columns."),
        (LINKS.replace("p4p1", '"p4p1'), DEVICES, {}, "is no CSV table (unexpected end of data)."),
        (LINKS.replace("p4p1", "x" * 200_000), DEVICES, {}, "is no CSV table (field larger than"),
        (LINKS.replace("t0-1,Ethernet4", "server-1,p4p2"), DEVICES, {}, "both are hosts"),
    ],
)  # fmt: skip
def test_what_is_no_network_is_refused_in_one_line(tmp_path, links, devices, more, message):
    with pytest.raises(FieldError) as caught:
        sonic.tables(params(tmp_path, links, devices, **more), LINK)
    assert message in str(caught.value) and "\n" not in str(caught.value)
