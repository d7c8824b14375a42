# SPDX-License-Identifier: GPL-2.0-only
"""Each job on hosts that are drawn from all that are free."""

import numpy as np

from pyorch.draws import stream
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.network import Columns


class Params(Closed):
    """There are none."""


def allocate(
    params: Params, sizes: list[int], nodes: Columns, links: Columns, seed: int
) -> list[np.ndarray]:
    """Return the hosts of each job, in the order of their ids."""
    n_hosts = int((nodes["is_switch"] == 0).sum())
    if sum(sizes) > n_hosts:
        raise FieldError("hosts", f"{sum(sizes)} in all; there are {n_hosts}. Ask for less.")
    drawn = stream(seed, "allocation").permutation(n_hosts)
    return [np.sort(own) for own in np.split(drawn[: sum(sizes)], np.cumsum(sizes)[:-1])]
