# SPDX-License-Identifier: GPL-2.0-only
"""A server as NCCL sees it (``NCCL_TOPO_DUMP_FILE``): its GPUs around its NVSwitches.

A host is a GPU, in the order of ranks. All NVSwitches are one switch, as they are for NCCL, and a
GPU has one link to it, of the rate that NCCL counts for all of its NVLinks; delays are those of
`link`. PCIe, processors and NICs are left out.

Source: NCCL 2.30.7, src/graph/xml.cc and src/graph/topo.cc; rates: src/graph/topo.h.
"""

from functools import lru_cache
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from pyorch.errors import quoted
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import InputFile, xml_root
from pyorch.spec.limits import MOST_NODES
from pyorch.spec.resolved import Link
from pyorch.topology import _graph

KEY = "file"
#: Of a link in a direction, by the least compute capability that has it [bit/s].
NVLINK_BPS = {
    100: 8 * 40_100_000_000, 90: 8 * 20_600_000_000, 87: 8 * 20_000_000_000,
    86: 8 * 12_000_000_000, 70: 8 * 20_000_000_000, 60: 8 * 18_000_000_000,
}  # fmt: skip
#: Classes of PCI devices: what a link of a GPU leads to.
_SWITCH, _GPU = "0x068000", ("0x030200", "0x030000")
_MOST_LINKS_OF_A_GPU = 1000
#: What says what a processor or a bus is like, and nothing of NVLinks.
_LEFT_OUT = {
    "cpu": "processors",
    "pci": "PCIe devices",
    "net": "NICs",
    "c2c": "links to processors",
}


class Params(Closed):
    """The file."""

    file: InputFile


class _Found(NamedTuple):
    """The rate of each GPU, by its rank [bit/s]; how many there are of what is left out."""

    rates_bps: tuple[int, ...]
    left_out: tuple[tuple[str, int], ...]


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; `link` gives the delay.

    Raises
    ------
    FieldError
        The file is not what it should be, or GPUs are not joined by NVSwitches.
    """
    path = params.file["path"]
    rates_bps = _read(path, params.file["sha256"]).rates_bps
    n = len(rates_bps)
    cables = [(rank, n, rate, None) for rank, rate in enumerate(rates_bps)]
    links = _graph.links_of(cables, link.rate_bps, link.delay_ps, link.loss_ratio)
    return _graph.checked(n, 1, links, path, KEY)


def counts(params: Params) -> dict[str, int]:
    """Return the numbers of hosts, switches, switch ports in use and cables."""
    network = tables(params, Link(rate_bps=1, delay_ps=1))
    return _graph.counts(network["nodes"], network["links"])


def remarks(params: Params) -> tuple[str, ...]:
    """Return what is left out of the file."""
    left_out = _read(params.file["path"], params.file["sha256"]).left_out
    if not left_out:
        return ()
    said = ", ".join(f"{n} {what}" for what, n in left_out)
    return (f"{params.file['path']}: {said} are left out.",)


@lru_cache(maxsize=8)
def _read(path: str, sha256: str) -> _Found:
    root = xml_root({"path": path, "sha256": sha256}, KEY, "system")
    rates_bps: dict[int, int] = {}
    for gpu in root.iter("gpu"):
        rank = _number(gpu, "rank", path, MOST_NODES)
        if rank in rates_bps:
            raise FieldError(KEY, f"{path}: two GPUs have rank {rank}. Name the file of a server.")
        rates_bps[rank] = _rate_bps(gpu, rank, path)
    if len(rates_bps) < 2:
        raise FieldError(KEY, f"{path}: {len(rates_bps)} GPUs; a network has two or more.")
    number = {what: sum(1 for _ in root.iter(tag)) for tag, what in _LEFT_OUT.items()}
    gpus = len(rates_bps)
    number["PCIe devices"] -= min(gpus, number["PCIe devices"])  # those of the GPUs
    return _Found(
        tuple(rate for _, rate in sorted(rates_bps.items())),
        tuple((what, n) for what, n in number.items() if n),
    )


def _rate_bps(gpu: ElementTree.Element, rank: int, path: str) -> int:
    """Return the rate of all NVLinks of a GPU to switches [bit/s]."""
    where = f"{path}: GPU of rank {rank}"
    sm = _number(gpu, "sm", where, 1000)
    per_link = next((rate for least, rate in NVLINK_BPS.items() if sm >= least), None)
    n_links = 0
    for nvlink in gpu.iter("nvlink"):
        kind = nvlink.get("tclass", "")
        if kind != _SWITCH:
            what = "another GPU" if kind in _GPU else f"class {quoted(kind[:20])}"
            raise FieldError(
                KEY, f"{where}: has an NVLink to {what}. Only servers with NVSwitches are read, as"
                " GPUs do not forward.",
            )  # fmt: skip
        n_links += _number(nvlink, "count", where, _MOST_LINKS_OF_A_GPU)
    if n_links > _MOST_LINKS_OF_A_GPU:
        raise FieldError(KEY, f"{where}: has {n_links} NVLinks; at most {_MOST_LINKS_OF_A_GPU}.")
    if not n_links or per_link is None:
        raise FieldError(KEY, f"{where}: sm {sm} has no NVLink, so nothing joins it to the others.")
    return n_links * per_link


def _number(element: ElementTree.Element, name: str, where: str, most: int) -> int:
    """Return a whole number that an element must have."""
    text = element.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= most):
        raise FieldError(
            KEY, f"{where}: {element.tag} has {name} {quoted(text[:20])}; write 0 to {most}."
        )
    return int(text)
