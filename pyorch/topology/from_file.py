# SPDX-License-Identifier: GPL-2.0-only
"""A network from a file: HPCC or SimAI topology, htsim .topo, or our own node and link tables.

What the file holds is part of the name of a run; where it lies is not. Rates and delays are those
of the file; `link` may leave them out. In SimAI's files the NVSwitches are a scale-up network, one
tier and one plane above all other switches.
"""

import io
from functools import lru_cache
from typing import Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator, model_validator

from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import FileRef, InputFile, columns, text
from pyorch.spec.limits import MOST_NODES
from pyorch.spec.parts import REACHES
from pyorch.spec.resolved import Link
from pyorch.topology import _graph, _hpcc, _htsim

NODES = {"node": int, "is_switch": int}, {"tier": int, "plane": int}
LINKS = (
    {"node_a": int, "node_b": int, "rate_bps": int, "delay_ps": int},
    {"parallel": int, "loss_ratio": float, "bit_error_ratio": float},
)
#: Rates and delays are in the file.
OWN_LINKS = True
_SCALE_UP, _SCALE_OUT = map(REACHES.index, ("scale_up", "scale_out"))


class Params(Closed):
    """Either `file`, or `nodes` and `links` (CSV or Parquet).

    A `format` that is not given follows from the keys and the first word of the file, whatever its
    name: HPCC's and SimAI's begin with a number, htsim's with a word.
    """

    file: InputFile | None = None
    nodes: InputFile | None = None
    links: InputFile | None = None
    format: Literal["hpcc", "htsim", "tables"] = Field(None, validate_default=True)

    @field_validator("format", mode="before")
    @classmethod
    def _found(cls, given: object, info: ValidationInfo) -> object:
        """Tell the format from the keys and the beginning of the file."""
        if given is not None:
            return given
        if (file := info.data.get("file")) is None:
            return "tables"
        lines = map(str.split, io.StringIO(text(file, "file")))
        first = next((words[0] for words in lines if words and words[0][0] != "#"), "")
        return "htsim" if first[:1].isalpha() else "hpcc"

    @model_validator(mode="after")
    def _has_its_files(self) -> "Params":
        needed = ("nodes", "links") if self.format == "tables" else ("file",)
        for key in ("file", "nodes", "links"):
            if (getattr(self, key) is None) == (key in needed):
                raise FieldError(
                    key, f"format {self.format} needs {' and '.join(needed)} and nothing else:"
                    " file for hpcc and htsim, nodes and links for tables.",
                )  # fmt: skip
        return self


def tables(params: Params, link: Link) -> dict[str, dict[str, np.ndarray]]:
    """Return the node and link tables; `link` gives what htsim files have not: the loss.

    Raises
    ------
    FieldError
        The file is not what it should be, or not a connected network.
    """
    return _tables(params.format, _files(params), link.loss_ratio)


def _files(params: Params) -> tuple[tuple[str, str] | None, ...]:
    files = (params.file, params.nodes, params.links)
    return tuple((file["path"], file["sha256"]) if file else None for file in files)


def counts(params: Params) -> dict[str, int]:
    """Return the numbers of hosts, switches, switch ports in use and cables."""
    network = tables(params, Link(rate_bps=1, delay_ps=0))
    return _graph.counts(network["nodes"], network["links"])


def reach(params: Params, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
    """Return which network carries a message: NVSwitches join the GPUs of a server."""
    found = _of_hpcc(params)
    if found is None or not len(found.nvswitches):
        return np.full(len(src), _SCALE_OUT)
    gpus = found.nodes["node"][found.nodes["is_switch"] == 0]
    server = [np.searchsorted(gpus, end) // found.server_gpus for end in (src, dst)]
    return np.where(server[0] == server[1], _SCALE_UP, _SCALE_OUT)


def networks(params: Params, link: Link) -> list[str]:
    """Return the name of the network of each node: ``scale_up`` of NVSwitches, or its plane."""
    nodes, found = tables(params, link)["nodes"], _of_hpcc(params)
    inside = np.isin(nodes["node"], [] if found is None else found.nvswitches)
    return [
        REACHES[_SCALE_UP] if is_inside else f"plane {plane}"
        for is_inside, plane in zip(inside, nodes["plane"], strict=True)
    ]


def remarks(params: Params) -> tuple[str, ...]:
    """Return which lines of a file are not read, and messages in a server that may leave it."""
    if params.format == "htsim" and (words := _htsim.unused(params.file)):
        return (f"{params.file['path']}: not used: {words}. Queues are those of switch.",)
    found = _of_hpcc(params)
    if found is None:
        return ()
    where, said = params.file["path"], []
    if found.unread:
        said.append(
            f"{where}: line 1 says {len(found.links['node_a'])} links; {found.unread} lines behind"
            " them are not read, as in HPCC's own program."
        )
    if (leaf := _leaf_of_a_server(found)) is not None:
        said.append(
            f"{where}: switch {leaf} joins several GPUs of a server, as near as their NVSwitch, so"
            " messages in a server take either. To keep them on NVSwitches write a switch between"
            " each GPU and its leaf, with the rate of the NIC."
        )
    return tuple(said)


def _leaf_of_a_server(found: _hpcc.Found) -> int | None:
    """Return a switch that is no NVSwitch and joins two GPUs of one server; None if none does."""
    if not len(found.nvswitches):
        return None
    gpus = found.nodes["node"][found.nodes["is_switch"] == 0]
    ends = np.array([found.links["node_a"], found.links["node_b"]])
    ends = np.concatenate([ends, ends[::-1]], axis=1)
    outside = np.isin(ends[0], gpus) & ~np.isin(ends[1], found.nvswitches)
    server = np.searchsorted(gpus, ends[0, outside]) // found.server_gpus
    pairs, times = np.unique(
        np.unique(np.stack([server, ends[1, outside], ends[0, outside]]), axis=1)[:2],
        axis=1, return_counts=True,
    )  # fmt: skip
    return int(pairs[1, times > 1][0]) if (times > 1).any() else None


def _of_hpcc(params: Params) -> _hpcc.Found | None:
    """Return what a file in HPCC's format has, None for another format."""
    return _read_hpcc(_files(params)[0]) if params.format == "hpcc" else None


@lru_cache(maxsize=8)
def _read_hpcc(file: tuple[str, str]) -> _hpcc.Found:
    return _hpcc.read({"path": file[0], "sha256": file[1]})


@lru_cache(maxsize=8)
def _tables(kind: str, files: tuple, loss_ratio: float) -> dict[str, dict[str, np.ndarray]]:
    refs = [file and {"path": file[0], "sha256": file[1]} for file in files]
    if kind == "tables":
        return _own(refs[1], refs[2], loss_ratio)
    if kind == "htsim":
        read = _htsim.read(refs[0], loss_ratio)
        return _checked(read["nodes"], read["links"], refs[0]["path"], "file")
    found = _read_hpcc(files[0])
    where = refs[0]["path"]
    return _above(_checked(found.nodes, found.links, where, "file"), found, where)


def _above(
    tables: dict[str, dict[str, np.ndarray]], found: _hpcc.Found, where: str
) -> dict[str, dict[str, np.ndarray]]:
    """Return the tables with the NVSwitches in a tier and planes of their own."""
    if not len(found.nvswitches):
        return tables
    nodes = tables["nodes"]
    inside = np.isin(nodes["node"], found.nvswitches)
    others = ~inside & (nodes["is_switch"] == 1)
    tier, plane = nodes["tier"].copy(), nodes["plane"].copy()
    planes, plane[others] = np.unique(plane[others], return_inverse=True)
    tier[inside] = tier[~inside].max() + 1
    plane[inside] = len(planes) + np.array(_places_in_servers(found, where))
    return tables | {"nodes": nodes | {"tier": tier, "plane": plane}}


def _places_in_servers(found: _hpcc.Found, where: str) -> list[int]:
    """Return which one of its server each NVSwitch is, from 0, in the order of their ids.

    Raises
    ------
    FieldError
        One joins other nodes than the GPUs of a server, or a server has more than another.
    """
    joined: dict[int, set[int]] = {switch: set() for switch in sorted(found.nvswitches.tolist())}
    for pair in zip(found.links["node_a"].tolist(), found.links["node_b"].tolist(), strict=True):
        for end, other in (pair, pair[::-1]):
            if end in joined:
                joined[end].add(other)
    gpus = found.nodes["node"][found.nodes["is_switch"] == 0].tolist()
    each = found.server_gpus
    servers = [gpus[first : first + each] for first in range(0, len(gpus), each)]
    server_of = {gpu: index for index, server in enumerate(servers) for gpu in server}
    places, numbers = [], [0] * len(servers)
    for switch, nodes in joined.items():
        server = server_of.get(min(nodes, default=-1))
        if server is None or nodes != set(servers[server]):
            raise FieldError(
                "file", f"{where}: NVSwitch {switch} joins {len(nodes)} nodes, which are not the"
                f" {each} GPUs of a server. Link it to all of one.",
            )  # fmt: skip
        places.append(numbers[server])
        numbers[server] += 1
    if min(numbers) != max(numbers):
        raise FieldError(
            "file", f"{where}: a server has {min(numbers)} NVSwitches and another {max(numbers)}."
            " All have as many.",
        )  # fmt: skip
    return places


def _own(
    nodes_file: FileRef, links_file: FileRef, loss_ratio: float
) -> dict[str, dict[str, np.ndarray]]:
    nodes = columns(nodes_file, "nodes", *NODES)
    where = nodes_file["path"]
    ids, repeats = np.unique(nodes["node"], return_counts=True)
    if len(ids) == 0 or ids[0] < 0 or ids[-1] > MOST_NODES or repeats.max() > 1:
        raise FieldError(
            "nodes", f"{where}: node: each node has its own id from 0 to {MOST_NODES}."
        )
    if not np.isin(nodes["is_switch"], (0, 1)).all():
        raise FieldError("nodes", f"{where}: is_switch: write 0 for a host and 1 for a switch.")
    is_host = nodes["is_switch"] == 0
    for name, least in (("tier", 1), ("plane", 0)):
        given = nodes.get(name, nodes["is_switch"])
        if (given[is_host] != 0).any() or (given[~is_host] < least).any():
            raise FieldError(
                "nodes", f"{where}: {name}: 0 for a host, {least} or more for a switch."
            )
    links = columns(links_file, "links", *LINKS)
    ratio = links.get("bit_error_ratio", np.zeros(0))
    if (wrong := np.flatnonzero((ratio < 0) | (ratio >= 1))).size:
        raise FieldError(
            "links", f"{links_file['path']}: bit_error_ratio: row {wrong[0] + 1}:"
            f" {ratio[wrong[0]]}; write 0 or more and less than 1.",
        )  # fmt: skip
    n_links = len(links["node_a"])
    links = {
        "parallel": np.zeros(n_links, dtype=np.int64),
        "loss_ratio": np.full(n_links, loss_ratio),
        **links,
    }
    return _checked(nodes, links, links_file["path"], "links")


def _checked(
    nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], where: str, key: str
) -> dict[str, dict[str, np.ndarray]]:
    is_switch = dict(zip(nodes["node"].tolist(), (nodes["is_switch"] == 1).tolist(), strict=True))
    _graph.check_links(is_switch, links, where, key)
    _graph.check_connected(nodes, links, where, key)
    return {"nodes": _graph.with_tiers(nodes, links), "links": links}
