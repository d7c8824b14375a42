# SPDX-License-Identifier: GPL-2.0-only
"""A run of four flows whose tables are written down by hand, and what a metric makes of it."""

from pathlib import Path

import pandas as pd

from pyorch import metrics, plugins, spec, traces
from pyorch.spec.scenario import parse_scenario

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
#: 2 leaves x 2 hosts x 2 spines: hosts 0-3, leaves 4 and 5, spines 6 and 7.
TEXT = """\
name: hand
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 40 kB}
transport: {type: ns3::RoceTransport, attributes: {MtuBytes: 1000, HeaderBytes: 64, RethBytes: 0}}
stop: 20 ms
"""
#: 40 packets of 1000 + 64 + 20 B at 10 ps/B: 10 840 ps each.
PACKET_PS, N_PACKETS = 10_840, 40
TRANSFER_PS = N_PACKETS * PACKET_PS
#: Four links of 500 ns, and three more packet times of store-and-forward.
UNLOADED_PS = TRANSFER_PS + 3 * PACKET_PS + 4 * 500_000
#: 40 ACKs of 66 + 20 B.
ACKS_PS = N_PACKETS * 860


def run_of(ends_ps, paths=(), ports=None, more=""):
    """Four flows i -> (i + 2) % 4 that end as given; `paths` are rows of the paths table."""
    resolved = spec.plan(parse_scenario(TEXT + more, "hand.yaml"), typeids_file=TYPEIDS)[0].spec
    flows = {name: [0] * 4 for name in traces.CONTRACTS["flows"]} | {
        "flow": [0, 1, 2, 3], "src": [0, 1, 2, 3], "dst": [2, 3, 0, 1], "bytes": [40_000] * 4,
        "receiver_end_ps": ends_ps,
    }  # fmt: skip
    given = ports or {
        "dropped_buffer_frames": [2], "dropped_loss_frames": [3], "pause_frames_sent": [5]
    }  # fmt: skip
    n_ports = len(next(iter(given.values())))
    ports = {name: [0] * n_ports for name in traces.CONTRACTS["ports"]} | given
    rows = pd.DataFrame(list(paths), columns=list(traces.CONTRACTS["paths"]))
    wire = {"transport": [0], "mtu_bytes": [1000], "header_bytes": [64], "first_header_bytes": [0],
            "ack_bytes": [66], "ack_interval_packets": [1]}  # fmt: skip
    tables = {"flows": flows, "ports": ports, "paths": rows, "transports": wire}
    frames = {name: pd.DataFrame(table).astype("Int64") for name, table in tables.items()}
    return metrics.RunTables(resolved, "results/hand/s1", frames)


def measure(name, run):
    return plugins.load("pyorch.metrics", name).measure(run)


def through(flow, spine):
    """The path of flow i -> (i + 2) % 4 by a spine."""
    src, dst = flow, (flow + 2) % 4
    stops = [src, 4 + src // 2, spine, 4 + dst // 2, dst]
    return [(flow, hop, a, b, 0) for hop, (a, b) in enumerate(zip(stops, stops[1:], strict=False))]
