# SPDX-License-Identifier: GPL-2.0-only
"""What made a result is what was imported, opened and loaded; an edit of it is seen by everybody.

The oracle is Python itself: a process that makes one run and nothing else says at its end which
modules it holds and which files it has opened. ``PYORCH_DIGESTS=all`` takes a run of every scenario
and edits every file of the package.
"""

import ast
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pyorch
from pyorch import origin
from pyorch.built import INSTALLED

PACKAGE = Path(pyorch.__file__).parent
ALL = os.environ.get("PYORCH_DIGESTS") == "all"
SEED = 20261123
MODULES = sorted(PACKAGE.rglob("*.py"))
LINK = {"rate": "800 Gb/s", "delay": "500 ns"}
ROCE = {
    "name": "roce",
    "topology": {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 2},
    "link": LINK,
    "switch": {"buffer": "8 MB"},
    "workload": {"type": "poisson", "load": 0.2, "duration": "20 us", "sizes": "websearch"},
    "transport": {"type": "ns3::RoceTransport"},
    "stop": "20 ms",
}
SPRAY = ROCE | {
    "name": "spray",
    "topology": {"type": "star", "hosts": 4},
    "workload": {"type": "permutation", "message": "8 kB", "inter_leaf": False},
    "transport": {"type": "ns3::SprayTransport"},
}
SNAKEFILE = """
from pyorch.workflow import RULES
include: RULES
rule all:
    default_target: True
    input: expand("results/{scenario}/smoke/fct.csv", scenario=found.runs)
"""
#: Tells at the end of a process which modules it has held, and which files opened and loaded.
SPY = """
import atexit, json, os, sys
opened = set()
def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        opened.add(arguments[0])
sys.addaudithook(note)
def tell(open=open):
    held = opened | {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    with open("/proc/self/maps") as maps:
        held |= {line.split()[-1] for line in maps}
    with open(f"{os.environ['SPY']}/{os.getpid()}.json", "w") as file:
        main = getattr(sys.modules["__main__"].__spec__, "name", "")
        json.dump({"modules": [*sys.modules, main], "files": sorted(held - {None})}, file)
atexit.register(tell)
"""
#: Is given folders of runs; edits each file of the package and each library, says who is outdated.
EDITOR = """
import json, os, sys
from pathlib import Path
from pyorch.runs.finished import why_outdated
root, *folders = map(Path, sys.argv[1:])
files = [p for p in (root / "pyorch").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
found = {}
for path in [*files, *(root / "build" / "lib").glob("*.so")]:
    before, content = path.stat(), path.read_bytes()
    path.write_bytes(content + b"\\n")
    found[str(path.relative_to(root))] = [str(f) for f in folders if why_outdated(f)]
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
print(json.dumps(found))
"""
#: Not what makes a run: they start processes, check and hand on a spec, and look at results; and
#: the package itself, which offers the Python API.
HANDING_ON = (
    "forks.py", "jobs.py", "workflow", "runs", "__init__.py", "simulate/process.py",
    "simulate/sanitizers.py", "simulate/server.py", "simulate/check.py",
    "simulate/build_cache.py",
)  # fmt: skip


def imported_by(path):
    """Return what stands at the margin of a module and names this package, as Python parses it."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in found if name.split(".")[0] == "pyorch"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_are_read_as_python_reads_them(path):
    assert set(origin._imports(path, 0)) == imported_by(path)


class Copy:
    """A copy of pyorch with its built modules, which a test may edit, and a study beside it."""

    def __init__(self, root):
        self.root = root
        shutil.copytree(PACKAGE, root / "pyorch", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(INSTALLED / "lib", root / "build" / "lib")
        shutil.copytree(INSTALLED / "include", root / "build" / "include", symlinks=True)
        shutil.copy(INSTALLED / "typeids.json", root / "build")
        (root / "spy").mkdir()
        (root / "spy" / "sitecustomize.py").write_text(SPY)
        self.study = root / "study"
        for folder in ("scenarios", "plots"):
            (self.study / folder).mkdir(parents=True)
        (self.study / "Snakefile").write_text(SNAKEFILE)
        self.environment = os.environ | {
            "PYTHONPATH": str(root), "PYORCH_BUILD": str(root / "build"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }  # fmt: skip

    def python(self, *arguments, **environment):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=self.study, text=True, capture_output=True,
            env=self.environment | environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout + done.stderr

    def made_again(self, way, scenarios=(ROCE, SPRAY)):
        """Ask for runs in one of `WAYS`; return the names of those that were made."""
        for scenario in scenarios:
            path = self.study / "scenarios" / f"{scenario['name']}.yaml"
            path.write_text(json.dumps(scenario))
        before = self._stamps()
        getattr(self, way)([f"scenarios/{scenario['name']}.yaml" for scenario in scenarios])
        after = self._stamps()
        return {name for name in after if after[name] != before.get(name)}

    def _stamps(self):
        found = self.study.glob("results/*/s*-*/raw.npz")
        return {path.parent.parent.name: path.stat().st_mtime_ns for path in found}

    def spied(self, scenario):
        """Make the first run of a scenario; return its folder and the files of ours it was made of.

        A process that has the command line is the one that shows the result; one that is asked what
        the engine refuses loads the types of all runs of the scenario.
        """
        reports = self.root / "spy" / scenario.stem
        reports.mkdir()
        out = self.study / "spied" / scenario.stem
        self.python(
            "-m", "pyorch", "run", str(scenario), "--scale", "smoke", "--out", str(out),
            SPY=str(reports), PYTHONPATH=f"{self.root}{os.pathsep}{self.root / 'spy'}",
        )  # fmt: skip
        files = set()
        for report in map(json.loads, (path.read_text() for path in reports.iterdir())):
            if not {"pyorch.cli", "pyorch.simulate.check"} & set(report["modules"]):
                files |= set(report["files"])
        names = {
            str(Path(f).relative_to(self.root)) for f in files if f.startswith(f"{self.root}/")
        }
        package = {n for n in names if n.startswith("pyorch/") and "__pycache__" not in n}
        ours = {n for n in package if not n.removeprefix("pyorch/").startswith(HANDING_ON)}
        return out, ours | {n for n in names if n.startswith("build/lib/")}

    def run(self, paths):
        for path in paths:
            self.python("-m", "pyorch", "run", path, "--scale", "smoke")

    def api(self, paths):
        self.python("-c", f"import pyorch\nfor path in {paths}: pyorch.run(path, scale='smoke')")

    def sweep(self, paths):
        for path in paths:
            self.python("-m", "pyorch", "sweep", path, "--scale", "smoke", "--metric", "none")

    def snakemake(self, _):
        self.python("-m", "snakemake", "--cores", "1", "all", "--config", "scale=smoke")


WAYS = ("run", "api", "sweep", "snakemake")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    made = Copy(tmp_path_factory.mktemp("copy"))
    assert made.made_again("run") == {"roce", "spray"}
    return made


def edit(path, text="\n# An edit.\n"):
    with path.open("ab") as file:
        file.write(text.encode())


FILES = (
    "pyorch/workload/poisson.py", "pyorch/workload/_size_cdf.py",
    "pyorch/topology/leaf_spine.py", "build/lib/libroce.so",
)  # fmt: skip


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("way", "file"), itertools.product(WAYS, FILES) if ALL else [*zip(WAYS, FILES, strict=True)]
)
def test_an_edit_makes_the_runs_that_use_the_file_again_and_no_others(copy, way, file):
    edit(copy.root / file, "\n")

    assert copy.made_again(way) == {"roce"}
    assert copy.made_again(way) == set()


@pytest.mark.ns3
def test_who_only_shows_results_is_no_part_of_them(copy):
    for file in ("cli/app.py", "views/slowdown.py", "api.py", "workflow/worker.py", "runs/page.py"):
        edit(copy.root / "pyorch" / file)

    assert {way: copy.made_again(way) for way in WAYS} == dict.fromkeys(WAYS, set())


@pytest.mark.ns3
def test_an_edit_that_changes_the_result_changes_the_tables(copy):
    path = copy.root / "pyorch" / "workload" / "permutation.py"
    tables = copy.study / "results" / "spray"
    [before] = [p.read_bytes() for p in tables.glob("s*/flows.parquet")]
    text = path.read_text()
    path.write_text(text.replace("params.message_bytes", "params.message_bytes // 2"))
    assert text != path.read_text()

    assert copy.made_again("sweep") == {"spray"}
    [after] = [p.read_bytes() for p in tables.glob("s*/flows.parquet")]
    path.write_text(text)
    assert copy.made_again("api") == {"spray"}
    assert before != after
    assert [p.read_bytes() for p in tables.glob("s*/flows.parquet")] == [before]


@pytest.mark.ns3
@pytest.mark.parametrize("way", WAYS if ALL else WAYS[::3])
def test_a_result_is_kept_until_the_new_one_is_complete(copy, way):
    copy.made_again("run")
    path = copy.root / "pyorch" / "simulate" / "run.py"
    [folder] = (copy.study / "results" / "roce").glob("s*-*")
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
    text = path.read_text()
    path.write_text(text.replace("    clock = _Clock()\n", "    raise SimulationError('no')\n", 1))
    try:
        with pytest.raises(AssertionError, match="no"):
            copy.made_again(way)
    finally:
        path.write_text(text)

    assert {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} == before
    assert copy.made_again("run") == set()


@pytest.mark.ns3
def test_what_is_noted_is_what_python_has_held_and_just_that_outdates_a_run(copy):
    drawn = sorted((PACKAGE.parent / "scenarios").glob("*.yaml"))
    drawn = drawn if ALL else random.Random(SEED).sample(drawn, 2)
    held = dict(copy.spied(path) for path in drawn)
    for folder, files in held.items():
        facts = json.loads((folder / "provenance.json").read_text())
        libraries = {f"build/lib/{n}" for n in facts["libraries_sha256"] if "libns3" not in n}
        assert {*facts["code_sha256"], *libraries} == files, folder

    folders = list(map(str, held))
    edited = json.loads(copy.python("-c", EDITOR, str(copy.root), *folders))
    assert len(edited) > 300
    for file, outdated in edited.items():
        assert set(outdated) == {str(f) for f, files in held.items() if file in files}, file
