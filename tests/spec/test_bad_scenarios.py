# SPDX-License-Identifier: GPL-2.0-only
"""Whatever is wrong in a scenario is said once: where, what, what is allowed, what to do."""

import json
import re
import tracemalloc
from pathlib import Path

import pytest

from pyorch.errors import SpecError
from pyorch.spec.overrides import parse_assignment
from pyorch.spec.scenario import parse_scenario

TYPES = json.loads((Path(__file__).parents[1] / "data" / "typeids.json").read_text())
TRANSPORTS = ", ".join(sorted(t["name"] for t in TYPES if t["contract"] == "transport"))

CHANGES = {
    "a key that nobody knows": (
        "stop: 20 ms", "stopp: 20 ms",
        "small.yaml:8: stopp: there is no such key. Known here: name, template, topology, link,"
        " wire, switch, workload, jobs, transport, failures, stop, trace, engine, seed. Did you"
        " mean stop?",
    ),
    "a key on two lines": (
        "stop: 20 ms", 'stop: 20 ms\n"se\\ned": 1',
        "small.yaml:9: se\\ned: there is no such key.",
    ),
    "an inner key that nobody knows": (
        "rate: 800 Gb/s", "rat: 800 Gb/s",
        "small.yaml:4: link.rat: there is no such key. Known here: rate, delay,"
        " jitter, loss, bit_error_ratio, flow_control, loss_model, classes. Did you mean rate?",
    ),
    "transports for some networks": (
        "message: 1 MB}", "message: 1 MB, transport: {scale_up: main, scale_out: main}}",
        "small.yaml:6: workload.transport: a mapping of keys to values names no transport for"
        " wide_area. Write a name, or one for each of scale_up, scale_out, wide_area.",
    ),
    "a transport of a network that is not there": (
        "message: 1 MB}",
        "message: 1 MB, transport: {scale_up: main, scale_out: main, wide_area: mainn}}",
        "small.yaml:6: workload.transport.wide_area: no transport is called 'mainn'. There are"
        " main. Did you mean main?",
    ),
    "a link of no length": (
        "delay: 500 ns", "delay: 0 ns",
        "small.yaml:4: link.delay: 0 ns is out of range; it must be at least 1 ps.",
    ),
    "a sampled node that is not there": (
        "stop:", "trace: {sample: 1 us, nodes: [999]}\nstop:",
        "trace.nodes: the topology has no node 999; its nodes are 0 to ",
    ),
    "sampled nodes without a period": (
        "stop:", "trace: {nodes: [0]}\nstop:",
        "trace.nodes: these are sampled, so give a period too, sample: 10 us.",
    ),
    "a key that is missing": (
        ", delay: 500 ns", "", "small.yaml:4: link.delay: this key is missing. Add it.",
    ),
    "an inner key of another section": (
        "{buffer: 8 MB}", "{buffer: 8 MB, flow_control: none}",
        "small.yaml:5: switch.flow_control: there is no such key. Known here: convergence, buffer,"
        " processing_delay, cut_through, queue, scheduler, programs, forwarding, classes. Did you"
        " mean link.flow_control?",
    ),
    "keys that are missing, each where it belongs": (
        "link: {rate: 800 Gb/s, delay: 500 ns}\nswitch: {buffer: 8 MB}", "link: {}",
        "small.yaml:4: link.rate: this key is missing, and so are link.delay and switch. Add them.",
    ),
    "two keys that are missing": (
        "link: {rate: 800 Gb/s, delay: 500 ns}", "link: {}",
        "small.yaml:4: link.rate: this key is missing, and so is link.delay. Add them.",
    ),
    "an attribute that is a mapping": (
        "type: ns3::RoceTransport}", "type: ns3::RoceTransport, attributes: {Rto: {}}}",
        "small.yaml:7: transport.attributes.Rto: a mapping of keys to values is none of: true or"
        " false, a whole number, a number, text. Write one of these.",
    ),
    "a number where a type or none may be": (
        "delay: 500 ns}", "delay: 500 ns, classes: [{tiers: [0, 1], flow_control: 5}]}",
        "small.yaml:4: link.classes.0.flow_control: 5 is not a mapping of keys to values.",
    ),
    "a type as a mapping": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport, attributes: {PathSelector: {type: ns3::ScoredEntropy}}}",
        "small.yaml:7: transport.attributes.PathSelector: a mapping of keys to values is no value"
        ' of an attribute. Write a type as text: "ns3::ScoredEntropy[Name=value|Name=value]".',
    ),
    "a comma between the attributes of a type": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport,"
        " attributes: {PathSelector: 'ns3::ScoredEntropy[Paths=4,ExcludedRounds=2]'}}",
        "Paths: '4,ExcludedRounds=2' is not a whole number, 0 to 65536. Between attributes goes |.",
    ),
    "a workload that is a word": (
        "{type: permutation, message: 1 MB}", "permutation",
        "small.yaml:6: workload: 'permutation' (text) is no section. Write type: permutation and"
        " its parameters.",
    ),
    "a queue that is a word": (
        "buffer: 8 MB", "buffer: 8 MB, queue: ns3::RedEcn",
        "switch.queue: 'ns3::RedEcn' (text) is no section. Write type: ns3::RedEcn and its",
    ),
    "one failure that is no list": (
        "stop:", "failures: {type: scheduled, links: [[0, 16]], at: 1 us}\nstop:",
        "failures: a mapping of keys to values is not a list. Write a list also of one: [{...}].",
    ),
    "a section that is a flag": (
        "stop:", "trace: true\nstop:",
        "trace: true (true/false) is not a mapping of keys to values. Write some of these:"
        " arrivals, pauses, sample, ",
    ),
    "model chunks of a steady step": (
        "type: permutation, message: 1 MB",
        "type: training, preset: dense-100t, divide: 1000, model_chunks: 2",
        "workload.model_chunks: a steady step has one micro-batch and one model chunk.",
    ),
    "sharded weights beside a whole pass": (
        "type: permutation, message: 1 MB",
        "type: training, preset: dense-100t, divide: 1000, zero: 3, overlap: pass",
        "small.yaml:6: workload.zero: 3 with schedule: steady wants overlap: compute.",
    ),
    "a step of one site without exchange": (
        "type: permutation, message: 1 MB",
        "type: training, preset: dense-100t, divide: 1000, exchange: false",
        "small.yaml:6: workload.exchange: false with one site. Leave it out, or write sites: 2.",
    ),
    "a number without unit": (
        "800 Gb/s", "800",
        "small.yaml:4: link.rate: '800' has no unit I can read as a rate. Write a number and one"
        " of bit/s, kb/s, Mb/s, Gb/s, Tb/s, for example '800 Gb/s'.",
    ),
    "a unit of another dimension": (
        "500 ns", "500 kB", "small.yaml:4: link.delay: '500 kB': 'kB' is not a unit of time here",
    ),
    "a delay for each uplink": (
        "spines: 2", "spines: 2, uplink_delay: [100 ns, 1 us]",
        "small.yaml:3: topology.uplink_delay: a list of 2 stands where one time goes. Write a"
        " number and one of ps, ns, us, ms, s, for example '500 ns'. All cables that uplink_delay"
        " is for have the same; topology from_file takes a rate and a delay for each cable"
        " (docs/scenarios.md, Cables of unequal length).",
    ),
    "a rate for each link": (
        "rate: 800 Gb/s", "rate: [800 Gb/s]",
        "for example '800 Gb/s'. All cables that rate is for have the same; topology from_file",
    ),
    "the micro sign": (
        "500 ns", "500 \u00b5s", "'\u00b5s' is not a unit of time here. Did you mean us? Write",
    ),
    "text for a number": (
        "leaves: 4", "leaves: four",
        "small.yaml:3: topology.leaves: 'four' (text) is not a whole number. Write a whole number.",
    ),
    "true for a number": (
        "message: 1 MB}", "message: 1 MB, active: true}",
        "small.yaml:6: workload.active: true (true/false) is not a number. Write a number.",
    ),
    "text that Python alone would take for a number": (
        "message: 1 MB}", "message: 1 MB, active: '0.2_5'}",
        "small.yaml:6: workload.active: '0.2_5' (text) is not a number. Write a number.",
    ),
    "a fraction for a count": (
        "leaves: 4", "leaves: 4.5", "small.yaml:3: topology.leaves: 4.5 is not a whole number.",
    ),
    "zero hosts": (
        "hosts_per_leaf: 2", "hosts_per_leaf: 0",
        "small.yaml:3: topology.hosts_per_leaf: 0 is out of range; it must be at least 1.",
    ),
    "an unknown topology": (
        "leaf_spine", "leafspine",
        "small.yaml:3: topology.type: no topology 'leafspine'. Found in pyorch/topology:",
    ),
    "an unknown topology of a site": (
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: multi_site, sites: [{name: a, topology: {type: stars}}, {name: b, topology:"
        " {type: stars}}], long_haul: [{between: [a, b], rate: 1 Gb/s, delay: 1 ms}]}",
        "small.yaml:3: topology.sites.0.topology.type: no topology 'stars'. Found in",
    ),
    "a key of a site that nobody knows": (
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: multi_site, sites: [{name: a, topology: {type: dumbbell, left: 1, rigth: 1}},"
        " {name: b, topology: {type: dumbbell, left: 1, right: 1}}], long_haul: []}",
        "small.yaml:3: topology.sites.0.topology.rigth: there is no such key. Known here: left,"
        " right,",
    ),
    "NICs at no distance": (
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: rails, devices: 2, rail: {type: star, hosts: 4}, scale_up: {rate: 1 Tb/s,"
        " delay: 1 ns}, nics: {delay: 0 ns}}",
        "small.yaml:3: topology.nics.delay: 0 ns is out of range; it must be at least 1 ps.",
    ),
    "NICs with a rate of their own": (
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: rails, devices: 2, rail: {type: star, hosts: 4}, scale_up: {rate: 1 Tb/s,"
        " delay: 1 ns}, nics: {delay: 1 ns, rate: 1 Gb/s}}",
        "small.yaml:3: topology.nics.rate: there is no such key. Known here: delay.",
    ),
    "NICs without a word about them": (
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: rails, devices: 2, rail: {type: star, hosts: 4}, scale_up: {rate: 1 Tb/s,"
        " delay: 1 ns}, nics: true}",
        "small.yaml:3: topology.nics: true (true/false) is not a mapping of keys to values. Write"
        " some of these: delay.",
    ),
    "an unknown workload": (
        "permutation", "permutations",
        "small.yaml:6: workload.type: no workload 'permutations'. Found in pyorch/workload:"
        " all_to_all, collective, companion, flow_table, hpcc_flows, htsim_cm, incast, nccl,"
        " outcast_incast, permutation, poisson, serving, session, single, stride, trace, training,"
        " wan_demands. Did you mean permutation?",
    ),
    "a capture of a switch": (
        "stop: 20 ms", "stop: 20 ms\ntrace: {pcap: [0, 8]}",
        "small.yaml:9: trace.pcap: 8 is a switch, not a host. The 8 hosts are 0 to 7.",
    ),
    "a capture of nothing": (
        "stop: 20 ms", "stop: 20 ms\ntrace: {pcap: [99]}",
        "small.yaml:9: trace.pcap: 99 is no node. The 8 hosts are 0 to 7.",
    ),
    "a capture twice": (
        "stop: 20 ms", "stop: 20 ms\ntrace: {pcap: [3, 5, 3]}",
        "small.yaml:9: trace.pcap: node 3 is there twice. Name it once.",
    ),
    "a node sampled twice": (
        "stop: 20 ms", "stop: 20 ms\ntrace: {sample: 1 us, nodes: [8, 3, 8]}",
        "small.yaml:9: trace.nodes: node 8 is there twice. Name it once.",
    ),
    "a snaplen of nothing": (
        "stop: 20 ms", "stop: 20 ms\ntrace: {pcap: [3], snaplen: 0 B}",
        "small.yaml:9: trace.snaplen: 0 B is out of range; it must be at least 1 B.",
    ),
    "a permutation below one leaf": (
        "leaves: 4", "leaves: 1",
        "small.yaml:6: workload.inter_leaf: with 2 of 2 hosts below one leaf some message must",
    ),
    "flows that begin after the end": (
        "message: 1 MB}", "message: 1 MB, start: 20 ms}",
        "small.yaml:6: workload.start: 20 ms is not before stop, 20 ms. Raise stop.",
    ),
    "a file that is not there": (
        "{type: permutation, message: 1 MB}", "{type: htsim_cm, file: none.cm}",
        "small.yaml:6: workload.file: none.cm: cannot be read (No such file or"
        " directory). The name is relative to the folder of the scenario.",
    ),
    "a failure of a link that is not there": (
        "stop: 20 ms", "failures: [{type: scheduled, links: [[0, 1]], at: 1 us}]\nstop: 20 ms",
        "small.yaml:8: failures.0.links: there is no link between nodes 0 and 1.",
    ),
    "a failure of a host as a switch": (
        "stop: 20 ms", "failures: [{type: scheduled, switches: [0], at: 1 us}]\nstop: 20 ms",
        "small.yaml:8: failures.0.switches: node 0 is no switch. Switches: ",
    ),
    "a failure after the end": (
        "stop: 20 ms", "failures: [{type: scheduled, planes: [0], at: 20 ms}]\nstop: 20 ms",
        "small.yaml:8: failures.0.at: 20 ms is not before stop, 20 ms. Raise stop.",
    ),
    "a restoration before the cut": (
        "stop: 20 ms",
        "failures: [{type: scheduled, planes: [0], at: 5 us, duration: -1 us}]\nstop: 20 ms",
        "small.yaml:8: failures.0.duration: '-1 us' is negative; a time is 0 or more.",
    ),
    "a failure that lasts no time": (
        "stop: 20 ms",
        "failures: [{type: scheduled, planes: [0], at: 5 us, duration: 0 us}]\nstop: 20 ms",
        "small.yaml:8: failures.0.duration: 0 us is out of range; it must be at least 1 ps.",
    ),
    "a flap that overlaps itself": (
        "stop: 20 ms",
        "failures: [{type: scheduled, planes: [0], at: 5 us, duration: 2 us, every: 1 us,"
        " times: 2}]\nstop: 20 ms",
        "small.yaml:8: failures.0.every: must be longer than `duration`",
    ),
    "a failure that makes links faster": (
        "stop: 20 ms",
        "failures: [{type: random, what: links, mtbf: 1 ms, mttr: 1 ms, rate: 1 Tb/s}]\n"
        "stop: 20 ms",
        "small.yaml:8: failures.0.rate: 1 Tb/s is not slower than these links, 800 Gb/s.",
    ),
    "a flow to a host that does not exist": (
        "{type: permutation, message: 1 MB}", "{type: single, message: 1 MB, target: 8}",
        "small.yaml:6: workload.target: 8: hosts are counted from 0 to 7.",
    ),
    "an odd radix": (
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: fat_tree, tiers: 3, radix: 5}",
        "small.yaml:3: topology.radix: 5 is odd: half the ports of a switch lead down and half up."
        " Write an even number, for example 6.",
    ),
    "too many tiers": (
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: fat_tree, tiers: 5, radix: 4}",
        "small.yaml:3: topology.tiers: 5 is out of range; it must be at most 4.",
    ),
    "a key that stands twice": (
        "stop: 20 ms", "stop: 20 ms\nstop: 30 ms",
        "small.yaml:9: stop stands twice, first in line 8. Keep one of them.",
    ),
    "a sweep that is no list": ("[1, 2]", "3", "small.yaml:10: sweep.seed: write a list of at"),
    "a sweep of a key that is not there": (
        "seed: [1, 2]", "transport.attribute.Rto: [1 ms]",
        "small.yaml:10: sweep.transport.attribute.Rto: transport.attribute: there is no such key.",
    ),
    "an unknown scale in the file": (
        "smoke:", "tiny:", "small.yaml:17: scales.tiny: there is smoke, laptop, paper here.",
    ),
    "a variant that is no mapping": (
        "windowed: {transport.attributes.WindowBytes: 430 kB, transport.attributes.Rto: 320 us}",
        "windowed: 3", "variants.windowed: write label and key paths with values below it.",
    ),
    "a scale with a variant that is not there": (
        "paper: {topology.leaves: 16}", "laptop: {variants: [windows]}",
        "small.yaml:18: scales.laptop.variants: no variant 'windows'. There are lossless,"
        " windowed. Did you mean windowed?",
    ),
    "a scale with a list for a variant": (
        "paper: {topology.leaves: 16}", "laptop: {variants: [[windowed]]}",
        "small.yaml:18: scales.laptop.variants: no variant '['windowed']'. There are lossless,",
    ),
    "a network beyond any memory": (
        "leaves: 4, hosts_per_leaf: 2", "leaves: 1000000, hosts_per_leaf: 1000000",
        "small.yaml:3: topology.type: 1000002000000 links in all; there may be 4194304.",
    ),
    "links without number": (
        "spines: 2}", "spines: 2, parallel: 100000000000}",
        "small.yaml:3: topology.parallel: 100000000000 is out of range; it must be at most",
    ),
    "a radix without end": (
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}",
        "{type: fat_tree, tiers: 3, radix: 100000000000, oversubscription: [3, 3]}",
        "small.yaml:3: topology.radix: 100000000000 is out of range; it must be at most",
    ),
    "a key path with a digit that is none": (
        "paper: {topology.leaves: 16}", "laptop: {workload.\u00b2: 10 kB}",
        "scales.laptop: workload.\u00b2: there is no such key",
    ),
    "a digit that is none in brackets": (
        "type: ns3::RoceTransport}",
        "type: ns3::RoceTransport, attributes: {PathSelector: 'ns3::RandomEntropy[Paths=\u00b2]'}}",
        "PathSelector: ns3::RandomEntropy: Paths: '\u00b2' is not a whole number",
    ),
    "a number that 64 bits do not hold": (
        "seed: [1, 2]", "seed: [0x1ffffffffffffffff]",
        "small.yaml:10: sweep.seed.0: '0x1ffffffffffffffff' does not fit 64 bits.",
    ),
    "a date": ("name: small", "name: 2020-13-45", "small.yaml:2: name: '2020-13-45' is not a name"),
    "a key that is a list": ("seed: [1, 2]", "[a, b]: [1, 2]", "small.yaml:10: a key is a list or"),
    "a list that is a set": (
        "seed: [1, 2]", "seed: !!set {1, 2}",
        "small.yaml:10: sweep.seed: 'tag:yaml.org,2002:set' is no plain list or mapping.",
    ),
    "a cable longer by more than a frame": (
        "rate: 800 Gb/s", "rate: 800 Gb/s, jitter: 42 ns",
        "small.yaml:4: link.jitter: 42 ns is more than a full frame lasts, 41940 ps. It is there to"
        " break ties. Cables get longer by tier with a key of the topology (uplink_delay of"
        " leaf_spine), or one by one with topology from_file (docs/scenarios.md, Cables of unequal"
        " length).",
    ),
    "a start that jitter may push beyond the end": (
        "message: 1 MB", "message: 1 MB, start: 19 ms, jitter: 1 ms",
        "small.yaml:6: workload.jitter: with start a message may begin at 20 ms, not before stop",
    ),
    "a start at the end": (
        "message: 1 MB", "message: 1 MB, start: 20 ms, jitter: 1 ms",
        "small.yaml:6: workload.start: 20 ms is not before stop, 20 ms. Raise stop.",
    ),
    "an unknown template": (
        "name: small", "name: small\ntemplate: fabrik",
        "small.yaml:3: template: no template 'fabrik'. Found in pyorch/render/templates:",
    ),
    "a message of no bytes": (
        "message: 1 MB", "message: 0 B",
        "small.yaml:6: workload.message: 0 B is out of range; it must be at least 1 B.",
    ),
    "a name that is no name": ("name: small", "name: Small one", "'Small one' is not a name here."),
    "no workload": ("{type: permutation, message: 1 MB}", "[]", "small.yaml:6: workload: "),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), CHANGES.values(), ids=CHANGES)
def test_the_message_says_where_and_what(small, old, new, message):
    assert old in small.text
    with pytest.raises(SpecError, match=re.escape(message)):
        small.plan(small.text.replace(old, new))


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([("link.rate", 800)], "--set: link.rate: '800' has no unit"),
        ([("link.rate.x", 1)], "--set: link.rate.x: link.rate is '800 Gb/s', which has no keys."),
        ([("workload.3.message", 1)], "workload.3: workload is a list of 1; name an element, 0"),
        ([("transport.attributes.WindowBytez", 1)], "ns3::RoceTransport has no attribute"),
        (
            [("link.loss_model.attributes.x", 1)],
            "--set: link.loss_model.type: this key is missing.",
        ),
    ],
)
def test_a_wrong_set_is_named_as_such(small, sets, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        small.plan(sets=sets, variant="windowed")


def test_an_unknown_scale_or_variant_is_answered_with_the_known_ones(small):
    with pytest.raises(SpecError, match="scale 'papper': there are smoke, laptop, paper. Did you"):
        small.plan(scale="papper")
    with pytest.raises(SpecError, match="no variant 'loss'. There are lossless, windowed"):
        small.plan(variant="loss")


def test_modules_that_are_not_built_are_one_sentence(tmp_path):
    from pyorch.spec import typeids

    with pytest.raises(SpecError, match="the C\\+\\+ modules are not built. Run: make setup"):
        typeids.load(tmp_path / "typeids.json")


def test_an_assignment_without_equals_is_refused():
    with pytest.raises(SpecError, match="write key.path=value, for example link.rate="):
        parse_assignment("link.rate")


@pytest.mark.parametrize("text", [
    "".join(f"k{i}: {i}\n" for i in range(1_000_000)), f"[{'a,' * 7_000_000}]",
], ids=["keys", "list"])  # fmt: skip
def test_a_document_of_more_values_than_may_be_kept_is_not_kept(text):
    # 14 MB that took 19 s of CPU and 1.2 GB when they were composed before they were counted.
    tracemalloc.start()
    with pytest.raises(SpecError, match=r"^x.yaml:\d+: .*more than 100000 values"):
        parse_scenario(text, "x.yaml")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


AT_OTHER_SCALES = {
    "a variant": ("variants: [a, c]", ".variants: no variant 'c'. There are a, b."),
    "a case": ("cases: [y]", ".cases: no case 'y'. There are x."),
    "a word of a variant": ("variants.a.label: 3", ": variants.a: label: '3' is not one line"),
    "an element": ("workload.7.message: 1 MB", ": workload.7: workload is a list of 1; name an"),
}


@pytest.mark.parametrize(("line", "says"), AT_OTHER_SCALES.values(), ids=AT_OTHER_SCALES)
def test_a_scale_that_is_not_asked_for_is_looked_at(small, line, says):
    text = small.text.partition("sweep:")[0]
    text += "variants: {a: {seed: 1}, b: {seed: 2}}\ncases: {x: {stop: 1 ms}}\n"
    text += f"scales:\n  paper: {{{line}}}\n"
    for scale in ("smoke", "paper"):
        where = f"small.yaml:{len(text.splitlines())}: scales.paper"
        with pytest.raises(SpecError, match=f"^{where}{re.escape(says)}"):
            small.plan(text, scale)


@pytest.mark.parametrize("label", ["=1+1", "+cmd", "-2", "@SUM(A1)"])
@pytest.mark.parametrize("section", ["variants", "cases"])
def test_a_label_that_a_spreadsheet_would_execute_is_refused(small, section, label):
    text = small.text.partition("sweep:")[0]
    file = parse_scenario(f"{text}{section}: {{a: {{label: '{label}'}}}}\n", "x.yaml")
    says = f"x.yaml:\\d+: {section}.a: label: '{re.escape(label)}' begins with"
    with pytest.raises(SpecError, match=says):
        file.planning()
