# SPDX-License-Identifier: GPL-2.0-only
"""What users should know of a topology or a workload before a run: each remark once."""

from collections.abc import Iterable

from pyorch.spec import Run


def remarks(runs: Iterable[Run]) -> list[str]:
    """Return the remarks of the topologies and workloads of some runs, each once."""
    found: dict[str, None] = {}
    for run in runs:
        for part in (run.spec.topology, *run.spec.workload):
            if its := getattr(part.module, "remarks", None):
                found |= dict.fromkeys(its(part.params))
    return list(found)
