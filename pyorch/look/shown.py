# SPDX-License-Identifier: GPL-2.0-only
"""Takes a run, returns what its page shows, as plain data for JSON.

Above `MOST_HOSTS` hosts the hosts of a switch are one node. Of many messages the slowest are shown.
"""

import base64
from typing import Any

import numpy as np
import pandas as pd

from pyorch.look import steps
from pyorch.look.causes import BUSY_SHARE, Pauses, busiest
from pyorch.look.grid import LINK, Grid, grid
from pyorch.look.spread import Spread

MOST_HOSTS = 1024
#: Messages that are shown: the slowest of all. Of so many is said what decided how long they took.
MOST_MESSAGES, MOST_EXPLAINED = 3000, 300
#: Cells of links x steps: beyond, steps are longer.
MOST_CELLS = 1_200_000
#: Messages whose packets are shown, and packets of each.
MOST_TRACED, MOST_PACKETS = 60, 400
#: Largest value of a byte: arrays are shares of their largest value.
FULL = 255


def shown(run) -> dict:
    """Return what a page shows of a run.

    Parameters
    ----------
    run : RunResult
        Finished, with ``trace: {sample: ...}``.

    Returns
    -------
    dict
        Times in us, sizes in bytes, loads and pauses as bytes in rows of links.
    """
    exact = grid(run)
    nodes, node_of = nodes_of(run)
    links, group_of = links_of(exact, node_of)
    load, paused, queue, step_ps = merged(exact, group_of, len(links))
    flows = slowest(run)
    packed = {name: pack(values, scale) for name, values, scale in (
        ("load", load, 1.0), ("paused", paused, 1.0), ("queue", queue, max(queue.max(), 1.0)),
    )}  # fmt: skip
    return {
        "title": f"{run.scenario}: {run.point_label or run.id}, seed {run.seed}",
        "step_us": step_ps / 1e6,
        "n_steps": load.shape[1],
        "queue_bytes": float(max(queue.max(), 1.0)),
        "nodes": nodes,
        "links": links,
        **packed,
        "n_messages": len(run.flows),
        "messages": messages_of(run, flows, exact, group_of),
        "rates": rates_of(run, flows, exact),
        "packets": packets_of(run, flows),
        "lanes": steps.lanes(run),
        "records": {
            "pauses": "pauses" in run.tables,
            "arrivals": "arrivals" in run.tables,
            "paused": bool((run.ports["paused_ps"] > 0).any()),
        },
    }


def pack(values: np.ndarray, largest: float) -> str:
    """Return an array as text: a byte for each value, as a share of the largest."""
    shares = np.clip(np.rint(values * (FULL / largest)), 0, FULL).astype(np.uint8)
    return base64.b64encode(shares.tobytes()).decode()


# ---- network ------------------------------------------------------------------------------------


def nodes_of(run) -> tuple[list[dict], dict[int, int]]:
    """Return the nodes of the page, and the place of each node of the run among them."""
    table = run.nodes
    tiers = dict(zip(table["node"].tolist(), table["tier"].tolist(), strict=True))
    planes = dict(zip(table["node"].tolist(), table["plane"].tolist(), strict=True))
    switch_of = {}
    if sum(tier == 0 for tier in tiers.values()) > MOST_HOSTS:
        for node, peer in run.ports[["node", "peer"]].astype("int64").to_numpy().tolist():
            if tiers[node] == 0:
                switch_of[node] = min(peer, switch_of.get(node, peer))
    nodes, place, node_of = [], {}, {}
    for node in sorted(tiers, key=lambda node: (tiers[node], planes[node], node)):
        key = ("of", switch_of[node]) if node in switch_of else node
        if key not in place:
            place[key] = len(nodes)
            name = f"hosts of {switch_of[node]}" if node in switch_of else str(node)
            nodes.append({"name": name, "tier": tiers[node], "plane": planes[node], "hosts": 0})
        nodes[place[key]]["hosts"] += tiers[node] == 0
        node_of[node] = place[key]
    return nodes, node_of


def links_of(exact: Grid, node_of: dict[int, int]) -> tuple[list[list], np.ndarray]:
    """Return links of the page: from, to, rate, kind; and which of them each exact link is in."""
    ends = exact.links[["node", "peer"]].replace(node_of)
    keys: list[tuple] = list(zip(ends["node"], ends["peer"], exact.links["band"], strict=True))
    if len(set(node_of.values())) == len(node_of):
        keys = [(*key, row) for row, key in enumerate(keys)]  # parallel links stay apart
    place: dict[tuple, int] = {}
    group_of = np.array([place.setdefault(key, len(place)) for key in keys])
    rates = np.bincount(group_of, exact.links["rate_bps"].to_numpy())
    links = [[int(key[0]), int(key[1]), float(rates[i]), key[2]] for key, i in place.items()]
    return links, group_of


def merged(exact: Grid, group_of: np.ndarray, n: int) -> tuple:
    """Return load, pauses and queues of the links of the page in as many steps as there is room."""
    every = max(1, -(-n * exact.n_steps // MOST_CELLS))
    first = np.arange(0, exact.n_steps, every)
    rate = exact.links["rate_bps"].to_numpy(dtype=float)
    total = np.bincount(group_of, rate, n)

    def weighted(values):
        found = np.zeros((n, exact.n_steps))
        np.add.at(found, group_of, values * rate[:, None])
        found = np.add.reduceat(found / total[:, None], first, axis=1)
        return found / np.diff(np.append(first, exact.n_steps))

    queue = np.zeros((n, exact.n_steps))
    np.maximum.at(queue, group_of, exact.queue)
    queue = np.maximum.reduceat(queue, first, axis=1)
    return weighted(exact.load), weighted(exact.paused), queue, exact.step_ps * every


# ---- messages -----------------------------------------------------------------------------------


def slowest(run) -> pd.DataFrame:
    """Return the slowest messages, those that did not end first."""
    flows = run.flows
    flows = flows[flows["start_ps"].notna() & (flows["bytes"] > 0)]
    now_ps = int(run.outcome["now_ps"])
    took = flows["receiver_end_ps"].fillna(2 * now_ps) - flows["start_ps"]
    order = took.astype("int64").sort_values(ascending=False, kind="stable").index
    return flows.loc[order[:MOST_MESSAGES]].reset_index(drop=True)


def messages_of(run, flows: pd.DataFrame, exact: Grid, group_of: np.ndarray) -> list[dict]:
    """Return each message with its path, what decided its time, and what held that back."""
    now_ps = int(run.outcome["now_ps"])
    row_of = {
        link: row for row, link in enumerate(exact.links[LINK].itertuples(index=False, name=None))
    }
    paths: dict[int, list[int]] = {}
    recorded = run.paths.astype("int64").sort_values(["flow", "hop"])
    for flow, *link in recorded[["flow", *LINK]].itertuples(index=False, name=None):
        paths.setdefault(flow, []).append(row_of[tuple(link)])
    users: dict[int, list[tuple[float, float]]] = {}
    for flow, start, end in run.flows[["flow", "start_ps", "receiver_end_ps"]].itertuples(
        index=False, name=None
    ):
        if not pd.isna(start):
            for row in paths.get(flow, ()):
                users.setdefault(row, []).append((start, now_ps if pd.isna(end) else end))
    pauses = Pauses(run.pauses, exact, now_ps) if "pauses" in run.tables else None
    spread = Spread(run, row_of)
    found = []
    for rank, row in enumerate(flows.itertuples(index=False)):
        end_ps = now_ps if pd.isna(row.receiver_end_ps) else int(row.receiver_end_ps)
        start_ps, path = int(row.start_ps), paths.get(int(row.flow), [])
        message: dict[str, Any] = {
            "id": int(row.flow), "src": int(row.src), "dst": int(row.dst), "bytes": int(row.bytes),
            "start_us": start_ps / 1e6,
            "end_us": None if pd.isna(row.receiver_end_ps) else end_ps / 1e6,
            "again": int(row.retransmitted_packets), "trimmed": int(row.trimmed_packets),
            "timeouts": int(row.timeouts),
            "path": [[int(group_of[link]), 1] for link in path],
        }  # fmt: skip
        if rank < MOST_EXPLAINED:
            if path:
                message["why"] = why(path, exact, start_ps, end_ps, users, pauses, group_of)
            else:
                message["path"] = spread.shares(int(row.src), int(row.dst), group_of)
        found.append(message)
    return found


def why(path, exact, start_ps, end_ps, users, pauses, group_of) -> dict:
    """Return the bottleneck of a message that keeps to a path, and what held its links back."""
    link, share = busiest(exact, path, start_ps, end_ps)
    beside = sum(begin < end_ps and end > start_ps for begin, end in users[link])
    trees = []
    for row in path if pauses else ():
        if (tree := pauses.tree(row, start_ps, end_ps)) is not None:
            trees.append(regrouped(tree, group_of))
    return {"link": int(group_of[link]), "share": round(share, 3), "messages": int(beside),
            "full": share >= BUSY_SHARE, "held": trees}  # fmt: skip


def regrouped(tree: dict, group_of: np.ndarray) -> dict:
    """Return a tree of pauses with the links of the page."""
    toward = [regrouped(each, group_of) for each in tree["toward"]]
    return {**tree, "link": int(group_of[tree["link"]]), "toward": toward}


def rates_of(run, flows: pd.DataFrame, exact: Grid) -> dict:
    """Return what came of the slowest messages in each step, over the most of any [byte/us]."""
    shown_flows = flows["flow"].astype("int64").to_numpy()[:MOST_EXPLAINED]
    samples = run.flow_samples.astype("int64")
    samples = samples[samples["flow"].isin(shown_flows)]
    place = {flow: row for row, flow in enumerate(shown_flows.tolist())}
    values = np.zeros((len(shown_flows), exact.n_steps))
    column = (samples["time_ps"].to_numpy() - 1) // exact.step_ps
    rows = samples["flow"].map(place).to_numpy(dtype=np.int64)
    np.add.at(values, (rows, np.minimum(column, exact.n_steps - 1)), samples["arrived_bytes"])
    most = max(values.max(initial=0), 1.0)
    gbps = most * 8e3 / exact.step_ps
    return {"gbps": float(gbps), "step_us": exact.step_ps / 1e6, "n_steps": exact.n_steps,
            "values": pack(values, most)}  # fmt: skip


def packets_of(run, flows: pd.DataFrame) -> dict[str, list]:
    """Return when packets of the slowest messages came, thinned out: time [us], number."""
    if "arrivals" not in run.tables:
        return {}
    wanted = flows["flow"].astype("int64").to_numpy()[:MOST_TRACED]
    arrivals = run.arrivals
    found = {}
    for flow, own in arrivals[arrivals["flow"].isin(wanted)].groupby("flow"):
        own = own.iloc[:: max(1, -(-len(own) // MOST_PACKETS))]
        times, numbers = own["time_ps"].to_numpy(), own["packet"].to_numpy()
        found[str(flow)] = [
            [round(time / 1e6, 4), int(number)]
            for time, number in zip(times.tolist(), numbers.tolist(), strict=True)
        ]
    return found
