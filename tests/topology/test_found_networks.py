# SPDX-License-Identifier: GPL-2.0-only
"""Networks as containerlab, ibnetdiscover and NCCL write them down."""

import re

import pytest

from pyorch.spec.fields import FieldError
from pyorch.spec.resolved import Link
from pyorch.topology import containerlab, ibnetdiscover, nccl_xml

LINK = Link(rate_bps=10**11, delay_ps=500_000)
#: The Clos of containerlab's examples, clos01, with a link in the long form and one that leaves.
LAB = """\
name: clos01
topology:
  defaults: {kind: nokia_srlinux}
  groups: {clients: {kind: linux}}
  nodes:
    leaf1: {type: ixr-d2l}
    leaf2:
    spine1: {kind: nokia_srlinux}
    client10: {group: clients}
    client2: {kind: linux, image: alpine}
    grafana: {kind: linux}
  links:
    - endpoints: ["leaf1:e1-49", "spine1:e1-1"]
    - {type: veth, endpoints: [{node: leaf2, interface: e1-49}, {node: spine1, interface: e1-2}]}
    - endpoints: ["client10:eth1", "leaf1:e1-1"]
    - endpoints: ["client2:eth1", "leaf2:e1-1"]
    - endpoints: ["leaf1:mgmt0", "mgmt-net:leaf1"]
    - {type: vxlan, endpoint: {node: leaf1, interface: x}, remote: 10.0.0.1}
"""
#: Two switches with two cables between them, and adapters of three servers.
FABRIC = """\
ibwarn: [6931] sim_connect: attached as client 1 at node "Switch1"
#
# Topology file: generated on Tue Jun  5 14:15:10 2007

vendid=0x2c9
switchguid=0x5442ba00003080(5442ba00003080)
Switch  24 "S-005442ba00003080"         # "leaf" enhanced port 0 lid 6 lmc 0
[22]    "H-0008f10403961354"[1](8f10403961355)         # "gpu10 mlx5_0" lid 4 4xHDR
[10]    "S-0008f10400410015"[1]         # "leaf 2" lid 3 4xHDR
[11][ext 7]     "S-0008f10400410015"[3]         # "leaf 2" lid 3 4xHDR
[24]    "H-00000000000000aa"[1](aa)     # "Mellanox Technologies Aggregation Node" lid 9 4xHDR

Switch  8 "S-0008f10400410015"          # "leaf 2" base port 0 lid 3 lmc 0
[6]     "H-0008f10403960984"[1](8f10403960985)         # "gpu2 mlx5_0" lid 16 2xNDR
[4]     "H-005442b100004900"[1](5442b100004901)        # "gpu2 mlx5_1" lid 12
[1]     "S-005442ba00003080"[10]                # "leaf" lid 6 2xHDR
[3]     "S-005442ba00003080"[11]         # "leaf" lid 6 4xHDR

caguid=0x8f10403960984
Ca      2 "H-0008f10403960984"          # "gpu2 mlx5_0"
[1](8f10403960985)     "S-0008f10400410015"[6]         # lid 16 lmc 1 "leaf 2" lid 3 2xNDR

Ca      1 "H-005442b100004900"          # "gpu2 mlx5_1"
[1](5442b100004901)     "S-0008f10400410015"[4]         # lid 12 lmc 1 "leaf 2" lid 3

Ca      1 "H-0008f10403961354"          # "gpu10 mlx5_0"
[1](8f10403961355)     "S-005442ba00003080"[22]                # lid 4 lmc 1 "leaf" lid 6 4xHDR

Ca      1 "H-00000000000000aa"          # "Mellanox Technologies Aggregation Node"
[1](aa)     "S-005442ba00003080"[24]                # lid 9 lmc 1 "leaf" lid 6 4xHDR
"""
#: A server of two H100 with four NVSwitches, as NCCL 2.2x dumps it; its GPUs are not in order.
SERVER = """\
<system version="1">
  <cpu host_hash="0xa5f3" numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:a1:00.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:a3:00.0" class="0x020000" link_speed="32.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_7" dev="7" speed="400000" port="1" guid="0x34f4" gdr="1"/>
        </nic>
      </pci>
      <pci busid="0000:a4:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="1" sm="90" rank="1" gdr="1">
          <nvlink target="0000:f5:00.0" count="5" tclass="0x068000"/>
          <nvlink target="0000:f4:00.0" count="5" tclass="0x068000"/>
          <nvlink target="0000:f3:00.0" count="4" tclass="0x068000"/>
          <nvlink target="0000:f6:00.0" count="4" tclass="0x068000"/>
        </gpu>
      </pci>
    </pci>
    <pci busid="0000:ae:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="0" sm="90" rank="0" gdr="1">
        <nvlink target="fffffff:ffff:ff" count="17" tclass="0x068000"/>
      </gpu>
    </pci>
  </cpu>
</system>
"""


def read(module, folder, text, **more):
    (folder / "net").write_text(text)
    params = module.Params.model_validate({"file": "net", **more}, context={"folder": folder})
    tables = module.tables(params, LINK)
    names = ("node_a", "node_b", "parallel", "rate_bps", "delay_ps")
    rows = list(zip(*(tables["links"][name].tolist() for name in names), strict=True))
    return tables["nodes"], rows, module.counts(params), module.remarks(params)


def test_a_lab_has_its_clients_first_and_says_what_is_left_out(tmp_path):
    nodes, links, counts, said = read(containerlab, tmp_path, LAB)

    # client10, client2, leaf1, leaf2, spine1
    assert nodes["is_switch"].tolist() == [0, 0, 1, 1, 1]
    assert nodes["tier"].tolist() == [0, 0, 1, 1, 2]
    assert links == [(2, 4, 0, 10**11, 500_000), (3, 4, 0, 10**11, 500_000),
                     (0, 2, 0, 10**11, 500_000), (1, 3, 0, 10**11, 500_000)]  # fmt: skip
    assert (counts["hosts"], counts["switches"], counts["cables"]) == (2, 3, 4)
    assert [line.partition("net: ")[2] for line in said] == [
        "2 links that leave the lab are left out.", "1 nodes without links are left out."
    ]  # fmt: skip


def test_what_no_lab_has_is_said_once_and_stitched_links_are_links(tmp_path):
    text = LAB.replace("type: ixr-d2l", "type: ixr-d2l, bandwidth: 10G, cpu: 2")
    text = text.replace("type: veth,", "type: veth-stitch, mtu: 1500,") + (
        '    - endpoints: ["leaf2:e1-9", "dummy"]\n'
        '    - {endpoints: [leaf2:e1-8, "vxlan:9"], delay: 1}\n'
        "  colour: 3\nweight: 1\n"
    )
    _, links, _, said = read(containerlab, tmp_path, text)
    assert len(links) == 4
    assert [line.partition("net: ")[2] for line in said] == [
        "4 links that leave the lab are left out.", "1 nodes without links are left out.",
        "not used: topology.colour, topology.links.delay, topology.links.mtu,"
        " topology.nodes.bandwidth, weight.",
    ]  # fmt: skip


@pytest.mark.parametrize("hosts", [["client*"], ["clients", "client2"], ["linux"]])
def test_hosts_are_named_by_kind_group_or_name(tmp_path, hosts):
    assert read(containerlab, tmp_path, LAB, hosts=hosts)[2]["hosts"] == 2


def test_a_fabric_has_its_adapters_in_their_order_at_the_rates_that_are_printed(tmp_path):
    nodes, links, counts, said = read(ibnetdiscover, tmp_path, FABRIC)

    # gpu2 mlx5_0, gpu2 mlx5_1, gpu10, then switches by their ids. 4xHDR: 4 x 50 Gb/s; one end of
    # the cable between ports 10 and 1 has two lanes; no speed: that of `link`.
    assert nodes["is_switch"].tolist() == [0, 0, 0, 1, 1]
    assert sorted(links) == [
        (0, 3, 0, 2 * 10**11, 500_000), (1, 3, 0, 10**11, 500_000), (2, 4, 0, 2 * 10**11, 500_000),
        (3, 4, 0, 10**11, 500_000), (3, 4, 1, 2 * 10**11, 500_000),
    ]  # fmt: skip
    assert (counts["hosts"], counts["switches"], counts["cables"]) == (3, 2, 5)
    assert [line.partition("net: ")[2] for line in said] == [
        "1 aggregation nodes of switches are left out.",
        "1 links have no speed that is known, and so the rate of link.",
    ]


@pytest.mark.parametrize("more", [" s=4 w=2 v=3", " slot 3", " (scp)", " s=4 w=2 v=3 slot 12"])
def test_what_may_follow_a_speed_leaves_it_as_it_is(tmp_path, more):
    # ibnetdiscover --full: " s=%d w=%d v=%d"; of some adapters " slot %d" or " (scp)".
    text = re.sub("(4xHDR|2xHDR|2xNDR)", r"\1" + more, FABRIC)
    assert read(ibnetdiscover, tmp_path, text)[1:] == read(ibnetdiscover, tmp_path, FABRIC)[1:]


def test_a_speed_that_ibnetdiscover_does_not_know_is_said_to_be_that_of_link(tmp_path):
    # rdma-core prints ??? for XDR.
    _, links, _, said = read(ibnetdiscover, tmp_path, FABRIC.replace("HDR", "???"))

    assert {row[3] for row in links} == {2 * 10**11, 10**11}  # 2xNDR and LINK
    assert said[-1].endswith("net: 4 links have no speed that is known, and so the rate of link.")


@pytest.mark.parametrize("number", ["\u00b2", "\u0663", "9" * 40])
def test_adapters_are_named_in_any_script(tmp_path, number):
    text = FABRIC.replace("gpu10 mlx5_0", f"1{number}")
    assert read(ibnetdiscover, tmp_path, text)[2]["hosts"] == 3


@pytest.mark.parametrize(
    "speed, gbps",
    [
        ("4xSDR", 8),
        ("4xQDR", 32),
        ("4xFDR10", 40),
        ("4xFDR", 54.545454544),
        ("4xEDR", 100),
        ("1xNDR", 100),
        ("4xXDR", 800),
    ],  # fmt: skip # noqa: E501
)
def test_speeds_are_those_of_data(tmp_path, speed, gbps):
    # IBTA: 2.5, 5, 10 Gb/s with 8b/10b; 10.3125, 14.0625, 25.78125 with 64b/66b; then 50, 100, 200.
    text = FABRIC.replace("4xHDR", speed).replace("2xHDR", speed)
    rates = {row[3] for row in read(ibnetdiscover, tmp_path, text)[1] if row[:2] == (3, 4)}
    assert rates == {round(gbps * 10**9)}


def test_a_server_has_its_gpus_at_the_rates_that_nccl_counts(tmp_path):
    nodes, links, counts, said = read(nccl_xml, tmp_path, SERVER)

    # 20.6 GB/s for each NVLink of Hopper, SM90_NVLINK_BW: 17 of rank 0, 18 of rank 1.
    assert nodes["is_switch"].tolist() == [0, 0, 1]
    assert links == [(0, 2, 0, 17 * 164_800_000_000, 500_000),
                     (1, 2, 0, 18 * 164_800_000_000, 500_000)]  # fmt: skip
    assert counts["hosts"] == 2
    (line,) = said
    assert line.endswith("net: 1 processors, 2 PCIe devices, 1 NICs are left out.")


#: Three A100 with four NVLinks between each pair, as NCCL dumps them.
MESH = '<system version="1"><cpu>{}</cpu></system>'.format("".join(
    f'<pci busid="0000:0{own}:00.0" class="0x030200"><gpu dev="{own}" sm="80" rank="{own}" gdr="1">'
    + "".join(f'<nvlink target="0000:0{other}:00.0" count="4" tclass="0x030200"/>'
              for other in (0, 1, 2) if other != own)
    + "</gpu></pci>" for own in (0, 1, 2)
))  # fmt: skip


def test_gpus_joined_by_pairs_have_routers_of_their_own(tmp_path):
    # 4 x 20 GB/s for each pair; a GPU's own link is 1000 times as fast.
    nodes, links, counts, said = read(nccl_xml, tmp_path, MESH)
    assert nodes["is_switch"].tolist() == [0] * 3 + [1] * 3
    assert sorted(links) == sorted(
        [(gpu, 3 + gpu, 0, 640 * 10**12, 1) for gpu in range(3)]
        + [(3 + a, 3 + b, 0, 640 * 10**9, 500_000) for a, b in ((0, 1), (0, 2), (1, 2))]
    )
    assert said == (f"{tmp_path / 'net'}: 1 processors are left out.",)


@pytest.mark.parametrize("gcn, gb_per_s", [("908", 24), ("910", 36), ("gfx90a", 36), ("940", 48), ("gfx942", 48)])  # fmt: skip # noqa: E501
def test_gpus_of_amd_have_the_rates_that_rccl_counts(tmp_path, gcn, gb_per_s):
    # VEGA_XGMI_WIDTH, MI200_XGMI_WIDTH, GFX94X_XGMI_WIDTH of RCCL, for each of four links.
    text = MESH.replace("nvlink", "xgmi").replace("0x030200", "0x120000")
    text = text.replace('sm="80"', f'sm="228" gcn="{gcn}" arch="38911"')
    links, said = read(nccl_xml, tmp_path, text)[1::2]
    assert {rate for *_, rate, ps in links if ps > 1} == {4 * gb_per_s * 8 * 10**9}
    assert not any("not used" in line for line in said)


def test_what_no_server_has_is_said_once(tmp_path):
    text = SERVER.replace('gdr="1">', 'gdr="1" colour="red">').replace("<nic>", "<nic><port/>")
    said = read(nccl_xml, tmp_path, text)[3]
    assert said[-1].endswith("net: not used: gpu colour, port.")


@pytest.mark.parametrize("sm, gb_per_s", [(60, 18), (70, 20), (80, 20), (86, 12), (89, 20), (100, 40.1), (103, 40.1)])  # fmt: skip # noqa: E501
def test_links_have_the_rates_of_their_generation(tmp_path, sm, gb_per_s):
    rates = {row[3] for row in read(nccl_xml, tmp_path, SERVER.replace('"90"', f'"{sm}"'))[1]}
    assert rates == {round(n * gb_per_s * 8e9) for n in (17, 18)}


BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaa'>]>"


@pytest.mark.parametrize(
    "module, text, message",
    [
        (containerlab, "[]", "the file is no section of a containerlab file"),
        (containerlab, "name: x\n", "topology is no section"),
        (containerlab, LAB.replace("links:", "links: 3\n  rest:"), "topology.links is no list"),
        (containerlab, LAB.replace("client2:eth1", "client3:eth1"),
         "topology.links.3: there is no node 'client3'. Did you mean client2?"),
        (containerlab, LAB.replace(', "leaf1:e1-1"]', "]"), "links.2: a link has two ends"),
        (containerlab, LAB.replace("kind: linux", "kind: x"), "no node with links is linux. Kinds:"
         " nokia_srlinux, x. Write kinds, groups or names."),
        (containerlab, LAB.replace("leaf2:e1-1", "client10:e9"), "'client2' and 'client10' have a"
         " link, and both are linux, hosts, which do not forward. Write groups or names of those"
         ' that are hosts, for example hosts: ["client*"].'),
        (containerlab, LAB + "  x: *y\n", "net"),
        (nccl_xml, "", "is no XML"),
        (nccl_xml, SERVER[:900], "Is the file cut off?"),
        (nccl_xml, BOMB + SERVER, "declares a document type or entities. Take them out."),
        (nccl_xml, "<graphs version='1'/>", "begins with 'graphs', not with system"),
        (nccl_xml, "<system/>", "0 GPUs; a network has two or more."),
        (nccl_xml, SERVER.replace('rank="1"', 'rank="0"'), "two GPUs have rank 0."),
        (nccl_xml, SERVER.replace('rank="1"', 'rank="-1"'), "gpu has rank '-1'; write 0 to"),
        (nccl_xml, SERVER.replace('count="17"', 'count="9999"'), "GPU of rank 0: nvlink has count"
         " '9999'; write 0 to 1000."),
        (nccl_xml, SERVER.replace('count="17" tclass="0x068000"', 'count="17" tclass="0x030200"'),
         "GPUs of rank 0 and 1 have links to switches. Only servers are read in which"),
        (nccl_xml, MESH.replace('target="0000:01', 'target="0000:07').replace(
            'target="0000:00', 'target="0000:07', 1),
         "GPUs of rank 0 and 1 have no link. Only servers are read in which"),
        (nccl_xml, MESH.replace('count="4"', 'count="5"', 1), "1 have two numbers of links."),
        (nccl_xml, SERVER.replace('"0x068000"', '"0x1"'), "to class '0x1'. Only those"),
        (nccl_xml, '<system><pci class="0x030200"/><pci class="0x030200"/></system>', "0 GPUs; a"
         " network has two or more. It has 2 PCI devices that are GPUs, but not their NVLinks"),
        (nccl_xml, SERVER.replace('count="17"', 'count="0"'), "sm 90 has no NVLink"),
        (ibnetdiscover, "", "0 nodes with links; there are 2 to"),
        (ibnetdiscover, FABRIC.replace("4xHDR", "3xHDR"), "'3xHDR' is no width and speed"),
        (ibnetdiscover, FABRIC.replace("4xHDR", "4xTDR"), "'4xTDR' is no width and speed"),
        (ibnetdiscover, FABRIC.replace("4xHDR", "0012xHDR"), "'0012xHDR' is no width and speed"),
        (ibnetdiscover, FABRIC.replace('"H-0008f10403961354"', f'"H-{"9" * 17}"'), ":8: '[22] "),
        (ibnetdiscover, FABRIC.replace("[22] ", "[1234567890] "), "is no line of ibnetdiscover"),
        (nccl_xml, SERVER.replace('count="17"', 'count="1000"').replace("</gpu>", 40_000 * (
            '<nvlink count="1000" tclass="0x068000"/>') + "</gpu>"), "NVLinks; at most 1000."),
        (nccl_xml, "<system/>" + " " * 2**24, "16777225 B; at most 16777216."),
        (ibnetdiscover, FABRIC.partition("Switch  8")[0], "there is a link to S-0008f10400410015,"
         " but no Switch of this name. Is the file cut off?"),
        (ibnetdiscover, FABRIC.rpartition("Ca ")[0], "there is a link to H-"),
        (ibnetdiscover, "[1] \"H-01\"[1]\n", "net:1: '[1] \"H-01\"[1]': a port before any node"),
        (ibnetdiscover, FABRIC.replace("[22] ", "[22 "), "is no line of ibnetdiscover"),
        (ibnetdiscover, FABRIC.replace('"[6]  ', '"[7]  '), "port 1 of H-0008f10403960984 leads"),
        (ibnetdiscover, FABRIC.replace("Ca      2", "Switch  2"), "a Switch is S-, a Ca is H-."),
        (ibnetdiscover, FABRIC + FABRIC, "S-005442ba00003080 stands twice."),
    ],
)  # fmt: skip
def test_what_is_no_network_is_refused_in_one_line(tmp_path, module, text, message):
    with pytest.raises(FieldError) as error:
        read(module, tmp_path, text)
    assert message in str(error.value) and "\n" not in str(error.value)
