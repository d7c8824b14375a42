# SPDX-License-Identifier: GPL-2.0-only
"""What a run takes of the address space that `ulimit -v` leaves it."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from pyorch import render, spec
from pyorch.spec.scenario import read_scenario

pytestmark = pytest.mark.ns3

TRANSPORTS = Path(__file__).parents[2] / "scenarios" / "transports.yaml"
LIMIT_BYTES = 4 * 2**30
#: Of a thousand hosts each sends 200 kB at 800 Gb/s: 50 packets, all of them under way at once.
SETS = {"workload.message": "200 kB", "stop": "1 ms"}
TRACES = {"sample": "1 us", "pauses": True, "arrivals": True, "pcap": [0, 5]}


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))


def rendered(folder, variant, **changes):
    """Return the script of one seed of a transport among 1024 hosts."""
    (run,) = spec.plan(
        read_scenario(TRANSPORTS), sets=[*(SETS | {"seed": 1} | changes).items()],
        scale="paper", case="permutation_1024_800g", variant=variant,
    )  # fmt: skip
    render.write_run(run.spec, folder)
    return folder / "scenario.py"


def simulated(script, out, *more, **options):
    command = [sys.executable, script, "--out", out, "--threads", "2", *more]
    return subprocess.run(command, capture_output=True, text=True, **options)


@pytest.mark.parametrize(
    ("variant", "changes", "domains"),
    [
        ("rocev2", {}, ()),
        ("rocev2_hpcc", {"trace": TRACES}, ()),
        ("sprayed", {"trace": TRACES}, ()),
        ("ndp", {}, ("--domains", "2")),
        ("rocev2", {}, ("--domains", "2")),
    ],
    ids=["rocev2", "rocev2_hpcc-traces", "sprayed-traces", "ndp-domains", "rocev2-domains"],
)
def test_a_thousand_hosts_fit_into_4_gib(variant, changes, domains, tmp_path):
    script = rendered(tmp_path, variant, **changes)

    done = simulated(script, tmp_path / "limited", *domains, preexec_fn=limit)

    assert (done.returncode, done.stderr) == (0, "")
    manifest = json.loads((tmp_path / "limited/manifest.json").read_text())
    assert manifest["flows_done"] == manifest["flows_total"] == 1024
    if not changes and not domains:
        assert simulated(script, tmp_path / "free").returncode == 0
        limited, free = ((tmp_path / name / "raw.npz").read_bytes() for name in ("limited", "free"))
        assert limited == free


def test_the_command_line_takes_one_thread_of_numpy():
    code = (
        "import sys, os, pyorch.cli; assert 'numpy' not in sys.modules; import numpy;"
        "print(len(os.listdir('/proc/self/task')))"
    )
    environment = {key: os.environ[key] for key in os.environ.keys() - {"OPENBLAS_NUM_THREADS"}}

    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)

    assert (done.stdout, done.stderr) == (b"1\n", b"")
