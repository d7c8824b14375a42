# SPDX-License-Identifier: GPL-2.0-only
"""Which congested links are behind the PFC pauses of a run, and how far do these spread?"""

import numpy as np
import pandas as pd

from pyorch.metrics._run import RunTables
from pyorch.spec.resolved import Spec

LINK = ["node", "peer", "parallel"]


def measure(run: RunTables) -> pd.DataFrame:
    """Return one row per congested link and priority, the one that held back longest first.

    A switch sends PAUSE because a frame for one of its egress links was too many. If that link was
    itself held back at that moment, the pause goes back to the one before it, and so on to a link
    that was merely busy: the root of a tree of pauses.

    Returns
    -------
    DataFrame
        ``priority``, ``node``, ``peer``, ``parallel``: the congested link; ``pauses`` that go back
        to it, ``direct_pauses`` with nothing in between, ``depth``: longest chain of pauses,
        ``links`` and ``hosts`` held back, ``paused_ps``: sum over all pauses, up to the end of the
        run.

    Raises
    ------
    TraceError
        The run has no log of pauses, for `trace` lacks ``pauses: true``, or none that says for
        which link it pauses.
    """
    pauses = run.table("pauses")
    end_ps = int(run.table("summary")["now_ps"].iloc[0])
    pauses = pauses.dropna(subset="congested_peer")
    pauses = pauses.fillna({"end_ps": end_ps}).astype("int64")
    pauses = pauses.sort_values(["start_ps", *LINK, "priority"], ignore_index=True)
    parent = _parents(pauses)
    root, depth = _roots(parent)
    nodes = run.inputs["nodes"]
    hosts = nodes["node"][nodes["is_switch"] == 0]
    # The congested link is that which the first pause of its tree could not pass.
    table = pd.DataFrame(
        {
            "priority": pauses["priority"],
            "node": pauses["peer"].to_numpy()[root],
            "peer": pauses["congested_peer"].to_numpy()[root],
            "parallel": pauses["congested_parallel"].to_numpy()[root],
            "direct": parent < 0,
            "depth": depth,
            "link": list(pauses[LINK].itertuples(index=False, name=None)),
            "host": pauses["node"].where(np.isin(pauses["node"], hosts)),
            "paused_ps": pauses["end_ps"] - pauses["start_ps"],
        }
    )
    grouped = table.groupby(["priority", *LINK], as_index=False).agg(
        pauses=("depth", "size"),
        direct_pauses=("direct", "sum"),
        depth=("depth", "max"),
        links=("link", "nunique"),
        hosts=("host", "nunique"),
        paused_ps=("paused_ps", "sum"),
    )
    return grouped.sort_values("paused_ps", ascending=False, kind="stable", ignore_index=True)


def refusal(spec: Spec) -> str:
    """Return why a run cannot be asked: its log of pauses is missing, or names no link."""
    if not spec.trace.pauses:
        return "pauses were not logged. Write trace: {pauses: true} and run it again."
    controls = [spec.link.flow_control, *(links.flow_control for links in spec.link.classes)]
    if {control.type for control in controls if control} == {"ns3::CreditFlowControl"}:
        return "its links have credits, which pause for no link in particular. PFC does."
    return ""


def _parents(pauses: pd.DataFrame) -> np.ndarray:
    """Return the row of the pause that each pause goes back to, -1 if none; rows by start."""
    held = pauses.assign(row=np.arange(len(pauses)), parent_end_ps=pauses["end_ps"])
    blocked = pauses.assign(row=np.arange(len(pauses))).sort_values("sent_ps", kind="stable")
    onward = {"node": "peer", "peer": "congested_peer", "parallel": "congested_parallel"}
    found = pd.merge_asof(
        blocked,
        held[["start_ps", *LINK, "priority", "row", "parent_end_ps"]],
        left_on="sent_ps",
        right_on="start_ps",
        left_by=[*onward.values(), "priority"],
        right_by=[*onward, "priority"],
        suffixes=("", "_parent"),
    ).sort_values("row")
    in_force = (found["parent_end_ps"] > found["sent_ps"]).to_numpy()
    return np.where(in_force, found["row_parent"].fillna(-1), -1).astype(np.int64)


def _roots(parent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the first pause of each one's chain and its place in it, from 1.

    A parent starts before its children, so this ends.
    """
    ancestor = np.where(parent < 0, np.arange(len(parent)), parent)
    steps = (parent >= 0).astype(np.int64)
    while (ancestor[ancestor] != ancestor).any():
        steps = steps + steps[ancestor]
        ancestor = ancestor[ancestor]
    return ancestor, steps + 1
