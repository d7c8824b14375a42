# SPDX-License-Identifier: GPL-2.0-only
"""Reads what NCCL has found in a node (``NCCL_GRAPH_DUMP_FILE``): channels of rings and trees.

The first graph of pattern 4 is that of rings, of patterns 1 to 3 with id 1 that of trees, of
pattern 5 that of NVLS. Each has a number of channels, the speed of one inside a node and between
nodes, and for each channel the GPUs in their order. A GPU is told by its rank, or by its `dev`
where the file has no ranks; the lowest is the first of its node. NICs are not followed.

Source: NCCL 2.30.7, src/graph/search.cc (ncclTopoGetXmlFromGraph), src/graph/connect.cc.
"""

from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple
from xml.etree import ElementTree

from pyorch.errors import quoted
from pyorch.spec.fields import FieldError
from pyorch.spec.files import FileRef, unused_of, xml_root
from pyorch.workload._nccl_tables import MOST_CHANNELS, TREE_CHILDREN

KEY = "graph"
_RING, _NVLS = 4, 5
_MOST_GPUS, _MOST_SPEED = 1024, 10_000
_USED = {
    "graphs": "version",
    "graph": "id pattern nchannels speedintra speedinter latencyinter",
    "channel": "",
    "gpu": "dev rank",
    "net": "",
}


class Graph(NamedTuple):
    """Channels of an algorithm.

    Attributes
    ----------
    pattern : int
        NCCL's number of its kind.
    channels : int
        How many there are before NCCL makes two of each.
    inside, between : float
        Speed of one in a node and between nodes [GB/s].
    late_us : float
        What a step between nodes takes longer [us].
    orders : tuple of tuple of int
        The places of the GPUs of a node, from 0, channel by channel; none of NVLS.
    """

    pattern: int
    channels: int
    inside: float
    between: float
    late_us: float
    orders: tuple[tuple[int, ...], ...]


class Graphs(NamedTuple):
    """What a file has: graphs, whether it names NICs, and what is not used of it."""

    ring: Graph | None
    tree: Graph | None
    nvls: Graph | None
    has_nics: bool
    unused: str

    @property
    def channels(self) -> int | None:
        """How many channels rings and trees have: the fewer of both; None: the file has none."""
        found = [graph.channels for graph in (self.ring, self.tree) if graph]
        return min(found, default=None)


def read(file: FileRef, local: int, nodes: int) -> Graphs:
    """Return the graphs of a file for nodes of so many GPUs.

    Raises
    ------
    FieldError
        It is no such file, or of other nodes.
    """
    found, where = _read(file["path"], file["sha256"]), file["path"]
    for graph in (found.ring, found.tree):
        if graph and len(graph.orders[0]) != local:
            raise FieldError(
                KEY, f"{where}: its channels have {len(graph.orders[0])} GPUs, and local is"
                f" {local}. Dump it with the same GPUs.",
            )  # fmt: skip
    if found.has_nics != (nodes > 1) and (found.ring or found.tree):
        kind = "several nodes, as it names NICs" if found.has_nics else "one node, without NICs"
        raise FieldError(KEY, f"{where}: is of {kind}; there are {nodes}. Dump it with as many.")
    return found


@lru_cache(maxsize=8)
def _read(path: str, sha256: str) -> Graphs:
    root = xml_root({"path": path, "sha256": sha256}, KEY, "graphs")
    found: dict[str, Graph] = {}
    for index, element in enumerate(root.findall("graph")):
        where = f"{path}: graph {index + 1}"
        pattern = _whole(element, "pattern", where, 99)
        is_tree = pattern in TREE_CHILDREN and _whole(element, "id", where, 99) == 1
        kind = {_RING: "ring", _NVLS: "nvls"}.get(pattern, "tree" if is_tree else "")
        if not kind:
            continue
        graph = _graph(element, pattern, kind, where)
        if kind in found:
            raise FieldError(KEY, f"{where}: a second graph of {kind}s. Keep one.")
        if graph.channels or kind == "nvls":
            found[kind] = graph
    if not found:
        raise FieldError(KEY, f"{path}: has no channels of rings or trees. Is the file cut off?")
    return Graphs(
        found.get("ring"), found.get("tree"), found.get("nvls"),
        any(graph.find("channel/net") is not None for graph in root.findall("graph")),
        unused_of(root, _USED),
    )  # fmt: skip


def _graph(element: ElementTree.Element, pattern: int, kind: str, where: str) -> Graph:
    channels = _whole(element, "nchannels", where, MOST_CHANNELS)
    rows = element.findall("channel")
    if len(rows) != channels:
        raise FieldError(
            KEY, f"{where}: nchannels is {channels}, but there are {len(rows)}. Is the file cut"
            " off?",
        )  # fmt: skip
    gpus = [_gpus(row, f"{where}: channel {index + 1}") for index, row in enumerate(rows)]
    orders: list[tuple[int, ...]] = []
    if kind != "nvls" and channels:
        place = {gpu: index for index, gpu in enumerate(sorted(gpus[0]))}
        for index, row in enumerate(gpus):
            if set(row) != place.keys() or len(row) != len(place):
                raise FieldError(
                    KEY, f"{where}: channel {index + 1}: its GPUs are {quoted(str(row))}; each"
                    f" channel has {quoted(str(sorted(place)))}, each once.",
                )  # fmt: skip
            orders.append(tuple(place[gpu] for gpu in row))
    inside, between = (_number(element, name, where) for name in ("speedintra", "speedinter"))
    if channels and not (inside > 0 and between > 0):
        raise FieldError(KEY, f"{where}: speedintra and speedinter are more than 0.")
    late_us = _number(element, "latencyinter", where) if element.get("latencyinter") else 0.0
    return Graph(pattern, channels, inside, between, late_us, tuple(orders))


def _gpus(row: ElementTree.Element, where: str) -> list[int]:
    """Return the GPUs of a channel in their order."""
    gpus = row.findall("gpu")
    if not 0 < len(gpus) <= _MOST_GPUS:
        raise FieldError(KEY, f"{where}: {len(gpus)} GPUs; there are 1 to {_MOST_GPUS}.")
    name = "rank" if all(gpu.get("rank") for gpu in gpus) else "dev"
    return [_whole(gpu, name, where, 10**9) for gpu in gpus]


def _whole(element: ElementTree.Element, name: str, where: str, most: int) -> int:
    text = element.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 11 and int(text) <= most):
        raise FieldError(KEY, f"{where}: {name} is {quoted(text[:20])}; write 0 to {most}.")
    return int(text)


def _number(element: ElementTree.Element, name: str, where: str) -> float:
    text = element.get(name, "")
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(-1)
    if not (value.is_finite() and 0 <= value <= _MOST_SPEED):
        raise FieldError(KEY, f"{where}: {name} is {quoted(text[:20])}; write 0 to {_MOST_SPEED}.")
    return float(value)
