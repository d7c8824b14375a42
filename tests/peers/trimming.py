# SPDX-License-Identifier: GPL-2.0-only
"""Runs the cases of htsim's NDP and EQDS on our engine and holds them against its results.

As a program it prints the table of docs/validation.md: python tests/peers/trimming.py [hosts]

All packets are sprayed over all paths, so no draw of a hash decides: completion times are compared
as they are, of one seed each.
"""

import sys

import htsim
import numpy as np
import pandas as pd

from pyorch import spec
from pyorch.spec.scenario import parse_scenario

TRANSPORTS = {"ndp": "ns3::NdpTransport", "eqds": "ns3::EqdsTransport"}
WINDOW = {"ndp": "InitialPackets", "eqds": "WindowPackets"}
RTO = {"ndp": "50 ms", "eqds": "1 ms"}
#: What a packet of a queue's limit has [byte]: NDP was run with -mtu 4096, EQDS with -mtu 4160.
COUNTED_BYTES = {"ndp": htsim.COUNTED_BYTES, "eqds": htsim.PACKET_BYTES}


def peers() -> pd.DataFrame:
    """Return htsim's results, one row for each case."""
    return pd.read_csv(htsim.DATA / "trimming.csv")


def run(case, sets=()) -> dict:
    """Return completion times [us] and counts of one of htsim's cases on our engine.

    Parameters
    ----------
    case : row of ``peers``
    sets : (key, value) pairs
        Changes of the scenario.
    """
    attributes = "transport.attributes"
    limits = "switch.queue.attributes"
    queue_bytes = int(case.queue_packets) * COUNTED_BYTES[case.transport]
    own = [
        ("topology.file", f"{case.topo}.topo"),
        ("workload.file", htsim.whole_packets(case.matrix, 2_000_000).name),
        ("link.rate", f"{case.topo.rpartition('_')[2]} Gb/s"),
        ("transport.type", TRANSPORTS[case.transport]),
        (f"{attributes}.{WINDOW[case.transport]}", int(case.window_packets)),
        (f"{attributes}.Rto", RTO[case.transport]),
        (f"{limits}.LimitBytes", queue_bytes - htsim.PACKET_BYTES),
        (f"{limits}.HeaderLimitBytes", 2 * queue_bytes),
    ]
    if case.transport == "eqds":
        own.append((f"{attributes}.SpeculativePriority", 3))  # htsim's queue knows of no third one
    text = (htsim.DATA / "trimming.yaml").read_text()
    scenario = parse_scenario(text, str(htsim.workspace() / "trimming.yaml"))
    (planned,) = spec.plan(scenario, sets=[*own, *sets])
    tables = htsim.simulate(planned)
    flows = tables.table("flows")
    fct_us = (flows["sender_end_ps"] - flows["start_ps"]).to_numpy(float) / 1e6
    return {
        "fct_min_us": fct_us.min(), "fct_p50_us": float(np.median(fct_us)),
        "fct_mean_us": fct_us.mean(), "fct_max_us": fct_us.max(),
        "trims": int(tables.table("ports")["trimmed_packets"].sum()),
        "timeouts": int(flows["timeouts"].sum()),
    }  # fmt: skip


def report(hosts: str) -> None:
    """Print a table: ours, htsim's and their ratio."""
    print("| case | p50 [us]: ours (htsim) | ratio | slowest [us] | ratio | trims |")
    print("|---|---|---|---|---|---|")
    for case in peers().itertuples():
        if f"{hosts}_" not in case.topo:
            continue
        ours = run(case)
        cells = [f"{case.transport} {case.topo} {case.matrix.removesuffix('.cm')}"]
        for name in ("fct_p50_us", "fct_max_us"):
            theirs = getattr(case, name)
            cells += [f"{ours[name]:.6g} ({theirs:.6g})", f"{ours[name] / theirs:.3f}"]
        print(f"| {' | '.join(cells)} | {ours['trims']} ({case.trims}) |", flush=True)


if __name__ == "__main__":
    report(sys.argv[1] if len(sys.argv) > 1 else "128")
