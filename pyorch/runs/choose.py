# SPDX-License-Identifier: GPL-2.0-only
"""Takes a scenario and what a user has chosen of it, returns the runs that remain."""

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path

from pyorch import spec as specs
from pyorch.simulate import check

#: A scenario as its file or as what would stand in it.
Scenario = Path | str | Mapping[str, object]


def choose(
    scenario: Scenario,
    scale: str = "laptop",
    variant: str | None = None,
    case: str | None = None,
    seed: int | None = None,
    sets: Mapping[str, object] | Iterable[tuple[str, object]] = (),
    *,
    asks: bool = False,
) -> list[specs.Run]:
    """Return the runs of a scenario that a choice leaves, in the order of the file.

    Parameters
    ----------
    scenario : path or mapping
        A YAML file, or its content as plain values.
    scale : str
        ``smoke``, ``laptop`` or ``paper``.
    variant, case : str, optional
        Only this one.
    seed : int, optional
        Instead of the swept ones.
    sets : mapping or pairs
        Key path to value, as ``--set`` has them.
    asks : bool
        Also let the engine check attributes, with the libraries of this folder: they are executed.

    Raises
    ------
    SpecError
        As `pyorch.spec.plan`.
    """
    assignments = [*(sets.items() if isinstance(sets, Mapping) else sets)]
    if seed is not None:
        assignments.append(("seed", seed))
    with check.refusals() if asks else nullcontext() as refusals:
        return specs.plan(
            read(scenario), scale, assignments, variant=variant, case=case, refusals=refusals
        )


def read(scenario: Scenario) -> specs.ScenarioFile:
    """Return a scenario from its file, or from a mapping."""
    if isinstance(scenario, Mapping):
        return specs.scenario_of(dict(scenario))
    return specs.read_scenario(scenario)


def named(run: specs.Run) -> str:
    """Return which point of its scenario a run is: ``case incast, variant sprayed, seed 2``."""
    parts = [f"case {run.case}"] if run.case else []
    parts += [f"variant {run.variant}"] if run.variant else []
    parts += [f"{key}={value}" for key, value in run.point.items()]
    return ", ".join([*parts, f"seed {run.seed}"])
