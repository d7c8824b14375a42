# SPDX-License-Identifier: GPL-2.0-only
"""Flows from files: equal to what stands there, and refused with file, line and reason."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch.errors import SpecError
from pyorch.render import input_tables
from pyorch.spec.fields import FieldError
from pyorch.spec.network import Network
from pyorch.spec.parts import Topology
from pyorch.spec.plan import plan
from pyorch.spec.resolved import Link, Spec, Switch, Trace, Workload
from pyorch.spec.scenario import parse_scenario
from pyorch.topology import leaf_spine
from pyorch.workload import flow_table, hpcc_flows, htsim_cm

DATA = Path(__file__).parents[1] / "data" / "htsim"
TYPEIDS = DATA.parent / "typeids.json"
LINK = Link(rate_bps=10**11, delay_ps=10**6)
PARAMS = leaf_spine.Params.model_validate(
    {"leaves": 16, "hosts_per_leaf": 8, "spines": 8}, context={"link": LINK}
)
TABLES, COUNTS = leaf_spine.tables(PARAMS, LINK), leaf_spine.counts(PARAMS)
STOP_PS = 10**12


def read(module, folder, **given_):
    params = module.Params.model_validate(given_, context={"folder": folder})
    module.check(params, Network(COUNTS, TABLES["nodes"], TABLES["links"]), STOP_PS)
    return module.flows(params, TABLES["nodes"], TABLES["links"], 1)


def test_a_matrix_of_htsim_is_read_as_a_person_reads_it():
    got = read(htsim_cm, DATA, file="perm_128_2000000_1_1.0_0.cm")

    # Lines 3 and 4 of the file: 39->74 id 1 start 0 size 2000000, 41->62 id 2 ...
    assert [got[name][:2].tolist() for name in ("src", "dst", "flow")] == [
        [39, 41], [74, 62], [1, 2]
    ]  # fmt: skip
    assert sorted(got["src"]) == sorted(got["dst"]) == list(range(128))
    assert set(got["bytes"]) == {2_000_000} and set(got["start_ps"]) == {0}
    assert sorted(got["flow"]) == list(range(1, 129))


def test_starts_of_a_matrix_are_picoseconds_and_unused_triggers_change_nothing(tmp_path):
    (tmp_path / "a.cm").write_text(
        "# comment\nNodes 4\nConnections 2\nTriggers 1\n"
        "0->1 start 1500.0 size 10 send_done_trigger 1 prio 3\n\n2->3 start 0 size 5\n"
        "trigger id 1 oneshot\n"
    )
    got = read(htsim_cm, tmp_path, file="a.cm")

    assert got["start_ps"].tolist() == [1500, 0] and "flow" not in got
    params = htsim_cm.Params.model_validate({"file": "a.cm"}, context={"folder": tmp_path})
    (said,) = htsim_cm.remarks(params)
    assert said.endswith("a.cm: not used: prio.")


def test_a_flow_file_of_hpcc_by_hand(tmp_path):
    (tmp_path / "flow.txt").write_text("3\n0 1 3 100 10 2.0e-6\n2 3 3 101 20 0\n4 5 2 100 30 0.5\n")
    got = read(hpcc_flows, tmp_path, file="flow.txt", priority_group=3)

    assert got["src"].tolist() == [0, 2] and got["bytes"].tolist() == [10, 20]
    assert got["start_ps"].tolist() == [2_000_000, 0]
    assert read(hpcc_flows, tmp_path, file="flow.txt", priority_group=2)["dst"].tolist() == [5]


FLOWS = st.lists(
    st.tuples(st.integers(0, 127), st.integers(0, 127), st.integers(1, 2**40),
              st.integers(0, STOP_PS - 1)).filter(lambda row: row[0] != row[1]),
    min_size=1, max_size=20,
)  # fmt: skip


@settings(max_examples=60)
@given(FLOWS, st.sampled_from(["cm", "txt", "csv", "parquet"]), st.booleans())
def test_what_is_written_is_read_again(tmp_path_factory, rows, kind, with_ids):
    folder = tmp_path_factory.mktemp("flows")
    path = folder / f"flows.{kind}"
    if kind == "cm":
        module = htsim_cm
        lines = [f"{s}->{d} " + f"id {i + 5} " * with_ids + f"start {t} size {b}"
                 for i, (s, d, b, t) in enumerate(rows)]  # fmt: skip
        path.write_text("\n".join(["Nodes 128", f"Connections {len(rows)}", *lines, ""]))
    elif kind == "txt":
        module = hpcc_flows
        lines = [f"{s} {d} 3 100 {b} {t // 10**12}.{t % 10**12:012d}" for s, d, b, t in rows]
        path.write_text("\n".join([str(len(rows)), *lines, ""]))
    else:
        module = flow_table
        frame = pd.DataFrame(rows, columns=["src", "dst", "bytes", "start_ps"])
        frame = frame.assign(flow=frame.index + 5) if with_ids else frame
        write = frame.to_csv if kind == "csv" else frame.to_parquet
        write(path, index=False)
    got = read(module, folder, file=path.name)

    names = ("src", "dst", "bytes", "start_ps")
    assert list(zip(*(got[name].tolist() for name in names), strict=True)) == rows
    if with_ids and kind != "txt":
        assert got["flow"].tolist() == [i + 5 for i in range(len(rows))]


#: Who waits for whom, in htsim's words; {} is where a trigger is changed.
WAITING = """\
Nodes 8
Connections 5
Triggers 2
0->1 id 1 start 0 size 10 send_done_trigger 9
1->2 id 2 start 5 size 10 recv_done_trigger 9 send_done_trigger 8
2->3 id 3 trigger 9 size 10
3->4 id 4 trigger 8 size 10
4->5 id 5 trigger 9 size 10
trigger id 9 {}
trigger id 8 {}
"""
RIGHT = WAITING.format("barrier count 2", "oneshot")


def waits_of(folder, text):
    (folder / "w.cm").write_text(text)
    given_ = {"file": "w.cm", "trigger_delay": "1 us"}
    found = read(htsim_cm, folder, **given_)
    params = htsim_cm.Params.model_validate(given_, context={"folder": folder})
    rows = htsim_cm.dependencies(params)
    ids = found["flow"]
    waits = zip(ids[rows["flow"]], ids[rows["after"]], rows["at_sender"], strict=True)
    return found, sorted(tuple(map(int, row)) for row in waits)


@pytest.mark.parametrize("kind", ["oneshot", "multishot", "barrier count 1"])
def test_flows_wait_for_all_that_activate_their_trigger(tmp_path, kind):
    found, waits = waits_of(tmp_path, WAITING.format("barrier count 2", kind))

    # Trigger 9 is activated by the source of 1 and the sink of 2, trigger 8 by the source of 2.
    assert waits == [(3, 1, 1), (3, 2, 0), (4, 2, 1), (5, 1, 1), (5, 2, 0)]
    assert found["start_ps"].tolist() == [0, 5, 0, 0, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WAITING.format("oneshot", "oneshot"), ":9: trigger 9 is activated 2 times, but oneshot "
         "allows one; .* Write barrier count 2"),
        (WAITING.format("barrier count 3", "oneshot"), ":9: .*2 times, but its count is 3: with "
         "fewer it never fires"),
        (WAITING.format("barrier", "oneshot"), "2 times, but its count is 0"),
        (WAITING.format("multishot", "oneshot"), "2 times and 2 flows wait for it; which of them"),
        (WAITING.format("barrier count 2", "oneshot count"), ":10: '': write count and a whole"),
        (WAITING.format("barrier count 2", "twoshot"), ":10: 'twoshot' is no word of a trigger.*"
         "Did you mean oneshot"),
        (WAITING.format("barrier count 2", "oneshot barrier"), "a trigger has an id and is one of"),
        (RIGHT.replace("id 8", "id 9"), ":10: trigger 9 stands twice"),
        (RIGHT.replace("id 8", "id 0"), ":10: '0': write id and a whole number from 1"),
        (RIGHT.replace("done_trigger 8", "done_trigger 7"), ":5: there is no trigger 7"),
        (RIGHT.replace(" send_done_trigger 8", ""), ":7: waits for trigger 8, which no flow"),
        (RIGHT.replace("trigger 8 size", "trigger 8 start 0 size"), ":7: has a start and waits"),
        (RIGHT.replace("id 4 ", ""), ":7: waits for a trigger, so htsim asks for its id"),
        (RIGHT.replace("start 5", "trigger 8"), ":5: flows wait for each other, .*: lines 5"),
        (RIGHT.replace("start 0", "trigger 8").replace("start 5", "trigger 9"),
         "flows wait for each other, .*: lines (4, 5|5, 4|5)"),
    ],
)  # fmt: skip
def test_a_trigger_that_is_no_dependency_is_refused(tmp_path, text, message):
    with pytest.raises(FieldError, match=message):
        waits_of(tmp_path, text)


def test_waiting_flows_of_a_file_are_named_by_their_ids_in_the_tables(tmp_path):
    (tmp_path / "w.cm").write_text(RIGHT)
    (tmp_path / "b.csv").write_text("src,dst,bytes\n5,6,1\n7,8,1\n")
    (tmp_path / "n.cm").write_text(CM.replace("id 1", "id 21").replace("id 2 ", "id 22 "))
    files = [(flow_table, "b.csv"), (htsim_cm, "n.cm"), (htsim_cm, "w.cm")]
    loads = [(module, {"file": name}) for module, name in files]

    assert "dependencies" not in input_tables(resolved(tmp_path, *loads[:2]))
    rows = input_tables(resolved(tmp_path, *loads))["dependencies"]

    assert list(zip(*(rows[n].tolist() for n in ("flow", "after", "at_sender")), strict=True)) == [
        (3, 1, 1), (3, 2, 0), (5, 1, 1), (5, 2, 0), (4, 2, 1)
    ]  # fmt: skip


CM = "Nodes 4\nConnections 2\n0->1 id 1 start 0 size 10\n2->3 id 2 start 7 size 20\n"
HPCC = "2\n0 1 3 100 10 0.0\n2 3 3 100 20 0.5\n"


@pytest.mark.parametrize(
    ("module", "text", "message"),
    [
        (htsim_cm, "", "nothing|no Nodes|cut off"),
        (htsim_cm, CM.rpartition("2->3")[0], "1 connections, but the header says Connections 2. Is "
         "the file cut off"),
        (htsim_cm, CM.rpartition(" size")[0], ":4: has no size. Is the line cut off"),
        (htsim_cm, CM.replace("Nodes 4\n", ""), "the header has no Nodes n"),
        (htsim_cm, CM.replace("Nodes 4", "Nodes 129"), "Nodes 129, but the topology has 128 hosts"),
        (htsim_cm, CM.replace("2->3", "2->4"), ":4: there is no host 4; Nodes 4, so hosts are 0 to "
         "3"),
        (htsim_cm, CM.replace("2->3", "2->2"), ":4: host 2 sends to itself"),
        (htsim_cm, CM.replace("id 2", "id 1"), ":4: flow 1 stands twice"),
        (htsim_cm, CM.replace("id 2", "id 0"), ":4: id 0 is not allowed"),
        (htsim_cm, CM.replace("id 2 ", ""), ":3: has an id, but not every flow has"),
        (htsim_cm, CM.replace("start 7", "start 1000000000000"), ":4: starts at 1 s, not before "
         "stop, 1 s. Raise stop"),
        (htsim_cm, CM.replace("start 7", "start 7.5"), ":4: '7.5': write start and a whole number"),
        (htsim_cm, CM.replace("start 7", "trigger 1"), ":4: there is no trigger 1. Add a line"),
        (htsim_cm, CM.replace("size 20", "sizes 20"), ":4: 'sizes' is no word of a flow.*size"),
        (htsim_cm, CM + "trigger id 1 oneshot\n", "1 triggers, but the header says Triggers no"),
        (htsim_cm, CM + "failure switch_type TOR\n", ":5: failures of links are no part"),
        (htsim_cm, CM + "nodes 4\n", ":5: 'nodes' does not belong here.*mean Nodes"),
        (htsim_cm, CM.replace("size 20", "size 0"), ":4: 0 bytes; a message has 1 to"),
        (htsim_cm, CM.replace("size 20", "size 1e999999999"), ":4: '1e999999999': write size and"),
        (htsim_cm, CM.replace("size 20", "size 1_000"), ":4: '1_000': write size and a whole"),
        (htsim_cm, CM.replace("size 20", "size \u0663"), "write size and a whole number"),
        (htsim_cm, CM.replace("Nodes 4", "Nodes 4 5"), ":1: '4 5': write Nodes and a whole number"),
        (htsim_cm, "Nodes 9\n" + CM, ":2: Nodes stands twice"),
        (htsim_cm, "Failures 2\n" + CM, "0 failures, but the header says Failures 2"),
        (htsim_cm, CM.replace("id 2", "id -2"), ":4: id -2 is not allowed"),
        (htsim_cm, "Nodes 4\nConnections 0\n", "a.cm: there is no flow in it"),
        (htsim_cm, CM.replace("\n2->3", " \x0c 2->3"), ":3: '2->3' is no word of a flow"),
        (hpcc_flows, "", "the first line must be the number of flows"),
        (hpcc_flows, HPCC.rpartition("2 3")[0], "1 flows, but the first line says 2. Is the file"),
        (hpcc_flows, HPCC.rpartition(" 0.5")[0], ":3: '2 3 3 100 20' is no flow .5 words."),
        (hpcc_flows, HPCC.replace("2 3 3", "2 3 4"), "has the priority groups 3, 4. Import it"),
        (hpcc_flows, HPCC.replace("2 3 3", "2 128 3"), ":3: there is no host 128; hosts are the "
         "nodes 0 to 127"),
        (hpcc_flows, HPCC.replace("0.5", "1.5"), ":3: starts at 1.5 s, not before stop, 1 s"),
        (hpcc_flows, HPCC.replace("2\n0", "\u00b2\n0"), "the first line must be the number of"),
        (hpcc_flows, HPCC.replace("2 3 3", f"{2**63} 3 3"), ":3: .*does not fit 64 bits"),
        (hpcc_flows, HPCC.replace("0.5", "1e99999"), ":3: .*the start '1e99999' does not fit 64"),
        (hpcc_flows, HPCC.replace("0.5", "0.5" + "0" * 30 + "1"), ":3: .*no whole number in ps"),
        (hpcc_flows, HPCC.replace("0.5", "1e-13"), ":3: .*start '1e-13' is no whole number in ps"),
        (flow_table, "src,dst,bytes\n0,1,10\n0,128,10\n", "row 2: there is no host 128"),
        (flow_table, "flow,src,dst,bytes\n3,0,1,10\n-1,0,1,10\n", "row 2: flow -1; an id of a flow"
         " is 0 to 4611686018427387904"),
        (flow_table, f"flow,src,dst,bytes\n3,0,1,10\n{2**62 + 1},0,1,10\n", "row 2: flow 4611686018"
         "427387905; an id"),
        (flow_table, "src,dst\n0,1\n", "has no column 'bytes'"),
        (flow_table, "src,dst,bytes,when\n0,1,1,0\n", "column 'when' is not one of src, dst"),
        (flow_table, "src,dst,bytes\n0,1,ten\n", "bytes: row 1: 'ten' is not a whole number"),
        (flow_table, "src,dst,bytes\n", "there is no flow in it"),
        (flow_table, "src,dst,bytes\n0,1,10,20\n", "no readable .csv table: .*2 columns|got 4"),
        (flow_table, "src,dst,bytes,bytes\n0,1,10,20\n", "column 'bytes' stands twice"),
        (flow_table, f"src,dst,bytes\n0,1,{2**63}\n", "row 1: .9223372036854775808. is not a"),
        (flow_table, "src,dst,bytes\n0,1,\n", "bytes: row 1: '' is not a whole number"),
        (flow_table, "src,dst,bytes\n0,1,0x7\n", "bytes: row 1: '0x7' is not a whole number"),
        (flow_table, "src,dst,bytes\n0,1,True\n", "bytes: row 1: 'True' is not a whole number"),
        (flow_table, "src,dst,bytes\n0,1,1\x002\n", "row 1: '1.x002' is not a whole number"),
        (flow_table, 'src,dst,"by\ntes"\n', "a.csv: (is no readable|has no column 'bytes')"),
        (flow_table, 'src,dst,bytes\n0,1,"10', "no readable .csv table: a quoted cell does not"),
    ],
)  # fmt: skip
def test_a_broken_file_is_refused_with_its_line(tmp_path, module, text, message):
    name = {htsim_cm: "a.cm", hpcc_flows: "a.txt", flow_table: "a.csv"}[module]
    (tmp_path / name).write_text(text)
    with pytest.raises(FieldError, match=message) as caught:
        read(module, tmp_path, file=name)
    assert name in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("n", [2**53 + 1, 2**62 - 1, 2**62])
@pytest.mark.parametrize("other", ["1.0", "1e3"])
def test_a_large_number_keeps_its_last_digit_beside_one_with_decimals(tmp_path, n, other):
    # float64 holds whole numbers to 2^53; a column guessed to be float would round this one.
    (tmp_path / "a.csv").write_text(f"flow,src,dst,bytes\n{n},0,1,5\n{other},2,3,5\n")

    assert read(flow_table, tmp_path, file="a.csv")["flow"].tolist() == [n, int(float(other))]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pd.Series([True, False]), "bytes: holds 'bool', not numbers"),
        (pd.to_datetime(pd.Series([7, 8])), "bytes: holds 'timestamp.*', not numbers"),
        (pd.Series(["7", "8"]), "bytes: holds '.*string', not numbers"),
        (pd.Series([[7], [8]]), "bytes: holds 'list.*', not numbers"),
        (pd.Series([7, None], dtype="Int64"), "bytes: row 2: 'None' is not a whole number"),
        (pd.Series([7, 2**63], dtype="uint64"), "bytes: row 2: '9223372036854775808' is not"),
        (pd.Series([7.0, 8.5]), "bytes: row 2: '8.5' is not a whole number"),
    ],
)
def test_a_column_that_holds_no_whole_numbers_is_refused(tmp_path, column, message):
    frame = pd.DataFrame({"src": [0, 2], "dst": [1, 3], "bytes": column})
    frame.to_parquet(tmp_path / "a.parquet")

    with pytest.raises(FieldError, match=message):
        read(flow_table, tmp_path, file="a.parquet")


def test_an_index_that_pandas_has_written_is_no_column(tmp_path):
    frame = pd.DataFrame({"src": [9, 0], "dst": [8, 1], "bytes": [1, 2]})
    frame[frame["bytes"] > 1].to_parquet(tmp_path / "a.parquet")

    assert read(flow_table, tmp_path, file="a.parquet")["src"].tolist() == [0]


def test_a_table_beyond_any_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    from pyorch.spec import files

    monkeypatch.setattr(files, "MOST_ROWS", 2)
    frame = pd.DataFrame({"src": [0] * 3, "dst": [1] * 3, "bytes": [1] * 3})
    frame.to_parquet(tmp_path / "a.parquet")

    with pytest.raises(FieldError, match="3 rows; at most 2"):
        read(flow_table, tmp_path, file="a.parquet")


def test_a_binary_file_is_no_matrix(tmp_path):
    (tmp_path / "a.cm").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FieldError, match="a.cm: is not a text file"):
        read(htsim_cm, tmp_path, file="a.cm")


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_file_is_read_or_refused_never_a_bug(tmp_path_factory, data):
    module, name, text = data.draw(
        st.sampled_from([(htsim_cm, "a.cm", CM), (hpcc_flows, "a.txt", HPCC),
                         (flow_table, "a.csv", "src,dst,bytes,flow\n0,1,10,1\n2,3,20,2\n")])
    )  # fmt: skip
    text = list(text)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at] = data.draw(st.sampled_from(
            ["", "\n", " ", "-", "0", "9" * 20, "x", ".", "e", ",", "->", "NaN"]))  # fmt: skip
    cut = data.draw(st.integers(0, len(text)))
    folder = tmp_path_factory.mktemp("damaged")
    (folder / name).write_text("".join(text[:cut]))
    try:
        got = read(module, folder, file=name)
    except FieldError:
        return
    assert (got["bytes"] >= 1).all() and (got["start_ps"] < STOP_PS).all()
    assert got["src"].max() < 128 and (got["src"] != got["dst"]).all()


def resolved(folder, *loads):
    """Return a spec with these workloads on the 128 hosts."""
    sections = []
    for module, given_ in loads:
        params = module.Params.model_validate(given_, context={"folder": folder})
        name = module.__name__.rpartition(".")[2]
        sections.append(Workload.model_construct(type=name, params=params, transport=0))
    return Spec.model_construct(
        topology=Topology.model_construct(type="leaf_spine", params=PARAMS), link=LINK,
        workload=sections, failures=(), seed=1, stop_ps=STOP_PS, trace=Trace(nodes=[], pcap=[]),
        switch=Switch.model_construct(classes=()),
    )  # fmt: skip


def test_flows_keep_the_ids_of_their_file_and_others_get_the_next_free_ones(tmp_path):
    (tmp_path / "a.cm").write_text(CM)
    (tmp_path / "b.csv").write_text("src,dst,bytes\n5,6,1\n7,8,1\n")
    (tmp_path / "c.csv").write_text("flow,src,dst,bytes\n9,5,6,1\n")
    loads = [(flow_table, {"file": "b.csv"}), (htsim_cm, {"file": "a.cm"}),
             (flow_table, {"file": "c.csv"})]  # fmt: skip

    assert input_tables(resolved(tmp_path, *loads))["flows"]["flow"].tolist() == [10, 11, 1, 2, 9]


def test_one_id_in_two_files_is_refused(tmp_path):
    (tmp_path / "a.cm").write_text(CM)
    (tmp_path / "c.csv").write_text("flow,src,dst,bytes\n2,5,6,1\n")
    spec = resolved(tmp_path, (htsim_cm, {"file": "a.cm"}), (flow_table, {"file": "c.csv"}))

    with pytest.raises(SpecError, match="flow 2 is in two workloads"):
        input_tables(spec)


SCENARIO = """\
name: files
topology: {type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: flow_table, file: a.csv}
transport: {type: "ns3::RoceTransport"}
stop: 20 ms
"""
#: 4294967294 packets of 4096 B.
LARGEST = (2**32 - 2) * 4096


@pytest.mark.parametrize(
    "changes, most",
    [
        ({}, LARGEST),
        ({"transport.attributes": {"MtuBytes": 1000}}, (2**32 - 2) * 1000),
        ({"engine": "fluid"}, 2**53),
    ],
)
@pytest.mark.parametrize(
    "load, text, where",
    [
        (
            {"type": "flow_table", "file": "a.csv"},
            "src,dst,bytes\n0,1,10\n0,1,{}\n",
            "a.csv: row 2",
        ),
        ({"type": "htsim_cm", "file": "a.csv"}, CM.replace("size 20", "size {}"), "a.csv:4"),
        ({"type": "hpcc_flows", "file": "a.csv"}, HPCC.replace("20 0.5", "{} 0"), "a.csv:3"),
        (
            {"type": "trace", "format": "goal", "file": "a.csv"},
            "num_ranks 2\nrank 0 {{\nsend {0}b to 1\n}}\nrank 1 {{\nrecv {0}b from 0\n}}\n",
            "a.csv: rank 0 to 1",
        ),
    ],
)
def test_a_message_of_more_packets_than_there_are_numbers_is_refused(
    tmp_path, changes, most, load, text, where
):
    sets = [("workload", load), *changes.items()]
    scenario = parse_scenario(SCENARIO, str(tmp_path / "files.yaml"))
    for size in (most, most + 1):
        (tmp_path / "a.csv").write_text(text.format(size))
        if size == most:
            plan(scenario, sets=sets, typeids_file=TYPEIDS)
            continue
        with pytest.raises(SpecError) as caught:
            plan(scenario, sets=sets, typeids_file=TYPEIDS)
        said = f"{where}: {size} bytes; a message has 1 to {most} with its transport."
        of_goal = f"a.csv:3: bytes '{size}': at most {2**53}."
        assert (of_goal if most == 2**53 and "goal" in load.values() else said) in str(caught.value)
