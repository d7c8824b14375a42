# SPDX-License-Identifier: GPL-2.0-only
"""Reads topology.txt of the HPCC simulator and of those that have inherited its format.

Line 1: nodes, switches and links; line 2: ids of the switches; then one line for each link: its
two ends, rate, delay and the probability of an error. All other nodes are hosts. What follows the
last link that line 1 counts is not read, as HPCC's own program does not.

Line 1 of SimAI's has six words: nodes, GPUs of a server, NVSwitches, switches, links and the type
of GPU; line 2 has the NVSwitches first. A host is a GPU, and so many that follow each other are a
server.

Source: HPCC, simulation/scratch/third.cc; SimAI 1.7,
astra-sim-alibabacloud/inputs/topo/gen_Topo_Template.py.
"""

import re
from typing import NamedTuple

import numpy as np

from pyorch import units
from pyorch.errors import SpecError, quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import FileRef, numbered_lines
from pyorch.spec.limits import MOST_NODES
from pyorch.topology import _graph
from pyorch.units import parse_whole

KEY = "file"


class Found(NamedTuple):
    """What a file has.

    Attributes
    ----------
    nodes, links : dict of ndarray
        Tables without tiers and planes.
    server_gpus : int
        GPUs of a server, 0 if the file has no servers.
    nvswitches : ndarray
        Ids of the switches inside servers.
    unread : int
        Lines behind the last link that line 1 counts.
    """

    nodes: dict[str, np.ndarray]
    links: dict[str, np.ndarray]
    server_gpus: int
    nvswitches: np.ndarray
    unread: int


class _Counts(NamedTuple):
    nodes: int
    server_gpus: int
    nvswitches: int
    switches: int
    links: int


def read(file: FileRef) -> Found:
    """Return what a file has.

    Raises
    ------
    FieldError
        With file and line: what stands there and what belongs there.
    """
    return parse(numbered_lines(file, KEY), file["path"])


def parse(lines: list[tuple[int, list[str]]], where: str) -> Found:
    """Return the tables of numbered lines of words; `where` is the file for messages."""
    n = _counts(lines, where)
    n_switches = n.nvswitches + n.switches
    if not 0 < n.nodes <= MOST_NODES:
        raise FieldError(KEY, f"{where}: {n.nodes} nodes; there may be 1 to {MOST_NODES}.")
    if n.nodes > max(2 * n.links, 2):
        raise FieldError(
            KEY, f"{where}: {n.nodes} nodes, but {n.links} links have {2 * n.links} ends, so some"
            " node has no link. Add one, or the node goes.",
        )  # fmt: skip
    switches = _whole(lines[1], where) if n_switches else []
    rows = lines[2:] if n_switches else lines[1:]
    found = {switch for switch in switches if 0 <= switch < n.nodes}
    if not len(found) == len(switches) == n_switches:
        raise FieldError(
            KEY, f"{where}:{lines[1][0]}: {len(found)} ids of switches, but line 1 says"
            f" {n_switches} of {n.nodes} nodes; ids are 0 to {n.nodes - 1}, each once.",
        )  # fmt: skip
    n_hosts = n.nodes - n_switches
    if n.server_gpus and n_hosts % n.server_gpus:
        raise FieldError(
            KEY, f"{where}: {n_hosts} GPUs are not servers of {n.server_gpus}, as line 1 says."
        )
    if len(rows) < n.links:
        raise FieldError(
            KEY, f"{where}: {len(rows)} links, but line 1 says {n.links}. Is the file cut off?"
        )
    is_switch = np.isin(np.arange(n.nodes), switches).astype(np.int64)
    links = [_link(row, where, n.nodes) for row in rows[: n.links]]
    ends = np.array([link[:4] for link in links], dtype=np.int64).reshape(-1, 4)
    return Found(
        nodes={"node": np.arange(n.nodes, dtype=np.int64), "is_switch": is_switch},
        links={
            "node_a": ends[:, 0], "node_b": ends[:, 1],
            "parallel": _graph.links_of((link[:4] for link in links), 0, 0, 0.0)["parallel"],
            "rate_bps": ends[:, 2], "delay_ps": ends[:, 3],
            "loss_ratio": np.array([link[4] for link in links], dtype=np.float64),
        },
        server_gpus=n.server_gpus,
        nvswitches=np.array(switches[: n.nvswitches], dtype=np.int64),
        unread=len(rows) - n.links,
    )  # fmt: skip


def _counts(lines: list[tuple[int, list[str]]], where: str) -> _Counts:
    """Return the numbers of line 1."""
    words = lines[0][1] if len(lines) > 1 else []
    if len(words) not in (3, 6):
        raise FieldError(
            KEY, f"{where}: is no HPCC topology: the first line has the numbers of nodes, switches"
            " and links, or SimAI's six words, and the second the ids of the switches.",
        )  # fmt: skip
    numbers = _whole((lines[0][0], words[:5]), where)  # the sixth is the type of GPU
    is_simai = len(words) == 6
    found = _Counts(*numbers) if is_simai else _Counts(numbers[0], 0, 0, *numbers[1:])
    if min(found) < 0 or (is_simai and found.server_gpus < 1):
        raise FieldError(
            KEY, f"{where}:{lines[0][0]}: {quoted(' '.join(words))}: a server has a GPU or more,"
            " and nothing is there less than 0 times.",
        )  # fmt: skip
    return found


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
