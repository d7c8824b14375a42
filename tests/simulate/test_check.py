# SPDX-License-Identifier: GPL-2.0-only
"""The engine says before any run which attributes it refuses, and a message has file, line, key."""

import subprocess

import pytest
from yaml import safe_load

from pyorch.errors import SimulationError, SpecError
from pyorch.runs.choose import choose
from pyorch.simulate import check
from pyorch.simulate.fabric import Fabric

pytestmark = pytest.mark.ns3

SCENARIO = """\
name: small
topology: {type: star, hosts: 4}
link:
  rate: 100 Gb/s
  delay: 1 us
  flow_control: none
switch:
  buffer: 8 MB
  queue: {type: ns3::DropTail}
  scheduler: null
  programs: []
  forwarding: {type: ns3::EcmpHash}
workload: {type: single, source: 0, target: 1, message: 1 MB}
transport:
  type: ns3::RoceTransport
  attributes: {Trimmable: true}
stop: 20 ms
"""
LINES = {"flow_control": 6, "queue": 9, "scheduler": 10, "programs": 11, "forwarding": 12}
CREDITS = "{type: ns3::CreditFlowControl}"


def queue(kind, attributes):
    return "queue", f"queue: {{type: ns3::{kind}, attributes: {{{attributes}}}}}"


def scheduler(kind, attributes):
    return "scheduler", f"scheduler: {{type: ns3::{kind}, attributes: {{{attributes}}}}}"


def transport(kind, attributes):
    return "transport", f"type: ns3::{kind}\n  attributes: {{{attributes}}}"


#: Key, its text, the attribute that is blamed, and a part of what is said of it.
REFUSED = {
    "a table that is a word": (*scheduler("VlArbitration", "LowTable: abc"), "LowTable", "'abc'"),
    "a lane without weight": (*scheduler("VlArbitration", "LowTable: 'x:64'"), "LowTable", "x:64"),
    "a colon": (*scheduler("VlArbitration", "LowTable: ':'"), "LowTable", "':'"),
    "a power": (*scheduler("VlArbitration", "LowTable: '1e1:3'"), "LowTable", "'1e1:3'"),
    "a weight that is a letter": (
        *scheduler("VlArbitration", "LowTable: '3:x'"), "LowTable", "'3:x'"),
    "a weight beyond a byte": (
        *scheduler("VlArbitration", "HighTable: '3:256'"), "HighTable", "at most 255 is allowed"),
    "weights that are a word": (*scheduler("WeightedRoundRobin", "Weights: abc"), "Weights", "abc"),
    "a weight of nothing": (
        *scheduler("WeightedRoundRobin", "Weights: '7:0'"), "Weights", "the least is 1"),
    "a turn of less than a frame": (
        *scheduler("DeficitRoundRobin", "Quanta: '7:63'"), "Quanta", "the least is 64"),
    "a bucket without rate": (
        *scheduler("TokenBucketShaper", "BurstsBytes: '3:5000'"), "BurstsBytes",
        "RatesBps gives no rate"),
    "marks from above to below": (
        *queue("RedEcn", "KminBytes: 800 kB, KmaxBytes: 400 kB"), "KminBytes",
        "is 800000, more than KmaxBytes, 400000"),
    "the same inside of another queue": (
        *queue("PerPriority", "Priority3: 'ns3::RedEcn[KminBytes=9|KmaxBytes=8]'"), "Priority3",
        "ns3::RedEcn: KminBytes is 9, more than KmaxBytes, 8"),
    "a queue of itself": (
        *queue("PerPriority", "DefaultQueue: 'ns3::PerPriority'"), "DefaultQueue", "cannot be"),
    "a queue that never trims": (
        *queue("TrimmingQueue", "LimitBytes: 0 B"), "LimitBytes", "is 0, so nothing would ever be"),
    "a resume above the pause": (
        "flow_control",
        "flow_control: {type: ns3::Pfc, attributes: {XoffBytes: 10 kB, XonOffsetBytes: 20 kB}}",
        "XonOffsetBytes", "is 20000, more than XoffBytes, 10000"),
    "a frame beyond the lane": (
        "flow_control", "flow_control: {type: ns3::CreditFlowControl,"
        " attributes: {LaneBlocks: 10, MtuFrameBytes: 4096}}", "LaneBlocks", "has 64 blocks"),
    "a gap of nothing": (
        "forwarding", "forwarding: {type: ns3::Flowlet, attributes: {Gap: 0 ns}}", "Gap",
        "it must be at least 1ns"),
    "routes of routes": (
        "forwarding",
        "forwarding: {type: ns3::ExplicitRoutes, attributes: {DefaultPolicy: ns3::ExplicitRoutes}}",
        "DefaultPolicy", "cannot be ns3::ExplicitRoutes itself"),
    "nobody limits what is sent": (
        *transport("UecTransport", "CongestionControl: ''"), "CongestionControl",
        "is empty and ReceiverCredit is false"),
    "nobody decides the window": (
        *transport("SprayTransport", "WindowBdp: 0.0"), "WindowBdp", "congestion control decides"),
    "cutoffs that fall": (
        *transport("HomaTransport", "Cutoffs: '8000,2000'"), "Cutoffs", "write rising numbers"),
    "a threshold above the next": (
        *transport("RoceTransport", "CongestionControl: 'ns3::Timely[LowRtt=2ms]'"),
        "CongestionControl", "ns3::Timely: LowRtt is +2"),
    "few that are more than many": (
        *transport("RoceTransport", "CongestionControl: 'ns3::Swift[FsMinCwndPackets=200]'"),
        "CongestionControl", "it must be below FsMaxCwndPackets"),
}  # fmt: skip


def meets(queue="", control="", scheduler="", transport="", classes=""):
    """Changes of the scenario that are right one by one; a link class is one of hosts."""
    changes = {"queue: {type: ns3::DropTail}": queue, "flow_control: none": control,
               "scheduler: null": scheduler,
               "  type: ns3::RoceTransport\n  attributes: {Trimmable: true}": transport,
               "  delay: 1 us": classes}  # fmt: skip
    return {old: new for old, new in changes.items() if new}


TRIMMING = "queue: {type: ns3::TrimmingQueue, attributes: {LimitBytes: 1 MB}}"
LANES = "flow_control: {type: ns3::CreditFlowControl, attributes: {Lanes: 6}}"
PFC = "flow_control: {type: ns3::Pfc, attributes: {XoffBytes: 50 kB}}"
#: Changes, the line, the key, and a part of what is said.
REFUSED_TOGETHER = {
    "headroom that no buffer holds": (
        {"flow_control: none": PFC, "buffer: 8 MB": "buffer: 0.2 MB"}, 6, "link.flow_control",
        "bytes for XoffBytes and headroom of 4 ports, its buffer has 200000"),
    "a dynamic threshold of no buffer": (
        {"flow_control: none": PFC.replace("XoffBytes: 50 kB", "Alpha: 1"),
         "buffer: 8 MB": "buffer: none"}, 6, "link.flow_control.attributes.Alpha",
        "Alpha is a multiple of the free buffer, so the switches need a buffer size"),
    "lanes that no buffer holds": ( # 4 ports x 8 lanes x 2048 x 64 B = 4194304 B
        {"flow_control: none": "flow_control: {type: ns3::CreditFlowControl}",
         "buffer: 8 MB": "buffer: 4 MB"}, 6, "link.flow_control", "LaneBlocks=1953"),
    "a priority that is no lane": (
        meets(control=LANES), 6, "link.flow_control",
        "ns3::CreditFlowControl: its links have 6 classes, from 0, but ns3::RoceTransport sends"
        " with priority 6. Give them 7 classes or more"),
    "a speculative priority that is no lane": (
        meets(control=LANES, transport="  type: ns3::EqdsTransport\n"
              "  attributes: {SpeculativePriority: 7, ControlPriority: 5}"),
        6, "link.flow_control", "ns3::EqdsTransport sends with priority 7"),
    "lanes of one class of links": (
        meets(classes="  delay: 1 us\n  classes: [{tiers: [0, 1],\n"
              f"    {LANES}}}]"), 7, "link.classes.0.flow_control", "its links have 6 classes"),
    "arbitration of a lane that is not there": (
        meets(control="flow_control: {type: ns3::CreditFlowControl}", scheduler=scheduler(
            "VlArbitration", "HighTable: '3:1,8:1'")[1]),
        10, "switch.scheduler.attributes.HighTable",
        "names lane 8, but the links of ns3::CreditFlowControl have lanes 0 to 7"),
    "packets that may not be trimmed in a queue that trims": (
        meets(queue=TRIMMING, transport="  type: ns3::RoceTransport"), 9, "switch.queue",
        "ns3::TrimmingQueue cuts payload away, but data of ns3::RoceTransport may not be trimmed"),
    "packets that are nothing without payload in a queue that trims": (
        meets(queue=TRIMMING, transport="  type: ns3::HomaTransport"), 9, "switch.queue",
        "data of ns3::HomaTransport may not be trimmed"),
    "one priority of several that is trimmed": (
        meets(queue=queue("PerPriority", "Priority3: 'ns3::TrimmingQueue[LimitBytes=9000]'")[1],
              transport="  type: ns3::RoceTransport"), 9, "switch.queue",
        "ns3::PerPriority cuts payload away"),
    "data among the headers of trimmed packets": (
        meets(queue=TRIMMING.replace("LimitBytes", "TrimPriority: 3, LimitBytes")), 9,
        "switch.queue", "have priority 3, and so has data of ns3::RoceTransport"),
    "two programs that keep a word in a packet": (
        {"programs: []": "programs: [{type: ns3::Conga}, {type: ns3::Hedera},"
         " {type: ns3::ConWeave}]"}, 11, "switch.programs.2",
        "ns3::ConWeave and ns3::Conga keep a word in each packet"),
    "two such programs of different switches": (
        {"programs: []": "programs: [{type: ns3::Conga}]\n"
         "  classes: [{tiers: [1], programs: [{type: ns3::ConWeave}]}]"},
        12, "switch.classes.0.programs.0", "ns3::ConWeave and ns3::Conga keep a word"),
}  # fmt: skip
#: What PFC protects is not trimmed, and a class without flow control has all priorities.
ALLOWED_TOGETHER = {
    "lossless packets in a queue that trims": meets(
        queue=TRIMMING, control=PFC, transport="  type: ns3::RoceTransport"),
    "lanes that nobody has": meets(
        control=LANES, classes="  delay: 1 us\n  classes: [{tiers: [0, 1], flow_control: none}]"),
    "a program that keeps a word, at two kinds of switches, and one that keeps none": {
        "programs: []": "programs: [{type: ns3::Conga}, {type: ns3::Hedera}]\n"
        "  classes: [{tiers: [1], programs: [{type: ns3::Conga}]}]"},
    "lanes enough": meets(control=LANES.replace("6", "7")),
}  # fmt: skip


def with_changes(changes):
    text = SCENARIO
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("changes", "line", "key", "words"), REFUSED_TOGETHER.values(), ids=REFUSED_TOGETHER
)
def test_what_is_wrong_together_is_said_before_any_run(tmp_path, changes, line, key, words):
    path = tmp_path / "small.yaml"
    path.write_text(with_changes(changes))

    with pytest.raises(SpecError) as error:
        choose(path, asks=True)

    assert str(error.value).startswith(f"{path}:{line}: {key}: ns3::")
    assert words in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("changes", ALLOWED_TOGETHER.values(), ids=ALLOWED_TOGETHER)
def test_what_never_meets_is_allowed(tmp_path, changes):
    path = tmp_path / "small.yaml"
    path.write_text(with_changes(changes))

    assert len(choose(path, asks=True)) == 1


def test_a_run_is_refused_what_a_plan_is(tmp_path):
    # A script written by hand has no plan: the engine says the same when it builds the run.
    fabric = Fabric(seed=1)
    fabric.forwarding("ns3::EcmpHash")
    fabric.queue("ns3::TrimmingQueue", {"LimitBytes": 9000})
    fabric.transport("ns3::HomaTransport")
    give_one_flow(fabric)

    with pytest.raises(SimulationError, match=r"data of ns3::HomaTransport may not be trimmed"):
        fabric.build(fabric.load())


def changed(key, text):
    if key == "transport":
        return SCENARIO.replace("type: ns3::RoceTransport\n  attributes: {Trimmable: true}", text)
    line = SCENARIO.splitlines()[LINES[key] - 1].strip()
    return SCENARIO.replace(line, text)


@pytest.mark.parametrize(("key", "text", "attribute", "words"), REFUSED.values(), ids=REFUSED)
def test_what_the_engine_refuses_is_said_before_any_run(tmp_path, key, text, attribute, words):
    path = tmp_path / "small.yaml"
    path.write_text(changed(key, text))

    with pytest.raises(SpecError) as error:
        choose(path, asks=True)

    where = f"transport.attributes.{attribute}"
    line = 16 if key == "transport" else LINES[key]
    if key != "transport":
        section = "link" if key == "flow_control" else "switch"
        where = f"{section}.{key}.attributes.{attribute}"
    assert str(error.value).startswith(f"{path}:{line}: {where}: ns3::")
    assert words in str(error.value) and "\n" not in str(error.value)


def give_one_flow(fabric):
    """Give the tables of a star of two hosts."""
    fabric.table("nodes", {"node": [0, 1, 2], "is_switch": [0, 0, 1], "tier": [0, 0, 1]})
    ends = {"node_a": [0, 1], "node_b": [2, 2], "parallel": [0, 0], "rate_bps": [10**9] * 2}
    fabric.table("links", ends | {"delay_ps": [10**6] * 2})
    one = {"flow": [0], "src": [0], "dst": [1], "bytes": [1], "start_ps": [0], "transport": [0]}
    fabric.table("flows", one)


@pytest.mark.parametrize("key", ["queue", "scheduler"])
def test_a_script_written_by_hand_is_refused_alike(key):
    given = {
        "queue": ("ns3::RedEcn", {"KminBytes": 8, "KmaxBytes": 4}),
        "scheduler": ("ns3::VlArbitration", {"HighTable": "3:256"}),
    }
    fabric = Fabric(seed=1)
    fabric.forwarding("ns3::EcmpHash")
    getattr(fabric, key)(*given[key])
    fabric.transport("ns3::RoceTransport")
    give_one_flow(fabric)

    with pytest.raises(SimulationError, match=r"KminBytes is 8|weight of 256"):
        fabric.build(fabric.load())


@pytest.fixture
def processes(tmp_path, monkeypatch):
    """The processes that were started for questions; their answers are kept here."""
    monkeypatch.delenv("PYORCH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    started, popen = [], subprocess.Popen

    def start(*arguments, **options):
        started.append(arguments)
        return popen(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", start)
    return started


def test_a_plan_starts_one_process_and_the_next_plan_none(processes):
    kinds = ["ns3::DropTail", "ns3::RedEcn", "ns3::TrimmingQueue"]
    scenario = safe_load(SCENARIO) | {
        "sweep": {"switch.queue.type": kinds[:2], "seed": [1, 2], "link.delay": ["1 us", "2 us"]}
    }
    assert len(choose(scenario, asks=True)) == 8
    assert len(processes) == 1
    choose(scenario, asks=True)
    assert len(processes) == 1
    with pytest.raises(SpecError, match="LimitBytes is 0"):
        choose(scenario, sets={"switch.queue.type": kinds[2]}, asks=True)
    assert len(processes) == 2
    with pytest.raises(SpecError, match="LimitBytes is 0"):
        choose(scenario, sets={"switch.queue.type": kinds[2]}, asks=True)
    assert len(processes) == 2


def test_another_library_is_asked_again(processes, monkeypatch):
    choose(safe_load(SCENARIO), asks=True)
    digest_of = check.origin.digest_of
    monkeypatch.setattr(
        check.origin, "digest_of",
        lambda path: "built anew" if path.name == "libqueueing.so" else digest_of(path),
    )  # fmt: skip
    choose(safe_load(SCENARIO), asks=True)
    assert len(processes) == 2


def test_a_choice_that_does_not_ask_starts_no_process(processes):
    choose(safe_load(SCENARIO))
    assert processes == []
