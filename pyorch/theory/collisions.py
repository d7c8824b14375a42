# SPDX-License-Identifier: GPL-2.0-only
"""Takes counts of flows and links, returns how many flows fall on the fullest link: balls in bins.

A hashed permutation on two tiers of full bisection throws the k flows of each leaf into its k
uplinks, and the k flows towards each leaf into its k downlinks. No transport on one path per flow
can finish sooner than the flows of the fullest link one after the other.
"""

import numpy as np
from scipy.stats import poisson

#: What is left of the chance is not told apart from zero below this [1].
_NEGLIGIBLE = 1e-9


def chance_of_most(n_flows: int, n_links: int, n_groups: int = 1) -> np.ndarray:
    """Return the chance that the fullest link of all groups carries k flows, k = 0, 1, ... [1].

    Exact for one group. With the links empty, Poisson many flows on each are independent, and the
    counts of a group, given that they add up to `n_flows`, are those of the hash; so the chance
    that none is above k is that of the truncated sum over that of the whole.

    Parameters
    ----------
    n_flows, n_links : int
        Flows of one group, each of which takes one of its links uniformly and independently.
    n_groups : int
        Groups, taken to be independent: for a permutation on a leaf-spine twice the leaves.

    Returns
    -------
    ndarray
        Up to the largest k whose chance is not negligible; adds up to 1.
    """
    mean = n_flows / n_links
    whole = poisson.pmf(n_flows, n_flows)
    at_most = [0.0]
    for most in range(n_flows + 1):
        if at_most[-1] >= 1 - _NEGLIGIBLE:
            break
        one_link = poisson.pmf(np.arange(most + 1), mean)
        total = np.ones(1)
        for _ in range(n_links):
            total = np.convolve(total, one_link)[: n_flows + 1]
        group = total[n_flows] / whole if len(total) > n_flows else 0.0
        at_most.append(min(group, 1.0) ** n_groups)
    return np.diff(at_most)


def chance_in_leaf_spine(leaves: int, hosts_per_leaf: int, spines: int) -> np.ndarray:
    """Return the chance that the fullest link of a hashed permutation carries k flows [1].

    Every host sends one message below another leaf and receives one; links are equal.
    """
    return chance_of_most(hosts_per_leaf, spines, 2 * leaves)
