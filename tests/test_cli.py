# SPDX-License-Identifier: GPL-2.0-only
"""The command line: one message without a traceback, and one scenario from YAML to a table."""

import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from pyorch import __version__ as version
from pyorch import spec as specs
from pyorch import traces
from pyorch.runs import names
from pyorch.runs.catalog import arranged
from pyorch.runs.make import alone, was_left
from pyorch.runs.prune import unnamed
from pyorch.runs.run import RunResult
from pyorch.simulate.process import End
from pyorch.spec.parameters import column_names, distinguishing, headings, order

ROOT = Path(__file__).parents[1]
SMALL = """\
name: small
topology: {type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 1 MB}
transport: {type: ns3::SprayTransport, attributes: {WindowBdp: 1.25}}
stop: 20 ms
sweep: {seed: [1, 2]}
"""


def pyorch(*arguments, cwd=ROOT, timeout=1200):
    return subprocess.run(
        [sys.executable, "-m", "pyorch", *map(str, arguments)],
        cwd=cwd, capture_output=True, text=True, timeout=timeout,
    )  # fmt: skip


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("topologies", ["leaf_spine"]),
        ("workloads", ["incast", "permutation", "single"]),
        ("metrics", ["fct", "fluid", "slowdown"]),
        ("scenarios", ["scenarios/figure_5.yaml"]),
        ("transports", ["ns3::RoceTransport", "ns3::SprayTransport"]),
        ("queues", ["ns3::DropTail", "ns3::RedEcn"]),
        ("forwarding", ["ns3::EcmpHash"]),
        ("flow_controls", ["ns3::Pfc"]),
        ("flow-controls", ["ns3::Pfc"]),
        ("path_selectors", ["ns3::PermutedEntropy"]),
        ("failures", ["drawn", "random", "scheduled"]),
        ("exports", ["chakra", "goal", "hpcc", "htsim"]),
        ("plots", ["fct", "heatmap", "pauses"]),
    ],
)
def test_everything_that_can_be_chosen_is_listed(kind, names):
    done = pyorch("list", kind)

    listed = [line.split()[0] for line in done.stdout.splitlines()]
    assert done.returncode == 0 and set(names) <= set(listed)
    assert all(len(line.split()) > 1 for line in done.stdout.splitlines())


def test_every_kind_that_list_names_can_be_listed():
    kinds = [line.split()[0] for line in pyorch("list").stdout.splitlines()]

    assert {"topologies", "failures", "queues", "plots", "attributes"} <= set(kinds)
    for kind in kinds:
        done = pyorch("list", kind)
        assert done.returncode == (kind == "attributes"), kind
        assert len(done.stdout.splitlines()) >= 1 or kind == "attributes"


def test_an_attribute_is_listed_with_unit_range_and_meaning():
    assert "loss_models          link: {loss_model: {type: ns3::" in pyorch("list").stdout
    lines = pyorch("list", "attributes", "Pfc").stdout.splitlines()
    rows = {line.split()[0]: line for line in lines}

    assert re.search(r"XoffBytes +\d+ kB +from \d+ +\S+.*\[byte\]", rows["XoffBytes"])
    done = pyorch("list", "attributes", "ns3::RedEcm")
    assert done.returncode == 1 and "Did you mean ns3::RedEcn?" in done.stderr
    assert "Did you mean queues?" in pyorch("list", "queus").stderr


def test_parameters_of_a_topology_are_listed_with_their_defaults():
    rows = [line.split(None, 1) for line in
            pyorch("list", "topologies", "leaf_spine").stdout.splitlines()]  # fmt: skip

    assert ["leaves", "required"] in rows and ["planes", "1"] in rows
    assert ["uplink_rate", "that of link"] in rows


def test_the_nodes_of_a_topology_are_those_that_failures_name(scenario, tmp_path):
    # 4 leaves of 2 hosts and 2 spines: hosts come first, then the leaves, then the spines.
    done = pyorch("topology", scenario, "--draw", tmp_path / "net.png")

    assert done.stdout.splitlines() == [
        "hosts: 0 to 7 (8)", "switches, tier 1: 8 to 11 (4)", "switches, tier 2: 12 to 13 (2)",
        "links: 16 of 800 Gbit/s, 500 ns",
        "oversubscription of tier 1: 1 (1.6 Tbit/s down, 1.6 Tbit/s up)",
        "hosts at 8: 0 to 1", "hosts at 9: 2 to 3",
        "hosts at 10: 4 to 5", "hosts at 11: 6 to 7", str(tmp_path / "net.png"),
    ]  # fmt: skip
    assert (tmp_path / "net.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.ns3
def test_a_run_that_was_killed_is_made_anew_and_that_is_said_once(scenario, tmp_path):
    def run():
        done = pyorch("run", scenario, "--set", "workload.message=8 kB", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stderr

    assert "unfinished" not in run() and "is finished; --force" in run()
    (folder,) = tmp_path.glob("results/small/s1-*")
    (folder / "manifest.json").unlink()  # it is written last
    with alone(folder):
        assert not was_left(folder)  # somebody makes it at this moment
    said = f"results/small/{folder.name} holds an unfinished run, as a kill leaves one; it is made"
    assert run().count(said) == 1 and "unfinished" not in run()


@pytest.mark.ns3
def test_a_run_is_shown_with_all_digits_as_csv(scenario, tmp_path):
    made = pyorch("run", scenario, "--set", "workload.message=8 kB", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    done = pyorch("show", "small/s1", "--csv", cwd=tmp_path)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    found = {(row["what"], row["name"]): row["value"] for row in rows}

    (folder,) = tmp_path.glob("results/small/s1-*")
    fct_ps = RunResult(folder).fct_ps
    assert found["outcome", "slowest_fct_ps"] == str(fct_ps.max())
    assert float(found["outcome", "mean_fct_ps"]) == round(fct_ps.mean())
    assert found["parameter", "link.delay_ps"] == "500000"
    assert found["made", "engine"] == "packets" and len(found) == len(rows)


SEVERAL = {
    "several planes and slow uplinks": "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2,"
    " planes: 2, parallel: 2, uplink_rate: 400 Gb/s, uplink_delay: 2 us}",
    "three tiers": "{type: fat_tree, tiers: 3, radix: 4, oversubscription: [2, 1],"
    " uplink_delay: [1 us, 5 us]}",
    "two sites": "{type: multi_site, sites: [{name: a, topology: {type: star, hosts: 2}},"
    " {name: b, topology: {type: star, hosts: 2}}],"
    " long_haul: [{between: [a, b], rate: 1 Tb/s, delay: 1 ms}]}",
}


@pytest.mark.ns3
@pytest.mark.parametrize("topology", SEVERAL.values(), ids=SEVERAL)
def test_a_topology_that_is_written_as_tables_makes_the_same_flows(scenario, tmp_path, topology):
    text = SMALL.replace(
        "{type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}", topology
    ).replace("delay: 500 ns", "delay: 500 ns, jitter: 20 ns, loss: 0.001")  # fmt: skip
    scenario.write_text(text)
    files = ("--nodes", "nodes.csv", "--links", "t/links.csv")
    done = pyorch("topology", scenario, *files, cwd=tmp_path)
    assert done.stdout.splitlines()[-2:] == ["nodes.csv", "t/links.csv"], done.stderr
    again = tmp_path / "again.yaml"
    own = "{type: from_file, nodes: nodes.csv, links: t/links.csv}"
    again.write_text(text.replace(topology, own))

    flows = []
    for path in (scenario, again):
        made = pyorch("run", path, "--out", tmp_path / path.stem, cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        flows.append((tmp_path / path.stem / "flows.parquet").read_bytes())
    assert flows[0] == flows[1] and len(flows[0]) > 1000


def test_what_tables_of_a_topology_do_not_hold_is_said(scenario, tmp_path):
    rails = (
        "topology={type: rails, devices: 2, rail: {type: star, hosts: 2},"
        " scale_up: {rate: 1 Tb/s, delay: 10 ns}}"
    )
    files = ("--nodes", tmp_path / "n.csv", "--links", tmp_path / "l.csv")
    done = pyorch("topology", scenario, "--set", rails, *files)
    assert "rails: who relays messages between rails is no part of these tables." in done.stderr
    assert "rails: which network carries a message is no part of these tables." in done.stderr
    links = ("0 2", "1 3", "2 3")
    (tmp_path / "t.txt").write_text(
        "4 2 3\n2 3\n" + "".join(f"{ends} 100Gbps 1us 0\n" for ends in links)
    )
    plain = f"topology={{type: from_file, file: {tmp_path}/t.txt}}"  # may have NVSwitches, has none
    done = pyorch("topology", scenario, "--set", plain, *files)
    assert done.returncode == 0 and "part of these tables" not in done.stderr
    done = pyorch("topology", scenario, "--nodes", tmp_path / "n.csv")
    assert done.returncode == 1 and "--nodes and --links go together" in done.stderr
    done = pyorch("topology", scenario, *files[:3], tmp_path / "l.txt")
    assert done.returncode == 1 and "the table is CSV. Name it l.csv." in done.stderr


def test_oversubscription_is_said_of_each_tier_where_tiers_are_what_up_means(scenario):
    # A radix of 8 has four ports down; 2:1 leaves two of those up unused. The top has no up.
    def said(topology):
        done = pyorch("topology", scenario, "--set", f"topology={topology}")
        return [line for line in done.stdout.splitlines() if line.startswith("oversubscription")]

    assert said("{type: fat_tree, tiers: 3, radix: 8, oversubscription: [2, 1]}") == [
        "oversubscription of tier 1: 2 (3.2 Tbit/s down, 1.6 Tbit/s up)",
        "oversubscription of tier 2: 1 (3.2 Tbit/s down, 3.2 Tbit/s up)",
    ]
    assert said("{type: leaf_spine, leaves: 2, hosts_per_leaf: 6, spines: 2, planes: 2,"
                " uplink_rate: 400 Gb/s}") == [
        "oversubscription of tier 1: 6 (4.8 Tbit/s down, 800 Gbit/s up)"
    ]  # fmt: skip
    assert said("{type: dumbbell, left: 4, right: 4}") == []
    assert said("{type: star, hosts: 4}") == []


def test_the_version_is_said_and_a_shell_can_complete():
    assert pyorch("--version").stdout == f"pyorch {version}\n"
    done = subprocess.run(
        [str(Path(sys.executable).parent / "pyorch")], capture_output=True, text=True,
        env=os.environ | {"_PYORCH_COMPLETE": "complete_bash", "COMP_WORDS": "pyorch to",
                          "COMP_CWORD": "1"},
    )  # fmt: skip
    assert done.stdout.split() == ["topology"]


@pytest.mark.ns3
@pytest.mark.slow
def test_run_j_makes_all_that_the_options_leave(scenario, tmp_path):
    done = pyorch("run", scenario.name, "-j", "2", "--set", "workload.message=20 kB", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "small: 2 runs made, 0 finished before, 0 failed." in done.stdout
    assert [line.split()[2] for line in done.stdout.splitlines()[:2]] == ["1", "2"]
    refused = pyorch("run", scenario.name, "-j", "2", "--out", "x", cwd=tmp_path)
    assert refused.returncode == 1 and "--out, --force and --threads are for one" in refused.stderr


@pytest.mark.ns3
@pytest.mark.slow
def test_threads_are_no_part_of_a_run_and_change_nothing_in_it(scenario, tmp_path):
    given = ("run", scenario.name, "--seed", 1)
    for threads in (1, 2):
        done = pyorch(*given, "--threads", threads, "--out", f"t{threads}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    specs = [(tmp_path / f"t{threads}" / "spec.json").read_bytes() for threads in (1, 2)]
    assert specs[0] == specs[1]
    used = [traces.read_provenance(tmp_path / f"t{threads}")["domains"] for threads in (1, 2)]
    assert used == [1, 2]
    for table in ("flows", "ports", "transports"):
        one, two = (traces.read_table(tmp_path / f"t{threads}", table) for threads in (1, 2))
        pd.testing.assert_frame_equal(one, two)
    assert "threads had work" not in done.stderr
    whole = pyorch(*given, "--set", "engine=fluid", "--threads", 2, "--out", "fluid", cwd=tmp_path)
    assert "warning: 1 of 2 threads had work: the run has 1 domain" in whole.stderr


@pytest.mark.ns3
def test_a_metric_of_runs_that_are_not_there_names_the_command_that_makes_them(scenario, tmp_path):
    done = pyorch("metrics", "fct", scenario, "--out", tmp_path / "x.csv", cwd=tmp_path)

    assert done.returncode == 1
    assert "is not made. Make all and their metrics: pyorch sweep" in done.stderr


def test_a_list_loads_nothing_slow():
    slow = {"pandas", "pyarrow", "matplotlib", "scipy", "snakemake", "cppyy"}
    code = (
        "import sys; from pyorch.cli import main; sys.argv[1:] = ['list', 'topologies']\n"
        "try: main()\n"
        f"except SystemExit: pass\nprint(sorted({slow} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert "leaf_spine" in done.stdout and done.stdout.endswith("[]\n")


def test_the_help_loads_next_to_nothing_and_has_its_headings():
    slow = {"rich", "numpy", "pandas", "pydantic", "yaml", "scipy", "pyarrow", "jinja2"}
    code = (
        "import sys; from pyorch.cli import main; sys.argv[1:] = ['--help']\n"
        "try: main()\n"
        f"except SystemExit: pass\nprint(sorted({slow} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)

    assert done.stdout.endswith("[]\n")
    sections = dict(re.findall(r"^(\S.*):\n((?:  .*\n)+)", done.stdout, re.MULTILINE))
    for heading, command in [
        ("Scenarios", "sweep"), ("Results", "compare"), ("Steps of the pipeline", "render"),
        ("Extending", "new"), ("Analytical model", "theory"),
    ]:  # fmt: skip
        assert re.search(rf"^  {command}  +[A-Z]", sections[heading], re.MULTILINE)
    assert not any("..." in rows for rows in sections.values())
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.ns3
def test_a_run_begins_without_what_its_tables_need(scenario, tmp_path):
    slow = {"pandas", "scipy", "rich", "snakemake", "networkx", "matplotlib", "cppyy"}
    code = (
        "import sys; from pyorch.cli import main, run\n"
        "def make(*_, **__):\n"
        f"    print(sorted({slow} & set(sys.modules)))\n"
        "    raise SystemExit\n"
        f"run.make = make; sys.argv[1:] = ['run', {str(scenario)!r}, '--out', 'made']\n"
        "main()"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert done.stdout == "[]\n", done.stderr


def test_ctrl_c_while_the_command_line_imports_ends_it_without_a_traceback(tmp_path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    code = "from pyorch.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (130, "")


def test_a_mistake_is_one_message_without_a_traceback(scenario):
    done = pyorch("run", scenario, "--set", "link.rate=800")

    assert done.returncode == 1
    assert done.stderr == (
        "--set: link.rate: '800' has no unit I can read as a rate. Write a number and one of"
        " bit/s, kb/s, Mb/s, Gb/s, Tb/s, for example '800 Gb/s'.\n"
    )


def test_an_unknown_metric_is_answered_with_the_known_ones(scenario, tmp_path):
    done = pyorch("metrics", "fctt", scenario, "--out", tmp_path / "x.csv")

    assert (done.returncode, done.stdout) == (1, "")
    assert re.match("no metrics 'fctt'. Found in pyorch/metrics: .*fct, .*slowdown", done.stderr)


@pytest.mark.ns3
def test_one_scenario_runs_to_its_tables_and_a_summary(scenario, tmp_path):
    done = pyorch("run", scenario, "--seed", 5, "--out", tmp_path / "out")

    assert done.returncode == 0, done.stderr
    flows = pd.read_parquet(tmp_path / "out" / "flows.parquet")
    assert len(flows) == 8 and flows["receiver_end_ps"].notna().all()
    assert len(pd.read_parquet(tmp_path / "out" / "ports.parquet")) == 2 * (8 + 8)
    assert json.loads((tmp_path / "out" / "provenance.json").read_text())["seed"] == 5
    assert "slowest over optimal" in done.stdout
    assert "flows.parquet, paths.parquet, ports.parquet, summary.parquet" in done.stdout


@pytest.mark.ns3
def test_a_finished_run_is_shown_and_not_run_again(scenario, tmp_path):
    pyorch("run", scenario, "--out", tmp_path / "out")
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    again = pyorch("run", scenario, "--out", tmp_path / "out")
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    forced = pyorch("run", scenario, "--out", tmp_path / "out", "--force")

    assert again.returncode == forced.returncode == 0
    assert "is finished; --force runs it again." in again.stderr and kept == made
    assert "is finished" not in forced.stderr
    assert all(path.stat().st_mtime_ns > time for path, time in made.items())


@pytest.mark.ns3
def test_the_steps_by_hand_give_what_run_gives(scenario, tmp_path):
    by_hand, out = tmp_path / "hand", tmp_path / "run"
    pyorch("run", scenario, "--seed", 2, "--out", out)
    run_id = pyorch("spec", scenario).stdout.split()[1]
    for step in (
        ("spec", scenario, "--run", run_id, "--out", by_hand / "spec.json"),
        ("render", by_hand / "spec.json", "--out", by_hand),
        ("simulate", by_hand / "scenario.py", "--out", by_hand),
        ("traces", by_hand),
    ):
        assert pyorch(*step).returncode == 0, step

    made = ["spec.json", "scenario.py", "tables.npz"]
    for name in [*made, *(f"{table}.parquet" for table in traces.ALWAYS)]:
        assert (by_hand / name).read_bytes() == (out / name).read_bytes(), name


@pytest.mark.ns3
def test_an_unfinished_run_is_named_with_what_to_do(scenario, tmp_path):
    done = pyorch("run", scenario, "--set", "stop=5 us", "--out", tmp_path / "out")

    assert done.returncode == 1
    assert "8 of 8 flows did not finish (stop time); raise 'stop' (now 5 us)." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.ns3
def test_a_script_that_fails_is_explained_in_one_line(tmp_path):
    script = tmp_path / "s1-0123456789" / "scenario.py"
    script.parent.mkdir()
    script.write_text("import os\nprint('port 3 is on fire', flush=True)\nos.abort()\n")
    done = pyorch("simulate", script, "--log", tmp_path / "log")

    assert done.returncode == 1
    assert "Run s1-0123456789 was killed by SIGABRT after" in done.stderr
    assert f'Last line: "port 3 is on fire". Alone: pyorch simulate {script}' in (done.stderr)


def test_a_script_that_runs_nothing_is_an_error(tmp_path):
    script = tmp_path / "scenario.py"
    script.write_text("def build(): pass\n")
    (tmp_path / "manifest.json").write_text("{}")  # of an earlier run
    done = pyorch("simulate", script)

    assert done.returncode == 1
    assert 'Last line: "nothing was run: it left no new manifest.json".' in done.stderr


def test_the_explanation_has_run_status_last_words_and_command():
    assert End(3, 4.21, "port 3").message(Path("r/s1-ab/scenario.py"), Path("r/s1-ab")) == (
        'Run s1-ab ended with status 3 after 4.2 s. Last line: "port 3".'
        " Alone: pyorch simulate r/s1-ab/scenario.py --out r/s1-ab"
    )


def is_simulating(pid):
    """Return whether a process has prepared for signals, which is the last thing before it runs."""
    with contextlib.suppress(OSError):
        caught = re.search(r"SigCgt:\t(\w+)", Path(f"/proc/{pid}/status").read_text())[1]
        return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)
    return False


def is_below(pid):
    """Return whether a process has started one that has started one that simulates."""
    return any(is_simulating(below) for child in children(pid) for below in children(child))


def children(pid):
    """Return the ids of the processes that one has started."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return []


@pytest.mark.ns3
def test_what_a_run_prints_is_no_part_of_its_answer(scenario, tmp_path):
    spoken = "import sys\nif sys.orig_argv[2].endswith('scenario.py'): print('a plug-in speaks')\n"
    (tmp_path / "sitecustomize.py").write_text(spoken)
    done = subprocess.run(
        [sys.executable, "-m", "pyorch", "run", str(scenario), "--out", str(tmp_path / "out")],
        cwd=ROOT, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "a plug-in speaks" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.ns3
def test_ctrl_c_ends_a_run_with_one_line_and_status_130(scenario, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "pyorch", "run", str(scenario), "--set", "workload.message=2 TB",
         "--set", "stop=1000 s", "--out", str(tmp_path / "out")],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while process.poll() is None and not is_below(process.pid):
        time.sleep(0.05)  # 2 TB keep it busy for minutes
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate()

    assert process.returncode == 130
    assert "stopped by Ctrl-C; no result was written." in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "out" / "raw.npz").exists()


def test_results_show_the_parameters_that_tell_runs_apart_by_their_shortest_names():
    columns = {
        "link.jitter_ps": [None] * 3,
        "link.flow_control": [None, *[...] * 2],  # a section that is there has keys of its own
        "link.flow_control.attributes.XoffBytes": [..., 5.0, 5.0],
        "link.flow_control.type": [..., "ns3::Pfc", "ns3::Pfc"],
        "topology.leaves": [1, 2, 2],
        "transport.0.attributes.Rto": ["1ms", "1ms", "2ms"],
        "transport.1.attributes.Rto": ["1ms", "2ms", "2ms"],
    }
    runs = [{k: v[i] for k, v in columns.items() if v[i] is not ...} for i in range(3)]
    told = distinguishing(runs)

    assert told == list(columns)[3:]
    assert headings(told) == ["flow_control type", "leaves", "transport Rto", "1 Rto"]
    assert headings(["trace.pcap.1", "seed"]) == ["pcap 1", "seed"]


def test_a_column_is_named_as_a_sweep_names_it_unless_a_section_has_several_entries():
    keys = ["transport.0.type", "workload.0.load", "workload.0.groups.0.0", "trace.pcap.0"]
    one, two = dict.fromkeys(keys), dict.fromkeys([*keys, "workload.1.load"])

    assert [*column_names([one], keys).values()] == [
        "transport.type", "workload.load", "workload.groups.0.0", "trace.pcap.0"
    ]  # fmt: skip
    assert [*column_names([one, two], keys).values()] == ["transport.type", *keys[1:]]


def test_runs_are_ordered_by_what_tells_them_apart_and_by_the_size_of_numbers():
    # In this order: nothing before something, 4 before 16 in a text, 0.9 before 10, seeds last.
    # The timeout is always that of its type, so it tells nothing.
    points = [
        (None, "a", "9ms", 0.9, 2), (4, "b", "1ms", 0.9, 1), (4, "b", "1ms", 0.9, 3),
        (4, "b", "1ms", 10, 2), (16, "b", "1ms", 0.9, 1),
    ]  # fmt: skip
    runs = [
        {
            "seed": seed,
            "transport.0.attributes.PathSelector": paths and f"ns3::PermutedEntropy[Paths={paths}]",
            "transport.0.attributes.Rto": rto,
            "transport.0.type": type_,
            "workload.0.load": load,
        }
        for paths, type_, rto, load, seed in points
    ]
    shuffled = [3, 0, 4, 2, 1]

    assert "transport.0.attributes.Rto" not in distinguishing(runs)
    assert [shuffled[i] for i in order([runs[i] for i in shuffled])] == [0, 1, 2, 3, 4]


@pytest.mark.ns3
def test_a_run_that_was_asked_for_with_set_is_pruned_only_when_its_scenario_has_changed(tmp_path):
    (tmp_path / "scenarios").mkdir()
    path = tmp_path / "scenarios" / "small.yaml"
    path.write_text(SMALL)
    changed = ("run", path, "--set", "workload.message=10 kB", "--seed", "7")
    for _ in range(2):
        assert pyorch(*changed, cwd=tmp_path).returncode == 0
    (folder,) = (tmp_path / "results" / "small").glob("s*-*")
    lines = (folder.parent / "runs.jsonl").read_text()
    assert [json.loads(line) for line in lines.splitlines()] == [
        {
            "run": folder.name, "scale": "laptop", "case": "", "case_label": "", "variant": "",
            "label": "", "point": {}, "changes": [["workload.message", "10 kB"], ["seed", 7]],
        }
    ]  # fmt: skip

    assert pyorch("prune", cwd=tmp_path).stdout == ""
    path.write_text(SMALL.replace("800 Gb/s", "400 Gb/s"))
    assert pyorch("prune", cwd=tmp_path).stdout == f"results/small/{folder.name}\n"
    path.write_text(SMALL.replace("permutation, message", "all_to_all, message"))
    others = '5\n{"run": []}\n{\n'  # a file that people may edit
    (folder.parent / "runs.jsonl").write_text(f"{others}{lines}")
    assert pyorch("prune", cwd=tmp_path).stdout == f"results/small/{folder.name}\n"


def test_results_have_the_names_and_the_order_in_which_they_were_asked_for(tmp_path):
    variants = "variants: {z: {label: Last, link.rate: 400 Gb/s}, a: {link.rate: 200 Gb/s}}\n"
    text = SMALL.replace("sweep: {seed: [1, 2]}", "sweep: {workload.message: [2 MB, 100 kB]}")
    path = tmp_path / "file.yaml"
    path.write_text(text + variants)
    smoke = specs.plan(specs.read_scenario(path), "smoke")  # the same runs
    runs = specs.plan(specs.read_scenario(path), "laptop")
    old = specs.plan(specs.read_scenario(path), "laptop", [("link.delay", "1 us")])[:1]
    for run in [*runs, *old]:
        folder = tmp_path / "results" / run.folder
        folder.mkdir(parents=True)
        specs.write_resolved(run.spec, folder / "spec.json")
    for asked in (smoke, runs[2:3], runs):
        names.note(asked, results=tmp_path / "results")

    lines = [line.split() for line in pyorch("results", cwd=tmp_path).stdout.splitlines()]
    rows = [line[1::2][:1] + line[3:6:2] for line in lines if line and line[0] == "│"]

    points = [("z", "2 MB"), ("z", "100 kB"), ("a", "2 MB"), ("a", "100 kB")]
    assert [run.id for run in smoke] == [run.id for run in runs]
    assert [row[0] for row in rows] == [run.id for run in [*runs, *old]]
    assert [(run.variant, run.point["workload.message"]) for run in runs] == points
    assert [row[1] for row in rows[:4]] == ["z", "z", "a", "a"]
    assert "small: 1 run without a name" in [" ".join(line) for line in lines]
    chosen = ("--where", "variant=[z, y]", "--where", "workload.message=2 MB")
    shown = pyorch("results", *chosen, "--columns", "run, link.rate", "--csv", cwd=tmp_path)
    assert shown.stdout == f"run,link.rate_bps\n{runs[0].id},{400 * 10**9}\n"
    shown = pyorch("results", *chosen, "--columns", "run,link.rate", cwd=tmp_path)
    assert shown.stdout.splitlines()[-2].split() == ["│", runs[0].id, "│", "400", "Gbit/s", "│"]
    shown = pyorch("results", *chosen, "--where", "seed=9", cwd=tmp_path)
    assert shown.stdout.startswith("No run in results is so: variant=['z', 'y'], ")
    shown = pyorch("results", *chosen, "--where", "seed=9", "--columns", "run", cwd=tmp_path)
    assert shown.stdout.startswith("No run in results is so: variant=['z', 'y'], ")
    refused = pyorch("results", *chosen, "--where", "variant=y", cwd=tmp_path)
    assert refused.returncode and refused.stderr.startswith(
        "--where variant=y: variant has a condition already. For runs with one of several values"
        " write variant=[A, B]."
    )
    found = arranged(tmp_path / "results" / run.folder for run in [*old, *runs[::-1]])
    labels = ["Last", "Last", "a", "a", ""]
    assert [(run.id, run.scale, run.label) for run in found] == [
        (run.id, run.scale if label else "", label)
        for run, label in zip([*runs, *old], labels, strict=True)
    ]


def test_a_name_is_noted_once(tmp_path):
    path = tmp_path / "file.yaml"
    path.write_text(SMALL)
    runs = specs.plan(specs.read_scenario(path))
    noted = []
    for asked, changes in ((runs[:1], ()), (runs, ()), (runs[1:], ()), (runs, {"stop": "1 s"})):
        names.note(asked, changes, results=tmp_path)
        noted.append([(name.run, name.changes) for name in names.noted(tmp_path / "small")])

    first, second = ((run.id, ()) for run in runs)
    changed = [(run.id, (("stop", "1 s"),)) for run in runs]
    assert noted == [[first], [first, second], [first, second], [first, second, *changed]]
    assert names.changes(tmp_path / "small") == [(("stop", "1 s"),)]


def test_prune_removes_when_it_is_told_to_and_only_what_scenarios_has(tmp_path):
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "small.yaml").write_text(SMALL)
    old, elsewhere = (
        tmp_path / "results" / name / "s1-0123456789" for name in ("small", "elsewhere")
    )
    for folder in (old, elsewhere):
        folder.mkdir(parents=True)
        (folder / "spec.json").write_text("{}")
        (folder / "flows.parquet").write_bytes(bytes(998))
    others = (
        "Not removed by --yes: results/elsewhere, for no file of scenarios/ has such a scenario."
        " It may lie elsewhere.\n"
    )

    done = pyorch("prune", cwd=tmp_path)
    assert done.stdout == "results/elsewhere/s1-0123456789\nresults/small/s1-0123456789\n"
    assert done.stderr == f"1 folder, 1 kB; nothing was removed: --yes does.\n{others}"
    assert old.exists()
    done = pyorch("prune", "--yes", cwd=tmp_path)
    assert done.stderr == f"1 folder, 1 kB; removed.\n{others}"
    assert elsewhere.exists() and not old.exists()


def test_prune_of_a_folder_that_is_not_there_is_one_line(tmp_path):
    done = pyorch("prune", "--results", tmp_path / "nowhere")
    said = f"{tmp_path}/nowhere: no such folder. Name another one: --results FOLDER\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


@pytest.mark.parametrize("kind", ["attributes", "topologies", "transports"])
def test_an_empty_name_is_no_name_to_list(kind):
    done = pyorch("list", kind, "")
    assert done.returncode == 1 and done.stdout == ""
    assert re.match("(list attributes: no type ''|no topolog.* '')", done.stderr), done.stderr


def test_folders_to_prune_are_those_that_no_scenario_names(tmp_path):
    scenarios, results = tmp_path / "scenarios", tmp_path / "results"
    scenarios.mkdir()
    path = scenarios / "small.yaml"
    scales = "scales: {smoke: {workload.message: 5 kB}, paper: {workload.message: 2 MB}}\n"
    path.write_text(SMALL + scales)
    (scenarios / "other.yaml").write_text("name: other\n")  # nothing lies there: not planned
    file = specs.read_scenario(path)
    named = {run.folder for scale in specs.SCALES for run in specs.plan(file, scale)}
    assert len(named) == 6
    old = [results / name for name in ("gone/s1-0", "small/s1-0", "small/s2-1")]
    for folder in [*(results / name for name in named), *old]:
        folder.mkdir(parents=True)
        (folder / "spec.json").touch()
    (results / "small" / "laptop").mkdir()

    assert unnamed(results, scenarios) == old

    path.write_text(SMALL)  # without its scales
    of_scales = named - {run.folder for run in specs.plan(file)}
    assert set(unnamed(results, scenarios)) == {*old, *(results / name for name in of_scales)}
