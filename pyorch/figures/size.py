# SPDX-License-Identifier: GPL-2.0-only
"""Says how large the networks are that the runs behind tables have: what a figure prints on itself.

It follows from the scenario files. `laptop` and `smoke` are named, for their runs are smaller.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import NamedTuple

from pyorch import plugins
from pyorch.errors import PyorchError
from pyorch.spec import ScenarioFile, read_scenario, scenario_files
from pyorch.spec.planning import WORDS
from pyorch.spec.resolved import Link

#: The scale whose runs are as large as they are meant to be.
LARGEST = "paper"
#: What decides how large a run is; what else varies are methods and draws.
SECTIONS = ("topology", "workload")


class Size(NamedTuple):
    """Hosts of each run, what they are called, and by what bytes are divided."""

    hosts: frozenset[int]
    kind: str
    divided: frozenset[int]


def sizes(scenarios: Iterable[str], scale: str, folder: Path | str = "scenarios") -> str:
    """Return ``8192 hosts``, or ``64 devices, bytes / 100``, for runs of some scenarios.

    Parameters
    ----------
    scenarios : iterable of str
        Names.
    scale : str
        Of all runs.
    folder : path
        Of the scenario files. Without the file of a scenario the scale is all that is known.
    """
    found = [_size(name, scale, Path(folder)) for name in scenarios]
    known = [size for size in found if size is not None]
    divided = sorted(frozenset().union(*(size.divided for size in known)))
    hosts = sorted(frozenset().union(*(size.hosts for size in known)))
    kinds = {size.kind for size in known}
    words = [f"scale: {scale}"] if scale != LARGEST or len(known) < len(found) else []
    if hosts:
        many = f"{hosts[0]}" if len(hosts) == 1 else f"{hosts[0]} to {hosts[-1]}"
        words.append(f"{many} {kinds.pop() if len(kinds) == 1 else 'hosts'}")
    if divided not in ([], [1]):
        words.append(f"bytes / {' and '.join(map(str, divided))}")
    return ", ".join(words)


def _size(name: str, scale: str, folder: Path) -> Size | None:
    """Return the size of the runs of a scenario at a scale; None if that cannot be known."""
    scenario = _scenario(name, folder)
    if scenario is None:
        return None
    try:
        points = list(_points(scenario, scale))
        counts = [_counts(values["topology"], scenario) for values in points]
    except (PyorchError, KeyError, TypeError, ValueError):
        return None  # whoever plans such a scenario says what is wrong with it
    return Size(
        hosts=frozenset(count["hosts"] for count in counts),
        kind="devices" if all("rails" in count for count in counts) else "hosts",
        divided=frozenset(n for values in points for n in _divided(values)),
    )


def _scenario(name: str, folder: Path) -> ScenarioFile | None:
    """Return the file of a scenario, which may have another name than itself."""
    for path in sorted(scenario_files(folder), key=lambda path: path.stem != name):
        with suppress(PyorchError):
            scenario = read_scenario(path)
            if scenario.values.get("name") == name:
                return scenario
    return None


def _points(scenario: ScenarioFile, scale: str) -> Iterator[dict]:
    """Yield what decides the size of each run."""
    base = scenario.at_scale(scale)
    planning = base.planning()
    swept = {key: each for key, each in planning.sweep.items() if _is_of_size(key)}
    for case, variant in planning.pairs:
        changes = [("cases", planning.cases.get(case, {})),
                   ("variants", planning.variants.get(variant, {}))]  # fmt: skip
        changed = base
        for section, values in changes:
            for key, value in values.items():
                if key not in WORDS[section] and _is_of_size(key):
                    changed = changed.with_value(key, value, section)
        for point in product(*swept.values()):
            settled = changed
            for key, value in zip(swept, point, strict=True):
                settled = settled.with_value(key, value, "sweep")
            yield {section: settled.values.get(section) for section in SECTIONS}


def _is_of_size(key: str) -> bool:
    return key.split(".")[0] in SECTIONS


def _counts(topology: dict, scenario: ScenarioFile) -> dict[str, int]:
    """Return the numbers of a network in closed form."""
    module = plugins.load("pyorch.topology", topology["type"])
    given = {key: value for key, value in topology.items() if key != "type"}
    folder = Path(scenario.source).parent
    # Rates and delays change no number of hosts.
    context = {"folder": folder, "stored": False, "link": Link(rate_bps=1, delay_ps=1)}
    return module.counts(module.Params.model_validate(given, context=context))


def _divided(values: dict) -> Iterator[int]:
    """Yield by what the bytes of each workload are divided."""
    loads = values["workload"]
    for load in loads if isinstance(loads, list) else [loads]:
        yield int((load or {}).get("divide", 1))
