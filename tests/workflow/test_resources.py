# SPDX-License-Identifier: GPL-2.0-only
"""What a run is given and what a machine has, by hand; and which files decide a run."""

from pathlib import Path

import pytest

from pyorch.simulate import sizes
from pyorch.workflow import code, resources
from pyorch.workflow import runs as plans

pytestmark = pytest.mark.ns3


def test_memory_grows_with_hosts(project):
    # 16 leaves of 64 hosts: 1024 x 32 kB = 32 MB beside the 300 MB of a small run.
    text = project.scenario.read_text()
    project.scenario.write_text(
        text.replace("leaves: 2, hosts_per_leaf: 2, spines: 2",
                     "leaves: 16, hosts_per_leaf: 64, spines: 2")
    )  # fmt: skip
    workflow = plans.read("laptop", project.folder / "scenarios", "none")

    assert {workflow.memory_mb("tiny", run) for run in workflow.runs["tiny"]} == {332}


def test_a_tenth_of_what_is_free_is_left_for_the_rest_of_the_machine(tmp_path, monkeypatch):
    # 10^6 KiB are 1024 MB; nine tenths are 921.6 MB.
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:  1000000 kB\n")
    monkeypatch.setattr(sizes, "MEMINFO", tmp_path / "meminfo")

    assert resources.available_mb() == 921


def test_a_run_is_made_anew_when_a_file_that_decides_its_failures_is_edited(project, monkeypatch):
    monkeypatch.chdir(Path(plans.__file__).parents[2])
    text = project.scenario.read_text()
    plain = plans.read("laptop", project.folder / "scenarios", "none")
    project.scenario.write_text(
        text + "failures: [{type: random, what: links, mtbf: 1 ms, mttr: 1 us}]\n"
    )
    failing = plans.read("laptop", project.folder / "scenarios", "none")

    def files(workflow):
        return {
            str(path.relative_to(code.PACKAGE.parent))
            for run in workflow.runs["tiny"].values()
            for path in code.files_of(run.spec)
        }

    assert files(failing) - files(plain) >= {
        "pyorch/failure/random.py", "pyorch/failure/_outage.py"
    }  # fmt: skip
    assert {"pyorch/topology/leaf_spine.py", "pyorch/workload/permutation.py"} <= files(plain)
    assert {"pyorch/topology/_clos.py", "pyorch/workload/_hosts.py"} <= files(plain)
