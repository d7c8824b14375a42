# SPDX-License-Identifier: GPL-2.0-only
"""Job after job, each on whole racks or leaves: on rails device i of every rack is on rail i."""

import numpy as np

from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.network import Columns
from pyorch.workload._hosts import leaf_of


class Params(Closed):
    """There are none."""


def allocate(
    params: Params, sizes: list[int], nodes: Columns, links: Columns, seed: int
) -> list[np.ndarray]:
    """Return the hosts of each job: the next racks that nobody has any host of."""
    leaf = leaf_of(nodes, links)
    racks = [np.flatnonzero(leaf == one) for one in dict.fromkeys(leaf.tolist())]
    found, at = [], 0
    for size in sizes:
        own: list[int] = []
        while len(own) < size:
            if at == len(racks):
                raise FieldError(
                    "hosts", f"{sizes} on whole racks need more than the {len(racks)} racks there"
                    " are. Ask for less.",
                )  # fmt: skip
            own += racks[at].tolist()
            at += 1
        found.append(np.array(own[:size]))
    return found
