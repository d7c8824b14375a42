# SPDX-License-Identifier: GPL-2.0-only
"""A network of ASTRA-sim's analytical backend (YAML): rings, switches, all connected, by dimension.

A rank is a host. Rings and full connections join routers, one for each host, whose own link is 1000
times as fast as the fastest and has 1 ps: in ASTRA-sim a rank forwards itself. A single `Switch` is
a star. A link has the latency of its dimension, so a message over a switch has it twice. A GB is
2^30 bytes. Ranks are counted through the first dimension first.

Source: astra-network-analytical, common/network-parser, read without its code.
"""

import math
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import InputFile, decimal, yaml_value
from pyorch.spec.limits import MOST_LINKS, MOST_NODES
from pyorch.spec.resolved import Link
from pyorch.topology import _graph

KEY = "file"
OWN_LINKS = True
KEYS = ("topology", "npus_count", "bandwidth", "latency")
KINDS = ("Ring", "Switch", "FullyConnected")
#: GB/s in bit/s, ns in ps; how much faster a host's own link is, and its delay [ps].
_BPS_PER_GB, _PS_PER_NS = 8 * 2**30, 1000
_OWN_TIMES, _OWN_PS = 1000, 1
#: A host's own link has a rate that 64 bits hold.
_MOST_BPS = (2**63 - 1) // _OWN_TIMES


class Params(Closed):
    """The file."""

    file: InputFile


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables.

    Raises
    ------
    FieldError
        The file is not what it should be.
    """
    return _tables(params.file["path"], params.file["sha256"], link.loss_ratio)


def counts(params: Params) -> dict[str, int]:
    """Return the numbers of hosts, switches, switch ports in use and cables."""
    network = tables(params, Link(rate_bps=1, delay_ps=1))
    return _graph.counts(network["nodes"], network["links"])


@lru_cache(maxsize=8)
def _tables(path: str, sha256: str, loss_ratio: float) -> dict[str, dict[str, np.ndarray]]:
    kinds, sizes, rates_bps, delays_ps = _read(path, sha256)
    n = math.prod(sizes)
    each = [
        size - 1 if kind == "FullyConnected" else 2 for kind, size in zip(kinds, sizes, strict=True)
    ]
    is_star = kinds == ["Switch"]
    n_nodes = n if is_star else 2 * n
    most = min(MOST_NODES, MOST_LINKS)
    if n * (2 + sum(each)) // 2 > most:  # links, of which there are no fewer than nodes
        raise FieldError(KEY, f"{path}: {n} ranks have more than {most} links.")
    routers = np.arange(n) + n_nodes - n
    own_bps = _OWN_TIMES * max(rates_bps)
    cables = [] if is_star else [(i, n + i, own_bps, _OWN_PS) for i in range(n)]
    places = routers.reshape(*reversed(sizes))
    for axis, (kind, rate_bps, delay_ps) in enumerate(
        zip(kinds, rates_bps, delays_ps, strict=True)
    ):
        groups = np.moveaxis(places, -1 - axis, -1).reshape(-1, sizes[axis])
        for group in groups.tolist():
            if kind == "Switch":
                pairs = [(one, n_nodes) for one in group]
                n_nodes += 1
            elif kind == "Ring" and len(group) > 2:
                pairs = list(zip(group, group[1:] + group[:1], strict=True))
            else:
                pairs = list(combinations(group, 2))
            cables += [(*pair, rate_bps, delay_ps) for pair in pairs]
    links = _graph.links_of(cables, own_bps, _OWN_PS, loss_ratio)
    return _graph.checked(n, n_nodes - n, links, path, KEY)


def _read(path: str, sha256: str) -> tuple[list[str], list[int], list[int], list[int]]:
    """Return kind, ranks, rate [bit/s] and delay [ps] of each dimension."""
    found = yaml_value({"path": path, "sha256": sha256}, KEY)
    if not isinstance(found, dict):
        raise FieldError(KEY, f"{path}: is no network: {', '.join(KEYS)}.")
    if unknown := [key for key in found if key not in KEYS]:
        raise FieldError(
            KEY, f"{path}: {quoted(unknown[0])} is none of {', '.join(KEYS)}."
            f"{did_you_mean(str(unknown[0]), KEYS)}",
        )  # fmt: skip
    lists = [found.get(key) for key in KEYS]
    for key, values in zip(KEYS, lists, strict=True):
        if not isinstance(values, list) or not 1 <= len(values) <= 8:
            raise FieldError(KEY, f"{path}: {key}: write a list of 1 to 8 values.")
        if len(values) != len(lists[0] or []):
            raise FieldError(
                KEY, f"{path}: {key} has {len(values)} values, {KEYS[0]} {len(lists[0] or [])}."
            )
    kinds, sizes, rates, delays = lists
    for kind in kinds or []:
        if kind not in KINDS:
            raise FieldError(
                KEY, f"{path}: topology: {quoted(kind)} is none of {', '.join(KINDS)}."
                f"{did_you_mean(str(kind), KINDS)}",
            )  # fmt: skip
    sizes = [_whole(value, 1, 2, f"{path}: npus_count") for value in sizes or []]
    rates = [
        _whole(value, _BPS_PER_GB, 1, f"{path}: bandwidth", _MOST_BPS) for value in rates or []
    ]
    delays = [_whole(value, _PS_PER_NS, 1, f"{path}: latency") for value in delays or []]
    return list(kinds or []), sizes, rates, delays


def _whole(value: Any, unit: int, least: int, where: str, most: int = 10**18) -> int:
    """Return a number of the file in our unit, the nearest whole one."""
    exact = decimal(value, where, KEY) * unit
    if unit == 1 and exact != int(exact):
        raise FieldError(KEY, f"{where}: {quoted(value)} is no whole number.")
    found = round(exact)
    if not least <= found <= most:
        size = "small" if found < least else "large"
        raise FieldError(KEY, f"{where}: {quoted(value)} is too {size}.")
    return found
