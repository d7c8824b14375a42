# SPDX-License-Identifier: GPL-2.0-only
"""Runs the cases whose results the repository of uet-htsim publishes, with 8192 hosts.

As a program it runs the cases that an expression chooses, and writes a CSV:

    python tests/peers/htsim_published.py ours.csv --where "packets <= 2_200_000"

Rows and matrices are those of uet-htsim 40ccb05, under the BSD 2-clause licence.
`published.csv.gz` has a row for each result in htsim/sim/datacenter/results (861 permutations and
1440 incasts). The first results came with commit f1f54d0 (July 2024), the second ones with 1af36c4
(August 2024). `published_ours.csv.gz` has the cases that were run here. `matrices_8192.npz` has who
sends to whom: of a permutation source and destination, of an incast to host 0 source and start
[us].

Constants are htsim's: frames of 4150 B, 64 B of them headers, control frames of 64 B, no framing;
128 leaves of 64 hosts; links of 1 us; queues, marks and windows in frames, as the row says;
entropies that its selector MIXED chooses; no marks on the way to hosts where receivers give credit;
where links are slow, those of one spine have a quarter of the rate, of the queue and of the marks.
Times are from the start of the run to the last acknowledgement of a message.

What is expected was written down before the first run: of all ratios of the slowest message, ours
over htsim's, the median within 2 % of one, and 95 of 100 within 6 %.
"""

import argparse
import sys
import time
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
from oracle_network import GBPS, US_PS, Flows, Network, leaf_spine, run

DATA = Path(__file__).parents[1] / "data" / "htsim"
LEAVES, PER_LEAF, FIRST_SPINE = 128, 64, 20_000
FRAME_BYTES, CONTROL_BYTES = 4150, 64
PAYLOAD_BYTES = FRAME_BYTES - CONTROL_BYTES
#: What tells a case; the same one may have been run with several versions of htsim's code.
CASE = [
    "traffic", "senders", "spread_us", "message_mb", "gbps", "oversubscription", "slow_links",
    "control", "paths", "queue", "ecn_low", "ecn_high", "window",
]  # fmt: skip
CONTROLS = {
    "nscc": {"CongestionControl": "ns3::Nscc"},
    "rccc": {"ReceiverCredit": True},
}


def published() -> pd.DataFrame:
    """Return htsim's results; an incast has `senders` and `spread_us`, a permutation has 0."""
    rows = pd.read_csv(DATA / "published.csv.gz")
    return rows.fillna({"senders": 0, "spread_us": 0}).astype({"senders": int, "spread_us": int})


def packets(case: pd.Series) -> int:
    """Return the data packets of a case."""
    messages = 8192 if case["traffic"] == "permutation" else case["senders"]
    return int(messages * -(-message_bytes(case) // PAYLOAD_BYTES))


def message_bytes(case: pd.Series) -> int:
    """Return the payload of each message: millions of bytes of a permutation, MiB of an incast."""
    return int(case["message_mb"]) * (10**6 if case["traffic"] == "permutation" else 1 << 20)


@lru_cache(maxsize=1)
def network(gbps: int, oversubscription: int, slow_links: int) -> Network:
    """Return the leaves and spines of a case."""
    found = leaf_spine(LEAVES, PER_LEAF, PER_LEAF // oversubscription, gbps * GBPS, US_PS)
    for i, (a, b, parallel, rate_bps, *others) in enumerate(found.links):
        if FIRST_SPINE <= b < FIRST_SPINE + slow_links:
            found.links[i] = (a, b, parallel, rate_bps // 4, *others)
    return found


def flows_of(case: pd.Series) -> Flows:
    """Return the messages of a case."""
    flows, size = Flows(), message_bytes(case)
    matrices = np.load(DATA / "matrices_8192.npz")
    if case["traffic"] == "permutation":
        for src, dst in matrices[f"permutation_{case['message_mb']}"].tolist():
            flows.add(src, dst, size)
    else:
        name = f"incast_{case['senders']}_{case['spread_us']}_{case['message_mb']}"
        for src, start_us in matrices[name].tolist():
            flows.add(src, 0, size, start_us * US_PS)
    return flows


def trimming(attributes: dict) -> str:
    """Return the discipline with its attributes, as a type in text."""
    listed = "|".join(f"{name}={value}" for name, value in attributes.items())
    return f"ns3::TrimmingQueue[{listed}]"


def run_case(case: pd.Series, seed: int = 1) -> dict:
    """Return fastest and slowest time [us], packets sent again and CPU of a case on our engine."""
    began_s = time.process_time()
    room = {
        "LimitBytes": case["queue"] * FRAME_BYTES,
        "ReturnToSender": "false",
        "ReferenceRateBps": case["gbps"] * GBPS,  # slower links have less
    }
    marked = room | {
        "KminBytes": case["ecn_low"] * FRAME_BYTES,
        "KmaxBytes": case["ecn_high"] * FRAME_BYTES,
        "Pmax": 1.0,
    }
    queue = {"ToHosts": marked if case["control"] == "nscc" else room, "ToSwitches": marked}
    attributes = {
        "MtuBytes": PAYLOAD_BYTES,
        "HeaderBytes": FRAME_BYTES - PAYLOAD_BYTES,
        "AckBytes": CONTROL_BYTES,
        "PullBytes": CONTROL_BYTES,
        "Trimmable": True,
        "PathSelector": f"ns3::MixedEntropy[Paths={case['paths']}]",
        **CONTROLS[case["control"]],
    }
    got = run(
        network(int(case["gbps"]), int(case["oversubscription"]), int(case["slow_links"])),
        flows_of(case),
        [("ns3::UecTransport", attributes)],
        queue=("ns3::PerDirection", {where: trimming(its) for where, its in queue.items()}),
        seed=seed,
        framing_bytes=0,
        buffer_bytes=10**12,
    )["flows"]
    assert (got["sender_end_ps"] > 0).all()
    ends_us = got["sender_end_ps"] / 1e6
    return {
        "our_fastest_us": round(float(ends_us.min()), 3),
        "our_slowest_us": round(float(ends_us.max()), 3),
        "our_resent": int(got["retransmitted_packets"].sum()),
        "our_cpu_s": round(time.process_time() - began_s, 2),
    }


def compared() -> pd.DataFrame:
    """Return htsim's rows that were run here, with our times and `ratio` of the slowest message."""
    ours = pd.read_csv(DATA / "published_ours.csv.gz")
    rows = published().merge(ours, on=CASE)
    return rows.assign(ratio=rows["our_slowest_us"] / rows["slowest_us"])


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the distribution of ratios by traffic, control, network, first and second results."""
    fabric = np.where(rows["oversubscription"] == 1, "full", "oversubscribed")
    keys = [rows["traffic"], rows["control"], fabric, rows["results"]]
    ratio = rows.groupby(keys, sort=False)["ratio"]
    return pd.DataFrame(
        {
            "rows": ratio.size(),
            "median": ratio.median(),
            "within_2": ratio.apply(lambda x: (abs(x - 1) <= 0.02).mean()),
            "within_6": ratio.apply(lambda x: (abs(x - 1) <= 0.06).mean()),
            "least": ratio.min(),
            "most": ratio.max(),
        }
    ).sort_index()


def table(rows: pd.DataFrame) -> str:
    """Return the summary as a table of docs/validation.md."""
    names = ["traffic, control", "network", "results", "rows", "median", "within 2 %", "within 6 %",
             "least, most"]  # fmt: skip
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    for (traffic, control, fabric, results), row in summary(rows).iterrows():
        lines.append(
            f"| {traffic}s, {control.upper()} | {fabric} | {results} | {row['rows']:.0f}"
            f" | {row['median']:.3f}"
            f" | {100 * row['within_2']:.0f} % | {100 * row['within_6']:.0f} %"
            f" | {row['least']:.2f}, {row['most']:.2f} |"
        )
    return "\n".join(lines)


def chosen(where: str) -> pd.DataFrame:
    """Return the cases for which an expression of their columns and `packets` holds."""
    cases = published()[CASE].drop_duplicates()
    cases["packets"] = cases.apply(packets, axis=1)
    return cases.query(where).sort_values(["gbps", "oversubscription", "slow_links"])


def main() -> None:
    """Write the CSV, row by row; go on where it ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("csv", type=Path, nargs="?", help="without it, print the table of the page")
    parser.add_argument("--where", default="packets <= 2_200_000", help="which cases")
    parser.add_argument("--part", default="0/1", help="every n-th case, from the k-th on: K/N")
    given = parser.parse_args()
    if not given.csv:
        print(table(compared()))
        return
    cases = chosen(given.where)
    k, n = map(int, given.part.split("/"))
    cases = cases.iloc[k::n]
    done = len(pd.read_csv(given.csv)) if given.csv.exists() else 0
    for i, (_, case) in enumerate(cases.iloc[done:].iterrows(), done + 1):
        row = case.to_dict() | run_case(case)
        pd.DataFrame([row]).to_csv(given.csv, mode="a", header=i == 1, index=False)
        print(f"{i} of {len(cases)}", flush=True)


if __name__ == "__main__":
    main()
