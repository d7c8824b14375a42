# SPDX-License-Identifier: GPL-2.0-only
"""What a run is given and what a machine has, by hand."""

import pytest

from pyorch.simulate import sizes
from pyorch.workflow import resources
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
