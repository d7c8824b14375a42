# SPDX-License-Identifier: GPL-2.0-only
"""What a sweep says before its first run, of runs that are written by hand."""

import json
import re
from pathlib import Path

import pytest

from pyorch.spec import plan
from pyorch.spec.scenario import parse_scenario, read_scenario, scenario_files
from pyorch.workflow import estimate, events
from pyorch.workflow.resources import size_of

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
#: 2 leaves x 2 hosts; each sends 1000 packets of 1000 B over four links to the other leaf.
TEXT = """\
name: hand
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 1 MB, inter_leaf: true}
transport: {type: ns3::RoceTransport, attributes: {MtuBytes: 1000}}
stop: 10 s
variants:
  one: {label: One}
  two: {label: Two, workload.message: 10 GB}
sweep: {seed: [1, 2]}
"""
WORK = 4 * 1000 * 4


@pytest.fixture
def runs():
    """Runs one and two with seeds 1 and 2 each."""
    return plan(parse_scenario(TEXT, "hand.yaml"), typeids_file=TYPEIDS)


@pytest.fixture
def finish(tmp_path, monkeypatch):
    """Let runs be finished, with so many seconds of CPU in their events."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        estimate, "is_finished", lambda _spec, folder: (folder / "provenance.json").exists()
    )
    monkeypatch.setattr(
        estimate.traces, "read_provenance",
        lambda folder: json.loads((folder / "provenance.json").read_text()),
    )  # fmt: skip

    def call(run, run_cpu_s):
        folder = tmp_path / "results" / run.folder
        folder.mkdir(parents=True)
        (folder / "provenance.json").write_text(json.dumps({"run_cpu_s": run_cpu_s}))

    return call


def said(runs, cores):
    found = estimate.look(runs)
    return estimate.line(found, estimate.costs(found), cores)


def work(run):
    """Return messages of a run, and its packets times the links that they cross."""
    size = size_of(run.spec)
    return size.messages, size.packet_links, size.stock_packet_links


def test_the_work_of_a_run_is_its_packets_times_the_links_that_they_cross(runs):
    assert [work(run) for run in runs] == [(4, n * WORK, 0) for n in (1, 1, 10**4, 10**4)]
    near = TEXT.replace("inter_leaf: true", "inter_leaf: false")
    near = near.replace("leaves: 2, hosts_per_leaf: 2", "leaves: 1, hosts_per_leaf: 4")
    star = plan(parse_scenario(near, "hand.yaml"), typeids_file=TYPEIDS)
    assert work(star[0]) == (4, WORK / 2, 0)  # up to the leaf and down
    fluid = plan(parse_scenario(f"{TEXT}engine: fluid\n", "hand.yaml"), typeids_file=TYPEIDS)
    assert {work(run)[0] for run in fluid} == {4}
    tcp = TEXT.replace(
        "type: ns3::RoceTransport, attributes: {MtuBytes",
        "type: ns3::TcpTransport, attributes: {SegmentBytes",
    )
    stock = plan(parse_scenario(tcp, "hand.yaml"), typeids_file=TYPEIDS)
    assert work(stock[0]) == (4, 0, WORK)
    assert "4 by packets x links at 0.4 us of CPU (ns-3's TCP 20), measured" in said(stock, 1)


def test_tables_and_figures_are_estimated_with_the_runs(runs, finish):
    done, *others = runs
    finish(done, 0.02)
    found = estimate.look(runs)
    progress = estimate.progress(found, {"metrics": 3, "figure": 1, "simulate": 3, "all": 1}, 2)
    assert progress.estimate.startswith(
        "hand: 1 of 4 runs are finished; an estimate for the other 3 and 4 tables and figures: "
    )
    assert progress.work.keys() == {run.folder for run in others} and progress.total == 4

    nothing = estimate.progress(estimate.Sweep(runs, []), {"figure": 2}, 1).estimate
    assert nothing == (
        "hand: 4 of 4 runs are finished; an estimate for 2 tables and figures: 10 s on 1 core."
    )


ROOT = Path(__file__).parents[2]
ALL_S = 25 * 60  # CPU of the main command, what Snakemake itself takes included


@pytest.mark.ns3
def test_the_main_command_is_planned_to_take_a_coffee_break():
    files = scenario_files(ROOT / "scenarios")
    points = [run for path in files for run in plan(read_scenario(path))]
    names = {run.scenario for run in points}
    runs = {run.folder: run for run in points}.values()
    its = estimate.costs(estimate.Sweep([], list(runs)))
    figures = len(list((ROOT / "plots").glob("[!_]*.py")))
    others_s = figures * events.OTHER_S["figure"] + 2 * len(names) * events.OTHER_S["metrics"]
    assert sum(cost.cpu_s for cost in its.values()) + others_s < ALL_S


def test_without_finished_runs_packets_and_links_count(runs, finish):
    its = estimate.costs(estimate.look(runs))

    # 16,000 and 160 million packets on links, 0.4 us each, four messages of 6 us each, and 0.5 s
    # beside them for a run.
    of_run_s = [0.506424, 0.506424, 64.500024, 64.500024]
    assert [cost.cpu_s for cost in its.values()] == pytest.approx(of_run_s)
    for cores, time in ((1, "2 min 10 s on 1 core ("), (2, "1 min 05 s on 2 cores (")):
        assert said(runs, cores) == (
            f"hand: 0 of 4 runs are finished; an estimate for the other 4: {time}4 by packets x"
            " links at 0.4 us of CPU, measured 0.2 to 0.9 up to 1024 hosts),"
            " without what is sent again."
        )
    # No number of cores makes the longest run shorter.
    assert "1 min 05 s on 64 cores" in said(runs, 64)


def test_beyond_a_thousand_hosts_a_packet_takes_longer(finish):
    # 8192 hosts: the fourth root of 8.
    text = TEXT.replace("leaves: 2, hosts_per_leaf: 2", "leaves: 128, hosts_per_leaf: 64")
    large = plan(parse_scenario(text, "hand.yaml"), typeids_file=TYPEIDS)[0]
    its = estimate.costs(estimate.Sweep([], [large]))
    assert its[large.folder].cpu_s == pytest.approx(
        0.5 + 8192 * (6e-6 + 1000 * 4 * 0.4e-6 * 8**0.25)
    )


def test_a_run_like_a_finished_one_takes_as_long(runs, finish):
    finish(runs[2], 100.0)
    its = estimate.costs(estimate.look(runs))

    assert list(its) == [runs[0].folder, runs[1].folder, runs[3].folder]
    assert [cost.is_known for cost in its.values()] == [False, False, True]
    assert its[runs[3].folder].cpu_s == pytest.approx(100.5)
    assert said(runs, 2) == (
        "hand: 1 of 4 runs are finished; an estimate for the other 3: 1 min 40 s on 2 cores"
        " (1 by finished runs like them; 2 by packets x links at 0.4 us of CPU, measured 0.2 to"
        " 0.9 up to 1024 hosts), without what is sent again."
    )


def test_two_finished_runs_have_the_pace_of_both(runs, finish):
    finish(runs[0], 3.0)
    finish(runs[1], 5.0)
    three = parse_scenario(TEXT.replace("[1, 2]", "[1, 2, 3]"), "hand.yaml")
    its = estimate.costs(estimate.look(plan(three, typeids_file=TYPEIDS)[:3]))
    assert [cost.cpu_s for cost in its.values()] == pytest.approx([4.5])


def test_when_all_is_finished_nothing_is_estimated(runs, finish):
    for run in runs:
        finish(run, 1.0)
    assert said(runs, 2) == "hand: 4 of 4 runs are finished."


def test_a_finished_run_that_does_not_say_what_it_took_is_passed_over(runs, finish):
    finish(runs[2], None)
    its = estimate.costs(estimate.look(runs))
    assert not any(cost.is_known for cost in its.values())


def test_messages_of_the_fluid_engine_count(finish):
    fluid = plan(parse_scenario(f"{TEXT}engine: fluid\n", "hand.yaml"), typeids_file=TYPEIDS)
    its = estimate.costs(estimate.look(fluid))
    assert {round(cost.cpu_s, 6) for cost in its.values()} == {0.50012}
    assert "(4 by messages at 30 us, measured 0.6 to 65)" in said(fluid, 1)


def test_a_run_of_hours_is_said_not_to_go_on_in_the_middle():
    # 4 messages of 10^10 packets on four links at 0.4 us: 64,000 s.
    long = plan(parse_scenario(TEXT.replace("10 GB", "10 TB"), "hand.yaml"), typeids_file=TYPEIDS)
    first = next(run for run in long if run.variant == "two")
    assert said(long, 2).endswith(
        f" {first.folder} may take 17 h 46 min, and 1 more over 3 h: a run that is stopped begins"
        " again, because it cannot go on in the middle."
    )
    its = estimate.costs(estimate.Sweep([], long))
    assert estimate.of_long([first], its).count("more") == 0
    short = [run for run in long if run.variant == "one"]
    assert estimate.of_long(short, its) == "" and "in the middle" not in said(short, 2)


@pytest.mark.parametrize("stop", ["10 ms", "1000 s"])
def test_a_run_alone_is_warned_of_as_one_of_many_unless_it_stops_before(stop):
    text = re.sub("stop: .*", f"stop: {stop}", TEXT.replace("10 GB", "10 TB"))
    for run in plan(parse_scenario(text, "hand.yaml"), typeids_file=TYPEIDS):
        its = estimate.costs(estimate.Sweep([], [run]))
        expected = estimate.of_long([run], its) if stop == "1000 s" else ""
        assert estimate.of_one_long(run) == expected
