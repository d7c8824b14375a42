# SPDX-License-Identifier: GPL-2.0-only
"""Runs collectives of htsim on the very routes that htsim took, and holds message times together.

As a program it prints the table of docs/validation.md: python tests/peers/collectives.py [draws]

What htsim has recorded is the spine of the data of each message. The routes of the ACKs are not
known: they are drawn by our hash, one draw per seed, and PFC makes much of them. So distributions
are compared, message by message where a message is not held up, and never single maxima.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
import htsim

HOSTS, HOSTS_PER_LEAF, LEAVES = 128, 8, 16
DECILES = [0.1 * i for i in range(1, 10)]


def recorded(case: str) -> pd.DataFrame:
    """Return one row per message of htsim's run: when it began and came, and by which spine."""
    table = pd.read_csv(htsim.DATA / "collectives.csv")
    return table[table["case"] == case].reset_index(drop=True)


def routes(messages: pd.DataFrame) -> pd.DataFrame:
    """Return the links of the recorded paths; inside a leaf there is no choice."""
    far = messages[messages["spine"].notna()]
    leaf = {end: HOSTS + far[end] // HOSTS_PER_LEAF for end in ("src", "dst")}
    spine = HOSTS + LEAVES + far["spine"].astype(int)
    hops = [(far["src"], leaf["src"]), (leaf["src"], spine), (spine, leaf["dst"]),
            (leaf["dst"], far["dst"])]  # fmt: skip
    return pd.concat(
        pd.DataFrame({"flow": far["id"], "hop": hop, "node": node, "peer": peer})
        for hop, (node, peer) in enumerate(hops)
    )


def run(case: str, seed: int, pfc: str = "15/12") -> pd.DataFrame:
    """Return the messages of a case with our times; each begins when it began in htsim."""
    messages = recorded(case)
    folder = htsim.workspace()
    flows = messages.rename(columns={"id": "flow"})[["flow", "src", "dst", "bytes", "start_ps"]]
    flows.to_csv(folder / f"{case}.csv", index=False)
    routes(messages).to_csv(folder / f"{case}_routes.csv", index=False)
    topo = "ls128_800" if "_800g_" in case else "ls128_100"
    planned = htsim.plan_of(topo, pfc, seed, [
        ("workload", {"type": "flow_table", "file": f"{case}.csv", "routes": f"{case}_routes.csv"}),
        ("switch.forwarding", {"type": "ns3::ExplicitRoutes"}),
    ])  # fmt: skip
    tables = htsim.simulate(planned)
    ours = tables.table("flows").set_index("flow")
    return messages.assign(
        ours_ps=messages["id"].map(ours["receiver_end_ps"]).astype(float) - messages["start_ps"],
        htsim_ps=(messages["received_ps"] - messages["start_ps"]).astype(float),
    )


def compare(case: str, seeds) -> dict:
    """Return deciles and mean of message times, ours over htsim's [1], and how single ones do."""
    draws = pd.concat([run(case, seed) for seed in seeds])
    ratio = draws["ours_ps"] / draws["htsim_ps"]
    deciles = draws[["ours_ps", "htsim_ps"]].quantile(DECILES)
    return {
        "case": case, "messages": len(recorded(case)),
        "deciles": (deciles["ours_ps"] / deciles["htsim_ps"]).tolist(),
        "mean": draws["ours_ps"].mean() / draws["htsim_ps"].mean(),
        "within_2_percent": (ratio.sub(1).abs() <= 0.02).mean(),
        "correlation": np.corrcoef(draws["ours_ps"], draws["htsim_ps"])[0, 1],
    }  # fmt: skip


def report(n: int) -> None:
    """Print the table of docs/validation.md."""
    print("| case | messages | deciles 1 to 8 | decile 9 | mean | within 2 % | correlation |")
    print("|---|---|---|---|---|---|---|")
    for case in pd.read_csv(htsim.DATA / "collectives.csv")["case"].unique():
        got = compare(case, range(1, n + 1))
        low, high = min(got["deciles"][:-1]), max(got["deciles"][:-1])
        print(
            f"| {case} | {got['messages']} | {low:.3f} to {high:.3f} | {got['deciles'][-1]:.3f}"
            f" | {got['mean']:.3f} | {got['within_2_percent']:.0%} | {got['correlation']:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    report(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
