# SPDX-License-Identifier: GPL-2.0-only
"""Reads topology.txt of the HPCC simulator and of those that have inherited its format.

Line 1: nodes, switches and links; line 2: ids of the switches; then one line for each link: its
two ends, rate, delay and the probability of an error. All other nodes are hosts.
"""

import re

import numpy as np

from pyorch import units
from pyorch.errors import SpecError, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import FileRef, numbered_lines
from pyorch.spec.limits import MOST_NODES
from pyorch.units import parse_whole

KEY = "file"


def read(file: FileRef) -> dict[str, dict[str, np.ndarray]]:
    """Return node and link tables without tiers and planes.

    Raises
    ------
    FieldError
        With file and line: what stands there and what belongs there.
    """
    return parse(numbered_lines(file, KEY), file["path"])


def parse(lines: list[tuple[int, list[str]]], where: str) -> dict[str, dict[str, np.ndarray]]:
    """Return the tables of numbered lines of words; `where` is the file for messages."""
    if len(lines) < 2 or len(lines[0][1]) != 3:
        raise FieldError(
            KEY, f"{where}: is no HPCC topology: the first line has the numbers of nodes, switches"
            " and links, the second the ids of the switches.",
        )  # fmt: skip
    n_nodes, n_switches, n_links = _whole(lines[0], where)
    if not 0 < n_nodes <= MOST_NODES:
        raise FieldError(KEY, f"{where}: {n_nodes} nodes; there may be 1 to {MOST_NODES}.")
    if n_nodes > max(2 * n_links, 2):
        raise FieldError(
            KEY, f"{where}: {n_nodes} nodes, but {n_links} links have {2 * n_links} ends, so some"
            " node has no link. Add one, or the node goes.",
        )  # fmt: skip
    switches = _whole(lines[1], where) if n_switches else []
    rows = lines[2:] if n_switches else lines[1:]
    found = {switch for switch in switches if 0 <= switch < n_nodes}
    if not len(found) == len(switches) == n_switches:
        raise FieldError(
            KEY, f"{where}:{lines[1][0]}: {len(found)} ids of switches, but line 1 says"
            f" {n_switches} of {n_nodes} nodes; ids are 0 to {n_nodes - 1}, each once.",
        )  # fmt: skip
    if len(rows) != n_links:
        raise FieldError(
            KEY, f"{where}: {len(rows)} links, but line 1 says {n_links}. Is the file cut off?"
        )
    is_switch = np.isin(np.arange(n_nodes), switches).astype(np.int64)
    links = [_link(row, where, n_nodes) for row in rows]
    seen: dict[tuple[int, int], int] = {}
    parallel = []
    for a, b, *_ in links:
        pair = (min(a, b), max(a, b))
        parallel.append(seen.get(pair, 0))
        seen[pair] = parallel[-1] + 1
    ends = np.array([link[:4] for link in links], dtype=np.int64).reshape(-1, 4)
    return {
        "nodes": {"node": np.arange(n_nodes, dtype=np.int64), "is_switch": is_switch},
        "links": {
            "node_a": ends[:, 0], "node_b": ends[:, 1],
            "parallel": np.array(parallel, dtype=np.int64),
            "rate_bps": ends[:, 2], "delay_ps": ends[:, 3],
            "loss_ratio": np.array([link[4] for link in links], dtype=np.float64),
        },
    }  # fmt: skip


def _whole(line: tuple[int, list[str]], where: str) -> list[int]:
    number, words = line
    try:
        return [parse_whole(word) for word in words]
    except ValueError:
        raise FieldError(
            KEY, f"{where}:{number}: {quoted(' '.join(words))}: write whole numbers only."
        ) from None


def _link(
    line: tuple[int, list[str]], where: str, n_nodes: int
) -> tuple[int, int, int, int, float]:
    number, words = line
    try:
        if len(words) not in (4, 5):
            raise ValueError(f"{len(words)} words")
        a, b = parse_whole(words[0]), parse_whole(words[1])
        for node in (a, b):
            if not 0 <= node < n_nodes:
                raise ValueError(f"there is no node {node}; ids are 0 to {n_nodes - 1}")
        rate_bps = units.parse_rate_bps(_ns3_unit(words[2]))
        loss = units.parse_float(words[4]) if len(words) == 5 else 0.0
        return a, b, rate_bps, units.parse_time_ps(words[3]), loss
    except (ValueError, SpecError) as error:
        raise FieldError(
            KEY, f"{where}:{number}: {quoted(' '.join(words))} is no link ({error}). Write two"
            " node ids, rate, delay and error rate, for example: 0 8 100Gbps 0.001ms 0",
        ) from None  # fmt: skip


def _ns3_unit(text: str) -> str:
    """Return a rate in our spelling: ns-3 writes 100Gbps, Kbps, bps."""
    match = re.fullmatch(r"(.*?)([kKMGT]?)(?:bps|b/s)", text)
    if not match:
        return text
    prefix = match[2].replace("K", "k")
    return f"{match[1]} {prefix}b/s" if prefix else f"{match[1]} bit/s"
