# SPDX-License-Identifier: GPL-2.0-only
"""What is said before a run: small buffers, plug-ins that spoil each other, what skips decide."""

import json

import numpy as np
import pytest

import pyorch
from pyorch.built import INSTALLED
from pyorch.simulate.fabric import Fabric, plugin
from pyorch.simulate.loader import facade_of
from pyorch.simulate.warnings import (
    Plugin,
    far_ends,
    few_entropies,
    kept_limits,
    late_marks,
    narrow_incasts,
    never_trimmed,
    overtaking,
    small_buffers,
)
from pyorch.spec import typeids

# Hosts 0 and 1 behind switches 2 and 3: 20 Gb/s at hosts, 5 Gb/s and 30 ms between the switches.
LINKS = {
    "node_a": np.array([0, 2, 3]),
    "node_b": np.array([2, 3, 1]),
    "rate_bps": np.array([20, 5, 20]) * 10**9,
    "delay_ps": np.array([0, 30 * 10**9, 0]),
}
FLOWS = {"flow": np.array([7]), "src": np.array([0]), "dst": np.array([1])}
NONE, ONE = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
BDP_BYTES = 37_500_000  # 5 Gb/s times 60 ms


def policy(name, keeps_order=True, hashes=True):
    """A policy of switches and what the engine says of it."""
    return Plugin(name, {}, {"keepsOrder": keeps_order, "hashesEntropy": hashes})


def transport(name="ns3::Any", given=None, **traits):
    """A transport and what the engine says of it; one path, and nothing is lost by overtaking."""
    usual = {"keepsOrder": True, "entropies": 1, "acceptsOutOfOrder": True, "reorderPackets": 0,
             "needsMarks": False, "targetPs": 0, "hopTargetPs": 0}  # fmt: skip
    return Plugin(name, given or {}, usual | traits)


def lines(size, connections=1):
    """Return what is said of a transport whose two buffers are of one size."""
    given = {"SendBufferBytes": str(size), "ReceiveBufferBytes": str(BDP_BYTES)}
    given["Connections"] = str(connections)
    return list(small_buffers({"links": LINKS, "flows": FLOWS}, [transport("ns3::Tcp", given)]))


def test_both_numbers_are_named():
    (line,) = lines(131_072)
    for word in ("SendBufferBytes is 131072", "37500000 bytes", "flow 7"):
        assert word in line


@pytest.mark.parametrize("connections", [1, 4])
def test_nothing_is_said_from_the_product_on(connections):
    assert lines(BDP_BYTES // connections, connections) == []
    assert len(lines(BDP_BYTES // connections - 1, connections)) == 1


def test_transports_without_buffers_or_flows_are_passed_over():
    tables = {"links": LINKS, "flows": FLOWS}
    assert list(small_buffers(tables, [transport()])) == []
    unused = transport(given={"SendBufferBytes": "1"})
    assert list(small_buffers(tables, [transport(), unused])) == []


def test_hosts_that_no_path_joins_are_left_to_the_engine():
    apart = {name: column[:1] for name, column in LINKS.items()}
    given = {"SendBufferBytes": "1", "ReceiveBufferBytes": "1"}
    tables = {"links": apart, "flows": FLOWS}
    assert list(small_buffers(tables, [transport(given=given)])) == []


def test_a_path_longer_than_the_target_of_a_delay_is_told_of():
    # 60 ms there and back over three links.
    tables = {"links": LINKS, "flows": FLOWS}
    target_ps, hop_ps = 48 * 10**9, 4 * 10**9
    assert list(far_ends(tables, [transport(targetPs=target_ps, hopTargetPs=hop_ps)])) == []
    (line,) = far_ends(tables, [transport("ns3::Far", targetPs=target_ps - 1, hopTargetPs=hop_ps)])
    assert line.startswith(
        "ns3::Far: a round trip of more than 60000 us is congestion to it, and the links of flow 7"
        " alone take 60000 us: "
    )
    assert list(far_ends(tables, [transport()])) == []
    assert list(far_ends(tables, [transport(), transport(targetPs=1)])) == []  # sends nothing


# Two leaves, 10 and 11, below eight spines.
TREE = {
    "nodes": {
        "node": np.array([0, 1, 10, 11, *range(20, 28)]),
        "is_switch": np.array([0, 0, *[1] * 10]),
        "tier": np.array([0, 0, 1, 1, *[2] * 8]),
    },
    "links": {
        "node_a": np.array([0, 1, *[10] * 8, *range(20, 28)]),
        "node_b": np.array([10, 11, *range(20, 28), *[11] * 8]),
    },
}


@pytest.mark.parametrize(
    ("entropies", "hashes", "said"),
    [
        (0, True, "as many entropies as there are paths"),
        (16, True, "16 entropies"),
        (2, True, "2 entropies"),
        (17, True, ""),
        (65536, True, ""),
        (1, True, ""),
        (0, False, ""),
        (8, False, ""),
    ],
)
def test_entropies_that_a_hash_does_not_spread_are_told(entropies, hashes, said):
    sender = transport(given={"PathSelector": "ns3::Own[Paths=9]"}, entropies=entropies)
    found = list(few_entropies(TREE, [sender], [policy("ns3::Hash", hashes=hashes)]))

    assert [said in line and "over 8 uplinks" in line for line in found] == [True] * bool(said)
    assert all("ns3::Own has" in line and "ns3::Own[Paths=256]" in line for line in found)
    star = {"nodes": {name: column[:3] for name, column in TREE["nodes"].items()},
            "links": {name: column[:1] for name, column in TREE["links"].items()}}  # fmt: skip
    assert list(few_entropies(star, [sender], [policy("ns3::Hash", hashes=hashes)])) == []


class Facade:
    """An engine with one plug-in, of which it says what is given."""

    def __init__(self, traits):
        self.TraitsOf = lambda _factory: json.dumps(traits)

    def Factory(self, _name):
        return 0


@pytest.mark.parametrize(
    ("table", "column", "entropies", "told"),
    [
        ("link_events", ONE, 8, ["links change"]),
        ("link_events", NONE, 8, []),
        ("dependencies", ONE, 1, ["messages wait for others"]),
        ("dependencies", ONE, 8, ["messages wait for others"]),
        ("dependencies", NONE, 8, []),
    ],
)
@pytest.mark.parametrize("skips", [True, False])
def test_a_small_difference_that_decides_is_told(table, column, entropies, told, skips):
    fabric = Fabric(seed=1)
    fabric.transport("ns3::Any", {})
    fabric.table(table, {"flow": column})
    if skips:
        fabric.engine = {"skip_ppm": 10_000}

    lines = fabric.warnings(Facade(transport(entropies=entropies).traits))

    assert len(lines) == (len(told) if skips else 0)
    assert all(word in line for word, line in zip(told, lines, strict=False))


SPRAY, HASH = policy("ns3::Sprays", keeps_order=False), policy("ns3::Hash")
REWINDS, RETRIES = {"acceptsOutOfOrder": False, "reorderPackets": 1}, {"reorderPackets": 1}


@pytest.mark.parametrize(
    ("policies", "selector", "traits", "told"),
    [
        ([SPRAY], "", REWINDS, "in order alone (go-back-N), and ns3::Sprays lets"),
        ([HASH, SPRAY], "", REWINDS, "in order alone (go-back-N), and ns3::Sprays lets"),
        ([HASH], "ns3::Own[Paths=8]", REWINDS | {"keepsOrder": False}, "ns3::Own lets"),
        ([], "", REWINDS | {"keepsOrder": False}, "its path selector lets"),
        ([SPRAY], "", RETRIES, "ReorderPackets=1"),
        ([SPRAY], "", {"reorderPackets": 64}, ""),
        ([SPRAY], "", {"reorderPackets": 0}, ""),
        ([HASH], "", REWINDS, ""),
    ],
)
def test_spraying_under_what_takes_overtaken_packets_for_lost_is_told(
    policies, selector, traits, told
):
    sender = transport(given={"PathSelector": selector}, **traits)
    lines = list(overtaking([transport(), sender], policies))
    assert len(lines) == bool(told)
    assert all(told in line for line in lines)


@pytest.mark.ns3
def test_what_the_engine_says_of_its_own_plug_ins():
    # Oracle: the pages of the modules. Packets in turn, by queue or at random overtake each other;
    # a flowlet waits for a pause. A hash of hosts alone does not see entropies.
    types = typeids.load(INSTALLED / "typeids.json")
    policies, selectors = types.choices("forwarding"), types.choices("path_selector")
    facade = facade_of([*policies, *selectors, "ns3::RoceTransport"]).Facade()

    def traits(name, **given):
        return plugin(facade, name, given).traits

    assert {name for name in policies if not traits(name)["keepsOrder"]} == {
        "ns3::LeastLoaded", "ns3::RandomSpray", "ns3::RoundRobinSpray", "ns3::WeightedSpray",
    }  # fmt: skip
    hashes = {name for name in policies if traits(name)["hashesEntropy"]}
    assert hashes == {"ns3::EcmpHash", "ns3::WeightedHash"}
    assert not traits("ns3::EcmpHash", Fields="Hosts")["hashesEntropy"]

    roce = {name: traits("ns3::RoceTransport", PathSelector=name) for name in selectors}
    keeping = {name for name in selectors if roce[name]["keepsOrder"]}
    assert keeping == {"ns3::FlowEntropy", "ns3::FlowletEntropy"}
    assert {name: its["entropies"] for name, its in roce.items()} == {
        "ns3::BitmapEntropy": 256, "ns3::FlowEntropy": 1, "ns3::FlowletEntropy": 65536,
        "ns3::MixedEntropy": 256, "ns3::PermutedEntropy": 65536, "ns3::RandomEntropy": 65536,
        "ns3::RepsEntropy": 256, "ns3::ScoredEntropy": 0,
    }  # fmt: skip
    few = traits("ns3::RoceTransport", PathSelector="ns3::PermutedEntropy[Paths=8]")
    assert few["entropies"] == 8


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("given", "accepts", "reorder", "marks"),
    [
        ({}, False, 1, False),
        ({"Recovery": "SelectiveRepeat", "ReorderPackets": "64"}, True, 64, False),
        ({"DirectPlacement": "true"}, True, 0, False),
        ({"CongestionControl": "ns3::Dcqcn"}, False, 1, True),
        ({"CongestionControl": "ns3::Hpcc"}, False, 1, False),
    ],
)
def test_what_the_engine_says_follows_the_attributes(given, accepts, reorder, marks):
    facade = facade_of(["ns3::RoceTransport", "ns3::FlowEntropy", "ns3::Dcqcn"]).Facade()
    traits = plugin(facade, "ns3::RoceTransport", given).traits
    found = [traits[name] for name in ("acceptsOutOfOrder", "reorderPackets", "needsMarks")]
    assert found == [accepts, reorder, marks]


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("name", "given", "target_us", "hop_ns"),
    [
        ("ns3::RoceTransport", {}, 0, 0),
        ("ns3::RoceTransport", {"CongestionControl": "ns3::Swift[BaseTarget=+46us]"}, 46, 3053),
        ("ns3::SprayTransport", {"CongestionControl": "ns3::Swift"}, 20, 3053),
        ("ns3::RoceTransport", {"CongestionControl": "ns3::Timely"}, 500, 0),
        ("ns3::FalconTransport", {"HopTarget": "2us"}, 25, 2000),
    ],
)
def test_the_engine_says_which_round_trips_are_congestion(name, given, target_us, hop_ns):
    facade = facade_of([name, "ns3::FlowEntropy", "ns3::Swift", "ns3::Timely"]).Facade()
    traits = plugin(facade, name, given).traits
    assert (traits["targetPs"], traits["hopTargetPs"]) == (target_us * 10**6, hop_ns * 1000)


@pytest.mark.parametrize(
    ("kmin", "needs_marks", "alpha", "told"),
    [
        (100_001, True, "0", True),
        (100_000, True, "0", False),
        (400_000, False, "0", False),
        (400_000, True, "0.5", False),  # what stops a sender is not known before
    ],
)
def test_a_queue_that_pauses_before_it_marks_is_told(kmin, needs_marks, alpha, told):
    roles = [
        ("queue", 0, "ns3::RedEcn", {"KminBytes": str(kmin)}),
        ("flow_control", 0, "ns3::Pfc", {"XoffBytes": "100000", "Alpha": alpha}),
    ]
    lines = list(late_marks(roles, [transport(needsMarks=needs_marks)]))
    assert ["pauses before it marks" in line for line in lines] == [True] * told


@pytest.mark.parametrize(
    ("ends", "rate", "given", "told"),
    [
        ((2, 3), 1, {"KminBytes": "5000"}, ["KminBytes stay as many bytes"]),
        ((3, 2), 1, {"KminBytes": "5000"}, ["KminBytes stay as many bytes"]),
        ((2, 3), 1, {"KminBytes": "5000", "ReferenceRateBps": "7"}, []),
        ((2, 3), 5, {"KminBytes": "5000"}, []),  # as it began
        ((2, 3), 0, {"KminBytes": "5000"}, []),  # a cut
        ((0, 2), 1, {}, ["a link of host 0 gets slower"]),
    ],
)
def test_what_keeps_its_size_on_a_link_that_gets_slower_is_told(ends, rate, given, told):
    nodes = {"node": np.arange(4), "is_switch": np.array([0, 0, 1, 1])}
    events = {"node_a": ends[:1], "node_b": ends[1:], "rate_bps": [rate * 10**9]}
    events = {name: np.array(column) for name, column in events.items()}
    tables = {"nodes": nodes, "links": LINKS, "link_events": events}
    lines = list(kept_limits(tables, [("queue", 0, "ns3::RedEcn", given)]))
    assert len(lines) == len(told)
    assert all(word in line for word, line in zip(told, lines, strict=True))


#: Hosts 0 to 2 at switch 10, 3 and 4 at switch 11, one spine.
LEAVES = {
    "nodes": {
        "node": np.array([0, 1, 2, 3, 4, 10, 11, 20]),
        "is_switch": np.array([0, 0, 0, 0, 0, 1, 1, 1]),
    },
    "links": {"node_a": np.array([0, 1, 2, 3, 4, 10, 11]),
              "node_b": np.array([10, 10, 10, 11, 11, 20, 20])},
}  # fmt: skip


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ([(1, 0), (2, 0)], "the 2 senders of the incast to host 0 are all at its own switch, 10,"),
        ([(1, 0), (2, 0), (4, 3)], "the 2 senders of the incast to host 0"),  # other traffic
        ([(1, 0), (2, 0), (3, 0)], ""),
        ([(1, 0)], ""),
        ([(1, 0), (2, 0), (0, 3)], ""),  # the receiver sends: some exchange
        ([(1, 0), (2, 0), (2, 3)], ""),
        ([(1, 0), (1, 0), (2, 0)], ""),
    ],
)
def test_an_incast_of_which_no_message_leaves_its_switch_is_told(ends, told):
    src, dst = np.array(ends).T
    flows = {"src": src, "dst": dst, "bytes": 7 + 0 * src, "start_ps": 0 * src}
    lines = list(narrow_incasts({**LEAVES, "flows": flows}))
    assert [told in line for line in lines] == [True] * bool(told)
    assert all("random_senders: true draws" in line for line in lines)
    assert all("more than 2 senders reach beyond" in line for line in lines)
    later = {**flows, "start_ps": np.arange(len(src))}
    assert list(narrow_incasts({**LEAVES, "flows": later})) == []


def test_an_incast_in_a_network_of_one_switch_is_not_told():
    star = {"nodes": {name: column[:6] for name, column in LEAVES["nodes"].items()},
            "links": {"node_a": np.arange(5), "node_b": np.full(5, 10)}}  # fmt: skip
    flows = {"src": np.array([1, 2]), "dst": np.array([0, 0]), "bytes": np.array([7, 7]),
             "start_ps": np.array([0, 0])}  # fmt: skip
    assert list(narrow_incasts({**star, "flows": flows})) == []


PFC = ("ns3::Pfc", {"XoffBytes": "100000", "Priorities": "8"})
CREDITS = ("ns3::CreditFlowControl", {"Lanes": "4"})


@pytest.mark.parametrize(
    ("controls", "trimmable", "priority", "told"),
    [
        ({0: PFC}, "true", 3, "is lossless with ns3::Pfc"),
        ({0: CREDITS}, "true", 3, "is lossless with ns3::CreditFlowControl"),
        ({0: PFC, 1: PFC}, "true", 3, "is lossless with ns3::Pfc"),
        ({0: PFC}, "true", 2, ""),
        ({0: CREDITS}, "true", 4, ""),
        ({0: PFC}, "false", 3, ""),
        ({1: PFC}, "true", 3, ""),  # links of class 0 have none
        ({}, "true", 3, ""),
    ],
)
def test_data_that_is_never_trimmed_in_a_lossless_class_is_told(
    controls, trimmable, priority, told
):
    roles = [("queue", 0, "ns3::TrimmingQueue", {"TrimBytes": "64", "LimitBytes": "70000"})]
    roles += [("flow_control", index, *its) for index, its in controls.items()]
    links = LINKS | ({"class": np.array([0, 1, 0])} if 1 in controls else {})
    sends = transport(given={"Trimmable": trimmable, "Priority": str(priority)})
    lines = list(never_trimmed({"links": links}, roles, [transport(), sends]))
    assert [told in line and f"its Priority, {priority}," in line for line in lines] == (
        [True] * bool(told)
    )
    assert list(never_trimmed({"links": links}, roles[1:], [sends])) == []


@pytest.mark.ns3
def test_in_a_lossless_class_no_transport_is_trimmed_and_none_is_dropped(tmp_path, monkeypatch):
    # The queue limits data to five packets; 24 messages of 100 kB meet at two hosts at once.
    monkeypatch.chdir(tmp_path)
    uec = {"CongestionControl": "ns3::Nscc", "Trimmable": True}
    run = pyorch.run({
        "name": "mixed",
        "topology": {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 8, "spines": 4},
        "link": {"rate": "100 Gb/s", "delay": "500 ns",
                 "flow_control": {"type": "ns3::Pfc", "attributes": {"XoffBytes": "100 kB"}}},
        "switch": {"buffer": "64 MB", "queue": {
            "type": "ns3::TrimmingQueue",
            "attributes": {"LimitBytes": "20 kB", "KminBytes": "4 kB", "KmaxBytes": "16 kB"},
        }},
        "workload": [
            {"type": "incast", "senders": 12, "message": "100 kB", "transport": "roce"},
            {"type": "incast", "senders": 12, "message": "100 kB", "receiver": 1,
             "transport": "uec"},
        ],
        "transport": [{"name": "roce", "type": "ns3::RoceTransport"},
                      {"name": "uec", "type": "ns3::UecTransport", "attributes": uec}],
        "stop": "20 ms",
    })  # fmt: skip
    ports = run.ports
    assert run.summary["flows_done"] == 24 and run.summary["dropped_frames"] == 0
    assert ports["trimmed_packets"].sum() == ports["refused_verdicts"].sum() == 0
    assert ports["max_queue_bytes"].max() > 20_000
