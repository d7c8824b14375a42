# SPDX-License-Identifier: GPL-2.0-only
"""Messages listed in a CSV or Parquet file: src, dst, bytes, and maybe flow and start_ps.

src and dst are node ids of the topology. Flows keep the ids that the file gives them; without any,
`routes` counts them from 0.
"""

from functools import lru_cache

import numpy as np

from pyorch.spec.fields import Closed
from pyorch.spec.files import InputFile, columns
from pyorch.spec.network import Network
from pyorch.workload._hosts import hosts
from pyorch.workload._listed import check_listed
from pyorch.workload._routes import check_routes, read_routes

REQUIRED = {"src": int, "dst": int, "bytes": int}
OPTIONAL = {"start_ps": int, "flow": int}


class Params(Closed):
    """The file, relative to the scenario, and one with the paths of flows."""

    file: InputFile
    routes: InputFile | None = None


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError for the first flow that cannot be sent."""
    table = _read(params.file["path"], params.file["sha256"])
    known = hosts(network.nodes)
    hint = f"hosts are the nodes {known[0]} to {known[-1]}"
    path = params.file["path"]
    check_listed(
        path, table, lambda row: f"{path}: row {row + 1}", known, stop_ps, hint,
        network.largest_message_bytes,
    )  # fmt: skip
    check_routes(params.routes, table, network)


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return the flows in the order of the file."""
    return dict(_read(params.file["path"], params.file["sha256"]))


def routes(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the paths that are given: flow, hop, node, peer, parallel, reverse."""
    return read_routes(params.routes) if params.routes else {}


@lru_cache(maxsize=4)
def _read(path: str, sha256: str) -> dict[str, np.ndarray]:
    table = columns({"path": path, "sha256": sha256}, "file", REQUIRED, OPTIONAL)
    return {"start_ps": np.zeros(len(table["src"]), dtype=np.int64), **table}
