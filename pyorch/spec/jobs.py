# SPDX-License-Identifier: GPL-2.0-only
"""Hosts of the workloads of a scenario, where a scheduler hands them out: each to one of them."""

import numpy as np

from pyorch import plugins
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.network import Columns, Network
from pyorch.spec.resolved import Jobs, Spec


def handed_out(
    scheduler: str, params: Closed, sizes: list[int], network: Network, seed: int
) -> list[list[int]]:
    """Return the hosts of each job, counted from 0.

    Parameters
    ----------
    scheduler : str
        Name of its file.
    params : Closed
        Its parameters.
    sizes : list of int
        How many hosts each job gets.
    network : Network
        To which they belong.
    seed : int
        Of the run.

    Raises
    ------
    FieldError
        There are not enough, or the scheduler gave a host away twice.
    """
    module = plugins.load(Jobs.PACKAGE, scheduler)
    nodes = network.nodes
    found = module.allocate(params, list(sizes), nodes, network.links, seed)
    given = np.concatenate(found)
    n_hosts = int((nodes["is_switch"] == 0).sum())
    if (
        [len(own) for own in found] != sizes
        or len(np.unique(given)) < len(given)
        or not ((given >= 0) & (given < n_hosts)).all()
    ):
        raise FieldError("type", f"{scheduler} gave a host to two jobs, or another number.")
    return [own.tolist() for own in found]


def nodes_of(jobs: Jobs | None, nodes: Columns, workload: int) -> Columns:
    """Return the nodes as a workload sees them: of the hosts only its own."""
    if jobs is None:
        return nodes
    ids = np.sort(nodes["node"][nodes["is_switch"] == 0])
    own = ids[list(jobs.placed[workload])]
    is_own = np.isin(nodes["node"], own)
    return nodes | {"is_switch": np.where(is_own, 0, 1).astype(nodes["is_switch"].dtype)}


def check_shared(spec: Spec) -> None:
    """Raise FieldError if two workloads draw from all hosts: they would share some, unseen."""
    drawn = [
        i for i, load in enumerate(spec.workload)
        if getattr(load.params, "placement", "") == "random"
    ]  # fmt: skip
    if len(drawn) > 1 and spec.jobs is None:
        raise FieldError(
            f"workload.{drawn[1]}.placement", f"workload.{drawn[0]} draws from all hosts too, so"
            " both would share some. Hand hosts out once: jobs: {type: random, hosts: [8, 8]}.",
        )  # fmt: skip
