# SPDX-License-Identifier: GPL-2.0-only
"""A flow file of the HPCC simulator: the number of flows, then a line for each.

A line is: source and destination (node ids), priority group, destination port, size [byte], start
[s]. Ports are not modelled. The priority of a flow is that of its transport, so a file with
several groups is imported once for each, with `priority_group`.
"""

from functools import lru_cache
from typing import Annotated

import numpy as np
from pydantic import Field

from pyorch.errors import quoted
from pyorch.spec.fields import Closed, FieldError
from pyorch.spec.files import InputFile, numbered_lines
from pyorch.spec.network import Network
from pyorch.units import parse_whole
from pyorch.workload._hosts import hosts
from pyorch.workload._listed import check_listed

KEY = "file"
PS_PER_S = 10**12


class Params(Closed):
    """The file, relative to the scenario; only the flows of `priority_group` if it is given."""

    file: InputFile
    priority_group: Annotated[int, Field(strict=True, ge=0)] | None = None


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError if the messages do not fit the network, or begin when the run has ended."""
    _check_counts(params, network.counts)
    _check_times(params, network, stop_ps)


def _check_counts(params: Params, counts: dict[str, int]) -> None:
    """Raise FieldError if flows of several priority groups are taken, or none."""
    groups = _read(params.file["path"], params.file["sha256"])[1]
    found = ", ".join(str(group) for group in np.unique(groups))
    if params.priority_group is None and len(np.unique(groups)) > 1:
        raise FieldError(
            KEY, f"{params.file['path']}: has the priority groups {found}. Import it once for each:"
            " priority_group, with a transport of that priority.",
        )  # fmt: skip
    if params.priority_group is not None and params.priority_group not in groups:
        raise FieldError(
            "priority_group", f"{params.priority_group}: {params.file['path']} has {found}."
        )


def _check_times(params: Params, network: Network, stop_ps: int) -> None:
    """Raise FieldError for the first flow that cannot be sent."""
    table, _, rows = _read(params.file["path"], params.file["sha256"])
    known = hosts(network.nodes)
    hint = f"hosts are the nodes {known[0]} to {known[-1]}"
    check_listed(
        params.file["path"], table, rows.__getitem__, known, stop_ps, hint,
        network.largest_message_bytes,
    )  # fmt: skip


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return the flows in the order of the file."""
    table, groups, _ = _read(params.file["path"], params.file["sha256"])
    if params.priority_group is None:
        return dict(table)
    return {name: column[groups == params.priority_group] for name, column in table.items()}


@lru_cache(maxsize=4)
def _read(path: str, sha256: str) -> tuple[dict[str, np.ndarray], np.ndarray, tuple[str, ...]]:
    """Return the flows, their priority groups, and where each stands."""
    lines = numbered_lines({"path": path, "sha256": sha256}, KEY)
    try:
        (n_flows,) = map(parse_whole, lines[0][1])
    except (ValueError, IndexError):
        raise FieldError(KEY, f"{path}: the first line must be the number of flows.") from None
    flows_ = lines[1:]
    if len(flows_) != n_flows:
        raise FieldError(
            KEY, f"{path}: {len(flows_)} flows, but the first line says {n_flows}. Is the file cut"
            " off?"
        )  # fmt: skip
    rows = [_row(words, f"{path}:{number}") for number, words in flows_]
    src, dst, group, size, start = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    table = {"src": src, "dst": dst, "bytes": size, "start_ps": start}
    return table, group, tuple(f"{path}:{number}" for number, _ in flows_)


def _row(words: list[str], where: str) -> tuple[int, ...]:
    """Return source, destination, priority group, size and start [ps] of a line."""
    try:
        if len(words) != 6:
            raise ValueError(f"{len(words)} words")
        src, dst, group, _port, size = map(parse_whole, words[:5])
        return src, dst, group, size, _start_ps(words[5])
    except ValueError as error:
        raise FieldError(
            KEY, f"{where}: {quoted(' '.join(words))} is no flow ({error}). Write"
            " source, destination, priority group, port, bytes, seconds: 0 1 3 100 1000000 2.0",
        ) from None  # fmt: skip


def _start_ps(word: str) -> int:
    try:
        return parse_whole(word, PS_PER_S)
    except ValueError as error:
        raise ValueError(f"the start {error} in ps") from None
