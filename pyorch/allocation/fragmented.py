# SPDX-License-Identifier: GPL-2.0-only
"""Each job on the first free hosts of a cluster that has been in use for a long time.

Other jobs have come and gone, first come, first served, first fit: they have 1, 2, 4, ... hosts up
to `largest`, each size as often, arrive at random (Poisson) and last at random (exponential), so
that on average `busy` of the hosts are taken. Those that are left over are held and silent.
"""

from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.allocation._free import after, handed_out
from pyorch.draws import stream
from pyorch.spec.fields import Closed, Count, Number
from pyorch.spec.network import Columns

#: Mean life of a job over the mean time between two arrivals is chosen; of lives that pass by:
_LIVES = 20


class Params(Closed):
    """How full the cluster is of other jobs, and how large these are."""

    busy: Annotated[Number, Field(gt=0, lt=1)] = 0.5
    largest: Count = 64


def allocate(
    params: Params, sizes: list[int], nodes: Columns, links: Columns, seed: int
) -> list[np.ndarray]:
    """Return the hosts of each job."""
    n_hosts = int((nodes["is_switch"] == 0).sum())
    of_jobs = 2 ** np.arange(int(np.log2(min(params.largest, n_hosts))) + 1)
    # Little's law: arrivals in a mean life, times their mean size, are the hosts that are busy.
    per_life = params.busy * n_hosts / of_jobs.mean()
    draw = stream(seed, "allocation")
    n_jobs = int(np.ceil(_LIVES * per_life))
    arrives = np.cumsum(draw.exponential(1 / per_life, n_jobs))
    jobs = zip(arrives, draw.exponential(1.0, n_jobs), draw.choice(of_jobs, n_jobs), strict=True)
    return handed_out(after(n_hosts, jobs, float(arrives[-1])), sizes)
