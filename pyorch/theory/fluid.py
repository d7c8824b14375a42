# SPDX-License-Identifier: GPL-2.0-only
"""Takes hosts and a seed, returns the max-min fluid slowdown of a hashed permutation.

Source: [hotnets24] section 6.3, figure 5: two tiers of full bisection, one path per flow. The
answer is the luck of the hash alone; no transport is modelled.
"""

import math
from functools import cache

import numpy as np

from pyorch.draws import derangement, stream
from pyorch.errors import TheoryError
from pyorch.spec.resolved import Link
from pyorch.theory import ecmp, paths
from pyorch.topology import leaf_spine

#: Rate, delay and size cancel out of a slowdown; any values do.
_LINK = Link(rate_bps=10**12, delay_ps=1)
_MESSAGE_BYTES = 10**6
#: A draw of so many takes about a minute.
MOST_HOSTS = 2**19


def square_leaf_spine(hosts: int) -> dict[str, dict[str, np.ndarray]]:
    """Return the two-tier fabric of full bisection with as many hosts per leaf as spines.

    Raises
    ------
    TheoryError
        2 sqrt(hosts / 2) is not the whole number of leaves that such a fabric has.
    """
    if not 2 <= hosts <= MOST_HOSTS:
        raise TheoryError(f"{hosts} hosts: a permutation is drawn of 2 to {MOST_HOSTS:,} hosts.")
    per_leaf = math.isqrt(hosts // 2)
    if 2 * per_leaf**2 != hosts:
        raise TheoryError(
            f"{hosts} hosts make no two-tier fabric of full bisection from one kind of switch;"
            f" that takes 2 k^2 hosts, for example {2 * per_leaf**2} or {2 * (per_leaf + 1) ** 2}."
        )
    numbers = {"leaves": 2 * per_leaf, "hosts_per_leaf": per_leaf, "spines": per_leaf}
    params = leaf_spine.Params.model_validate(numbers, context={"link": _LINK})
    return leaf_spine.tables(params, _LINK)


def slowdown_of_permutation(hosts: int, seed: int) -> np.ndarray:
    """Return the fluid completion time over the ideal one of each flow [1], 1 is ideal.

    Parameters
    ----------
    hosts : int
        2 k^2 hosts, all of which send one message to a host below another leaf.
    seed : int
        Decides the permutation and the path of each flow.
    """
    tables = square_leaf_spine(hosts)
    # The draw of the workload `permutation`: hosts are counted leaf by leaf.
    src = np.arange(hosts)
    dst = derangement(src // math.isqrt(hosts // 2), stream(seed, "permutation"))
    size_bytes = np.full(hosts, _MESSAGE_BYTES)
    network = paths.Network(tables["nodes"], tables["links"])
    hash_draw = np.random.default_rng([seed, hosts])
    routes = network.routes(src, dst, paths.random_choice(hash_draw))
    took_ps = ecmp.fluid_fct_ps(routes, size_bytes, np.zeros_like(src), network.rate_bps)
    return took_ps / (size_bytes * 8e12 / _LINK.rate_bps)


@cache
def slowest_of_permutation(hosts: int, seed: int) -> float:
    """Return the slowdown of the slowest flow [1]; kept, because 8192 hosts take half a second."""
    return float(slowdown_of_permutation(hosts, seed).max())
