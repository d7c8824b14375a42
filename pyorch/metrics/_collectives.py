# SPDX-License-Identifier: GPL-2.0-only
"""The groups of a run's collectives: their messages, as planned and as they went."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from pyorch.collective._graph import Graph
from pyorch.metrics._run import RunTables
from pyorch.render import workload_of_flows
from pyorch.spec.resolved import Spec
from pyorch.workload import collective


class Group(NamedTuple):
    """One group of one workload.

    Attributes
    ----------
    workload, group : int
        Index in the scenario; index in the workload.
    params : Params
        Of the workload.
    ranks : int
        Hosts in the group.
    graph : Graph
        Its messages; `src` and `dst` are ranks.
    rows : ndarray, one per message
        Its rows in the flows of the run.
    """

    workload: int
    group: int
    params: collective.Params
    ranks: int
    graph: Graph
    rows: np.ndarray


def refusal(spec: Spec) -> str:
    """Return why a run cannot be asked about collectives; nothing if it can."""
    if any(load.type == "collective" for load in spec.workload):
        return ""
    return "no workload of this run is a collective. Ask for completion or slowdown instead."


def groups(run: RunTables) -> Iterator[Group]:
    """Yield the groups of all collectives of a run, in the order of their flows."""
    measured = pd.Index(run.flows["flow"])
    ids, owner = run.inputs["flows"]["flow"], workload_of_flows(run.spec)
    for index, load in enumerate(run.spec.workload):
        if load.type != "collective":
            continue
        params = load.params
        first = int(np.argmax(owner == index))
        for group, ranks in enumerate(collective.sizes(params)):
            graph = collective.graph_of(params, ranks)
            last = first + len(graph.src)
            rows = measured.get_indexer(ids[first:last])
            yield Group(index, group, params, ranks, graph, rows)
            first = last
