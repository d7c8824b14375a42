# SPDX-License-Identifier: GPL-2.0-only
"""Takes a scenario in YAML, leaves resolved run specs: plain JSON with every default settled."""

from pyorch.spec.plan import Run, plan, read_spec, runs_by_id, write_resolved, write_spec
from pyorch.spec.scenario import (
    SCALES,
    ScenarioFile,
    read_scenario,
    scenario_files,
    scenario_of,
)

__all__ = [
    "SCALES",
    "Run",
    "ScenarioFile",
    "plan",
    "read_scenario",
    "read_spec",
    "runs_by_id",
    "scenario_files",
    "scenario_of",
    "write_resolved",
    "write_spec",
]
