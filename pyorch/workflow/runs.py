# SPDX-License-Identifier: GPL-2.0-only
"""What the Snakefile asks when it is read: which runs there are, and of what they are made."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from pyorch import spec as specs
from pyorch.errors import PyorchError, SpecError, did_you_mean
from pyorch.figures.needs import read_caption, read_needs, split_need
from pyorch.plugins import names
from pyorch.runs.names import note
from pyorch.simulate import check
from pyorch.spec import typeids
from pyorch.spec.scenario import check_scale
from pyorch.workflow import estimate, resources
from pyorch.workflow.events import Progress
from pyorch.workflow.marks import MARK
from pyorch.workflow.planfile import read_plan, write_plan


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
    broken : dict
        Message of each scenario or figure that cannot be used, by file.
    points : list of Run
        Every point of every scenario; two may be the same run.
    types : TypeIds
        Of the modules as they are now; a job may be building them anew later.
    """

    scale: str
    files: dict[str, Path]
    runs: dict[str, dict[str, specs.Run]]
    figures: dict[str, dict[str, str]]
    captions: dict[str, str]
    broken: dict[Path, str]
    points: list[specs.Run]
    types: typeids.TypeIds

    def spec(self, scenario: str, run: str) -> specs.Spec:
        """Return the resolved spec of a run; names without one belong to an earlier state."""
        return self._run(scenario, run).spec

    def threads(self, scenario: str, run: str) -> int:
        """Return the threads that a run is given."""
        return self._run(scenario, run).threads

    def _run(self, scenario: str, run: str) -> specs.Run:
        known = self.runs.get(scenario, {})
        if run not in known:
            raise SpecError(f"no run {scenario}/{run} at scale {self.scale}.")
        return known[run]

    def libraries(self, scenario: str, run: str) -> list[str]:
        """Return the names of the shared libraries that a run loads."""
        return self.types.libraries(self.spec(scenario, run))

    def labels(self, scenario: str) -> list[str]:
        """Return the labels of each run of a scenario: of its case, if it has one, and variant."""
        runs = self.runs[scenario].values()
        return [x for run in runs for x in ([run.case_label] if run.case else []) + [run.label]]

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

    def marks(self, scenarios: Iterable[str]) -> list[str]:
        """Return the mark of each run of some scenarios: whoever asks for it has it up to date."""
        return [
            MARK.format(scenario=scenario, run=run) for scenario in scenarios
            for run in self.runs[scenario]
        ]  # fmt: skip

    def simulated(self, name: str, scenarios: Iterable[str] | None = None) -> list[str]:
        """Return one file of each run of some scenarios, by default of all that a figure needs."""
        return [
            f"results/{scenario}/{run}/{name}"
            for scenario in (self.needed if scenarios is None else scenarios)
            for run in self.runs[scenario]
        ]

    def provenance(self, figure: str) -> list[str]:
        """Return what each run that a figure shows has left about itself."""
        needs = self.needs(figure).values()
        return self.simulated("provenance.json", sorted({split_need(n, "NEEDS")[0] for n in needs}))

    @property
    def drawn(self) -> list[str]:
        """All figures, also those whose file is broken: who asks for them is told so."""
        return sorted([*self.figures, *(p.stem for p in self.broken if p.suffix == ".py")])

    def needs(self, figure: str) -> dict[str, str]:
        """Return the tables that a figure needs, by argument; none if it is refused."""
        return {} if self.refusal(figure) else self.figures.get(figure, {})

    def refusal(self, figure: str) -> str:
        """Return why a figure cannot be made; empty if it can.

        Its file is broken, or that of a scenario that it needs; or no such is there.
        """
        for path, message in self.broken.items():
            if path.suffix == ".py" and path.stem == figure:
                return message
        refusals = (self._need_refusal(figure, n) for n in self.figures.get(figure, {}).values())
        return next(filter(None, refusals), "")

    @property
    def problems(self) -> list[str]:
        """What is wrong with files of scenarios and figures, each said once."""
        refusals = filter(None, map(self.refusal, self.figures))
        return list(dict.fromkeys([*self.broken.values(), *refusals]))

    def _need_refusal(self, figure: str, need: str) -> str:
        scenario, metric = split_need(need, figure)
        metrics = names("pyorch.metrics")
        for kind, name, known in (("scenario", scenario, self.runs), ("metric", metric, metrics)):
            if name not in known:
                broken = [m for p, m in self.broken.items() if _name_in(p) == name]
                if broken and kind == "scenario":
                    return broken[0]
                return (
                    f"plots/{figure}.py: NEEDS: no {kind} '{name}'. There are"
                    f" {', '.join(sorted(known))}.{did_you_mean(name, known)}"
                )
        return ""

    @property
    def needed(self) -> list[str]:
        """The scenarios that a figure needs and that are there."""
        needs = [need for named in self.figures.values() for need in named.values()]
        return sorted({split_need(need, "NEEDS")[0] for need in needs} & self.runs.keys())

    def progress(self, cores: int | None) -> Callable[..., Progress]:
        """Return what makes the progress of a workflow on so many cores that begins.

        It takes the folders of all runs that are asked for, of those that are due, and how many
        jobs each rule has.
        """

        def begin(
            asked: Collection[str], due: Collection[str], counts: Mapping[str, int]
        ) -> Progress:
            runs = {run.folder: run for run in self.points if run.folder in asked}
            missing = [run for folder, run in runs.items() if folder in due]
            finished = [run for folder, run in runs.items() if folder not in due]
            return estimate.progress(estimate.Sweep(finished, missing), counts, cores)

        return begin

    def note_names(self) -> None:
        """Write down what the runs are called of each scenario that has a folder of results."""
        note(run for run in self.points if Path("results", run.scenario).is_dir())

    def write_plan(self, path: Path | str) -> None:
        """Write every point for the jobs, which plan nothing themselves."""
        write_plan(self.points, path)


def escape(text: str) -> str:
    """Return text with what is special in reStructuredText escaped."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


def read(
    scale: str,
    scenarios: str = "scenarios",
    plots: str = "plots",
    plan: Path | str | None = None,
    *,
    asks: bool = False,
) -> Workflow:
    """Return the workflow of all scenarios and figures that are there.

    What cannot be used is in ``broken`` and stops nothing that does without.

    Parameters
    ----------
    scale : str
        Of all runs.
    scenarios, plots : str
        Folders.
    plan : path, optional
        Where the runs have been planned already.
    asks : bool
        Also let the engine check attributes, with the libraries of this folder: they are executed.

    Raises
    ------
    SpecError
        There is no such scale.
    """
    check_scale(scale)
    typeids.load()  # without the modules no scenario can be read
    files, points, broken = ({}, read_plan(plan), {}) if plan else _planned(scale, scenarios, asks)
    figures, captions = {}, {}
    for path in sorted(Path(plots).glob("[!_]*.py")):
        try:
            figures[path.stem], captions[path.stem] = read_needs(path), read_caption(path)
        except (PyorchError, SyntaxError, ValueError, OSError) as error:
            broken[path] = str(error) if isinstance(error, PyorchError) else f"{path}: {error}."
    return _workflow(scale, files, points, figures, captions, broken)


def of_plan(plan: Path | str) -> Workflow:
    """Return the workflow of the runs of a plan, without any figure."""
    points = read_plan(plan)
    return _workflow(points[0].scale, {}, points, {}, {}, {})


def nothing() -> Workflow:
    """Return a workflow without any run or figure."""
    return _workflow("", {}, [], {}, {}, {})


def _planned(
    scale: str, scenarios: str, asks: bool
) -> tuple[dict, list[specs.Run], dict[Path, str]]:
    """Return the file of each scenario, all points, and the message of each broken file."""
    files: dict[str, Path] = {}
    points: list[specs.Run] = []
    broken: dict[Path, str] = {}
    with check.refusals() if asks else nullcontext() as refusals:
        for path in specs.scenario_files(scenarios):
            try:
                found = specs.plan(specs.read_scenario(path), scale, refusals=refusals)
                name = found[0].scenario
                if name in files:
                    raise SpecError(f"{path}: name: '{name}' is the name of {files[name]} too.")
            except PyorchError as error:
                broken[path] = str(error)
                continue
            files[name] = path
            points += found
    return files, points, broken


def _workflow(scale, files, points, figures, captions, broken) -> Workflow:
    runs: dict[str, dict[str, specs.Run]] = {}
    for run in points:
        runs.setdefault(run.scenario, {}).setdefault(run.id, run)
    return Workflow(scale, files, runs, figures, captions, broken, points, typeids.load())


def _name_in(path: Path) -> str:
    """Return the name of a scenario that cannot be read: what its line says, or its file."""
    with suppress(OSError, UnicodeDecodeError):
        if line := re.search(r"^name: *([a-z][a-z0-9_]*) *(#|$)", path.read_text(), re.MULTILINE):
            return line[1]
    return path.stem
