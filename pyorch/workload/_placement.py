# SPDX-License-Identifier: GPL-2.0-only
"""Which hosts the ranks of a workload are, by a policy, and how far their clocks are apart."""

from typing import Any, Literal

import numpy as np

from pyorch.draws import stream
from pyorch.spec.fields import FieldError
from pyorch.spec.network import Columns
from pyorch.workload._hosts import leaf_of

Placement = Literal["packed", "strided", "aligned", "random"]


def check_placement(placement: str, stride: int, first_host: int) -> None:
    """Raise FieldError for parameters that a policy does not have, or lacks."""
    if (stride > 0) != (placement == "strided"):
        raise FieldError(
            "stride", f"{stride} with placement {placement}. placement strided takes every so many"
            " hosts, for example stride: 8; the others have no stride.",
        )  # fmt: skip
    if first_host and placement == "random":
        raise FieldError("first_host", "placement random draws from all hosts. Leave it out.")


def placed(
    shape: tuple[Any, int], placement: str, stride: int, first_host: int, nodes: Columns,
    links: Columns, seed: int, purpose: str,
) -> np.ndarray:  # fmt: skip
    """Return the host of each rank, counted from 0, one row per group.

    Parameters
    ----------
    shape : (groups, ranks)
        How many there are.
    placement, stride, first_host
        ``packed`` takes hosts in their order, ``strided`` every so many, ``aligned`` one of each
        leaf or rack, each from `first_host` on; ``random`` draws from all.
    purpose : str
        Of the random stream.
    """
    groups, ranks = shape
    n_ranks = groups * ranks
    if placement == "random":
        n_hosts = int((nodes["is_switch"] == 0).sum())
        drawn = stream(seed, purpose).permutation(max(n_hosts, n_ranks))
        return drawn[:n_ranks].reshape(shape)
    if placement == "packed":
        return first_host + np.arange(n_ranks).reshape(shape)
    if placement == "aligned":
        stride = int(np.unique(leaf_of(nodes, links), return_counts=True)[1].max())
    block, within = np.divmod(np.arange(groups), stride)
    first = first_host + block * stride * ranks + within
    return first[:, None] + np.arange(ranks) * stride


def clocks(start_ps: int, skew_ps: int, ranks: int, seed: int) -> np.ndarray:
    """Return when each rank begins [ps]: its clock is late by a random time up to `skew_ps`."""
    late_ps = stream(seed, "skew").integers(0, skew_ps, ranks, endpoint=True)
    return start_ps + late_ps
