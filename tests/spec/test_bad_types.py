# SPDX-License-Identifier: GPL-2.0-only
"""Types and attributes that there are not, or that do not fit together, are refused at once."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from pyorch.errors import SpecError
from pyorch.spec import typeids

TYPES = json.loads((Path(__file__).parents[1] / "data" / "typeids.json").read_text())
TRANSPORTS = ", ".join(sorted(t["name"] for t in TYPES if t["contract"] == "transport"))

CHANGES = {
    "an unknown transport": (
        "ns3::RoceTransport", "ns3::RocTransport",
        "small.yaml:7: transport.type: no transport 'ns3::RocTransport'. There are"
        f" {TRANSPORTS}. Did you mean ns3::RoceTransport?",
    ),
    "a code of blocks without data": (
        "ns3::RoceTransport}",
        "ns3::WanTransport, attributes: {BlockPackets: 0, ParityPackets: 4}}",
        "small.yaml:7: transport.attributes.BlockPackets: ns3::WanTransport: BlockPackets: 0 is"
        " out of range",
    ),
    "an unknown attribute": (
        "XoffBytes: 50", "XofBytes: 50",
        "small.yaml:14: variants.lossless: link.flow_control.attributes.XofBytes: ns3::Pfc has no"
        " attribute 'XofBytes'. It has XoffBytes,",
    ),
    "an attribute out of range": (
        "type: ns3::RoceTransport}", "type: ns3::RoceTransport, attributes: {Priority: 9}}",
        "small.yaml:7: transport.attributes.Priority: ns3::RoceTransport: Priority: 9 is out of"
        " range; it must be 0 to 7.",
    ),
    "an attribute of the wrong kind": (
        "type: ns3::RoceTransport}", "type: ns3::RoceTransport, attributes: {Recovery: 3}}",
        "transport.attributes.Recovery: ns3::RoceTransport: Recovery: 3 is not one of GoBackN,"
        " SelectiveRepeat.",
    ),
    "an attribute that names an unknown type": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport, attributes: {PathSelector: 'ns3::FlowEntrop'}}",
        "RoceTransport: PathSelector: here goes a path selector; no 'ns3::FlowEntrop'. There are"
        " ns3::BitmapEntropy, ns3::FlowEntropy, ns3::FlowletEntropy, ns3::MixedEntropy,"
        " ns3::PermutedEntropy, ns3::RandomEntropy, ns3::RepsEntropy, ns3::ScoredEntropy. Did you"
        " mean ns3::FlowEntropy?",
    ),
    "an attribute that names a type of another kind": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport, attributes: {PathSelector: 'ns3::RedEcn'}}",
        "PathSelector: here goes a path selector; 'ns3::RedEcn' is a queue.",
    ),
    "a congestion control that nobody has written": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport, attributes: {CongestionControl: 'ns3::Crystal'}}",
        "CongestionControl: here goes a congestion control; no 'ns3::Crystal'. There are ns3::",
    ),
    "an attribute of a type in an attribute twice": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport, attributes:"
        " {PathSelector: 'ns3::RandomEntropy[Paths=3|Paths=4]'}}",
        "PathSelector: ns3::RandomEntropy: Paths is given twice.",
    ),
    "a probability in brackets that is none": (
        "switch: {buffer: 8 MB}",
        "switch: {buffer: 8 MB, queue: {type: ns3::PerPriority, attributes: {DefaultQueue:"
        " 'ns3::RedEcn[Pmax=7]'}}}",
        "DefaultQueue: ns3::RedEcn: Pmax: 7.0 is out of range; it must be 0 to 1.",
    ),
    "an unknown attribute of a type in an attribute": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport, attributes: {PathSelector: 'ns3::RandomEntropy[Path=3]'}}",
        "PathSelector: ns3::RandomEntropy has no attribute 'Path'. It has Paths. Did you mean"
        " Paths?",
    ),
    "an attribute of a type in an attribute out of range": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport, attributes: {PathSelector: 'ns3::RandomEntropy[Paths=70000]'}}",
        "PathSelector: ns3::RandomEntropy: Paths: 70000 is out of range; it must be 0 to 65536.",
    ),
    "attributes in brackets that are none": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport, attributes: {PathSelector: 'ns3::RandomEntropy[3'}}",
        "is not of the form ns3::RandomEntropy[Name=value|Name=value].",
    ),
    "a time attribute without unit": (
        "Rto: 320 us", "Rto: 320", "Rto: '320' has no unit I can read as a time.",
    ),
    "a time that is too short": (
        "Rto: 320 us", "Rto: 0 ns", "Rto: 0 ns is too short; it must be at least 1ns.",
    ),
    "a buffer below one frame": (  # 4096 B, 62 B of headers, 16 B of RETH
        "buffer: 8 MB", "buffer: 4 kB",
        "small.yaml:5: switch.buffer: 4 kB cannot hold one full frame of 4174 B. Raise it.",
    ),
    "a congestion control that waits for marks where nothing marks": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport, attributes: {CongestionControl: 'ns3::Dcqcn'}}",
        "small.yaml:5: switch.queue: ns3::Dcqcn learns of queues by marks alone, but ns3::DropTail"
        " marks nothing. Write a queue that does, for example {type: ns3::RedEcn, attributes:"
        " {KminBytes: 100 kB, KmaxBytes: 400 kB}}.",
    ),
    "a transport for switches that trim where nothing marks": (
        "type: ns3::RoceTransport}",
        "type: ns3::UecTransport, attributes: {CongestionControl: 'ns3::Nscc'}}",
        "small.yaml:5: switch.queue: ns3::Nscc learns of queues by marks alone, but ns3::DropTail"
        " marks nothing. ns3::UecTransport is for switches that also trim. Write {type:"
        " ns3::TrimmingQueue, attributes: {LimitBytes: 400 kB, KminBytes: 80 kB, KmaxBytes: 320 kB,"
        " Pmax: 1}}, with LimitBytes of about one bandwidth-delay product. And write Trimmable:"
        " true for ns3::UecTransport.",
    ),
    "a congestion control for switches that trim where nothing marks": (
        "type: ns3::RoceTransport}",
        "type: ns3::SprayTransport, attributes:"
        " {CongestionControl: 'ns3::Smartt', Trimmable: true}}",
        "ns3::Smartt is for switches that also trim. Write {type: ns3::TrimmingQueue, attributes:",
    ),
    "a transport that waits for marks where nothing marks": (
        "type: ns3::RoceTransport}", "type: ns3::MpRdmaTransport}",
        "small.yaml:5: switch.queue: ns3::MpRdmaTransport learns of queues by marks alone, but",
    ),
    "a congestion control that waits for marks on packets that may not be marked": (
        "switch: {buffer: 8 MB}\nworkload: {type: permutation, message: 1 MB}\n"
        "transport: {type: ns3::RoceTransport}",
        "switch: {buffer: 8 MB, queue: {type: ns3::RedEcn}}\n"
        "workload: {type: permutation, message: 1 MB}\ntransport: {type: ns3::RoceTransport,"
        " attributes: {CongestionControl: 'ns3::Dctcp', EcnCapable: false}}",
        "small.yaml:7: transport: ns3::Dctcp learns of queues by marks alone, but EcnCapable of"
        " ns3::RoceTransport is false, so nothing is marked. Write EcnCapable: true.",
    ),
    "a congestion control that reads what no switch writes": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport, attributes: {CongestionControl: 'ns3::Hpcc'}}",
        "small.yaml:5: switch.programs: ns3::Hpcc reads in-band telemetry, which no switch writes."
        " Write programs: [{type: ns3::InbandTelemetry}].",
    ),
    "a congestion control on a transport that has no use for one": (
        "type: ns3::RoceTransport}",
        "type: ns3::HomaTransport, attributes: {CongestionControl: 'ns3::Swift'}}",
        "small.yaml:7: transport.attributes.CongestionControl: ns3::HomaTransport has no attribute"
        " 'CongestionControl'. It has ",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), CHANGES.values(), ids=CHANGES)
def test_the_message_says_where_and_what(small, old, new, message):
    assert old in small.text
    with pytest.raises(SpecError, match=re.escape(message)):
        small.plan(small.text.replace(old, new))


GOOD = (Path(__file__).parents[1] / "data" / "typeids.json").read_bytes()
DAMAGED = [
    (b"", "not JSON"), (b"[", "not JSON"), (b"{}", "is a mapping of keys, not a list"),
    (b"[]", "is damaged"), (b"[1]", "0: is damaged"),
    (b'[{"name": "x"}]', "0.contract: is damaged"),
    (GOOD.replace(b'"default": "65536"', b'"default": "6553x"', 1), "a default: is damaged"),
    (GOOD.replace(b'"default": "65536"', b'"default": 65536', 1), "default: is damaged"),
    (GOOD[:-40], "not JSON"), (b"\xff" + GOOD, "not JSON"), (b"[" * 100_000, "not JSON"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "says"), DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_list_of_types_is_one_line_with_what_to_do(tmp_path, content, says):
    path = tmp_path / "typeids.json"
    path.write_bytes(content)
    with pytest.raises(SpecError, match=f"^{path}: .*{says}.*Delete it, then run: make ") as found:
        typeids.load(path)
    assert "\n" not in str(found.value)


def test_a_list_of_types_that_the_build_has_not_written_is_refused(tmp_path):
    path = tmp_path / "typeids.json"
    path.write_bytes(GOOD)
    (tmp_path / typeids.STAMP).write_text(f"libroce.so 12\n{hashlib.sha256(GOOD).hexdigest()}\n")
    assert typeids.load(path).choices("transport")
    path.write_bytes(GOOD.replace(b'"65536"', b'"65537"', 1))  # one bit
    with pytest.raises(SpecError, match="typeids.json: not the file that the build has written"):
        typeids.load(path)
