# SPDX-License-Identifier: GPL-2.0-only
"""What is exported and imported again is the same network and the same flows, or is refused."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from pyorch import plugins, spec
from pyorch.cli.app import app
from pyorch.errors import SpecError
from pyorch.export import chakra, goal, hpcc, htsim, infragraph
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
AGAIN = {
    "hpcc": ("topology.txt", {"type": "hpcc_flows", "file": "flow.txt", "priority_group": 3}),
    "htsim": ("fabric.topo", {"type": "htsim_cm", "file": "flows.cm"}),
}


def planned(folder=".", **changes):
    """Return the spec of the small scenario and its tables."""
    scenario = parse_scenario(SCENARIO, f"{folder}/small.yaml")
    (run,) = spec.plan(scenario, sets=list(changes.items()), typeids_file=TYPEIDS)
    return run.spec, input_tables(run.spec)


def exported(format_, folder, **changes):
    """Return the tables before, and after they were written and read again."""
    before = planned(folder, **changes)
    texts = plugins.load("pyorch.export", format_).files(*before)
    for name, text in texts.items():
        (folder / name).write_text(text)
    network, flows = AGAIN[format_]
    after = planned(folder, topology={"type": "from_file", "file": network}, workload=flows)
    return before[1], after[1]


def sorted_links(links):
    ends = np.sort([links["node_a"], links["node_b"]], axis=0)
    names = sorted(set(links) - {"node_a", "node_b"})
    return sorted(zip(*ends.tolist(), *(links[n].tolist() for n in names), strict=True))


def same_network(before, after):
    assert {n: c.tolist() for n, c in before["nodes"].items()} == {
        n: c.tolist() for n, c in after["nodes"].items()
    }
    assert sorted_links(before["links"]) == sorted_links(after["links"])


RATES = st.sampled_from(["1 Gb/s", "100 Gb/s", "400 Gb/s"])
DELAYS = st.sampled_from(["2 ns", "1 ns", "1.5 us"])
NETWORKS = st.one_of(
    st.fixed_dictionaries({
        "type": st.just("leaf_spine"), "leaves": st.integers(2, 4), "spines": st.integers(1, 3),
        "hosts_per_leaf": st.integers(1, 3), "parallel": st.integers(1, 2),
        "planes": st.integers(1, 2), "uplink_rate": RATES, "uplink_delay": DELAYS,
    }),
    st.fixed_dictionaries({
        "type": st.just("fat_tree"), "tiers": st.integers(2, 4), "radix": st.sampled_from([2, 4]),
        "planes": st.integers(1, 2),
    }),
    st.fixed_dictionaries({
        "type": st.just("dumbbell"), "left": st.integers(1, 4), "right": st.integers(1, 4),
        "bottleneck_rate": RATES,
    }),
)  # fmt: skip
LOADS = st.sampled_from([
    {"type": "permutation", "message": "97.4 MB", "inter_leaf": False, "start": "1.5 us"},
    {"type": "poisson", "load": 0.3, "duration": "10 us", "sizes": "fb_hdp"},
    {"type": "all_to_all", "message": "1 B"},
])  # fmt: skip


@pytest.mark.parametrize("format_", AGAIN)
@settings(max_examples=60)
@given(topology=NETWORKS, workload=LOADS, rate=RATES, delay=DELAYS, seed=st.integers(1, 99))
def test_what_is_written_is_read_again(
    tmp_path_factory, format_, topology, workload, rate, delay, seed
):
    # Told apart by hand: HPCC has no parallel links; htsim has neither planes nor 4 tiers, and a
    # dumbbell has no second tier.
    one_plane = topology.get("planes", 1) == 1
    is_tree = topology["type"] == "leaf_spine" or topology.get("tiers", 4) < 4
    can = topology.get("parallel", 1) == 1 if format_ == "hpcc" else one_plane and is_tree
    changes = {"topology": topology, "workload": workload, "seed": seed,
               "link": {"rate": rate, "delay": delay}}  # fmt: skip
    if not can:
        with pytest.raises(SpecError):
            exported(format_, tmp_path_factory.mktemp("refused"), **changes)
        return
    try:
        n_flows = len(planned(**changes)[1]["flows"]["src"])
    except SpecError as error:
        assert "there is no flow" in str(error)  # this seed draws none
        return
    before, after = exported(format_, tmp_path_factory.mktemp("again"), **changes)

    same_network(before, after)
    flows = before["flows"]
    order = np.lexsort([flows["flow"], flows["start_ps"]]) if format_ == "hpcc" else slice(None)
    for name in ("src", "dst", "bytes", "start_ps"):
        assert flows[name][order].tolist() == after["flows"][name].tolist()
    assert after["flows"]["flow"].tolist() == list(range(n_flows))


def test_files_of_hpcc_by_hand():
    topology = {"type": "dumbbell", "left": 1, "right": 1, "bottleneck_rate": "1.5 Gb/s"}
    changes = {"topology": topology, "link.loss": 0.25, "link.delay": "1.5 ns",
               "workload": {"type": "single", "message": "9 B", "start": "2 us"},
               "transport.attributes.Priority": 5}  # fmt: skip

    assert hpcc.files(*planned(**changes)) == {
        "topology.txt": "4 2 3\n2 3\n0 2 100Gbps 1500ps 0.25\n1 3 100Gbps 1500ps 0.25\n"
        "2 3 1500000000bps 1500ps 0.25\n",
        "flow.txt": "1\n0 1 5 100 9 0.000002\n",
    }


def test_files_of_htsim_by_hand():
    topology = {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 1, "parallel": 2}
    changes = {"topology": topology, "switch.processing_delay": "7 ns",
               "workload": {"type": "stride", "stride": 2, "message": "9 B"}}  # fmt: skip
    got = htsim.files(*planned(**changes))

    assert got["fabric.topo"].splitlines() == [
        "Nodes 4", "Tiers 2", "Podsize 4",
        "Tier 0", "Downlink_speed_Gbps 100", "Downlink_Latency_ns 500", "Switch_Latency_ns 7",
        "Radix_Down 2", "Bundle 1", "Radix_Up 2",
        "Tier 1", "Downlink_speed_Gbps 100", "Downlink_Latency_ns 500", "Switch_Latency_ns 7",
        "Radix_Down 4", "Bundle 2",
    ]  # fmt: skip
    assert got["flows.cm"] == (
        "Nodes 4\nConnections 4\n0->2 start 0 size 9\n1->3 start 0 size 9\n"
        "2->0 start 0 size 9\n3->1 start 0 size 9\n"
    )


def table_of(folder, ids):
    rows = [f"{i},{n},{n + 1},5" for n, i in enumerate(ids)]
    (folder / "t.csv").write_text("\n".join(["flow,src,dst,bytes", *rows, ""]))
    return {"type": "flow_table", "file": "t.csv"}


@settings(max_examples=60)
@given(data=st.data())
def test_flows_that_wait_become_triggers_and_wait_again(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("waits")
    ids = data.draw(st.lists(st.integers(0, 99), min_size=2, max_size=6, unique=True))
    spec_, before = planned(folder, workload=table_of(folder, ids))
    ends = [(i, at) for i in ids for at in (0, 1)]
    waits = set()
    for place, flow in enumerate(ids[1:], 1):
        free = [e for e in ends if e[0] in ids[:place] and e not in {w[1:] for w in waits}]
        if free:
            waits |= {(flow, *end) for end in data.draw(st.sets(st.sampled_from(free)))}
    assume(waits)
    columns = np.array(sorted(waits), dtype=np.int64).T
    before["dependencies"] = dict(zip(("flow", "after", "at_sender"), columns, strict=True))
    for name, text in htsim.files(spec_, before).items():
        (folder / name).write_text(text)
    _, after = planned(folder, workload=AGAIN["htsim"][1] | {"trigger_delay": "1 ns"})

    shift = int(min(ids) == 0)  # htsim has no flow 0
    assert after["flows"]["flow"].tolist() == [i + shift for i in ids]
    rows = (after["dependencies"][name].tolist() for name in ("flow", "after", "at_sender"))
    assert {(f - shift, a - shift, at) for f, a, at in zip(*rows, strict=True)} == waits


def test_a_switch_latency_is_read_from_the_scenario_and_no_file_of_htsim(tmp_path):
    with pytest.raises(SpecError, match="switch.processing_delay of the scenario. Write 0 here"):
        exported("htsim", tmp_path, **{"switch.processing_delay": "7 ns"})
    written = (tmp_path / "fabric.topo").read_text()
    (tmp_path / "fabric.topo").write_text(written.replace("Latency_ns 7", "Latency_ns 0"))

    _, again = planned(tmp_path, topology={"type": "from_file", "file": "fabric.topo"})
    same_network(planned()[1], again)


@given(start_ps=st.integers(0, 2**62))
def test_starts_are_rounded_as_the_other_simulator_rounds_them(start_ps):
    # Oracles: the nanosecond that has begun; IEEE 754, 24 digits, ties to even.
    (ns,) = hpcc.starts_there(np.array([start_ps]))
    (single,) = htsim.starts_there(np.array([start_ps]))

    assert ns == start_ps // 1000 * 1000
    step = 2 ** max(start_ps.bit_length() - 24, 0)
    assert single == round(Fraction(start_ps, step)) * step


@pytest.mark.parametrize(
    ("format_", "start", "said"),
    [
        ("htsim", "16777216 ps", ""),  # 2^24
        ("htsim", "16777217 ps", "workload: htsim reads 8 of 8 starts with an error of up to 1 ps"),
        ("hpcc", "3 ns", ""),
        ("hpcc", "3.999 ns", "workload: HPCC reads 8 of 8 starts with an error of up to 999 ps"),
    ],
)
def test_starts_that_will_be_rounded_are_counted(tmp_path, format_, start, said):
    (tmp_path / "small.yaml").write_text(SCENARIO)
    options = ["--set", f"workload.start={start}", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["export", format_, str(tmp_path / "small.yaml"), *options])

    assert done.exit_code == 0
    assert done.stderr == (f"{tmp_path}/small.yaml: {said}.\n" if said else "")


@pytest.mark.parametrize("ranks", [3, 4])
def test_messages_that_htsim_would_never_start_are_counted(tmp_path, ranks):
    # By hand: a ring all-reduce has 2 (n - 1) steps, of which the first waits for none.
    (tmp_path / "small.yaml").write_text(SCENARIO)
    load = f"{{type: collective, operation: all_reduce, bytes: 12 kB, ranks: {ranks}}}"
    options = ["--set", f"workload={load}", "--set", "workload.algorithm=ring"]
    options += ["--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["export", "htsim", str(tmp_path / "small.yaml"), *options])
    n_waiting = (2 * (ranks - 1) - 1) * ranks
    assert f"workload: {n_waiting} messages wait until a receiver has another one" in done.stderr


def test_a_refused_export_names_the_scenario(tmp_path):
    (tmp_path / "small.yaml").write_text(SCENARIO)
    options = ["--set", "link.loss=0.5", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["export", "htsim", str(tmp_path / "small.yaml"), *options])

    assert str(done.exception).startswith(f"{tmp_path}/small.yaml: link.loss: files of htsim have")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format_", ["goal", "chakra"])
@pytest.mark.parametrize("load, earlier", [
    ({"start": "5 us"}, "5 us"), ({"start": "5 us", "launch_time": "2 us"}, "7 us"), ({}, ""),
])  # fmt: skip
def test_a_trace_that_begins_earlier_than_the_run_says_so(tmp_path, format_, load, earlier):
    (tmp_path / "small.yaml").write_text(SCENARIO)
    load = {"type": "collective", "operation": "all_reduce", "bytes": "12 kB", "ranks": 4,
            "algorithm": "ring"} | load  # fmt: skip
    options = ["--set", f"workload={json.dumps(load)}", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["export", format_, str(tmp_path / "small.yaml"), *options])
    assert done.exit_code == 0
    assert (f"so all is {earlier} earlier there" in done.stderr) == bool(earlier)


BURSTS = {"type": "ns3::GilbertElliott"}
FAIL = [{"type": "scheduled", "links": [[0, 8]], "at": "1 us"}]
TWO = [{"type": "stride", "stride": 1, "message": "1 B", "transport": name} for name in "ab"]


def transports(**attributes):
    both = [{"name": "a"}, {"name": "b", "attributes": attributes}]
    return [{"type": "ns3::RoceTransport", **one} for one in both]


@pytest.mark.parametrize(
    ("format_", "changes", "message"),
    [
        (hpcc, {"failures": FAIL}, "failures: files of HPCC have none"),
        (htsim, {"failures": FAIL}, "failures: files of htsim have none"),
        (hpcc, {"link.bit_error_ratio": 1e-9}, "files of HPCC have no bit errors"),
        (htsim, {"link.bit_error_ratio": 1e-9}, "files of htsim have no bit errors"),
        (hpcc, {"topology.parallel": 2}, "parallel links: HPCC uses one link of each pair"),
        (hpcc, {"switch.processing_delay": "1 ns"}, "switch.processing_delay: HPCC has none"),
        (hpcc, {"workload": TWO, "transport": transports(MtuBytes=1000)}, "all flows of HPCC have"),
        (htsim, {"workload": TWO, "transport": transports()}, "all flows of htsim have the same"),
        (htsim, {"link.loss": 0.1}, "files of htsim have no losses"),
        (htsim, {"topology.planes": 2}, "htsim has one plane. Write planes: 1"),
        (htsim, {"topology": {"type": "fat_tree", "tiers": 4, "radix": 2}}, "4 tiers; htsim has 2"),
        (
            htsim,
            {"topology": {"type": "star", "hosts": 4}, "workload.inter_leaf": False},
            "topology: switches in 1 tier; htsim has 2 or 3. Take another topology.",
        ),
        (htsim, {"link.rate": "1.5 Gb/s"}, "rate below tier 1: files of htsim count in 1 Gb/s"),
        (htsim, {"link.delay": "1.5 ns"}, "delay: files of htsim count in 1 ns"),
        (
            htsim,
            {"switch.processing_delay": "1.5 ns"},
            "switch.processing_delay: files of htsim count in 1 ns",
        ),
        (htsim, {"workload.message": "3 GB"}, "a message of 3000000000 bytes; htsim reads up to"),
        *(
            (format_, {"workload": {"type": "session"}}, "no message is known before the run")
            for format_ in (hpcc, htsim, goal, chakra)
        ),
        *(
            (format_, changes, message)
            for format_ in (hpcc, htsim, infragraph)
            for changes, message in (
                ({"link.loss_model": BURSTS}, "link.loss_model: files of .* have none"),
                (
                    {"link.classes": [{"tiers": [0, 1], "loss_model": BURSTS}]},
                    "link.classes.0.loss_model: files of .* have none",
                ),
                (
                    {"switch.classes": [{"tiers": [1], "processing_delay": "1 us"}]},
                    "switch.classes.0.processing_delay: in files of .* all switches have the same",
                ),
            )
        ),
    ],
)
def test_what_a_format_cannot_say_is_refused(format_, changes, message):
    with pytest.raises(SpecError, match=message):
        format_.files(*planned(**changes))


def test_priorities_of_transports_become_priority_groups():
    groups = hpcc.files(*planned(workload=TWO, transport=transports(Priority=5)))["flow.txt"]

    assert sorted({line.split()[2] for line in groups.splitlines()[1:]}) == ["3", "5"]


def test_a_network_that_is_no_fat_tree_is_refused(tmp_path):
    # Two leaves, two spines; host 0 has a slower link. And a square of switches in place of spines.
    (tmp_path / "n.csv").write_text("node,is_switch\n0,0\n1,0\n2,1\n3,1\n4,1\n")
    links = "node_a,node_b,rate_bps,delay_ps\n0,2,{},1000\n1,3,1000000000,1000\n"
    links += "2,4,1000000000,1000\n3,4,1000000000,1000\n"
    tables = {"type": "from_file", "nodes": "n.csv", "links": "l.csv"}
    for rate, more, message in (
        (5 * 10**9, "", "rates and delays below tier 1 differ"),
        (10**9, "2,3,1000000000,1000\n", "a file of htsim would say another one|differ"),
    ):
        (tmp_path / "l.csv").write_text(links.format(rate) + more)
        with pytest.raises(SpecError, match=message):
            htsim.files(*planned(tmp_path, topology=tables, workload=table_of(tmp_path, [7])))


def test_waits_that_need_two_triggers_for_one_end_are_refused(tmp_path):
    spec_, tables = planned(tmp_path, workload=table_of(tmp_path, [1, 2, 3, 4]))
    waits = {"flow": [3, 3, 4], "after": [1, 2, 1], "at_sender": [1, 1, 1]}
    tables["dependencies"] = {name: np.array(column) for name, column in waits.items()}

    with pytest.raises(SpecError, match="the end of flow 1 starts flows that wait for different"):
        htsim.files(spec_, tables)
    with pytest.raises(SpecError, match="HPCC cannot let a flow wait for another"):
        hpcc.files(spec_, tables)


def test_the_command_writes_the_files_of_one_run(tmp_path):
    (tmp_path / "small.yaml").write_text(SCENARIO)
    command = ["export", "hpcc", str(tmp_path / "small.yaml"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, command, catch_exceptions=False)

    assert done.output.split() == [str(tmp_path / "out" / n) for n in ("topology.txt", "flow.txt")]
    assert (tmp_path / "out" / "flow.txt").read_text().startswith("8\n")
