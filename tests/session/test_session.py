# SPDX-License-Identifier: GPL-2.0-only
"""A network that a program drives, beside the same messages as a workload, and in C."""

import random
import re
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import pyorch
from pyorch.errors import SimulationError, SpecError
from pyorch.runs import session_file

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "docs" / "extending" / "session" / "ping_pong.c"
TIMES = ("start_ps", "receiver_end_ps", "sender_end_ps")
LINK = {"rate": "400 Gb/s", "delay": "500 ns"}
SCENARIO = {
    "name": "session",
    "topology": {"type": "leaf_spine", "leaves": 4, "hosts_per_leaf": 4, "spines": 4},
    "link": LINK,
    "switch": {"buffer": "16 MB"},
    "workload": {"type": "session"},
    "transport": {"type": "ns3::RoceTransport"},
    "stop": "1 s",
}
SPRAYED = SCENARIO | {
    "transport": {"type": "ns3::SprayTransport", "attributes": {"WindowBdp": 1.25}},
    "link": LINK | {"jitter": "40 ns"},
}
#: Files of other workloads beside a session.
OTHERS = {
    "own.csv": "flow,src,dst,bytes\n7,0,1,1000\n90,1,2,1000\n",
    "own.goal": "num_ranks 2\n"
    "rank 0 {\nl1: calc 9000\nl2: send 1000b to 1 tag 1\nl2 requires l1\n}\n"
    "rank 1 {\nl1: recv 1000b from 0 tag 1\nl2: calc 5000\nl2 requires l1\n}\n",
}
ACK_PS = (66 + 20) * 8 * 1000 // 400  # with framing [byte], at 400 Gb/s
pytestmark = pytest.mark.ns3


def drawn(number):
    """Return random messages, source, destination, bytes and start, in the order of starts."""
    draw = random.Random(1)
    rows = []
    for _ in range(number):
        src, dst = draw.sample(range(16), 2)
        rows.append((src, dst, draw.randint(1, 400_000), draw.randint(0, 30_000_000)))
    return sorted(rows, key=lambda row: row[3])


def as_workload(scenario, rows, folder):
    """Return a scenario with messages of the workload `flow_table`."""
    path = folder / "flows.csv"
    lines = ["src,dst,bytes,start_ps", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return scenario | {"workload": {"type": "flow_table", "file": str(path)}}


def answering(session, seed):
    """Send, and answer each message by up to two others, of sizes that depend on when it came."""
    draw = random.Random(seed)

    def answer(message):
        for _ in range(draw.randint(0, 2) if message < 300 else 0):
            src, dst = draw.sample(range(16), 2)
            session.send(src, dst, 1 + session.now_ps % 200_000)

    session.on_delivered(answer)
    for src, dst, size_bytes, start_ps in drawn(50):
        session.at(start_ps, partial(session.send, src, dst, size_bytes))
    session.run()


@pytest.mark.parametrize("scenario", [SCENARIO, SPRAYED], ids=["RoCEv2", "sprayed, unlike cables"])
@pytest.mark.parametrize("way", ["start_ps", "at"])
def test_messages_at_given_times_are_a_flow_table_bit_for_bit(scenario, way, tmp_path):
    rows = drawn(200)
    with pyorch.Session(scenario) as session:
        for src, dst, size_bytes, start_ps in rows:
            if way == "at":
                session.at(start_ps, partial(session.send, src, dst, size_bytes))
            else:
                session.send(src, dst, size_bytes, start_ps=start_ps)
        session.run()
        ours = session.flows()
    theirs = pyorch.run(as_workload(scenario, rows, tmp_path), out=tmp_path / "run").flows
    for name in TIMES:
        assert (ours[name] == theirs[name].to_numpy()).all(), name


# In packets a host sends the last acknowledgement of a message before its answer.
@pytest.mark.parametrize(("engine", "ack_ps"), [("packets", ACK_PS), ("fluid", 0)])
def test_an_answer_starts_when_the_last_byte_of_its_message_is_there(engine, ack_ps, tmp_path):
    scenario = SCENARIO | {"engine": engine}
    alone = pyorch.run(
        as_workload(scenario, [(0, 5, 1_000_000, 0)], tmp_path), out=tmp_path / "run"
    ).flows
    (one_ps,) = alone["receiver_end_ps"]
    with pyorch.Session(scenario) as session:
        session.on_delivered(
            lambda message: message < 6 and session.send(*[(0, 5), (5, 0)][~message % 2], 1_000_000)
        )
        session.send(0, 5, 1_000_000)
        arrivals = [(session.advance(), session.now_ps) for _ in range(7)]
        assert session.advance() is None
    assert arrivals == [(i, (i + 1) * one_ps + i * ack_ps) for i in range(7)]


@pytest.mark.parametrize("scenario", [SCENARIO, SPRAYED], ids=["RoCEv2", "sprayed, unlike cables"])
def test_a_saved_session_gives_the_same_times_again(scenario, tmp_path):
    tables = []
    with pyorch.Session(scenario) as session:
        answering(session, seed=7)
        session.save(tmp_path / "sent.csv")
        tables.append(session.flows())
    with pyorch.Session(scenario) as session:
        session.replay(tmp_path / "sent.csv")
        session.run()
        tables.append(session.flows())
    assert len(tables[0]["flow"]) > 100
    for name in tables[0]:
        assert (tables[0][name] == tables[1][name]).all(), name


def test_hosts_of_any_type_of_whole_number_are_saved_as_numbers(tmp_path):
    with pyorch.Session(SCENARIO) as session:
        session.send(True, np.int64(5), np.int32(1_000))
        session.save(tmp_path / "saved.csv")
    assert (tmp_path / "saved.csv").read_text().splitlines()[1] == "0,0,1,5,1000,0"


def test_a_time_is_reached_although_nothing_happens_then():
    with pyorch.Session(SCENARIO) as session:
        called = []
        session.at(3_000, lambda: called.append(session.now_ps))
        assert session.advance(5_000) is None
        assert (session.now_ps, called) == (5_000, [3_000])
        session.send(0, 1, 1_000)
        assert session.advance(5_001) is None
        assert session.advance() == 0
        assert session.now_ps > 5_000


def test_messages_are_received_in_their_order_by_sender_receiver_and_tag():
    got = []
    with pyorch.Session(SCENARIO) as session:
        session.recv(0, 5, 1, lambda message: got.append(("waited", message)))
        for tag in (1, 1, 2):
            session.send(0, 5, 10_000, tag=tag)
        session.send(0, 5, 10_000)
        session.run()
        session.recv(0, 5, 2, lambda message: got.append(("late", message)))
        session.recv(0, 5, 1, lambda message: got.append(("late", message)))
        session.recv(0, 5, 3, lambda message: got.append(("never", message)))
    assert got == [("waited", 0), ("late", 2), ("late", 1)]


@pytest.mark.parametrize(
    "other",
    [
        {"type": "collective", "algorithm": "ring", "operation": "all_reduce", "ranks": 8,
         "bytes": "1 MB", "step_delay": "1 us"},
        {"type": "trace", "format": "goal", "file": "own.goal"},
        {"type": "flow_table", "file": "own.csv"},
    ],
    ids=["messages that wait", "tasks", "ids of their own"],
)  # fmt: skip
@pytest.mark.parametrize("engine", ["packets", "fluid"])
def test_ids_are_behind_those_of_other_workloads(other, engine, tmp_path):
    for name, text in OTHERS.items():
        (tmp_path / name).write_text(text)
    place = {"file": str(tmp_path / other["file"])} if "file" in other else {}
    loads = [{"type": "session"}, other | place]
    with pyorch.Session(SCENARIO | {"workload": loads, "engine": engine}) as session:
        sent = [session.send(0, 5, 1_000) for _ in range(3)]
        assert sorted(session.advance() for _ in range(3)) == sent
        sent.append(session.send(5, 0, 1_000))
        session.run()
        flows = session.flows()
    assert sent == sorted(set(sent)) and set(sent) <= set(flows["flow"].tolist())
    assert (flows["receiver_end_ps"] >= 0).all()


def test_other_workloads_are_background():
    background = {"type": "permutation", "message": "1 MB", "start": "0 ns"}
    ends = []
    for others in ([], [background]):
        with pyorch.Session(SCENARIO | {"workload": [{"type": "session"}, *others]}) as session:
            message = session.send(0, 5, 1_000_000)
            session.run()
            flows = session.flows()
            ends.append(flows["receiver_end_ps"][flows["flow"] == message].item())
        assert len(flows["flow"]) == (17 if others else 1)
    assert ends[1] > ends[0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda s: s.send(0, 16, 1), "node 16 is a switch"),
        (lambda s: s.send(0, 99, 1), "there is no node 99"),
        (lambda s: s.send(3, 3, 1), "from host 3 to itself"),
        (lambda s: s.send(0, 1, 0), "1 byte or more, not 0"),
        (lambda s: s.send(0, 1, 2**62), "a message of 4611686018427387904 bytes has more than"),
        (lambda s: s.on_delivered(3), "Session.on_delivered: '3' is no function"),
        (lambda s: s.recv(0, 1, 7, None), "Session.recv: 'None' is no function"),
        (lambda s: s.at(5, "print"), "Session.at: 'print' is no function"),
        (lambda s: s.send(0, 1, 1, transport=4), "there are 1 transports"),
        (lambda s: (s.advance(10), s.send(0, 1, 1, start_ps=9)), "9 ps is over"),
        (lambda s: s.send(0, 1, 1.5), "size_bytes: 1.5 is no whole number"),
        (lambda s: s.send(0, 1, 2**64 + 1000), "size_bytes: 18446744073709552616 is no"),
        (lambda s: s.send(-1, 1, 1), "src: -1 is no whole number"),
        (lambda s: s.send(0, 1, 1, start_ps=2**64), "start_ps: 18446744073709551616 is no"),
        (lambda s: s.advance(1e6), "until_ps: 1000000.0 is no whole number"),
        (lambda s: s.at(1.5, print), "time_ps: 1.5 is no whole number"),
        (lambda s: (s.flows(), s.send(0, 1, 1)), "cannot go on"),
        (lambda s: (s.flows(), s.advance()), "cannot go on"),
        (lambda s: (s.advance(10), s.at(9, print)), "9 ps is over"),
        (lambda s: pyorch.Session(SCENARIO), "another session is open"),
        (lambda s: (s.close(), s.advance()), "it is closed"),
    ],
)
def test_misuse_is_refused_in_one_line(call, says):
    with pyorch.Session(SCENARIO) as session, pytest.raises(SimulationError) as refused:
        call(session)
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_what_is_refused_leaves_nothing_behind():
    ends = []
    for refused in (
        {},
        {"size_bytes": 2**62},
        {"transport": 4},
        {"dst": 16},
        {"dst": 99},
        {"start_ps": 0},
    ):
        with pyorch.Session(SCENARIO) as session:
            session.advance(10)
            if refused:
                with pytest.raises(SimulationError):
                    session.send(**{"src": 0, "dst": 5, "size_bytes": 1_000} | refused)
            assert session.send(0, 5, 1_000) == 0
            session.run()
            ends.append(session.flows()["receiver_end_ps"].tolist())
    assert len(ends[0]) == 1
    assert ends == [ends[0]] * len(ends)


def test_a_message_that_a_timer_of_the_same_time_sends_is_saved_as_it_was_sent(tmp_path):
    tables = []
    with pyorch.Session(SCENARIO) as session:
        session.on_delivered(
            lambda message: (
                message < 3 and session.at(session.now_ps, partial(session.send, 5, 0, 5_000))
            )
        )
        session.send(0, 5, 10_000)
        session.send(1, 5, 10_000)
        session.run()
        session.save(tmp_path / "sent.csv")
        tables.append(session.flows())
    with pyorch.Session(SCENARIO) as session:
        session.replay(tmp_path / "sent.csv")
        session.run()
        tables.append(session.flows())
        session_rows = (tmp_path / "sent.csv").read_text().splitlines()
    first = tables[0]["receiver_end_ps"].tolist()
    for line in session_rows[3:]:
        passed_ps, start_ps, *_ = map(int, line.split(","))
        assert start_ps in first
        assert passed_ps == start_ps + 1
    for name in tables[0]:
        assert (tables[0][name] == tables[1][name]).all(), name


def test_the_stop_of_the_scenario_is_the_end():
    with pyorch.Session(SCENARIO | {"stop": "2 us"}) as session:
        called = []
        session.at(3_000_000, lambda: called.append(1))
        session.send(0, 5, 1_000_000)
        assert session.advance() is None
        assert session.now_ps == 2_000_000
        assert session.advance(5_000_000) is None
        assert (session.now_ps, called) == (2_000_000, [])
        assert session.flows()["receiver_end_ps"].tolist() == [-1]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"engine": {"skip": "1%"}}, "engine.skip"),
        ({"trace": {"pcap": [0]}}, "trace.pcap"),
        ({"sweep": {"seed": [1, 2]}}, "a session is one run"),
        ({"transport": {"type": "ns3::NoTransport"}}, "NoTransport"),
    ],
)
def test_a_scenario_that_no_session_can_have_is_refused(changes, says):
    with pytest.raises((SpecError, SimulationError), match=says):
        pyorch.Session(SCENARIO | changes)


def test_a_session_is_no_run(tmp_path):
    with pytest.raises(SpecError, match="a program sends the messages"):
        pyorch.run(SCENARIO, out=tmp_path / "run")


def test_a_message_of_a_file_that_cannot_be_sent_is_refused_with_its_line(tmp_path):
    path = tmp_path / "sent.csv"
    path.write_text("passed_ps,start_ps,src,dst,bytes,transport\n0,0,0,1,9,0\n0,0,0,16,9,0\n")
    with pyorch.Session(SCENARIO) as session, pytest.raises(SimulationError) as refused:
        session.replay(path)
    assert str(refused.value).startswith(f"{path}: line 3: Session.send: ")


def test_a_file_that_is_no_saved_session_is_refused(tmp_path):
    path = tmp_path / "sent.csv"
    head = "passed_ps,start_ps,src,dst,bytes,transport"
    for text, says in (("a,b\n", "line 1: the columns"), (f"{head}\n0,0,1\n", "line 2: a row")):
        path.write_text(text)
        with pyorch.Session(SCENARIO) as session, pytest.raises(SimulationError, match=says):
            session.replay(path)


def test_the_process_of_a_session_loads_nothing_of_the_analysis():
    code = (
        f"import sys, pyorch\nwith pyorch.Session({SCENARIO!r}) as session:\n"
        "    session.send(0, 5, 1000); session.run(); session.flows()\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "numpy" in loaded
    assert not loaded & {"pandas", "pyarrow", "pydantic", "jinja2", "scipy", "cppyy"}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program in C, and the environment in which it runs."""
    folder = tmp_path_factory.mktemp("c")
    compile_, run = session_file.advice().splitlines()
    words = [
        {"PROGRAM.c": str(PROGRAM), "PROGRAM": str(folder / "ping_pong")}.get(word, word)
        for word in shlex.split(compile_)
    ]
    subprocess.run([*words, "-Wall", "-Wextra", "-Werror"], check=True)
    name, _, value = shlex.split(run)[0].partition("=")
    return folder / "ping_pong", {name: value}


def test_a_program_in_c_gets_the_same_times(program, tmp_path):
    path = tmp_path / "session.txt"
    spec = session_file.chosen({"scenario": SCENARIO, "scale": "laptop"})
    path.write_text(session_file.text_of(spec))
    done = subprocess.run(
        [program[0], path, "0", "5", "300000", "4"],
        env=program[1], capture_output=True, text=True, check=True,
    )  # fmt: skip
    with pyorch.Session(SCENARIO) as session:
        for i in range(4):
            session.send(*[(0, 5), (5, 0)][i % 2], 300_000)
            session.advance()
        ends = session.flows()["receiver_end_ps"]
    assert np.array_equal(ends, [int(line.split()[0]) for line in done.stdout.splitlines()])


def test_a_program_in_c_says_that_a_message_does_not_arrive(program, tmp_path):
    path = tmp_path / "session.txt"
    given = {"scenario": SCENARIO | {"stop": "1 us"}, "scale": "laptop"}
    path.write_text(session_file.text_of(session_file.chosen(given)))
    done = subprocess.run(
        [program[0], path, "0", "5", "300000", "4"], env=program[1], capture_output=True, text=True
    )
    said = (1, "", "message 0 does not arrive before the stop\n")
    assert (done.returncode, done.stdout, done.stderr) == said


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda text: "hello\n", "line 1: the first line is not"),
        (lambda text: text[: len(text) // 2], "line .*(is expected|ends before)"),
        (lambda text: text.replace("ns3::RoceTransport", "ns3::Rose"), "no TypeId 'ns3::Rose'"),
        (lambda text: text.replace("seed ", "sead "), "'sead' is none of"),
        (lambda text: text.replace("libroce.so", "librice.so"), "librice.so.*LD_LIBRARY_PATH"),
        (lambda text: text.replace("rate_bps whole", "rate_bps whole 9"), "(rows|each row)"),
    ],
    ids=range(6),
)
def test_a_bad_file_is_one_line(program, edit, says, tmp_path):
    path = tmp_path / "session.txt"
    spec = session_file.chosen({"scenario": SCENARIO, "scale": "laptop"})
    path.write_text(edit(session_file.text_of(spec)))
    done = subprocess.run(
        [program[0], path, "0", "5", "300000", "4"], env=program[1], capture_output=True, text=True
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()

    assert re.search(says, line), line
