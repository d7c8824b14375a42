# SPDX-License-Identifier: GPL-2.0-only
"""What files of others say and a run does not follow: said once, before the run."""

from collections.abc import Iterable

from pyorch.spec import Run


def remarks(runs: Iterable[Run]) -> list[str]:
    """Return the remarks of the workloads of some runs, each once."""
    found: dict[str, None] = {}
    for run in runs:
        for load in run.spec.workload:
            if its := getattr(load.module, "remarks", None):
                found |= dict.fromkeys(its(load.params))
    return list(found)
