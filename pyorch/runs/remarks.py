# SPDX-License-Identifier: GPL-2.0-only
"""What users should know of a topology or a workload before a run: each remark once."""

from collections.abc import Iterable, Iterator
from itertools import combinations

import numpy as np

from pyorch.render.tables import computing_hosts
from pyorch.spec import Run

#: Hosts that a remark names one by one.
MOST_NAMED = 4


def remarks(runs: Iterable[Run]) -> list[str]:
    """Return the remarks of the topologies and workloads of some runs, each once."""
    found: dict[str, None] = {}
    for run in runs:
        for part in (run.spec.topology, *run.spec.workload):
            if its := getattr(part.module, "remarks", None):
                found |= dict.fromkeys(its(part.params))
        found |= dict.fromkeys(_sharing(run))
    return list(found)


def _sharing(run: Run) -> Iterator[str]:
    """Yield which workloads compute on the same hosts; with `jobs` each has its own."""
    if run.spec.jobs is not None or len(run.spec.workload) == 1:
        return
    for (one, here), (other, there) in combinations(computing_hosts(run.spec).items(), 2):
        if (shared := np.intersect1d(here, there)).size:
            yield (
                f"workload.{one} and workload.{other} both compute on {_named(shared)}. They share"
                " the ports of these, but not their computing time: each computes as if it were"
                " alone."
            )


def _named(hosts: np.ndarray) -> str:
    """Return which hosts these are, which are sorted."""
    if len(hosts) == 1:
        return f"host {hosts[0]}"
    if hosts[-1] - hosts[0] == len(hosts) - 1:
        return f"hosts {hosts[0]} to {hosts[-1]}"
    rest = f" and {len(hosts) - MOST_NAMED} more" if len(hosts) > MOST_NAMED else ""
    return f"hosts {', '.join(map(str, hosts[:MOST_NAMED]))}{rest}"
