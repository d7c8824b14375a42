# SPDX-License-Identifier: GPL-2.0-only
"""An InfiniBand network as ibnetdiscover has found it: its standard output, or its topology file.

A host is a channel adapter (Ca), so a server with eight adapters is eight hosts; they are numbered
in the order of their descriptions, as people count: gpu2 before gpu10. Rates are those at which
data pass a link of the width and speed that are printed, 4xNDR for 400 Gb/s; delays are those of
`link`, as is the rate of links without a speed that is known. Where the two ends of a link print
two rates it has the lower one. Aggregation nodes of switches are left out.

Source: rdma-core, infiniband-diags/man/common/sec_topology-file.rst and ibnetdiscover.c; speeds:
InfiniBand Architecture Specification, volume 1.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pyorch.errors import quoted
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import FileRef, InputFile, listed, text
from pyorch.spec.limits import MOST_NODES
from pyorch.spec.resolved import Link
from pyorch.topology import _graph

KEY = "file"
#: Of a lane, after its line code [bit/s].
LANE_BPS = {
    "SDR": 2 * 10**9, "DDR": 4 * 10**9, "QDR": 8 * 10**9, "FDR10": 10**10,
    "FDR": 14_062_500_000 * 64 // 66, "EDR": 25 * 10**9, "HDR": 50 * 10**9, "NDR": 10**11,
    "XDR": 2 * 10**11,
}  # fmt: skip
_NODE = re.compile(
    r'(Switch|Ca)\s+\d+\s+"([SH]-(?:0x)?[0-9a-fA-F]{1,16})"\s*(?:#\s*(?:"([^"]*)")?.*)?', re.ASCII
)
_PORT = re.compile(
    r"\[(\d{1,3})\](?:\[ext \d+\])?(?:\([0-9a-fA-Fx]+\))?"
    r'\s+"([SH]-(?:0x)?[0-9a-fA-F]{1,16})"\[(\d{1,3})\](?:\([0-9a-fA-Fx]+\))?\s*(#.*)?',
    re.ASCII,
)
#: With ``--full`` the codes of speed, width and lanes follow, of some adapters also their slot.
_SPEED = re.compile(
    r".*\s(\d+)x([A-Z]+\d*)(?:\s+s=\d+\s+w=\d+\s+v=\d+)?(?:\s+slot\s+\d+|\s+\(scp\))?\s*", re.ASCII
)
_WIDTHS = ("1", "2", "4", "8", "12")
#: What says nothing of links; a line of ``name=`` names a node by its hardware.
_OTHER = re.compile(r"#.*|(\w+)=\S*\s*(?:#.*)?|(?:Non-)?Chassis\b.*|ibwarn:.*|")
_NAMES = ("vendid", "devid", "sysimgguid", "switchguid", "caguid", "rtguid")
_AGGREGATION = "Aggregation Node"

Port = tuple[str, int]


class Params(Closed):
    """The file."""

    file: InputFile


class _Found(NamedTuple):
    """Adapters and switches by name, cables with their rates, and what is not used."""

    hosts: list[str]
    switches: list[str]
    cables: dict[tuple[Port, Port], int | None]
    aggregation_nodes: int
    unused: str


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; `link` gives what the file has not.

    Raises
    ------
    FieldError
        The file is not what it should be, or not a connected network.
    """
    return _tables(*_file(params), link.rate_bps, link.delay_ps, link.loss_ratio)


def counts(params: Params) -> dict[str, int]:
    """Return the numbers of hosts, switches, switch ports in use and cables."""
    network = tables(params, Link(rate_bps=1, delay_ps=1))
    return _graph.counts(network["nodes"], network["links"])


def remarks(params: Params) -> tuple[str, ...]:
    """Return what is left out, how many rates are those of `link`, and what is not used."""
    found, said = _read(*_file(params)), []
    if n := found.aggregation_nodes:
        said.append(f"{n} aggregation nodes of switches are left out.")
    if n := sum(rate is None for rate in found.cables.values()):
        said.append(f"{n} links have no speed that is known, and so the rate of link.")
    if found.unused:
        said.append(f"not used: {found.unused}.")
    return tuple(f"{params.file['path']}: {line}" for line in said)


def _file(params: Params) -> tuple[str, str]:
    return params.file["path"], params.file["sha256"]


@lru_cache(maxsize=8)
def _tables(
    path: str, sha256: str, rate_bps: int, delay_ps: int, loss_ratio: float
) -> dict[str, dict[str, np.ndarray]]:
    found = _read(path, sha256)
    place = {name: index for index, name in enumerate([*found.hosts, *found.switches])}
    cables = [
        (place[a], place[b], rate, None) for ((a, _), (b, _)), rate in sorted(found.cables.items())
    ]
    links = _graph.links_of(cables, rate_bps, delay_ps, loss_ratio)
    return _graph.checked(len(found.hosts), len(found.switches), links, path, KEY)


@lru_cache(maxsize=8)
def _read(path: str, sha256: str) -> _Found:
    file: FileRef = {"path": path, "sha256": sha256}
    lines = text(file, KEY).splitlines()
    described: dict[str, str] = {}
    cables: dict[tuple[Port, Port], int | None] = {}
    peers: dict[Port, Port] = {}
    for where, near, far, rate_bps, description in _ports(lines, path):
        if far is None:
            if near[0] in described:
                raise FieldError(KEY, f"{where}: {near[0]} stands twice.")
            described[near[0]] = description
            continue
        for port, other in ((near, far), (far, near)):
            if peers.setdefault(port, other) != other:
                raise FieldError(
                    KEY, f"{where}: port {port[1]} of {port[0]} leads to {other[0]} here, and to"
                    f" {peers[port][0]} elsewhere.",
                )  # fmt: skip
        cable = (min(near, far), max(near, far))
        both = [rate for rate in (cables.get(cable), rate_bps) if rate is not None]
        cables[cable] = min(both) if both else None
    inside = {name for name, text in described.items() if _AGGREGATION in text}
    kept = {ends: rate for ends, rate in cables.items() if not {ends[0][0], ends[1][0]} & inside}
    names = {name for ends in kept for name, _ in ends}
    switches = sorted(name for name in names if name.startswith("S-"))
    if missing := sorted(names - described.keys(), reverse=True):
        kind = "Switch" if missing[0].startswith("S-") else "Ca"
        raise FieldError(
            KEY, f"{path}: there is a link to {missing[0]}, but no {kind} of this name. Is the file"
            " cut off?",
        )  # fmt: skip
    hosts = sorted(names - set(switches), key=lambda name: (_graph.natural(described[name]), name))
    if not kept or len(names) > MOST_NODES:
        raise FieldError(
            KEY, f"{path}: {len(names)} nodes with links; there are 2 to {MOST_NODES}. Is it what"
            " ibnetdiscover prints?",
        )  # fmt: skip
    said = {line[1] for line in map(_OTHER.fullmatch, map(str.strip, lines)) if line and line[1]}
    return _Found(hosts, switches, kept, len(inside), listed(said.difference(_NAMES)))


def _ports(lines: list[str], path: str) -> Iterator[tuple[str, Port, Port | None, int | None, str]]:
    """Yield nodes (no far end) and their ports: where, near end, far end, rate, description."""
    node = ""
    for number, raw in enumerate(lines, start=1):
        where, line = f"{path}:{number}", raw.strip()
        if head := _NODE.fullmatch(line):
            node = head[2]
            if (head[1] == "Switch") != node.startswith("S-"):
                raise FieldError(KEY, f"{where}: {quoted(line[:60])}: a Switch is S-, a Ca is H-.")
            yield where, (node, 0), None, None, head[3] or ""
        elif port := _PORT.fullmatch(line):
            if not node:
                raise FieldError(KEY, f"{where}: {quoted(line[:60])}: a port before any node.")
            near, far = (node, int(port[1])), (port[2], int(port[3]))
            yield where, near, far, _rate_bps(port[4] or "", where), ""
        elif not _OTHER.fullmatch(line):
            raise FieldError(
                KEY, f"{where}: {quoted(line[:60])} is no line of ibnetdiscover: Switch or Ca, or a"
                ' port: [1] "H-0002c903000d7aac"[1] # ... 4xHDR.',
            )  # fmt: skip


def _rate_bps(rest: str, where: str) -> int | None:
    """Return the rate that ends a line of a port; None if it has none [bit/s]."""
    found = _SPEED.fullmatch(rest)
    if not found:
        return None
    width, speed = found.groups()
    if speed not in LANE_BPS or width not in _WIDTHS:
        raise FieldError(
            KEY, f"{where}: {quoted(f'{width[:9]}x{speed[:9]}')} is no width and speed. There"
            f" are {', '.join(_WIDTHS)} of {', '.join(LANE_BPS)}.",
        )  # fmt: skip
    return int(width) * LANE_BPS[speed]
