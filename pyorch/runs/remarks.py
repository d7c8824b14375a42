# SPDX-License-Identifier: GPL-2.0-only
"""What users should know of a topology or a workload before a run: each remark once."""

from collections.abc import Iterable, Iterator
from itertools import combinations

from pyorch.spec import Run


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
    loads = enumerate(run.spec.workload if run.spec.jobs is None else ())
    where = [
        (f"workload.{i}", its(load.params))
        for i, load in loads
        if (its := getattr(load.module, "computes_on", None))
    ]
    for (one, here), (other, there) in combinations(where, 2):
        first, last = max(here.start, there.start), min(here.stop, there.stop) - 1
        if first <= last:
            yield (
                f"{one} and {other} both compute on hosts {first} to {last}. They share the ports"
                " of these, but not their computing time: each computes as if it were alone."
            )
