# SPDX-License-Identifier: GPL-2.0-only
"""A testbed of SONiC as sonic-mgmt has it: its links file (CSV), and maybe its devices file.

A row of ``StartDevice``, ``StartPort``, ``EndDevice``, ``EndPort`` is a cable of ``BandWidth``
Mb/s; delays are those of `link`, as is the rate of a row without a bandwidth. `hosts` says which
devices are ends: by their name, or by their ``Type`` or ``HwSku`` in the devices file. Each of
their ports is a host, since the ports of a tester send by themselves; all other devices are
switches. Cables of a device to itself are left out. VLANs are not followed.

Source: sonic-mgmt, ansible/files, docs/testbed/README.testbed.Config.md.
"""

import csv
import io
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from pyorch.errors import did_you_mean, quoted
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import FileRef, InputFile, listed, text
from pyorch.spec.limits import MOST_LINKS
from pyorch.spec.resolved import Link
from pyorch.topology import _graph

ENDS = ("StartDevice", "StartPort", "EndDevice", "EndPort")
RATE = "BandWidth"
_BPS_PER_UNIT, _MOST_UNITS = 10**6, 10**9

Pattern = Annotated[str, Field(min_length=1, max_length=100)]
Patterns = Annotated[list[Pattern], Field(min_length=1, max_length=100)]
#: A device, a port.
Port = tuple[str, str]


class Params(Closed):
    """The files, which devices are ends, and which of a lab belong to the network.

    `hosts` are names, types or HwSkus; `only` are names; both may end in ``*``.
    """

    file: InputFile
    devices: InputFile | None = None
    hosts: Patterns = ["Server", "DevIxiaChassis*", "DevSnappiChassis*"]
    only: Patterns = ["*"]


class _Cable(NamedTuple):
    """Both ports, and the rate if the row has one [bit/s]."""

    a: Port
    b: Port
    rate_bps: int | None


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; `link` gives what the file has not.

    Raises
    ------
    FieldError
        The file is not what it should be, or not a connected network.
    """
    path, cables = params.file["path"], _kept(params)[0]
    ends = {device: index for index, device in enumerate(_ends(params, cables))}
    hosts = [port for port in _ports(cables) if port[0] in ends]
    hosts.sort(key=lambda port: (ends[port[0]], _graph.natural(port[1]), port[1]))
    switches = dict.fromkeys(device for device, _ in _ports(cables) if device not in ends)
    place = {port: index for index, port in enumerate(hosts)}
    place |= {(device, ""): len(hosts) + index for index, device in enumerate(switches)}

    def node(port: Port) -> int:
        return place[port if port[0] in ends else (port[0], "")]

    rows = [(node(a), node(b), rate_bps, None) for a, b, rate_bps in cables]
    links = _graph.links_of(rows, link.rate_bps, link.delay_ps, link.loss_ratio)
    return _graph.checked(len(hosts), len(switches), links, path, "file")


def counts(params: Params) -> dict[str, int]:
    """Return the numbers of hosts, switches, switch ports in use and cables."""
    network = tables(params, Link(rate_bps=1, delay_ps=1))
    return _graph.counts(network["nodes"], network["links"])


def remarks(params: Params) -> tuple[str, ...]:
    """Return which columns are not used, and how many cables are left out."""
    path = params.file["path"]
    cables, unused = _read(path, params.file["sha256"])
    kept, n_loops = _kept(params)
    n_others = len(cables) - len(kept) - n_loops
    said = [f"{path}: not used: columns {listed(unused)}."] if unused else []
    if params.devices and (more := _kinds(params.devices["path"], params.devices["sha256"])[1]):
        said.append(f"{params.devices['path']}: not used: columns {listed(more)}.")
    if n_loops:
        said.append(f"{path}: {n_loops} cables of a device to itself are left out.")
    if n_others:
        said.append(f"{path}: {n_others} cables of other devices than `only` names are left out.")
    return tuple(said)


def _ports(cables: Iterable[_Cable]) -> Iterable[Port]:
    return (port for cable in cables for port in cable[:2])


def _kept(params: Params) -> tuple[list[_Cable], int]:
    """Return the cables between devices of the network, and how many lead from one to itself."""
    cables, _ = _read(params.file["path"], params.file["sha256"])
    own = [cable for cable in cables
           if all(_matches(port[0], params.only) for port in cable[:2])]  # fmt: skip
    kept = [cable for cable in own if cable.a[0] != cable.b[0]]
    return kept, len(own) - len(kept)


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _ends(params: Params, cables: list[_Cable]) -> dict[str, None]:
    """Return the devices whose ports are hosts."""
    devices = dict.fromkeys(device for device, _ in _ports(cables))
    kinds: dict[str, tuple[str, ...]] = {}
    if params.devices is not None:
        kinds = _kinds(params.devices["path"], params.devices["sha256"])[0]
        if missing := [name for name in devices if name not in kinds]:
            raise FieldError(
                "devices", f"{params.devices['path']}: there is no {quoted(missing[0])}, which has"
                f" a cable in {params.file['path']}.{did_you_mean(missing[0], kinds)}",
            )  # fmt: skip
    found = {
        name: None for name in devices
        if any(_matches(text, params.hosts) for text in (name, *kinds.get(name, ())))
    }  # fmt: skip
    if not found:
        its = sorted({kind for name in devices for kind in kinds.get(name, ())})
        raise FieldError(
            "hosts", f"{params.file['path']}: no device with cables is {', '.join(params.hosts)}."
            f" There are {listed(devices) or 'none'}{'; kinds: ' + listed(its) if its else ''}."
            " Write names, or name the devices file and write types or HwSkus.",
        )  # fmt: skip
    return found


@lru_cache(maxsize=8)
def _kinds(path: str, sha256: str) -> tuple[dict[str, tuple[str, ...]], set[str]]:
    """Return type and HwSku of each device, and the columns that are not used."""
    rows, names = _rows({"path": path, "sha256": sha256}, "devices", ("Hostname", "Type"))
    found: dict[str, tuple[str, ...]] = {}
    for where, row in rows:
        if row["Hostname"] in found:
            raise FieldError("devices", f"{where}: {quoted(row['Hostname'])} stands twice.")
        found[row["Hostname"]] = tuple(filter(None, (row["Type"], row.get("HwSku", ""))))
    return found, {name for name in names if name not in ("Hostname", "Type", "HwSku")}


@lru_cache(maxsize=8)
def _read(path: str, sha256: str) -> tuple[list[_Cable], list[str]]:
    """Return the cables, and the columns that are not used."""
    rows, names = _rows({"path": path, "sha256": sha256}, "file", ENDS)
    taken: dict[Port, str] = {}
    cables = []
    for where, row in rows:
        a, b = (row[ENDS[0]], row[ENDS[1]]), (row[ENDS[2]], row[ENDS[3]])
        for port in (a, b):
            if not all(port):
                raise FieldError("file", f"{where}: a device or a port is empty.")
            if port in taken:
                raise FieldError(
                    "file", f"{where}: port {quoted(port[1])} of {quoted(port[0])} has a cable in"
                    f" {taken[port]} too. Keep one.",
                )  # fmt: skip
            taken[port] = where.rpartition(": ")[2]
        cables.append(_Cable(a, b, _rate_bps(row.get(RATE, ""), where)))
    return cables, [name for name in names if name not in (*ENDS, RATE)]


def _rate_bps(cell: str, where: str) -> int | None:
    """Return the rate of a row in Mb/s; None if it is empty [bit/s]."""
    if not cell:
        return None
    if not (cell.isascii() and cell.isdigit() and len(cell) < 11 and 0 < int(cell) <= _MOST_UNITS):
        raise FieldError(
            "file", f"{where}: {RATE} is {quoted(cell)}; write Mb/s, 1 to {_MOST_UNITS}."
        )
    return int(cell) * _BPS_PER_UNIT


def _rows(
    file: FileRef, key: str, needed: tuple[str, ...]
) -> tuple[list[tuple[str, dict[str, str]]], list[str]]:
    """Return the rows with where they stand, and the names of the columns."""
    path = file["path"]
    try:
        table = list(csv.reader(io.StringIO(text(file, key), newline=""), strict=True))
    except csv.Error as error:
        raise FieldError(key, f"{path}: is no CSV table ({error}). Is the file cut off?") from None
    names = [name.strip() for name in table[0]] if table else []
    for name in needed:
        if names.count(name) != 1:
            raise FieldError(
                key, f"{path}: has {names.count(name)} columns {name}. It needs"
                f" {', '.join(needed)}, each once.{did_you_mean(name, names)}",
            )  # fmt: skip
    if len(table) > MOST_LINKS:
        raise FieldError(key, f"{path}: {len(table)} rows; at most {MOST_LINKS}.")
    rows = []
    for number, cells in enumerate(table[1:], start=2):
        where = f"{path}: row {number}"
        if not any(cell.strip() for cell in cells) or cells[0].startswith("#"):
            continue
        if len(cells) > len(names) and any(cells[len(names) :]):
            raise FieldError(
                key, f"{where}: {len(cells)} cells, but {len(names)} columns. Take out what is too"
                " much.",
            )  # fmt: skip
        filled = [cell.strip() for cell in cells] + [""] * (len(names) - len(cells))
        rows.append((where, dict(zip(names, filled, strict=False))))
    return rows, names
