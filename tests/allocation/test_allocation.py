# SPDX-License-Identifier: GPL-2.0-only
"""Schedulers hand out each host once; histories of jobs leave the holes that a slow twin finds."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyorch
from pyorch import metrics, plugins, spec
from pyorch.allocation import _free
from pyorch.errors import PyorchError, SpecError
from pyorch.metrics import RunTables, training_step
from pyorch.metrics.jobs import across
from pyorch.render import input_tables
from pyorch.spec.fields import FieldError

STAR = {
    "name": "jobs",
    "topology": {"type": "rails", "devices": 4, "rail": {"type": "star", "hosts": 8},
                 "scale_up": {"rate": "14.4 Tb/s", "delay": "1 ns"}},
    "link": {"rate": "800 Gb/s", "delay": "1 ns"},
    "switch": {"buffer": "none"},
    "transport": {"type": "ns3::RoceTransport"},
    "stop": "100 ms",
}  # fmt: skip
STEP = {"type": "training", "preset": "dense-100t", "stages": 2, "tensor": 4, "divide": 2000}
RING = {"type": "collective", "algorithm": "ring", "operation": "all_reduce", "bytes": "8 MB",
        "ranks": 8}  # fmt: skip
#: Every scheduler that needs no file, with parameters where its own do not fit a small network.
KINDS = {
    name: {"busy": 0.25, "largest": 4} if name == "fragmented" else {}
    for name in plugins.names("pyorch.allocation")
    if name != "first_fit"
}


def resolved(**sections):
    """Return the resolved spec of the only run."""
    scenario = spec.scenario_of(json.loads(json.dumps(STAR | sections)), "jobs.yaml")
    (run,) = spec.plan(scenario)
    return run.spec


def hosts_of(run_spec):
    """Return the hosts that send or receive in each workload, by the tables of the run."""
    tables = input_tables(run_spec)
    from pyorch.render import workload_of_flows

    owner, flows = workload_of_flows(run_spec), tables["flows"]
    return [
        set(flows["src"][owner == i].tolist()) | set(flows["dst"][owner == i].tolist())
        for i in range(len(run_spec.workload))
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_no_host_is_handed_out_twice(kind):
    found = resolved(workload=[STEP, RING], jobs={"type": kind, "hosts": [8, 8], **KINDS[kind]})
    first, second = found.jobs.placed
    assert len(set(first) | set(second)) == 16
    for own, sends in zip((first, second), hosts_of(found), strict=True):
        # Ids of hosts count from 0 on rails. Whoever sends to another rail is relayed by the
        # device of its rack on that rail, which may have another job.
        assert sends >= set(own) if kind not in ("packed", "aligned") else sends == set(own)


def test_packed_and_aligned_by_hand():
    packed = resolved(workload=[RING, STEP], jobs={"type": "packed", "hosts": [9, 8]})
    assert packed.jobs.placed == (tuple(range(9)), tuple(range(9, 17)))
    # Racks of 4: nine hosts take three of them, and the next job begins with the fourth.
    aligned = resolved(workload=[RING, STEP], jobs={"type": "aligned", "hosts": [9, 8]})
    assert aligned.jobs.placed == (tuple(range(9)), tuple(range(12, 20)))


def test_the_same_seed_is_the_same_hosts_and_another_is_not():
    def placed(kind, seed):
        jobs = {"type": kind, "hosts": [8, 8], **KINDS[kind]}
        return resolved(workload=[STEP, RING], jobs=jobs, seed=seed).jobs.placed

    for kind in ("random", "fragmented"):
        assert placed(kind, 1) == placed(kind, 1)
        assert any(placed(kind, 1) != placed(kind, seed) for seed in (2, 3, 4))


def test_a_spec_with_jobs_is_read_back_as_it_stands(tmp_path):
    found = resolved(workload=[STEP, RING], jobs={"type": "random", "hosts": [8, 8]}).plain()
    (tmp_path / "spec.json").write_text(json.dumps(found))
    assert spec.read_spec(tmp_path / "spec.json").plain() == found
    found["jobs"]["placed"][0][0] = found["jobs"]["placed"][1][0]
    (tmp_path / "spec.json").write_text(json.dumps(found))
    with pytest.raises(SpecError, match="is not what a resolved spec holds here"):
        spec.read_spec(tmp_path / "spec.json")


HISTORY = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 20), st.integers(1, 6)), max_size=12
)


@dataclass
class Job:
    arrives: int
    lasts: int
    size: int
    began: int = -1
    hosts: tuple = ()


@settings(max_examples=200)
@given(history=HISTORY, until=st.integers(0, 40))
def test_what_a_history_leaves_free(history, until):
    # Oracle: second by second. Ends come before beginnings of the same second.
    jobs = [Job(*row) for row in sorted(history, key=lambda row: row[0])]
    for now in range(until + 1):
        taken = {h for j in jobs if j.began >= 0 and j.began + j.lasts > now for h in j.hosts}
        for job in jobs:
            if job.began >= 0 or job.arrives > now:
                continue
            free = [host for host in range(8) if host not in taken]
            if len(free) < job.size:
                break  # those behind it wait too
            job.began, job.hosts = now, tuple(free[: job.size])
            taken |= set(job.hosts)
    taken = {h for j in jobs if j.began >= 0 and j.began + j.lasts > until for h in j.hosts}

    found = _free.after(8, [(j.arrives, j.lasts, j.size) for j in jobs], until)
    assert np.flatnonzero(~found.is_free).tolist() == sorted(taken)


def test_a_file_of_jobs_leaves_its_holes(tmp_path):
    # At second 5 the first job has gone and the second one has 2 to 5, so 0, 1 and 6 are next.
    (tmp_path / "history.csv").write_text("arrives_s,ends_s,hosts\n0,5,2\n1,90,4\n")
    (tmp_path / "s.yaml").write_text(
        "name: s\ntopology: {type: star, hosts: 12}\nlink: {rate: 100 Gb/s, delay: 1 us}\n"
        "switch: {buffer: none}\ntransport: {type: ns3::RoceTransport}\nstop: 1 ms\n"
        "workload: {type: permutation, message: 1 kB, inter_leaf: false}\n"
        "jobs: {type: first_fit, file: history.csv, at_s: 5, hosts: [3]}\n"
    )
    (run,) = spec.plan(spec.read_scenario(tmp_path / "s.yaml"))
    assert run.spec.jobs.placed == ((0, 1, 6),)


def test_other_jobs_take_the_share_that_is_asked_for():
    # Little's law: the mean over seeds; waiting jobs and the size of the sample leave 5 %.
    module = plugins.load("pyorch.allocation", "fragmented")
    nodes = {"is_switch": np.zeros(1024, dtype=int)}
    params = module.Params(busy=0.5, largest=64)
    free = []
    for seed in range(1, 13):
        try:
            module.allocate(params, [1025], nodes, {}, seed)
        except FieldError as error:
            free.append(int(str(error).split()[6]))
    assert np.mean(free) / 1024 == pytest.approx(0.5, abs=0.05)


REFUSED = [
    ({"jobs": {"type": "packed", "hosts": [30, 8]}}, "jobs.hosts: a job of 8 hosts finds 2 free"),
    ({"jobs": {"type": "aligned", "hosts": [30, 8]}}, "jobs.hosts: [30, 8] on whole racks need"),
    ({"jobs": {"type": "random", "hosts": [30, 8]}}, "jobs.hosts: 38 in all; there are 32."),
    ({"jobs": {"type": "packed", "hosts": [8]}}, "jobs.hosts: 1 numbers for 2 workloads."),
    ({"jobs": {"type": "packed", "hosts": [4, 8]}}, "stages: 2 stages x 1 peers x 1 members x 4"),
    ({"jobs": {"type": "packed", "hosts": [8, 8], "only": 2}}, "jobs.only: there is no job 2;"),
    ({"jobs": {"type": "pakced", "hosts": [8, 8]}}, "Did you mean packed?"),
    ({"workload": [{**RING, "placement": "random"}] * 2}, "draws from all hosts too, so both"),
]


@pytest.mark.parametrize(("sections", "message"), REFUSED)
def test_jobs_that_cannot_be_are_refused_in_one_line(sections, message):
    with pytest.raises(PyorchError) as error:
        resolved(**({"workload": [STEP, RING]} | sections))
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_scheduler_that_gives_a_host_away_twice_is_refused(monkeypatch):
    module = plugins.load("pyorch.allocation", "packed")
    monkeypatch.setattr(module, "allocate", lambda params, sizes, nodes, links, seed: [
        np.arange(size) for size in sizes
    ])  # fmt: skip
    with pytest.raises(PyorchError, match="packed gave a host to two jobs, or another number."):
        resolved(workload=[STEP, RING], jobs={"type": "packed", "hosts": [8, 8]})


@pytest.mark.ns3
@pytest.mark.usefixtures("loaded")
def test_a_job_alone_and_beside_another_one(tmp_path):
    # On whole racks two jobs share no link: each is as long as alone, to the picosecond. On hosts
    # at random every rack has some of both, and their messages meet.
    scenario = STAR | {
        "engine": "fluid", "workload": [STEP, STEP], "jobs": {"type": "aligned", "hosts": [8, 8]},
        "sweep": {"jobs.type": ["aligned", "random"], "jobs.only": ["all", 0, 1]},
    }  # fmt: skip
    runs = spec.plan(spec.scenario_of(scenario, "jobs.yaml"))
    steps = {}
    for run in runs:
        made = pyorch.run(scenario, results=tmp_path, set=run.point)
        steps[run.id] = training_step.measure(RunTables(made.spec, made.folder))["step_ps"].tolist()
    found = metrics.collect("jobs", runs, tmp_path)
    # Oracle: another metric, of the same runs.
    assert found["completion_ps"].tolist() == sum((steps[run.id] for run in runs), [])
    assert found["job"].tolist() == [0, 1, 0, 1] * 2
    whole, torn = (found[found["jobs.type"] == kind] for kind in ("aligned", "random"))
    assert (whole["slowdown"] == 1).all() and whole["completion_ps"].nunique() == 1
    assert (torn["slowdown"][torn["alone"] == 1] == 1).all()
    both, alone = (torn["completion_ps"][torn["alone"] == n].tolist() for n in (0, 1))
    assert torn["slowdown"].tolist()[:2] == [a / b for a, b in zip(both, alone, strict=True)]
    assert sum(both) > sum(alone) and min(alone) > whole["completion_ps"].iloc[0]


def test_a_job_that_has_not_run_alone_has_no_slowdown():
    rows = [("a", "all", 0, 0, 30), ("a", "all", 1, 0, 50), ("a", 1, 1, 1, 40), ("b", 1, 1, 1, 99)]
    table = pd.DataFrame(rows, columns=["variant", "jobs.only", "job", "alone", "completion_ps"])
    found = across(table.assign(hosts=8, run="s1"))
    assert found["alone_ps"].tolist() == [pd.NA, 40, 40, 99]
    assert found["slowdown"].dropna().tolist() == [1.25, 1.0, 1.0]


def test_a_job_that_runs_alone_draws_what_it_draws_beside_others():
    drawn = {"type": "permutation", "message": "1 kB"}
    both, alone = (
        input_tables(resolved(workload=[drawn, drawn], jobs={"type": "packed", "hosts": [16, 16],
                                                             "only": only}))["flows"]
        for only in ("all", 1)
    )  # fmt: skip
    second = both["dst"][16:32].tolist()  # ways to relays come behind
    assert second != (both["dst"][:16] + 16).tolist()
    assert alone["dst"][:16].tolist() == second


LEAVES = {"type": "leaf_spine", "leaves": 4, "hosts_per_leaf": 4, "spines": 4}
CROSSING = {"type": "permutation", "message": "100 kB"}


@pytest.mark.parametrize("seed", range(1, 9))
def test_a_permutation_fits_the_hosts_of_its_job(seed):
    # Four hosts on each leaf: of the six that a job has, in these draws at most three are below one
    # leaf, and each of these can send to one of the three others.
    sections = {"topology": LEAVES, "jobs": {"type": "random", "hosts": [6, 6]}, "seed": seed}
    made = resolved(**sections, workload=[CROSSING] * 2)
    leaves = [[host // 4 for host in own] for own in made.jobs.placed]
    flows = input_tables(made)["flows"]

    assert max(own.count(leaf) for own in leaves for leaf in own) <= 3
    assert sorted(flows["src"].tolist()) == sorted(flows["dst"].tolist())
    assert flows["src"].tolist() == sum(map(sorted, made.jobs.placed), [])
    assert (flows["src"] // 4 != flows["dst"] // 4).all()


@pytest.mark.parametrize("hosts, most", [([6, 6], 4), ([8, 5], 4), ([4], 4), ([12, 3], 3)])
def test_a_permutation_of_a_job_with_most_hosts_below_a_leaf_is_refused(hosts, most):
    # Packed: leaves have four hosts each. 6: four and two; 8 fits; then 5: four and one; 12 fits,
    # then three below the last leaf.
    n_hosts = next(n for n in hosts if n not in (8, 12))
    with pytest.raises(SpecError, match=f"with {most} of {n_hosts} hosts below one leaf some"):
        resolved(topology=LEAVES, jobs={"type": "packed", "hosts": hosts},
                 workload=[CROSSING] * len(hosts))  # fmt: skip
