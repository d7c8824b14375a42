# SPDX-License-Identifier: GPL-2.0-only
"""Takes a graph of tasks that begins while a run goes on, returns it as further tables."""

from collections.abc import Sequence

import numpy as np

from pyorch.render.relays import relayed
from pyorch.render.tables import Tables
from pyorch.spec.parts import Topology
from pyorch.training import tables as graphs
from pyorch.training.graph import TaskGraph


def further(
    graph: TaskGraph, hosts: np.ndarray, now_ps: int, first_id: int, topology: Topology,
    carriers: Sequence[int], stream: int,
) -> tuple[Tables, np.ndarray]:  # fmt: skip
    """Return flows, tasks and dependencies, and the id of each task of the graph.

    Parameters
    ----------
    hosts : ndarray of int
        Node of each device.
    now_ps : int
        Before which nothing begins [ps].
    first_id : int
        Ids from this one on are free.
    topology : Topology
        Who relays messages, and which network carries them.
    carriers : sequence of int
        Index of the transport on each network.
    stream : int
        Of the computations, for those of each workload follow each other.
    """
    flows, tasks = graphs.flows(graph, hosts, now_ps), graphs.tasks(graph, hosts, now_ps)
    waits = dict(graphs.dependencies(graph))
    n_flows, n_tasks = len(flows["src"]), len(tasks["node"])
    relay = topology.relays(flows["src"], flows["dst"])
    rows = np.flatnonzero(relay >= 0)
    ids = first_id + np.arange(n_flows + n_tasks)
    ids[n_flows:] += len(rows)  # on the way to a relay a message is a flow too
    flows = {"flow": ids[:n_flows], **flows}
    waits |= {name: ids[waits[name]] for name in ("flow", "after")}
    if len(rows):
        flows, waits = relayed(flows, waits, rows, relay[rows])
    reach = topology.reach(flows["src"], flows["dst"])
    flows["transport"] = np.array(carriers, dtype=np.int64)[reach]
    tasks = {"task": ids[n_flows:], **tasks, "stream": np.full(n_tasks, stream)}
    return {"flows": flows, "tasks": tasks, "dependencies": waits}, ids[graphs.places(graph)]
