# SPDX-License-Identifier: GPL-2.0-only
"""Takes a scenario in YAML, returns resolved run specs: typed, with every default settled."""

from pyorch.spec.plan import Run, plan, runs_by_id, write_resolved, write_spec
from pyorch.spec.planning import SCALES
from pyorch.spec.resolved import Spec
from pyorch.spec.scenario import (
    DEFAULT_SCALE,
    ScenarioFile,
    read_scenario,
    scenario_files,
    scenario_of,
)
from pyorch.spec.stored import read_recorded, read_spec

__all__ = [
    "DEFAULT_SCALE",
    "SCALES",
    "Run",
    "ScenarioFile",
    "Spec",
    "plan",
    "read_scenario",
    "read_recorded",
    "read_spec",
    "runs_by_id",
    "scenario_files",
    "scenario_of",
    "write_resolved",
    "write_spec",
]
