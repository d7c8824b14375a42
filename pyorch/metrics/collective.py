# SPDX-License-Identifier: GPL-2.0-only
"""How long does each group's collective take, and how long would it on an ideal network?"""

import numpy as np
import pandas as pd

from pyorch.metrics._collectives import Group, groups, refusal
from pyorch.metrics._run import RunTables
from pyorch.theory import chains
from pyorch.theory.fct import MIN_FRAME_BYTES
from pyorch.workload import collective

__all__ = ["measure", "refusal"]


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per group.

    Returns
    -------
    DataFrame
        ``workload`` and ``group``: indices, from 0; ``ranks``, ``data_bytes`` and ``chunks`` of
        the operation; ``steps``: messages that must follow each other; ``port_bytes``: the most
        that one rank sends or receives; ``completion_ps``: from its start until its last message
        has come and is reduced; ``ideal_ps``: its longest chain with every message, all parts of
        it, alone on its path, or the bytes of its busiest ports, of one network of a rank, at their
        rate, whichever is more; ``over_ideal``: one over the other [1].
    """
    return pd.DataFrame([_row(run, group) for group in groups(run)])


def _row(run: RunTables, group: Group) -> dict[str, int | float]:
    flows = run.flows.iloc[group.rows]
    done_ps = flows["receiver_end_ps"] + collective.reductions_ps(group.params, group.ranks)
    completion_ps = int(done_ps.max() - group.params.start_ps)
    ideal_ps = _ideal_ps(run, group)
    counts = collective.counts(group.params, group.ranks)
    return {
        "workload": group.workload,
        "group": group.group,
        "ranks": group.ranks,
        "data_bytes": group.params.data_bytes,
        "chunks": group.params.chunks,
        "steps": counts.steps,
        "port_bytes": counts.port_bytes,
        "completion_ps": completion_ps,
        "ideal_ps": ideal_ps,
        "over_ideal": completion_ps / ideal_ps,
    }


def _ideal_ps(run: RunTables, group: Group) -> int:
    """Return the least time of a group: longest chain, busiest sender, busiest receiver [ps]."""
    idle = run.idle_ps.iloc[group.rows]
    alone_ps = idle["unloaded_fct_ps"].to_numpy(copy=True)
    parts = run.first_parts[group.rows]
    relayed = np.flatnonzero(parts >= 0)
    alone_ps[relayed] += run.idle_ps["unloaded_fct_ps"].to_numpy()[parts[relayed]]
    ends = run.flows.iloc[group.rows][["src", "dst"]].to_numpy().T
    # A rank sends over the ports that lead to a rank, and receives over those that lead back.
    ways = [run.network.exits(*ends), run.network.exits(*ends[::-1])]
    ports_ps = [
        chains.busiest_port_ps(way.link, idle["wire_bytes"] * 8e12 / way.rate_bps, alone_ps)
        for way in ways
    ]
    message = collective.messages_in(group.params, group.ranks)
    if message[-1] + 1 < len(message):
        narrow_bps = np.minimum(*(way.rate_bps for way in ways))
        alone_ps = _together_ps(message, idle, narrow_bps, alone_ps)
    return group.params.launch_time_ps + max(_chain_ps(run, group, alone_ps), *ports_ps)


def _together_ps(
    message: np.ndarray, idle: pd.DataFrame, port_bps: np.ndarray, alone_ps: np.ndarray
) -> np.ndarray:
    """Return the least time of the message of each part [ps].

    All its bytes pass the port, and what a part takes beyond its own bytes comes to that.
    """
    bits = idle["wire_bytes"].to_numpy() * 8e12
    total_ps = np.bincount(message, weights=bits / port_bps).astype(np.int64)
    beyond_ps = np.full(message[-1] + 1, np.iinfo(np.int64).max)
    own_ps = np.ceil(bits / idle["slowest_bps"].to_numpy()).astype(np.int64)
    np.minimum.at(beyond_ps, message, alone_ps - own_ps)
    return np.maximum(alone_ps, (total_ps + beyond_ps)[message])


def _chain_ps(run: RunTables, group: Group, alone_ps: np.ndarray) -> int:
    """Return the longest chain of messages that take these times, and of reductions [ps]."""
    graph = group.graph
    gap_ps = collective.delays_ps(group.params, group.ranks)
    known_late = graph.at_sender == 1
    if known_late.any():
        gap_ps[known_late] += _answer_ps(run, group, graph.after[known_late], alone_ps)
    ends_ps = chains.earliest_ends_ps(alone_ps, graph.flow, graph.after, gap_ps)
    return int((ends_ps + collective.reductions_ps(group.params, group.ranks)).max())


def _answer_ps(run: RunTables, group: Group, rows: np.ndarray, alone_ps: np.ndarray) -> np.ndarray:
    """Return how long after the end of messages their senders know, when nothing is in the way.

    The sender of a relayed message knows when the relay has all of it, which may be before the end.
    """
    parts = run.first_parts[group.rows[rows]]
    own = np.where(parts >= 0, parts, group.rows[rows])
    flows = run.table("flows").iloc[own]
    wires = run.table("transports").set_index("transport")
    ack_bytes = wires["ack_bytes"].loc[flows["transport"]].to_numpy(dtype=np.int64)
    on_wire = np.maximum(ack_bytes, MIN_FRAME_BYTES) + run.spec.wire.framing_bytes
    ends = flows[["src", "dst"]].to_numpy(dtype=np.int64)
    answer_ps = run.idle.of_frame_ps(ends[:, 1], ends[:, 0], on_wire)
    to_relay_ps = run.idle_ps["unloaded_fct_ps"].to_numpy()[own]
    return np.where(parts >= 0, to_relay_ps + answer_ps - alone_ps[rows], answer_ps)
