# SPDX-License-Identifier: GPL-2.0-only
"""What the Snakefile asks when it is read: which runs there are, and of what they are made."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pyorch import spec as specs
from pyorch.errors import SpecError, did_you_mean
from pyorch.figures.needs import read_caption, read_needs, split_need
from pyorch.plugins import names
from pyorch.simulate import places
from pyorch.spec import typeids
from pyorch.workflow import resources


@dataclass(frozen=True)
class Workflow:
    """Every run of every scenario at one scale, and every figure.

    Attributes
    ----------
    scale : str
        Of all runs.
    files : dict
        Scenario file by name of the scenario.
    runs : dict
        Runs by scenario and id.
    figures : dict
        NEEDS by name of the figure.
    captions : dict
        Docstring by name of the figure.
    types : TypeIds
        Of the modules as they are now; a job may be building them anew later.
    """

    scale: str
    files: dict[str, Path]
    runs: dict[str, dict[str, specs.Run]]
    figures: dict[str, dict[str, str]]
    captions: dict[str, str]
    types: typeids.TypeIds

    def spec(self, scenario: str, run: str) -> dict:
        """Return the resolved spec of a run; names without one belong to an earlier state."""
        known = self.runs.get(scenario, {})
        if run not in known:
            raise SpecError(f"no run {scenario}/{run} at scale {self.scale}.")
        return known[run].spec

    def libraries(self, scenario: str, run: str) -> list[str]:
        """Return the shared libraries that a run loads."""
        loaded = self.types.libraries(self.spec(scenario, run))
        return [_from_here(places.LIBRARIES / name) for name in loaded]

    def plugin_files(self, scenario: str, run: str) -> list[str]:
        """Return the files of the topology and the workloads of a run, and what these share."""
        spec = self.spec(scenario, run)
        loads = sorted({load["type"] for load in spec["workload"]})
        topology = f"pyorch/topology/{spec['topology']['type']}.py"
        failures = sorted({failure["type"] for failure in spec["failures"]})
        loads = [f"pyorch/workload/{name}.py" for name in loads]
        loads += [f"pyorch/failure/{name}.py" for name in failures]
        shared = [*_shared("topology"), *_shared("workload")]
        shared += _shared("failure") if failures else []
        return [topology, *loads, *shared]

    def memory_mb(self, scenario: str, run: str) -> int:
        """Return the memory that a run is given [MB]."""
        return resources.memory_mb(self.spec(scenario, run))

    def logs_mb(self, scenario: str, run: str) -> int:
        """Return the memory for what a run records beside its results [MB]."""
        return resources.logs_mb(self.spec(scenario, run))

    def disk_mb(self, scenario: str, run: str) -> int:
        """Return the disk that a run is given [MB]."""
        return resources.disk_mb(self.spec(scenario, run))

    def runtime_min(self, scenario: str, run: str) -> int:
        """Return the time that a run is given [minute]."""
        return resources.runtime_min(self.spec(scenario, run))

    def tables(self, scenario: str, name: str) -> list[str]:
        """Return one table of each run of a scenario."""
        return [f"results/{scenario}/{run}/{name}.parquet" for run in self.runs[scenario]]

    def simulated(self, name: str) -> list[str]:
        """Return one file of each run that a figure needs."""
        return [
            f"results/{scenario}/{run}/{name}" for scenario in self.needed
            for run in self.runs[scenario]
        ]  # fmt: skip

    @property
    def needed(self) -> list[str]:
        """The scenarios that a figure needs."""
        needs = [need for named in self.figures.values() for need in named.values()]
        return sorted({split_need(need, "NEEDS")[0] for need in needs})


@lru_cache(maxsize=8)
def _shared(kind: str) -> list[str]:
    """Return the files that all plug-ins of a kind share."""
    return sorted(map(str, Path("pyorch", kind).glob("_[!_]*.py")))


def _from_here(path: Path) -> str:
    """Return a path relative to this folder if it lies in it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def escape(text: str) -> str:
    """Return text with what is special in reStructuredText escaped."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


def read(scale: str, scenarios: str = "scenarios", plots: str = "plots") -> Workflow:
    """Return the workflow of all scenarios and figures that are there.

    Raises
    ------
    PyorchError
        A scenario or a figure cannot be used; nothing has been started then.
    """
    files, runs = {}, {}
    for path in specs.scenario_files(scenarios):
        planned = specs.plan(specs.read_scenario(path), scale)
        name = planned[0].scenario
        if name in files:
            raise SpecError(f"{path}: name: '{name}' is the name of {files[name]} too.")
        files[name], runs[name] = path, specs.runs_by_id(planned)
    drawn = sorted(Path(plots).glob("[!_]*.py"))
    figures = {path.stem: read_needs(path) for path in drawn}
    captions = {path.stem: read_caption(path) for path in drawn}
    for figure, needs in figures.items():
        for need in needs.values():
            _check_need(f"{plots}/{figure}.py", need, files)
    return Workflow(scale, files, runs, figures, captions, typeids.load())


def _check_need(source: str, need: str, files: dict[str, Path]) -> None:
    scenario, metric = split_need(need, source)
    for kind, name, known in (("scenario", scenario, files), ("metric", metric, _metrics())):
        if name not in known:
            raise SpecError(
                f"{source}: NEEDS: no {kind} '{name}'. There are {', '.join(sorted(known))}."
                f"{did_you_mean(name, known)}"
            )


def _metrics() -> list[str]:
    return names("pyorch.metrics")
