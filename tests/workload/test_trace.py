# SPDX-License-Identifier: GPL-2.0-only
"""Task graphs from files: whose hosts ranks are, what they make, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from pyorch import spec
from pyorch.errors import SpecError
from pyorch.render import input_tables
from pyorch.runs.remarks import remarks
from pyorch.spec.scenario import parse_scenario
from pyorch.spec.stored import checked
from pyorch.training._protobuf import encoded, framed
from pyorch.workload import trace as trace_workload

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
SCENARIO = """\
name: trace
topology: {type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: trace, format: goal, file: ping.goal}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""
#: Rank 0 computes 100 ns and sends 1 kB to rank 2, which computes 50 ns then.
PING = """num_ranks 3
rank 0 {
a: calc 100
b: send 1000b to 2
b requires a
}
rank 1 {
}
rank 2 {
a: recv 1000b from 0
b: calc 50
b requires a
}
"""


def node(number, kind, **attributes):
    """Return a node of a Chakra trace with int64 attributes, or one that is a text."""
    given = [
        (10, encoded([(1, key), (29, value) if isinstance(value, str) else (9, value)], zeros=True))
        for key, value in attributes.items()
    ]
    return encoded([(1, number), (3, kind), *given])


def trace(*nodes):
    return framed([encoded([(1, "0.0.4")]), *nodes])


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a GOAL file, and one all-reduce of 4 ranks as a Chakra trace."""
    (tmp_path / "ping.goal").write_text(PING)
    for rank in range(4):
        (tmp_path / f"all.{rank}.et").write_bytes(trace(node(1, 7, comm_type=0, comm_size=4000)))
    return tmp_path


def planned(folder, **changes):
    """Return the spec of the scenario, its workload changed; None takes a key out."""
    load = {"type": "trace", "format": "goal", "file": "ping.goal"} | changes
    load = {key: value for key, value in load.items() if value is not None}
    scenario = parse_scenario(SCENARIO, str(folder / "trace.yaml"))
    (run,) = spec.plan(scenario, sets=[("workload", load)], typeids_file=TYPEIDS)
    return run.spec


CHAKRA = {"format": "chakra", "file": "all.0.et"}


@pytest.mark.parametrize(
    "placement, src, dst",
    [
        ({}, 0, 2),
        ({"first_host": 3}, 3, 5),
        ({"placement": "strided", "stride": 3}, 0, 6),
        ({"placement": "aligned"}, 0, 4),  # one of each leaf: two hosts below each
        ({"hosts": [7, 0, 1]}, 7, 1),
    ],
)
def test_ranks_are_the_hosts_that_placement_says(folder, placement, src, dst):
    tables = input_tables(planned(folder, **placement))

    assert (tables["flows"]["src"].tolist(), tables["flows"]["dst"].tolist()) == ([src], [dst])
    assert tables["flows"]["bytes"].tolist() == [1000]
    # The computation, the recv as a point in time, the computation behind it.
    tasks = tables["tasks"]
    assert tasks["node"].tolist() == [src, dst, dst]
    assert tasks["duration_ps"].tolist() == [100_000, 0, 50_000]
    assert tasks["kind"].tolist() == [0, 2, 0]
    edges = {(int(f), int(a)) for f, a in zip(
        tables["dependencies"]["flow"], tables["dependencies"]["after"], strict=True)}  # fmt: skip
    assert edges == {(0, 1), (2, 0), (3, 2)}


def test_random_ranks_are_different_hosts_and_the_same_for_messages_and_tasks(folder):
    seen = set()
    for first in range(8):
        run = planned(folder, placement="random").model_copy(update={"seed": first})
        tables = input_tables(run)
        src, dst = (int(tables["flows"][end][0]) for end in ("src", "dst"))
        assert src != dst and tables["tasks"]["node"].tolist() == [src, dst, dst]
        seen.add((src, dst))
    assert len(seen) > 1


def test_operations_of_a_chakra_trace_are_done_as_said(folder):
    # A ring of 4 sends 2 (n-1) messages of S / 4 per rank; the binomial tree 2 (n-1) of S in all.
    ring, tree = (
        input_tables(planned(folder, **CHAKRA, **more))["flows"]
        for more in ({}, {"algorithms": {"all_reduce": "tree"}})
    )
    assert ring["bytes"].tolist() == [1000] * 4 * 6
    assert tree["bytes"].tolist() == [4000] * 6


def test_communicators_name_the_ranks_of_operations(folder):
    (folder / "groups.json").write_text(json.dumps({"5": [0, 1], "6": [2, 3]}))
    for rank, name in enumerate(["5", "5", "6", "6"]):
        data = trace(node(1, 7, comm_type=0, comm_size=4000, pg_name=name))
        (folder / f"all.{rank}.et").write_bytes(data)
    flows = input_tables(planned(folder, **CHAKRA, communicators="groups.json"))["flows"]

    pairs = set(zip(flows["src"].tolist(), flows["dst"].tolist(), strict=True))
    assert pairs == {(0, 1), (1, 0), (2, 3), (3, 2)}
    assert flows["bytes"].tolist() == [2000] * 8


def test_computations_without_a_duration_need_the_rates_of_the_accelerator(folder):
    (folder / "all.0.et").write_bytes(
        trace(node(1, 4, num_ops=8000, tensor_size=1000), node(2, 7, comm_type=0, comm_size=4000))
    )
    with pytest.raises(SpecError, match=r"workload.compute: .*all.0.et: node 1: has 8000 operat"):
        planned(folder, **CHAKRA)
    run = planned(folder, **CHAKRA, compute={"peak": "2 TFLOPS", "memory": "1 Tb/s"})

    assert 8000 in input_tables(run)["tasks"]["duration_ps"]  # 1000 B at 1 Tb/s, not 4 ns
    again = checked(run.plain(), "spec.json")
    assert again.plain() == run.plain()
    assert 8000 in input_tables(again)["tasks"]["duration_ps"]
    assert "compute" not in planned(folder).plain()["workload"][0]


def test_dimensions_of_a_resolved_spec_are_read_back(folder):
    flags = framed([encoded([(1, "0.0.4")]), encoded([(1, 1), (3, 7), *(
        (10, encoded([(1, name), its], zeros=True)) for name, its in (
            ("comm_type", (9, 0)), ("comm_size", (9, 4000)),
            ("involved_dim", (28, encoded([(1, [0, 1])])))))])])  # fmt: skip
    for rank in range(4):
        (folder / f"all.{rank}.et").write_bytes(flags)
    run = planned(folder, **CHAKRA, dimensions=[2, 2])
    flows = input_tables(checked(run.plain(), "spec.json"))["flows"]

    pairs = set(zip(flows["src"].tolist(), flows["dst"].tolist(), strict=True))
    assert pairs == {(0, 2), (2, 0), (1, 3), (3, 1)}


def test_remarks_of_a_trace_are_those_of_its_runs(folder):
    (folder / "all.2.et").write_bytes(trace(node(1, 7, comm_type=0, comm_size=4000, seq_id=3)))
    scenario = parse_scenario(SCENARIO, str(folder / "trace.yaml"))
    sets = [("workload", {"type": "trace", **CHAKRA})]
    runs = spec.plan(scenario, sets=sets, typeids_file=TYPEIDS)

    assert [line.partition("all.*.et: ")[2] for line in remarks([*runs, *runs])] == [
        "attributes seq_id are not used."
    ]


def test_a_run_is_named_by_what_all_of_its_files_hold(folder):
    before = planned(folder, **CHAKRA).workload[0].params
    (folder / "all.3.et").write_bytes(trace(node(2, 7, comm_type=0, comm_size=4000)))
    after = planned(folder, **CHAKRA).workload[0].params

    assert [file["path"] for file in before.ranks] == [file["path"] for file in after.ranks]
    assert [a["sha256"] == b["sha256"] for a, b in zip(
        before.ranks, after.ranks, strict=True)] == [True, True, False]  # fmt: skip


@pytest.mark.parametrize("kind", [{}, CHAKRA])
def test_a_resolved_spec_is_read_back_as_it_stands(folder, kind):
    found = planned(folder, **kind).plain()
    assert checked(found, "spec.json").plain() == found


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"file": "pong.goal"}, "workload.file: 'pong.goal': "),
        ({"format": "otf"}, "workload.format: "),
        ({"hosts": [0, 1]}, "workload.hosts: 2 for the 3 ranks of"),
        ({"hosts": [0, 1, 1]}, "workload.hosts: a host is there twice."),
        ({"hosts": [0, 1, 8]}, "workload.hosts: there is no host 8. The 8 hosts are 0 to 7."),
        ({"first_host": 6}, "3 ranks placed like this need 9 hosts; the topology has 8."),
        ({"hosts": [0, 1, 2], "placement": "random"}, "workload.hosts: lists the hosts, so leave"),
        ({"stride": 2}, "workload.stride: 2 with placement packed."),
        ({"algorithms": {"all_reduce": "ring"}}, "workload.algorithms: goal has no use for it."),
        ({"start": "30 ms"}, "workload.start: 30 ms is not before stop"),
        ({"ranks": ["ping.goal"]}, "workload.ranks: are found beside the file of rank 0."),
        ({"format": "chakra"}, "name the file of rank 0, which ends in .0.et."),
        (CHAKRA | {"algorithms": {"all_reduce": "rign"}}, "no collective 'rign'."),
        (CHAKRA | {"algorithms": {"reduce": "ring"}}, "ring does no reduce among ranks"),
        (CHAKRA | {"algorithms": {"all_reduce": "in_network"}}, "in_network does no all_reduce"),
        (CHAKRA | {"algorithms": {"sum": "ring"}}, "workload.algorithms: no operation 'sum'."),
        (CHAKRA | {"communicators": "ping.goal"}, "workload.communicators: "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(folder, changes, message):
    with pytest.raises(SpecError) as caught:
        planned(folder, **changes)
    assert message in str(caught.value) and "\n" not in str(caught.value)


FILES = {
    "cut short": (PING[:-2], "ends inside rank 2: the file is cut short."),
    "a rank that is not there": (PING.replace("to 2", "to 3"), ":4: rank 0 cannot send to rank 3;"),
    "a circle": (
        PING.replace("b requires a\n}\nrank 1", "b requires a\na requires b\n}\nrank 1"),
        ":3: waits for itself in a circle, so it never starts.",
    ),
    "no message": ("num_ranks 1\nrank 0 {\ncalc 3\n}\n", "0 messages; write 1 to 5,000,000."),
    "more ranks than hosts": (
        PING.replace("num_ranks 3", "num_ranks 9")
        + "".join(f"rank {n} {{\n}}\n" for n in range(3, 9)),
        "9 ranks placed like this need 9 hosts; the topology has 8.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", FILES)
def test_a_goal_file_that_cannot_be_is_refused_with_its_line(folder, mistake):
    text, message = FILES[mistake]
    (folder / "ping.goal").write_text(text)
    with pytest.raises(SpecError) as caught:
        planned(folder)
    assert "workload.file: " in str(caught.value) and message in str(caught.value)


def test_a_rank_without_a_file_and_a_file_cut_short_are_said_with_their_rank(folder):
    whole = (folder / "all.2.et").read_bytes()
    (folder / "all.2.et").write_bytes(whole[:-4])
    with pytest.raises(SpecError, match=r"all\.2\.et: ends within a message"):
        planned(folder, **CHAKRA)
    (folder / "all.2.et").unlink()
    with pytest.raises(SpecError, match=r"none of rank 2, all\.2\.et\."):
        planned(folder, **CHAKRA)
    (folder / "all.3.et").unlink()  # two ranks then, of one communicator
    assert len(np.unique(input_tables(planned(folder, **CHAKRA))["flows"]["src"])) == 2


@pytest.mark.parametrize(
    "comm_type, chosen, message",
    [
        (3, {}, "node 1: gather: 3 is no power of two. Write algorithms: {gather: direct}."),
        (
            0, {"algorithms": {"all_reduce": "halving_doubling"}},
            "node 1: all_reduce: 3 is no power of two. Write algorithms: {all_reduce: ring}.",
        ),
    ],
)  # fmt: skip
def test_an_algorithm_that_does_any_number_of_ranks_is_named(folder, comm_type, chosen, message):
    (folder / "all.3.et").unlink()
    for rank in range(3):
        whole = trace(node(1, 7, comm_type=comm_type, comm_size=3000))
        (folder / f"all.{rank}.et").write_bytes(whole)
    with pytest.raises(SpecError) as caught:
        planned(folder, **CHAKRA, **chosen)
    assert message in str(caught.value)
    planned(folder, **CHAKRA, algorithms={"gather": "direct", "all_reduce": "ring"})


@pytest.mark.parametrize("placement", ["packed", "aligned"])
def test_more_ranks_than_any_memory_holds_are_refused(folder, monkeypatch, placement):
    found = trace_workload.graph_of(planned(folder).workload[0].params)
    monkeypatch.setattr(
        trace_workload, "graph_of", lambda params: found._replace(devices=99_999_999_999)
    )
    with pytest.raises(SpecError, match="99999999999 ranks placed like this need 99999999999"):
        planned(folder, placement=placement)


def test_a_delay_of_steps_is_of_messages_that_wait_for_others(folder):
    # A ring of 4: in each of 2 (n - 1) steps but the first each message waits for one.
    delayed = input_tables(planned(folder, **CHAKRA, step_delay="2 us"))["dependencies"]
    plain = input_tables(planned(folder, **CHAKRA))["dependencies"]

    assert int(delayed["delay_ps"].sum()) == 2_000_000 * 5 * 4
    assert "delay_ps" not in plain or not plain["delay_ps"].any()
    with pytest.raises(SpecError, match="workload.step_delay: goal has no use for it"):
        planned(folder, step_delay="2 us")
