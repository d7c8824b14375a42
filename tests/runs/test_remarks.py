# SPDX-License-Identifier: GPL-2.0-only
"""What is said of workloads before a run."""

import re

import pytest

from pyorch.runs.remarks import remarks
from pyorch.spec.plan import plan
from pyorch.spec.scenario import scenario_of

BASE = {
    "name": "two",
    "topology": {
        "type": "rails", "devices": 1, "rail": {"type": "star", "hosts": 32},
        "scale_up": {"rate": "7.2 Tb/s", "delay": "8 ns"},
    },
    "link": {"rate": "800 Gb/s", "delay": "8 ns"},
    "switch": {"buffer": "64 MB"},
    "transport": {"type": "ns3::SprayTransport"},
    "stop": "100 ms",
}  # fmt: skip


@pytest.mark.parametrize(
    ("first", "jobs", "hosts"),
    [(4, None, "4 to 7"), (8, None, None), (0, {"type": "packed", "hosts": [8, 8]}, None)],
)
def test_jobs_that_compute_on_the_same_hosts_are_said(first, jobs, hosts):
    step = {"type": "training", "preset": "llama3-8b", "peers": 8}
    scenario = BASE | {"workload": [step, step | {"first_host": first}]}
    if jobs:
        scenario["jobs"] = jobs
    (run,) = plan(scenario_of(scenario, "two"), "laptop", [])

    said = [line for line in remarks([run]) if "compute on hosts" in line]
    assert len(said) == (hosts is not None)
    assert hosts is None or f"workload.0 and workload.1 both compute on hosts {hosts}." in said[0]


def test_hosts_that_are_replaced_drawn_or_serve_compute_too():
    step = {"type": "training", "preset": "llama3-8b", "peers": 8}
    serving = {"type": "serving", "preset": "llama3-8b", "together": {"tensor": 2},
               "memory_rate": "26.8 Tb/s",
               "requests": {"number": 4, "rate_per_s": 100, "prompt_tokens": 100,
                            "answer_tokens": 4}}  # fmt: skip
    for one, other, hosts in (
        (step | {"first_host": 8, "replaced": [[0, 2], [3, 4]]}, step, "hosts 2, 4"),
        (step, serving | {"first_host": 7}, "host 7"),
        (step | {"placement": "random"}, step | {"peers": 32}, "hosts [0-9, ]+ and 4 more"),
    ):
        (run,) = plan(scenario_of(BASE | {"workload": [one, other]}, "two"), "laptop", [])
        said = " ".join(remarks([run]))
        assert re.search(rf"workload.0 and workload.1 both compute on {hosts}\. They", said), said


@pytest.mark.parametrize(("peers", "said"), [(8, True), (16, False)])
def test_gradients_of_experts_that_nobody_reduces_are_said(peers, said):
    # deepseek-v3 shares experts among 64 replicas: 8 peers of 8 members are one group of these.
    topology = BASE["topology"] | {"devices": 8, "rail": {"type": "star", "hosts": peers}}
    step = {"type": "training", "preset": "deepseek-v3", "peers": peers, "members": 8,
            "schedule": "steady", "micro_batches": 1}  # fmt: skip
    (run,) = plan(scenario_of(BASE | {"topology": topology, "workload": step}, "one"), "laptop", [])

    lines = [line for line in remarks([run]) if "hold the experts once" in line]
    assert len(lines) == said
    assert not said or lines[0].endswith("write peers: 16.")
