# SPDX-License-Identifier: GPL-2.0-only
"""Splits each flow that a host relays into two, with what they wait for."""

import numpy as np

from pyorch.collective._graph import AT_RECEIVER, AT_SENDER

Columns = dict[str, np.ndarray]


def relayed(
    flows: Columns, waits: Columns, rows: np.ndarray, relay: np.ndarray
) -> tuple[Columns, Columns]:
    """Return flows and dependencies in which some messages are sent twice.

    The path to the relay is a new flow at the end of the table, which starts when the whole one
    would have. The flow itself then goes from the relay to its destination, so its end is what it
    was; who waits for its acknowledgement waits for that of the new one.

    Parameters
    ----------
    flows, waits : dict of ndarray
        Tables of flows and dependencies; `waits` has no columns if nothing waits.
    rows : ndarray
        Rows of `flows` that are relayed.
    relay : ndarray
        Host that relays each of them.
    """
    ids = flows["flow"][rows]
    legs = {name: column[rows] for name, column in flows.items()}
    legs["flow"] = int(flows["flow"].max()) + 1 + np.arange(len(rows))
    legs["dst"] = relay
    src = flows["src"].copy()
    src[rows] = relay
    whole = flows | {"src": src}
    both = {name: np.concatenate([column, legs[name]]) for name, column in whole.items()}
    first_leg = dict(zip(ids.tolist(), legs["flow"].tolist(), strict=True))
    waits = {name: column.copy() for name, column in waits.items()}
    for name in ("flow", "after") if waits else ():
        moved = waits["at_sender"] == AT_SENDER if name == "after" else slice(None)
        waits[name][moved] = [first_leg.get(flow, flow) for flow in waits[name][moved].tolist()]
    second = {
        "flow": ids, "after": legs["flow"], "at_sender": np.full(len(ids), AT_RECEIVER),
        "delay_ps": np.zeros(len(ids), dtype=np.int64),
    }  # fmt: skip
    names = waits or ("flow", "after", "at_sender")
    return both, {name: np.concatenate([waits.get(name, ids[:0]), second[name]]) for name in names}
