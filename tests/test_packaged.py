# SPDX-License-Identifier: GPL-2.0-only
"""What a wheel installs works without a clone: the package, with its built modules in it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyorch import built

ROOT = Path(__file__).parents[1]
SCENARIO = """\
name: one
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: incast, senders: 2, message: 100 kB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a function that runs Python in an empty folder, with an installed pyorch."""
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("study")
    shutil.copytree(ROOT / "pyorch", site / "pyorch", ignore=shutil.ignore_patterns("__pycache__"))
    place = built.here()
    for path in [place.typeids, *place.module_libraries(), *place.headers.glob("ns3/*.h")]:
        copy = site / "pyorch" / "_built" / path.relative_to(place.folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    (folder / "one.yaml").write_text(SCENARIO)
    environment = {k: v for k, v in os.environ.items() if k != "PYORCH_BUILD"}

    def python(*arguments):
        return subprocess.run(
            [sys.executable, *arguments], cwd=folder, text=True, capture_output=True,
            env=environment | {"PYTHONPATH": str(site)},
        )  # fmt: skip

    return python


@pytest.mark.ns3
def test_a_run_needs_no_clone(installed):
    where = installed("-c", "import pyorch.built as b; print(b.IS_PACKAGED, b.here().folder)")
    done = installed("-m", "pyorch", "run", "one.yaml")

    assert where.stdout.startswith("True ") and where.stdout.strip().endswith("pyorch/_built")
    assert done.returncode == 0, done.stderr
    assert "retransmitted packets" in done.stdout


def test_a_module_is_not_written_where_none_can_be_built(installed):
    done = installed("-m", "pyorch", "new", "transport", "swift")

    assert done.returncode != 0
    assert (
        "this folder is no study, where such a file has its place. Make one: pyorch" in done.stderr
    )
