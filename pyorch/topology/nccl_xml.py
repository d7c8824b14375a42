# SPDX-License-Identifier: GPL-2.0-only
"""A server as NCCL sees it (``NCCL_TOPO_DUMP_FILE``): its GPUs around its NVSwitches.

A host is a GPU, in the order of ranks. All NVSwitches are one switch, as they are for NCCL, and a
GPU has one link to it, of the rate that NCCL counts for all of its NVLinks; delays are those of
`link`. Without NVSwitches each pair of GPUs has to have NVLinks. Each GPU then has a router, 1000
times as fast as the fastest pair and 1 ps away, and a pair of routers one link of the rate of its
NVLinks. PCIe, processors and NICs are left out.

RCCL's files of AMD GPUs have xGMI in place of NVLinks.

Source: NCCL 2.30.7, src/graph/xml.cc and src/graph/topo.cc; rates: src/graph/topo.h, that of RCCL
(0cbce2a) for xGMI.
"""

from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from pyorch.errors import quoted
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import InputFile, unused_of, xml_root
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
_SWITCH, _GPU = "0x068000", ("0x030200", "0x030000", "0x038000", "0x120000")
#: Of a link of xGMI in a direction, by how the name of an AMD GPU begins [bit/s].
XGMI_BPS = {
    "910": 8 * 36_000_000_000, "gfx90a": 8 * 36_000_000_000,
    "94": 8 * 48_000_000_000, "gfx94": 8 * 48_000_000_000, "": 8 * 24_000_000_000,
}  # fmt: skip
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


#: How much faster than the fastest pair a GPU's own link to its router is, and its delay [ps].
_OWN_TIMES, _OWN_PS = 1000, 1
#: What the format has.
_KNOWN = {
    "system": "version",
    "cpu": "host_hash numaid affinity arch vendor familyid modelid",
    "pci": "busid class vendor device subsystem_vendor subsystem_device link_speed link_width",
    "gpu": "dev sm mlopart rank gdr gcn arch cudaid",
    "nvlink": "target count tclass",
    "c2c": "bw count",
    "nic": "",
    "net": "name dev latency speed port guid maxconn gdr coll net gin keep railId planeId",
    "xgmi": "target count tclass",
}


class _Found(NamedTuple):
    """The rate of each GPU to NVSwitches, by its rank, or of each pair [bit/s]; and the rest."""

    rates_bps: tuple[int, ...]
    pairs_bps: dict[tuple[int, int], int]
    left_out: tuple[tuple[str, int], ...]
    unused: str


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; `link` gives the delay.

    Raises
    ------
    FieldError
        The file is not what it should be, or GPUs are not joined by NVSwitches.
    """
    path = params.file["path"]
    found = _read(path, params.file["sha256"])
    n, n_switches = len(found.rates_bps), 1
    cables: list[tuple[int, int, int | None, int | None]] = [
        (rank, n, rate, None) for rank, rate in enumerate(found.rates_bps)
    ]
    if found.pairs_bps:
        n_switches, own_bps = n, _OWN_TIMES * max(found.pairs_bps.values())
        cables = [(rank, n + rank, own_bps, _OWN_PS) for rank in range(n)]
        cables += [(n + a, n + b, rate, None) for (a, b), rate in found.pairs_bps.items()]
    links = _graph.links_of(cables, link.rate_bps, link.delay_ps, link.loss_ratio)
    return _graph.checked(n, n_switches, links, path, KEY)


def counts(params: Params) -> dict[str, int]:
    """Return the numbers of hosts, switches, switch ports in use and cables."""
    network = tables(params, Link(rate_bps=1, delay_ps=1))
    return _graph.counts(network["nodes"], network["links"])


def remarks(params: Params) -> tuple[str, ...]:
    """Return what is left out of the file."""
    found = _read(params.file["path"], params.file["sha256"])
    said = []
    if found.left_out:
        counted = ", ".join(f"{n} {what}" for what, n in found.left_out)
        said.append(f"{counted} are left out.")
    if found.unused:
        said.append(f"not used: {found.unused}.")
    return tuple(f"{params.file['path']}: {line}" for line in said)


@lru_cache(maxsize=8)
def _read(path: str, sha256: str) -> _Found:
    root = xml_root({"path": path, "sha256": sha256}, KEY, "system")
    gpus: dict[int, _Gpu] = {}
    for device in root.iter():
        for gpu in device.findall("gpu"):
            rank = _number(gpu, "rank", path, MOST_NODES)
            if rank in gpus:
                raise FieldError(
                    KEY, f"{path}: two GPUs have rank {rank}. Name the file of a server."
                )
            gpus[rank] = _gpu(gpu, device.get("busid", ""), f"{path}: GPU of rank {rank}")
    if len(gpus) < 2:
        n_devices = sum(pci.get("class") in _GPU for pci in root.iter("pci"))
        note = (
            f" It has {n_devices} PCI devices that are GPUs, but not their NVLinks: NCCL reads such"
            " a file and finds them. Dump one with NCCL_TOPO_DUMP_FILE."
        )
        raise FieldError(
            KEY, f"{path}: {len(gpus)} GPUs; a network has two or more."
            f"{note if n_devices > len(gpus) else ''}",
        )  # fmt: skip
    in_order = [gpus[rank] for rank in sorted(gpus)]
    pairs_bps = _pairs_bps(in_order, sorted(gpus), path)
    number = {what: sum(1 for _ in root.iter(tag)) for tag, what in _LEFT_OUT.items()}
    number["PCIe devices"] -= min(len(gpus), number["PCIe devices"])  # those of the GPUs
    return _Found(
        tuple(gpu.rate_bps for gpu in in_order), pairs_bps,
        tuple((what, n) for what, n in number.items() if n), unused_of(root, _KNOWN),
    )  # fmt: skip


class _Gpu(NamedTuple):
    """Its place on the bus, the rate of its NVLinks to switches, and to other GPUs [bit/s]."""

    busid: str
    rate_bps: int
    to_gpus_bps: dict[str, int]


def _pairs_bps(gpus: list[_Gpu], ranks: list[int], path: str) -> dict[tuple[int, int], int]:
    """Return the rate of each pair of GPUs [bit/s]; none if NVSwitches join them."""
    if not any(gpu.to_gpus_bps for gpu in gpus):
        return {}
    found = {}
    for a, one in enumerate(gpus):
        for b, other in enumerate(gpus[a + 1 :], start=a + 1):
            rates = {one.to_gpus_bps.get(other.busid, 0), other.to_gpus_bps.get(one.busid, 0)}
            if len(rates) != 1 or rates == {0} or one.rate_bps or other.rate_bps:
                what = "links to switches" if one.rate_bps or other.rate_bps else (
                    "no link" if rates == {0} else "two numbers of links")  # fmt: skip
                raise FieldError(
                    KEY, f"{path}: GPUs of rank {ranks[a]} and {ranks[b]} have {what}. Only servers"
                    " are read in which NVSwitches join all GPUs, or links each pair, as GPUs do"
                    " not forward.",
                )  # fmt: skip
            found[a, b] = rates.pop()
    return found


def _gpu(gpu: ElementTree.Element, busid: str, where: str) -> _Gpu:
    """Return the rates of all NVLinks of a GPU."""
    sm = _number(gpu, "sm", where, 1000)
    per_link = next((rate for least, rate in NVLINK_BPS.items() if sm >= least), None)
    to: dict[str, int] = defaultdict(int)
    if gpu.get("gcn") is not None:
        own = gpu.get("gcn", "")
        per_link = next(rate for name, rate in XGMI_BPS.items() if own.startswith(name))
    for nvlink in (*gpu.findall("nvlink"), *gpu.findall("xgmi")):
        kind = nvlink.get("tclass", "")
        if kind != _SWITCH and kind not in _GPU:
            raise FieldError(
                KEY, f"{where}: has an NVLink to class {quoted(kind[:20])}. Only those to"
                f" NVSwitches ({_SWITCH}) and GPUs ({' '.join(_GPU)}) are read.",
            )  # fmt: skip
        count = _number(nvlink, "count", where, _MOST_LINKS_OF_A_GPU)
        to["" if kind == _SWITCH else nvlink.get("target", "")] += count
    if (n_links := sum(to.values())) > _MOST_LINKS_OF_A_GPU:
        raise FieldError(KEY, f"{where}: has {n_links} NVLinks; at most {_MOST_LINKS_OF_A_GPU}.")
    if not n_links or per_link is None:
        raise FieldError(
            KEY, f"{where}: sm {sm} has no NVLink or xGMI, so nothing joins it to others."
        )
    to_switches = to.pop("", 0)
    return _Gpu(busid, to_switches * per_link, {end: n * per_link for end, n in to.items() if n})


def _number(element: ElementTree.Element, name: str, where: str, most: int) -> int:
    """Return a whole number that an element must have."""
    text = element.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= most):
        raise FieldError(
            KEY, f"{where}: {element.tag} has {name} {quoted(text[:20])}; write 0 to {most}."
        )
    return int(text)
