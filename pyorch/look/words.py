# SPDX-License-Identifier: GPL-2.0-only
"""Takes a message of a run, says in a few sentences which link decided how long it took."""

import pandas as pd

from pyorch.errors import TraceError
from pyorch.look.causes import BUSY_SHARE, Pauses, busiest
from pyorch.look.grid import LINK, grid


def bottleneck(run, flow: int) -> str:
    """Return which link of a message's path was its bottleneck, and what PFC held back before it.

    Parameters
    ----------
    run : RunResult
        A finished run.
    flow : int
        Id of the message.

    Returns
    -------
    str
        Sentences; which line of the scenario records it, if nothing did.
    """
    try:
        exact = grid(run)
    except TraceError:
        return (
            "Its path over time was not recorded; trace: {sample: ...} in the scenario records it."
        )
    row_of = {
        link: row for row, link in enumerate(exact.links[LINK].itertuples(index=False, name=None))
    }
    recorded = run.paths.astype("int64").sort_values(["flow", "hop"])
    own = recorded.loc[recorded["flow"] == flow, LINK]
    if own.empty:
        return "Its packets took many paths, so no single link decided how long it took."
    path = [row_of[link] for link in own.itertuples(index=False, name=None)]
    message = run.flows.set_index("flow").loc[flow]
    now_ps = int(run.outcome["now_ps"])
    end_ps = now_ps if pd.isna(message["receiver_end_ps"]) else int(message["receiver_end_ps"])
    start_ps = int(message["start_ps"])
    link, share = busiest(exact, path, start_ps, end_ps)
    said = [
        f"Its bottleneck was the link from {_name(exact, link)}, which was sending for"
        f" {100 * share:.0f} % of the time of this message."
        if share >= BUSY_SHARE
        else f"No link of its path was full; the busiest, from {_name(exact, link)}, was sending"
        f" for {100 * share:.0f} % of the time of this message."
    ]
    if "pauses" in run.tables:
        pauses = Pauses(run.pauses, exact, now_ps)
        trees = [pauses.tree(row, start_ps, end_ps) for row in path]
        told: set[int] = set()
        for tree in filter(None, trees):
            if tree["link"] in told:
                continue
            said.append(
                f"PFC held back the link from {_name(exact, tree['link'])} for"
                f" {100 * tree['share']:.0f} % of that time{_behind(exact, tree, told)}."
            )
    return " ".join(said)


def _behind(exact, tree: dict, told: set[int]) -> str:
    """Return the chain of links for whose sake most of the pauses of a link were."""
    told.add(tree["link"])
    if not tree["toward"]:
        return ""
    first = tree["toward"][0]
    return f", for frames to the link from {_name(exact, first['link'])}" + _behind(
        exact, first, told
    )


def _name(exact, link: int) -> str:
    row = exact.links.iloc[link]
    return f"{row['node']} to {row['peer']}"
