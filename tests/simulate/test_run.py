# SPDX-License-Identifier: GPL-2.0-only
"""One run is one process: what it leaves, and how it ends when something is wrong."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pyorch import built
from pyorch.errors import SimulationError
from pyorch.simulate import Fabric, run_script
from pyorch.simulate.run import Aborted, main, simulate

ENDLESS = {"size_bytes": 10**12, "stop_ps": 10**15}


@pytest.mark.ns3
def test_a_run_leaves_columns_manifest_and_provenance(script, run, tmp_path):
    done = run(script())

    assert (done.returncode, done.stderr) == (0, "")
    # Oracle: one frame of 4096 + 62 + 16 bytes and 20 bytes of framing lasts 4194 * 10 ps at
    # 800 Gb/s; it is stored and forwarded over two links of 500 ns.
    flows = np.load(tmp_path / "out/raw.npz")
    assert flows["flows.receiver_end_ps"].tolist() == [2 * (41_940 + 500_000)]
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["stop_reason"] == "all flows done"
    assert manifest["tables"]["flows"]["rows"] == 1
    provenance = json.loads((tmp_path / "out/provenance.json").read_text())
    assert provenance["data_packets"] == 1
    assert provenance["start_to_first_event_s"] > 0


@pytest.mark.ns3
def test_the_same_seed_gives_the_same_bytes(script, run, tmp_path):
    path = script(size_bytes=10**6)

    assert [run(path, out).returncode for out in ("a", "b")] == [0, 0]

    first, second = (dict(np.load(tmp_path / out / "raw.npz")) for out in ("a", "b"))
    assert list(first) == list(second)
    assert all(first[key].tobytes() == second[key].tobytes() for key in first)
    assert len({(tmp_path / out / "raw.npz").read_bytes() for out in ("a", "b")}) == 1


@pytest.mark.ns3
def test_only_libraries_of_the_types_named_are_loaded(script, run, tmp_path):
    run(script())

    libraries = json.loads((tmp_path / "out/provenance.json").read_text())["libraries_sha256"]
    ours = [name for name in libraries if not name.startswith("libns3")]
    engine = ["contract", "engine", "fabric", "facade", "observe", "parallel", "skip", "topology"]
    chosen = ["flowcontrol", "forwarding", "host", "pathselector", "queueing", "roce"]
    assert ours == sorted(f"lib{name}.so" for name in [*engine, *chosen])


@pytest.mark.ns3
def test_the_library_of_a_type_with_attributes_in_brackets_is_loaded(script, run, tmp_path):
    done = run(script(attributes='{"CongestionControl": "ns3::Swift[Beta=0.5|HopTarget=1us]"}'))

    assert (done.returncode, done.stderr) == (0, "")
    libraries = json.loads((tmp_path / "out/provenance.json").read_text())["libraries_sha256"]
    assert "libcongestion.so" in libraries


@pytest.mark.ns3
def test_what_a_type_logs_is_seen_if_asked_for(script, run, tmp_path, monkeypatch):
    monkeypatch.setenv("NS_LOG", "FabricPacketTransport=logic|prefix_time")
    done = run(script())

    assert done.returncode == 0
    assert done.stderr.startswith("+0.000000000000s host 0: message 7 of 4096 bytes")


@pytest.mark.ns3
def test_a_library_built_anew_during_a_run_leaves_no_result(script, tmp_path, monkeypatch):
    folder = tmp_path / "build"
    shutil.copytree(built.here().libraries, folder / "lib")
    shutil.copy(built.here().typeids, folder)
    (folder / "include").symlink_to(built.here().headers)
    path = script(**ENDLESS | {"size_bytes": 2 * 10**9})
    process = subprocess.Popen(
        [sys.executable, path, "--out", tmp_path / "out"], stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYORCH_BUILD": str(folder)},
    )  # fmt: skip
    # Executable: whoever only reads the file before it is loaded would see the other one.
    loaded = re.compile(r"r-xp .*/libroce\.so$", re.MULTILINE)
    mapped = Path(f"/proc/{process.pid}/maps")
    while process.poll() is None and not loaded.search(mapped.read_text()):
        time.sleep(0.02)
    (folder / "lib" / "libspray.so").replace(folder / "lib" / "libroce.so")

    _, said = process.communicate()

    assert "libroce.so was built anew while this run was going" in said
    assert process.returncode == 1 and "Traceback" not in said
    assert not list(tmp_path.glob("out/*.json")) and not (tmp_path / "out/raw.npz").exists()


@pytest.mark.ns3
def test_a_run_imports_nothing_of_the_analysis(script, tmp_path):
    code = (
        "import sys; from pyorch.simulate import run_script;"
        f"assert run_script({str(script())!r}, {str(tmp_path / 'out')!r}) == 0;"
        "print({'pandas', 'pyarrow', 'pydantic', 'matplotlib'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.stdout, done.stderr) == ("set()\n", "")


@pytest.mark.ns3
def test_flows_left_at_the_stop_time_are_written_and_warned_of(script, run, tmp_path):
    done = run(script(stop_ps=1_000_000))

    assert done.returncode == 0
    assert "1 of 1 flows did not finish by the stop time, 1 us; raise stop." in done.stderr
    assert np.load(tmp_path / "out/raw.npz")["flows.receiver_end_ps"].tolist() == [-1]


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("rates_bps", "said"), [([0], "1 link is cut at the end"), ([0, 10**9], "raise stop")]
)
def test_more_time_is_proposed_unless_a_link_stays_cut(rates_bps, said, script, run):
    path = script(stop_ps=1_000_000, size_bytes=10**9)
    rows = len(rates_bps)
    events = {"time_ps": [*range(500_000, 500_000 + rows)], "node_a": [0] * rows,
              "node_b": [2] * rows, "parallel": [0] * rows, "rate_bps": rates_bps}  # fmt: skip
    line = "    fabric.stop_ps"
    path.write_text(
        path.read_text().replace(line, f"    fabric.table('link_events', {events})\n{line}")
    )

    assert run(path).stderr.endswith(f"flows did not finish by the stop time, 1 us; {said}.\n")


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"transport": "ns3::RoceTransprt"},
            "scenario.py: no module in ns3-modules registers a TypeId 'ns3::RoceTransprt'."
            " Did you mean ns3::RoceTransport?",
        ),
        ({"attributes": "{'Gian': 1}"}, "ns3::RoceTransport has no attribute 'Gian'"),
        ({"attributes": "{'Recovery': 'GoBackM'}"}, "GoBackM"),
        ({"attributes": "{'MtuBytes': 0}"}, "MtuBytes"),
    ],
)
def test_a_wrong_scenario_ends_with_one_line_and_status_1(script, run, changes, message):
    done = run(script(**changes))

    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("number", "status", "reason"),
    [(signal.SIGINT, 130, "stopped by Ctrl-C"), (signal.SIGTERM, 143, "stopped by SIGTERM")],
)
def test_a_signal_ends_a_run_cleanly(script, tmp_path, number, status, reason):
    out = tmp_path / "out"
    command = [sys.executable, script(**ENDLESS), "--out", out]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        mapped = Path(f"/proc/{process.pid}/maps")
        while not (out.exists() and "libroce.so" in mapped.read_text()):
            time.sleep(0.02)  # the network is built of it, then the engine runs
        process.send_signal(number)
        _, errors = process.communicate()

    assert process.returncode == status
    assert reason in errors
    assert len(errors.splitlines()) == 1
    assert list(out.iterdir()) == []


@pytest.mark.ns3
def test_a_crash_in_cpp_ends_by_its_signal_without_pages_of_frames():
    code = (
        "import os, signal; from pyorch.simulate import loader;"
        "loader.facade_of([]); os.kill(os.getpid(), signal.SIGSEGV)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (-signal.SIGSEGV, "")


def test_a_script_that_runs_nothing_is_an_error(tmp_path, capsys):
    path = tmp_path / "scenario.py"
    path.write_text("def build(): ...\n")

    assert run_script(path, tmp_path) == 1
    assert "does not call simulate.main(build)" in capsys.readouterr().err


class FakeFacade:
    """An engine with two flows that does what a test says when it is run."""

    def __init__(self, slices=(True,), flows_done=2, now_ps=5, cycle=()):
        self.slices, self.flows_done, self.now_ps = list(slices), flows_done, now_ps
        self.cycle = cycle

    def RunSlice(self, stop_ps, wall_s):  # noqa: N802 (the engine's own names)
        result = self.slices.pop(0) if self.slices else True
        if isinstance(result, Exception):
            raise result
        return result

    def ThrownAt(self):  # noqa: N802
        return ""

    def WhyOneDomain(self):
        return ""  # noqa: N802, E704

    def DeadlockCycle(self):
        return self.cycle  # noqa: N802, E704

    def Finish(self): ...  # noqa: N802
    def Tables(self):
        return []  # noqa: N802, E704

    def TasksTotal(self):
        return 0  # noqa: N802, E704

    def NowPs(self):
        return self.now_ps  # noqa: N802, E704

    def Events(self):
        return 1  # noqa: N802, E704

    def DataPackets(self):
        return 1  # noqa: N802, E704

    def FlowsTotal(self):
        return 2  # noqa: N802, E704

    def FlowsDone(self):
        return self.flows_done  # noqa: N802, E704


class FakeFabric(Fabric):
    def __init__(self, facade):
        super().__init__(seed=1)
        self.facade = facade

    def load(self): ...

    def build(self, namespace, out):
        return self.facade


def test_a_broken_identity_aborts_with_the_engines_own_words_and_no_result(tmp_path):
    # This is how cppyy shows a std::runtime_error: signature, arrow, class, text.
    thrown = RuntimeError(
        "bool ns3::fabric::Facade::RunSlice(int64_t, double) =>\n"
        "    runtime_error: port 3: sent = delivered + dropped does not hold: 5 != 4 + 0"
    )

    with pytest.raises(Aborted) as caught:
        simulate(FakeFabric(FakeFacade([False, thrown], now_ps=1_234_000)), tmp_path, "run")

    assert str(caught.value) == (
        "the simulation aborted at 1.234 us:"
        " port 3: sent = delivered + dropped does not hold: 5 != 4 + 0"
    )
    assert list(tmp_path.iterdir()) == []


def test_an_abort_leaves_with_status_3(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        main(lambda: FakeFabric(FakeFacade([RuntimeError("x => y: z")])), ["--out", str(tmp_path)])

    assert caught.value.code == 3
    assert "the simulation aborted at 5 ps" in capsys.readouterr().err


def test_a_deadlock_is_told_from_a_stop_time(tmp_path, capsys):
    simulate(FakeFabric(FakeFacade(flows_done=1)), tmp_path, "run")

    warned = capsys.readouterr().err
    assert "1 of 2 flows did not finish: nothing was left to happen at 5 ps" in warned
    assert json.loads((tmp_path / "manifest.json").read_text())["stop_reason"] == "no events left"


@pytest.mark.parametrize("left", [False, RuntimeError("x")])
def test_a_timer_of_ns3_beyond_the_stop_time_is_no_deadlock(left, tmp_path, capsys):
    # Events() counts those of the engine, so what tells is whether a slice had anything to do.
    simulate(FakeFabric(FakeFacade([True, left], flows_done=1)), tmp_path, "run")

    assert "1 of 2 flows did not finish by the stop time" in capsys.readouterr().err


def test_a_pfc_deadlock_is_told_with_its_switches(tmp_path, capsys):
    simulate(FakeFabric(FakeFacade(flows_done=1, cycle=(7, 8, 9))), tmp_path, "run")

    warned = capsys.readouterr().err
    assert "1 of 2 flows did not finish: PFC deadlock: 7 -> 8 -> 9 -> 7." in warned
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["stop_reason"] == "deadlock: 7 -> 8 -> 9 -> 7"


def test_tables_of_different_length_are_refused():
    with pytest.raises(SimulationError, match="nodes: columns differ in length: node 2, tier 1"):
        Fabric(seed=1).table("nodes", {"node": [0, 1], "tier": [0]})


def test_an_unknown_table_is_refused_with_those_there_are():
    with pytest.raises(SimulationError, match="no input table 'node'. There are nodes, links"):
        Fabric(seed=1).table("node", {})


def test_data_packets_count_the_last_short_packet_and_each_transports_mtu():
    fabric = Fabric(seed=1)
    fabric.transport("ns3::A", {"MtuBytes": 1000})
    fabric.transport("ns3::B", {"MtuBytes": 4096})
    fabric.table("flows", {"bytes": [1, 1000, 1001, 8193], "transport": [0, 0, 0, 1]})

    # By hand: 1 + 1 + 2 + 3.
    assert fabric.data_packets() == 7
