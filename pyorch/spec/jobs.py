# SPDX-License-Identifier: GPL-2.0-only
"""Hosts of the workloads of a scenario, where a scheduler hands them out: each to one of them."""

import numpy as np

from pyorch import plugins
from pyorch.spec.fields import FieldError, restore
from pyorch.spec.network import Columns


def handed_out(jobs: dict, nodes: Columns, links: Columns, seed: int) -> list[list[int]]:
    """Return the hosts of each job, counted from 0.

    Raises
    ------
    FieldError
        There are not enough, or the scheduler gave a host away twice.
    """
    module = plugins.load("pyorch.allocation", jobs["type"])
    sizes = list(jobs["hosts"])
    found = module.allocate(restore(module.Params, jobs), sizes, nodes, links, seed)
    given = np.concatenate(found)
    n_hosts = int((nodes["is_switch"] == 0).sum())
    if (
        [len(own) for own in found] != sizes
        or len(np.unique(given)) < len(given)
        or not ((given >= 0) & (given < n_hosts)).all()
    ):
        raise FieldError("type", f"{jobs['type']} gave a host to two jobs, or another number.")
    return [own.tolist() for own in found]


def nodes_of(spec: dict, nodes: Columns, workload: int) -> Columns:
    """Return the nodes as a workload sees them: of the hosts only its own."""
    if "jobs" not in spec:
        return nodes
    ids = np.sort(nodes["node"][nodes["is_switch"] == 0])
    own = ids[spec["jobs"]["placed"][workload]]
    is_own = np.isin(nodes["node"], own)
    return nodes | {"is_switch": np.where(is_own, 0, 1).astype(nodes["is_switch"].dtype)}


def check_shared(spec: dict) -> None:
    """Raise FieldError if two workloads draw from all hosts: they would share some, unseen."""
    drawn = [i for i, load in enumerate(spec["workload"]) if load.get("placement") == "random"]
    if len(drawn) > 1 and "jobs" not in spec:
        raise FieldError(
            f"workload.{drawn[1]}.placement", f"workload.{drawn[0]} draws from all hosts too, so"
            " both would share some. Hand hosts out once: jobs: {type: random, hosts: [8, 8]}.",
        )  # fmt: skip
