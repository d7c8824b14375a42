# SPDX-License-Identifier: GPL-2.0-only
"""A network from a file: HPCC topology.txt, htsim .topo, or our own node and link tables.

What the file holds is part of the name of a run; where it lies is not. Rates and delays are those
of the file; `link` may leave them out.
"""

from functools import lru_cache
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from pyorch.spec.fields import FILLED, Closed, FieldError
from pyorch.spec.files import FileRef, InputFile, columns
from pyorch.spec.limits import MOST_NODES
from pyorch.spec.resolved import Link
from pyorch.topology import _graph, _hpcc, _htsim

NODES = {"node": int, "is_switch": int}, {"tier": int, "plane": int}
LINKS = (
    {"node_a": int, "node_b": int, "rate_bps": int, "delay_ps": int},
    {"parallel": int, "loss_ratio": float, "bit_error_ratio": float},
)
#: Rates and delays are in the file.
OWN_LINKS = True


class Params(Closed):
    """Either `file`, or `nodes` and `links` (CSV or Parquet)."""

    format: Literal["hpcc", "htsim", "tables"] = Field(json_schema_extra=FILLED)
    file: InputFile | None = None
    nodes: InputFile | None = None
    links: InputFile | None = None

    @model_validator(mode="before")
    @classmethod
    def _find_format(cls, given: object) -> object:
        """Tell the format from the keys and from the end of the file name."""
        if not isinstance(given, dict) or "format" in given:
            return given
        if "file" not in given:
            return {"format": "tables", **given}
        is_htsim = str(given["file"]).endswith(".topo")
        return {"format": "htsim" if is_htsim else "hpcc", **given}

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
    files = tuple(
        (file["path"], file["sha256"]) if file else None
        for file in (params.file, params.nodes, params.links)
    )
    return _tables(params.format, files, link.loss_ratio)


def counts(params: Params) -> dict[str, int]:
    """Return the numbers of hosts, switches, switch ports in use and cables."""
    network = tables(params, Link(rate_bps=1, delay_ps=0))
    return _graph.counts(network["nodes"], network["links"])


@lru_cache(maxsize=8)
def _tables(kind: str, files: tuple, loss_ratio: float) -> dict[str, dict[str, np.ndarray]]:
    refs = [file and {"path": file[0], "sha256": file[1]} for file in files]
    if kind == "tables":
        return _own(refs[1], refs[2], loss_ratio)
    read = _hpcc.read(refs[0]) if kind == "hpcc" else _htsim.read(refs[0], loss_ratio)
    return _checked(read["nodes"], read["links"], refs[0]["path"], "file")


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
