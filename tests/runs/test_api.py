# SPDX-License-Identifier: GPL-2.0-only
"""pyorch from Python: one run, its tables and its page; what is finished is not run again."""

import inspect
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import pyorch
from pyorch import figures
from pyorch.errors import PyorchError, SimulationError, SpecError, TraceError
from pyorch.runs.compare import compare
from pyorch.runs.make import alone, make
from pyorch.runs.run import RunResult, Runs
from pyorch.runs.summary import in_words
from pyorch.simulate.process import End
from pyorch.spec.parameters import differing, flat
from pyorch.views.slowdown import by_size

SMALL = {
    "name": "small",
    "topology": {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 2},
    "link": {"rate": "800 Gb/s", "delay": "500 ns"},
    "switch": {"buffer": "8 MB"},
    "workload": {"type": "single", "message": "4096 B", "source": 0, "target": 3},
    "transport": {"type": "ns3::RoceTransport"},
    "stop": "1 ms",
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_importing_pyorch_imports_nothing_slow():
    slow = {"numpy", "pandas", "pyarrow", "matplotlib", "pydantic", "snakemake", "cppyy"}
    code = f"import pyorch, sys; print(sorted({slow} & set(sys.modules)), 'run' in pyorch.__all__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.stdout == "[] True\n"


@pytest.mark.ns3
def test_dir_shows_what_there_is():
    shown = "import pyorch; print(sorted({'load', 'results', 'run', 'sweep'} - {*dir(pyorch)}))"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def shown(*command):
    done = subprocess.run(
        [sys.executable, "-m", "pyorch", *command], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.ns3
def test_a_finished_run_needs_none_of_the_files_that_it_was_made_of(tmp_path):
    hosts = "".join(f"{node},0\n" for node in range(4))
    (tmp_path / "nodes.csv").write_text(f"node,is_switch\n{hosts}4,1\n")
    links = "".join(f"{node},4,{100 * 10**9},500000\n" for node in range(4))
    (tmp_path / "links.csv").write_text(f"node_a,node_b,rate_bps,delay_ps\n{links}")
    (tmp_path / "flows.csv").write_text("src,dst,bytes\n0,1,1000\n2,3,90000\n")
    run = pyorch.run(SMALL | {
        "topology": {"type": "from_file", "nodes": "nodes.csv", "links": "links.csv"},
        "workload": {"type": "flow_table", "file": "flows.csv"},
    })  # fmt: skip
    before = shown("show", str(run.folder)), shown("results", "--csv")
    for path in tmp_path.glob("*.csv"):
        path.unlink()

    assert (shown("show", str(run.folder)), shown("results", "--csv")) == before
    assert "finished" in before[1] and "90 kB" in before[0]


def test_one_message_arrives_when_it_must():
    # By hand: 4096 B and headers of 62 B, 16 B more for the first packet, 20 B of framing, four
    # links of 500 ns: 4 x 500 ns + 4 x (frame + framing) x 8 / 800 Gb/s.
    run = pyorch.run(SMALL)
    frame = 4096 + run.parameters["transport.0.attributes.HeaderBytes"]
    frame += run.parameters["transport.0.attributes.RethBytes"]
    expected_ps = 4 * 500_000 + 4 * (frame + 20) * 10

    assert run.fct_ps.tolist() == [expected_ps]
    assert run.summary["slowest_fct_ps"] == expected_ps
    assert run.summary["slowest_slowdown"] == run.summary["slowdown_max"] == 1.0
    assert len(run.ports) == 2 * (4 + 4) and len(run.paths) == 4
    assert run.nodes["is_switch"].sum() == 4 and len(run.links) == 8
    assert run.folder.parts == ("results", "small", run.id)


@pytest.mark.ns3
def test_who_waits_for_another_that_makes_the_same_run_uses_what_that_has_made():
    run, calls = pyorch.run(SMALL), []

    def simulate(*_, **__):
        calls.append(1)
        return End(1, 0.0)

    with ThreadPoolExecutor() as pool:
        with alone(run.folder) as waited:
            assert not waited
            second = pool.submit(make, run.spec, run.folder, simulate=simulate)
            with pytest.raises(TimeoutError):
                second.result(timeout=0.3)
        assert second.result(timeout=20).status == 0 and calls == []
        # Who need not wait makes it, finished or not.
        assert make(run.spec, run.folder, simulate=simulate).status == 1 and calls == [1]


@pytest.mark.ns3
def test_a_finished_run_is_not_run_again_until_it_is_forced():
    def stamp(run):
        return (run.folder / "provenance.json").stat().st_mtime_ns

    first = stamp(pyorch.run(SMALL))
    assert stamp(pyorch.run(SMALL)) == first
    run = pyorch.run(SMALL, force=True)
    second = stamp(run)
    assert second > first
    (run.folder / "paths.parquet").unlink()  # as a kill would leave it
    assert stamp(pyorch.run(SMALL)) > second


@pytest.mark.ns3
def test_a_choice_is_that_of_the_command_line():
    run = pyorch.run(SMALL, seed=7, set={"link.rate": "400 Gb/s"})

    assert run.seed == 7 and run.spec.link.rate_bps == 400 * 10**9
    with pytest.raises(SpecError, match="link.rate: '800' has no unit"):
        pyorch.run(SMALL, set={"link.rate": "800"})
    with pytest.warns(UserWarning, match="2 runs at scale laptop; this is seed 1."):
        pyorch.run(SMALL | {"sweep": {"seed": [1, 2]}})


@pytest.mark.ns3
def test_a_case_is_chosen_beside_a_variant_and_stands_in_every_table():
    given = SMALL | {
        "cases": {"one": {"label": "One packet"}, "two": {"workload.message": "8192 B"}},
        "variants": {"a": {"label": "A"}, "b": {"link.rate": "400 Gb/s"}},
    }
    one = pyorch.run(given, case="two", variant="b")
    assert (one.case, one.case_label, one.variant) == ("two", "two", "b")
    assert one.parameters["workload.0.message_bytes"] == 8192
    assert "two, b" in one._repr_html_()

    found = pyorch.sweep(given, case="one", cores=1)
    assert [(run.case, run.variant, run.point_label) for run in found] == [
        ("one", "a", "One packet, A"), ("one", "b", "One packet, b")
    ]  # fmt: skip
    assert found.table["case"].tolist() == ["one", "one"]
    assert list(found.metric("slowdown").columns[:3]) == ["case", "case_label", "variant"]
    with pytest.raises(SpecError, match="scenario: no case 'three'. There are one, two."):
        pyorch.run(given, case="three")


@pytest.mark.ns3
def test_runs_are_found_again_by_folder_name_and_beginning():
    run = pyorch.run(SMALL, seed=3)

    for name in (run.folder, f"small/{run.id}", f"small/{run.id[:4]}", run.id, run.id[:6]):
        assert pyorch.load(name).flows.equals(run.flows)
    table = pyorch.results()
    assert table["run"].tolist() == [run.id] and table["state"].tolist() == ["finished"]
    assert table["engine"].tolist() == [run.provenance["engine"]] == [run.outcome["engine"]]
    assert table["size_bytes"][0] == sum(p.stat().st_size for p in run.folder.iterdir())
    with pytest.raises(TraceError, match="s9: no run of that name in results .1 runs."):
        pyorch.load("s9")


@pytest.mark.ns3
def test_results_say_what_differs_and_what_is_not_whole():
    pyorch.run(SMALL)
    slow = pyorch.run(SMALL, set={"link.rate": "400 Gb/s"})
    late = pyorch.run(SMALL, set={"stop": "1 us"})
    (slow.folder / "summary.parquet").unlink()
    table = pyorch.results().set_index("run")

    assert table.loc[slow.id, "state"] == "unfinished"
    assert table.loc[late.id, ["state", "flows_done"]].tolist() == ["stopped", 0]
    assert set(table["link.rate_bps"]) == {800 * 10**9, 400 * 10**9}
    assert "link.delay_ps" not in table.columns
    assert table["link.rate_bps"].is_monotonic_increasing  # not the order of their hashes


@pytest.mark.ns3
def test_a_simulation_that_fails_says_its_last_words(monkeypatch):
    end = End(3, 0.1, "port 3 is on fire")
    monkeypatch.setattr("pyorch.api.make", lambda *_: end)
    with pytest.raises(SimulationError, match='status 3 .* Last line: "port 3 is on fire".'):
        pyorch.run(SMALL)


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.open, self.loaded = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.loaded += [v for k, v in attrs if k in ("src", "href")]
        if tag not in ("img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.ns3
def test_a_notebook_shows_numbers_and_a_curve_and_loads_nothing():
    run = pyorch.run(SMALL)
    run.label = "<script>alert(1)</script>"
    page = Tags(run._repr_html_())

    assert page.open == [] and page.loaded[0].startswith("data:image/png;base64,")
    assert len(page.loaded) == 1 and "script" not in page.rawdata
    assert "&lt;script&gt;" in run._repr_html_() and run.id in run._repr_html_()
    assert isinstance(run.flows, pd.DataFrame)


@pytest.mark.ns3
def test_two_runs_differ_in_what_was_changed_and_what_came_of_it():
    fast, slow = pyorch.run(SMALL), pyorch.run(SMALL, set={"link.rate": "400 Gb/s"})
    table = compare(fast, slow).set_index("name")

    assert table.loc["link.rate", ["what", "a", "b"]].tolist() == [
        "parameter", "800 Gbit/s", "400 Gbit/s"
    ]  # fmt: skip
    # Half the rate: 2 us of propagation stay, the rest doubles.
    fct = table.loc["slowest_fct_ps"]
    assert fct["b"] - 2_000_000 == 2 * (fct["a"] - 2_000_000)
    assert fct["ratio"] == fct["b"] / fct["a"]
    assert "slowest_flow" not in table.index and "engine_cpu_s" not in table.index
    assert compare(fast, fast).empty


@pytest.mark.ns3
def test_a_sweep_makes_all_points_and_keeps_what_is_there():
    scenario = SMALL | {"sweep": {"workload.message": ["4096 B", "8192 B"], "seed": [1, 2]}}
    with pytest.warns(UserWarning):
        first = pyorch.run(scenario)
    made = (first.folder / "provenance.json").stat().st_mtime_ns
    runs = pyorch.sweep(scenario, cores=1)

    assert len(runs) == 4 and first.id in [run.id for run in runs]
    assert (first.folder / "provenance.json").stat().st_mtime_ns == made
    table = runs.table
    assert table["workload.message_bytes"].tolist() == [4096, 4096, 8192, 8192]
    assert table["seed"].tolist() == [1, 2, 1, 2]
    chosen = {"workload.message": "8192 B", "seed": [2, 3]}
    assert [run.id for run in runs.where(chosen)] == [runs[3].id]
    assert pyorch.results(where=chosen, columns=["run", "slowest_fct_ps"]).to_dict("list") == {
        "run": [runs[3].id], "slowest_fct_ps": [runs[3].summary["slowest_fct_ps"]]
    }  # fmt: skip
    assert len(runs.metric("slowdown")) == 4 and runs[first.id].id == first.id
    assert len(Tags(runs._repr_html_()).open) == 0


@pytest.mark.ns3
def test_the_slowdown_of_a_message_alone_is_one_at_every_size(tmp_path):
    run = pyorch.run(SMALL)
    run.plot("slowdown", tmp_path / "slowdown.png")
    rows = by_size(run)

    assert rows.dropna(axis="columns").to_dict("records") == [  # one message has no upper end
        {
            "bytes": 4096,
            "n_flows": 1,
            "slowdown_p50": 1.0,
            "slowdown_p99": 1.0,
            "slowdown_p99_low": 1.0,
        }
    ]
    assert "Slowdown by message size" in (tmp_path / "slowdown.txt").read_text()


def test_a_summary_in_words_has_times_and_sizes_with_their_units():
    # 1.5 us, 2 ms, 3 s in ps; 1500 B and 64 kB in B.
    said = in_words({
        "flows": 2, "flows_done": 2, "smallest_message_bytes": 1500, "largest_message_bytes": 64000,
        "mean_fct_ps": 1_500_000, "slowest_flow": 7, "slowest_fct_ps": 2 * 10**9,
        "simulated_ps": 3 * 10**12, "events": 12_000, "engine_cpu_s": 0.25,
        "peak_memory_bytes": 10**8,
    })  # fmt: skip
    assert said == {
        "flows": "2", "message size": "1.5 kB to 64 kB", "mean completion time": "1.5 us",
        "slowest flow (7)": "2 ms", "simulated time": "3 s", "events": "12 k",
        "simulation CPU": "250 ms", "peak memory": "100 MB",
    }  # fmt: skip


def test_a_comparison_divides_what_has_a_ratio():
    def run(**outcome):
        return SimpleNamespace(parameters={}, provenance={"libraries_sha256": {}},
                               summary=pd.Series(outcome, dtype=object))  # fmt: skip

    a = run(fct_ps=2, none=0, some=3, slowest_flow=4, stop_reason="a")
    b = run(fct_ps=5, none=7, some=0, slowest_flow=8, stop_reason="b")
    found = compare(a, b).set_index("name")["ratio"]
    assert (found["fct_ps"], found["some"]) == (2.5, 0.0)
    assert found[["none", "slowest_flow", "stop_reason"]].isna().all()


def test_a_comparison_says_of_a_section_that_one_has_and_the_other_has_not_what_is_in_it():
    def run(flow_control):
        given = flat({"link": {"flow_control": flow_control}})
        made_of = {"libraries_sha256": {}}
        return SimpleNamespace(parameters=given, provenance=made_of, summary=pd.Series())

    without, pfc = run(None), run({"type": "ns3::Pfc", "attributes": {"XoffBytes": 100_000}})
    expected = [
        ("link.flow_control.attributes.XoffBytes", "none", "100 kB"),
        ("link.flow_control.type", "none", "ns3::Pfc"),
    ]
    found = compare(without, pfc)[["name", "a", "b"]].itertuples(index=False, name=None)
    assert list(found) == expected
    assert differing([without.parameters, pfc.parameters]) == [name for name, *_ in expected]


FUNCTIONS = (pyorch.run, pyorch.sweep, pyorch.load, pyorch.results)
NASTY = (None, 3, 2.5, True, "", "a\0b", b"x", [], (), {1: 2}, {"a": object()}, object(), print)
ARGUMENTS = [(f, name) for f in FUNCTIONS for name in inspect.signature(f).parameters]


def may_be(name, value):
    """Return whether the page of the API allows this type of value for an argument."""
    if name in ("scenario", "set", "where") and isinstance(value, dict):
        return all(isinstance(key, str) for key in value)
    numbers = dict.fromkeys(("seed", "cores", "threads"), (int,))
    others = {
        "force": (bool,),
        "progress": (bool,),
        "set": (),
        "where": (),
        "columns": (list, tuple),
    }
    allowed = (numbers | others).get(name, (str,))
    optional = {"variant", "case", "seed", "set", "out", "cores", "threads", "where", "columns"}
    optional |= {"executor"}
    return type(value) in allowed or (value is None and name in optional)


@pytest.mark.ns3
def test_numbers_of_numpy_are_those_of_python():
    size, seed = np.int64(2), np.int32(3)
    scenario = SMALL | {"topology": SMALL["topology"] | {"leaves": size}}
    one = pyorch.run(scenario, set={"seed": seed, "topology.spines": size})
    other = pyorch.run(SMALL, set={"seed": 3})
    assert one.folder == other.folder and one.seed == 3


@pytest.mark.ns3
def test_a_table_that_no_run_has_is_named_with_the_nearest():
    with pytest.raises(
        TraceError, match=r"there is no table 'flow'\. There are flows,.* mean flows\?"
    ):
        pyorch.run(SMALL).table("flow")


@pytest.mark.ns3
@pytest.mark.parametrize("value", NASTY, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(("function", "name"), ARGUMENTS, ids=lambda part: str(part)[10:18])
def test_each_wrong_argument_is_one_line_that_names_it(function, name, value):
    first = next(iter(inspect.signature(function).parameters))
    given = {first: SMALL if first == "scenario" else "results", name: value}
    if may_be(name, value) and "\0" not in str(value) and value != "":
        return
    if function is pyorch.results and name == "scenario" and value is None:
        return
    with pytest.raises(PyorchError) as found:
        function(**given)
    said = str(found.value)
    assert "\n" not in said and "\0" not in said
    assert said.startswith(f"pyorch.{function.__name__}: {name}: ")


@pytest.mark.parametrize(("call", "says"), [
    (lambda: pyorch.run(), "pyorch.run: missing a required argument: 'scenario'."),
    (lambda: pyorch.run(SMALL, sede=1), "pyorch.run: got an unexpected keyword argument 'sede'."),
    (lambda: pyorch.run(SMALL, threads=0), "pyorch.run: threads: 0 is none of 1 to 1024."),
    (lambda: pyorch.sweep(SMALL, cores=0), "pyorch.sweep: cores: 0 is no number of cores."),
    (lambda: pyorch.run("x" * 300), "File name too long"),
    (lambda: pyorch.run(SMALL, out="x" * 300), "File name too long"),
    (lambda: pyorch.load("x" * 300), "File name too long"),
])  # fmt: skip
def test_a_wrong_call_is_one_line(call, says):
    with pytest.raises(PyorchError, match=re.escape(says)) as found:
        call()
    assert "\n" not in str(found.value)


def one_line(call):
    """Return a call as it is refused: in one line, or not at all."""
    try:
        call()
    except PyorchError as error:
        assert "\n" not in str(error), str(error)
        return str(error)
    return ""


@pytest.mark.ns3
def test_nothing_that_a_user_gives_ends_in_a_traceback(tmp_path):
    run = pyorch.run(SMALL)
    many, none = Runs([run]), Runs([])
    figure, table = Figure(figsize=(7, 2)), pd.DataFrame({"a": [1, 1], "seed": [1, 2], "x": [1, 2]})
    calls = [
        RunResult, Runs, run.table, run.metric, run.plot, lambda x: run.plot("fct", x), run.look,
        lambda x: run.look("look.html", x), many.metric, many.plot, many.where, many.__getitem__,
        lambda x: many.plot("fct", x), lambda x: many.where({"seed": x}), none.metric, none.plot,
        lambda x: none.where({"seed": x}), none.__getitem__,
        figures.style, figures.styles, figures.panels, lambda x: figures.panels(figure, x),
        figures.legend, lambda x: figures.legend(figure, x), figures.mean_interval, figures.main,
        lambda x: figures.mean_interval([1.0, 2.0], x), lambda x: figures.over_seeds(x, ["a"], "x"),
        lambda x: figures.over_seeds(table, x, "x"), lambda x: figures.over_seeds(table, ["a"], x),
        lambda x: figures.save(figure, "f", table, x, ""),
        lambda x: figures.save(figure, x, table, ".", ""),
        lambda x: figures.save(x, "f", table, ".", ""),
    ]  # fmt: skip
    for call in calls:
        for value in (*NASTY, "x" * 300, [1], -1, 10**30, range(3), run, many, table, tmp_path):
            one_line(lambda call=call, value=value: call(value))
    assert one_line(lambda: many["s9"]) == f"no run 's9' among 1: {run.id}."
    assert one_line(lambda: none.metric("fct")) == "fct: there is no run that can be measured."
    assert one_line(lambda: none.plot("fct")) == "fct: there is no run to draw."
    assert many[0] is many[-1] is many[run.id] is many[:1][0]
    assert one_line(lambda: run.plot(3)) == "RunResult.plot: kind: '3' is an int. Give text."
