# SPDX-License-Identifier: GPL-2.0-only
"""A workflow in a folder of its own: our Snakefile, one small scenario, one small figure."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyorch import built

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))  # processes.py
SCENARIO = """\
# Question: a small one for tests
name: tiny
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 100 kB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
sweep: {seed: [1, 2]}
"""
PLOT = '''\
# SPDX-License-Identifier: GPL-2.0-only
"""A figure for tests: 3 * x_ and |y| < `z`."""
from pyorch import figures

NEEDS = {"fct": "tiny/fct.csv"}


def draw(ax, fct):
    ax.plot(fct["quantile_share"], fct["fct_ps"])
    return fct


if __name__ == "__main__":
    figures.main(draw, NEEDS)
'''


class Project:
    """A project folder that shares our code, with a copy of the build and results of its own."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.python_path = ROOT
        for name in ("Snakefile", "profiles", "pyorch", "environment.yml"):
            (folder / name).symlink_to(ROOT / name)
        # No sources of modules: nothing here may ever be built anew, or removed for that.
        (folder / "ns3-modules").mkdir()
        (folder / "build" / "lib").mkdir(parents=True)
        place = built.here()
        for path in [place.typeids, *place.libraries.glob("*.so")]:
            shutil.copy2(path, folder / "build" / path.relative_to(place.folder))
        (folder / "build" / "include").symlink_to(place.headers)
        for name in ("scenarios", "plots"):
            (folder / name).mkdir()
        self.scenario.write_text(SCENARIO)
        (folder / "plots" / "tiny.py").write_text(PLOT)

    @property
    def scenario(self) -> Path:
        return self.folder / "scenarios" / "tiny.yaml"

    def command(self, *arguments):
        return [sys.executable, "-m", "snakemake", *map(str, arguments)]

    @property
    def environment(self):
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        own = {"PYTHONPATH": str(self.python_path), "PYORCH_BUILD": str(self.folder / "build")}
        return os.environ | {"PATH": path} | own

    def snakemake(self, *arguments):
        """Run Snakemake and return what it said, both streams together."""
        return subprocess.run(
            self.command(*arguments), cwd=self.folder, env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
        )  # fmt: skip

    def jobs(self, *arguments) -> dict[str, int]:
        """Return how many jobs of each rule a dry run would start."""
        done = self.snakemake("-n", "--cores", "2", *(arguments or ["all"]))
        assert done.returncode == 0, done.stdout
        lines = done.stdout.partition("Job stats:")[2].partition("total")[0].splitlines()
        rows = [line.split() for line in lines if len(line.split()) == 2]
        return {rule: int(count) for rule, count in rows if count.isdigit()}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project of which everything is made, with its report."""
    project = Project(tmp_path_factory.mktemp("finished"))
    for arguments in (["--cores", "2", "all"], ["all", "--report", "report.html"]):
        done = project.snakemake(*arguments)
        assert done.returncode == 0, done.stdout
    return project


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)
