# SPDX-License-Identifier: GPL-2.0-only
"""Runs the cases of htsim's Ultra Ethernet transport on our engine.

As a program it prints the table of docs/validation.md: python tests/peers/htsim_uec.py

Constants are htsim's: 4096 B of payload and 64 B of headers, no framing, 64 B for each control
frame, links of 1 us, trimming at one bandwidth-delay product of queue with marks from 20 to 80 % of
it as a frame leaves, completion at the sender.
"""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
from oracle_network import GBPS, US_PS, Flows, leaf_spine, run

DATA = Path(__file__).parents[1] / "data" / "htsim"
LEAVES, PER_LEAF, LINKS = 16, 8, 4
FRAME_BYTES, CONTROL_BYTES = 4096 + 64, 64
MODES = {
    "nscc": {"CongestionControl": "ns3::Nscc"},
    "rccc": {"ReceiverCredit": True},
    "both": {"CongestionControl": "ns3::Nscc[IgnoresLastHopTrims=true]", "ReceiverCredit": True},
}
ENTROPIES = {
    "spray": "ns3::PermutedEntropy[Paths=256]",
    "reps": "ns3::RepsEntropy[Paths=8192]",
    "bitmap": "ns3::BitmapEntropy[Paths=256]",
    "mixed": "ns3::MixedEntropy[Paths=256]",
}


def peers() -> pd.DataFrame:
    """Return htsim's results: times [us], trims and copies [packets]."""
    return pd.read_csv(DATA / "uec.csv")


def run_case(transport: str, lb: str, gbps: int, matrix: str, seed: int = 1) -> dict:
    """Return completion times [us], trims and copies [packets] of one of them on our engine."""
    byte_ps = 8000 // gbps
    product = LINKS * (2 * US_PS + (FRAME_BYTES + CONTROL_BYTES) * byte_ps) // byte_ps
    sizes = {"LimitBytes": product, "KminBytes": product // 5, "KmaxBytes": 4 * product // 5}
    flows = Flows()
    for src, dst, size in re.findall(r"(\d+)->(\d+) .*size (\d+)", (DATA / matrix).read_text()):
        flows.add(int(src), int(dst), int(size))
    attributes = {
        "HeaderBytes": 64,
        "AckBytes": CONTROL_BYTES,
        "PullBytes": CONTROL_BYTES,
        "Trimmable": True,
        "PathSelector": ENTROPIES[lb],
        **MODES[transport],
    }
    got = run(
        leaf_spine(LEAVES, PER_LEAF, PER_LEAF, gbps * GBPS, US_PS),
        flows,
        [("ns3::UecTransport", attributes)],
        queue=("ns3::TrimmingQueue", {**sizes, "Pmax": 1.0, "ReturnToSender": False}),
        seed=seed,
        framing_bytes=0,
        buffer_bytes=10**12,
    )["flows"]
    fct_us = (got["sender_end_ps"] - got["start_ps"]) / 1e6
    assert (got["sender_end_ps"] > 0).all()
    return {
        "fct_min_us": fct_us.min(),
        "fct_p50_us": float(np.median(fct_us)),
        "fct_mean_us": fct_us.mean(),
        "fct_max_us": fct_us.max(),
        "drops_or_trims": int(got["trimmed_packets"].sum()),
        "rtx": int(got["retransmitted_packets"].sum()),
    }


def few_entropies(seed: int, megabytes: int = 16) -> tuple[float, float, int, int, int]:
    """Return slowest and median time [us], trims, acknowledgements and copies; eight entropies.

    NSCC. That much goes from each of 24 hosts to the host at its place below the next of three
    leaves. Frames of 4150 B, queues of 200 of them, marks from 50 to 150.
    """
    hosts, frame = 24, 4150
    flows = Flows()
    for host in range(hosts):
        flows.add(host, (host + PER_LEAF) % hosts, megabytes * 10**6)
    queue = {
        "LimitBytes": 200 * frame, "KminBytes": 50 * frame, "KmaxBytes": 150 * frame, "Pmax": 1.0,
        "ReturnToSender": False,
    }  # fmt: skip
    attributes = {
        "MtuBytes": frame - CONTROL_BYTES, "HeaderBytes": CONTROL_BYTES, "AckBytes": CONTROL_BYTES,
        "Trimmable": True, "PathSelector": "ns3::PermutedEntropy[Paths=8]", **MODES["nscc"],
    }  # fmt: skip
    got = run(
        leaf_spine(3, PER_LEAF, PER_LEAF, 800 * GBPS, US_PS),
        flows,
        [("ns3::UecTransport", attributes)],
        queue=("ns3::TrimmingQueue", queue),
        seed=seed,
        framing_bytes=0,
        buffer_bytes=10**12,
    )
    ends_us, ports = got["flows"]["sender_end_ps"] / 1e6, got["ports"]
    trims = int(got["flows"]["naks"].sum())
    own = ports["node"] < hosts
    control = int((ports["sent_frames"] - ports["sent_data_packets"])[own].sum())
    copies = int(got["flows"]["retransmitted_packets"].sum())
    return ends_us.max(), float(np.median(ends_us)), trims, control - trims, copies


def compare(transport: str, lb: str, gbps: int, matrices: str) -> pd.DataFrame:
    """Return one row per matrix whose name matches: ours, htsim's (`_peer`) side by side."""
    table = peers()
    chosen = table[
        (table["transport"] == transport)
        & (table["lb"] == lb)
        & (table["link_gbps"] == gbps)
        & table["matrix"].str.match(matrices)
    ]
    ours = pd.DataFrame([run_case(transport, lb, gbps, matrix) for matrix in chosen["matrix"]])
    peer = chosen.reset_index(drop=True).rename(columns={name: f"{name}_peer" for name in ours})
    return pd.concat([peer, ours], axis=1)


def report() -> None:
    """Print a table: ours (htsim's), ratio, means over the matrices of a case."""
    print("| case | slowest [us] | ratio | median [us] | ratio | trims |")
    print("|---|---|---|---|---|---|")
    table = peers()
    table["kind"] = table["matrix"].str.replace(r"_\d_1\.0_0\.cm", "", regex=True)
    for (kind, gbps, transport, lb), _ in table.groupby(["kind", "link_gbps", "transport", "lb"]):
        rows = compare(transport, lb, gbps, re.escape(kind)).mean(numeric_only=True)
        cells = [f"{kind.removesuffix('.cm')}, {gbps} Gb/s, {transport}, {lb}"]
        for name in ("fct_max_us", "fct_p50_us"):
            own, theirs = rows[name], rows[f"{name}_peer"]
            cells += [f"{own:.6g} ({theirs:.6g})", f"{own / theirs:.3f}"]
        cells.append(f"{rows['drops_or_trims']:.0f} ({rows['drops_or_trims_peer']:.0f})")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    report()
