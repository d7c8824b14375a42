# SPDX-License-Identifier: GPL-2.0-only
"""What each feature costs where it is on: CPU per data packet beside the same run without it.

``python benchmarks/features.py [--hosts 128] [--repeats 5] [--only NAME ...]``. The permutation of
engine.py, RoCE go-back-N over ECMP. A feature and what it is compared with take turns, each run in
a process of its own; the row is the best of one over the best of the other, and the median of the
ratios of neighbours.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import permutation
from ours import WINDOW_BYTES
from rich.console import Console
from rich.table import Table

from pyorch.simulate import Fabric
from pyorch.simulate.run import simulate

PLAIN = "nothing on"
PFC = "PFC, static threshold"
RED = "RED/ECN"
MARKS = {"KminBytes": 400_000, "KmaxBytes": 1_600_000}
#: For what moves packets of a message past each other.
REORDERED = {"Recovery": "SelectiveRepeat", "ReorderPackets": 256}
CONTROL = ("ns3::Pfc", {"XoffBytes": 200_000})


@dataclass(frozen=True)
class Feature:
    """What one row of the table switches on, beside what it is compared with.

    `options` are those of `Fabric.switch` and `Fabric.trace`, `roles` other methods of `Fabric`
    with their arguments, `links` and `tables` columns to add; in `roles` a policy, discipline or
    flow control replaces the plain one. With `may_fail` the first link is cut long after the end
    of the run.
    """

    options: dict[str, dict] = field(default_factory=dict)
    roles: dict[str, tuple] = field(default_factory=dict)
    links: dict[str, float] = field(default_factory=dict)
    tables: dict[str, dict[str, list]] = field(default_factory=dict)
    transport: dict[str, object] = field(default_factory=dict)
    may_fail: bool = False
    beside: str = PLAIN


FEATURES = {
    PLAIN: Feature(),
    PFC: Feature(roles={"flow_control": CONTROL}),
    "PFC, dynamic threshold": Feature(roles={"flow_control": ("ns3::Pfc", {"Alpha": 0.125})}),
    "egress limit, dynamic": Feature(roles={"queue": ("ns3::DropTail", {"Alpha": 1})}),
    RED: Feature(roles={"queue": ("ns3::RedEcn", MARKS)}),
    "RED/ECN as one discipline per priority": Feature(
        roles={
            "queue": (
                "ns3::PerPriority",
                {"Priority3": "ns3::RedEcn[KminBytes=400000|KmaxBytes=1600000]"},
            )
        },
        beside=RED,
    ),
    "weighted hash": Feature(roles={"forwarding": ("ns3::WeightedHash",)}),
    "flowlets": Feature(roles={"forwarding": ("ns3::Flowlet",)}),
    "random spray, selective repeat": Feature(
        roles={"forwarding": ("ns3::RandomSpray",)}, transport=REORDERED
    ),
    "least loaded port, selective repeat": Feature(
        roles={"forwarding": ("ns3::LeastLoaded",)}, transport=REORDERED
    ),
    "cut-through": Feature(options={"switch": {"cut_through_bytes": 64}}),
    "switch latency": Feature(options={"switch": {"processing_delay_ps": 300_000}}),
    "a link that may be cut": Feature(may_fail=True),
    "a flow that waits for another": Feature(tables={"dependencies": {"flow": [1], "after": [0]}}),
    "frame loss, 10^-9": Feature(links={"loss_ratio": 1e-9}),
    "bit errors, 10^-15": Feature(links={"bit_error_ratio": 1e-15}),
    "samples every 10 us": Feature(options={"trace": {"sample_ps": 10_000_000}}),
    "samples every 1 us": Feature(options={"trace": {"sample_ps": 1_000_000}}),
    "arrival of every packet": Feature(options={"trace": {"arrivals": True}}),
    "pcap of one host": Feature(roles={"capture": (0,)}),
    "log of PFC pauses": Feature(
        options={"trace": {"pauses": True}}, roles={"flow_control": CONTROL}, beside=PFC
    ),
}


def fabric(feature: Feature, tables: Path) -> Fabric:
    """Return the network of the benchmark with one feature on."""
    network = Fabric(seed=1)
    network.wire(framing_bytes=0)
    network.switch(buffer_bytes=64_000_000)
    for section, options in feature.options.items():
        getattr(network, section)(**options)
    with np.load(tables) as archive:
        columns = {key: archive[key] for key in archive.files}
    for table in ("nodes", "links", "flows"):
        given = {key.partition(".")[2]: values for key, values in columns.items()
                 if key.startswith(f"{table}.")}  # fmt: skip
        if table == "links":
            n_links = len(given["node_a"])
            given |= {name: np.full(n_links, ratio) for name, ratio in feature.links.items()}
        network.table(table, given)
    for table, given in feature.tables.items():
        network.table(table, given)
    if feature.may_fail:
        first = {name: columns[f"links.{name}"][:1] for name in ("node_a", "node_b")}
        network.table("link_events", first | {"time_ps": [10**15], "rate_bps": [0]})
    for role, arguments in ({"forwarding": ("ns3::EcmpHash",)} | feature.roles).items():
        getattr(network, role)(*arguments)
    network.transport(
        "ns3::RoceTransport",
        {"MtuBytes": 4096, "HeaderBytes": 64, "RethBytes": 0, "AckBytes": 64,
         "Recovery": "GoBackN", "WindowBytes": WINDOW_BYTES} | feature.transport,
    )  # fmt: skip
    return network


def cpu_s(name: str, tables: Path) -> float:
    """Return the user CPU of the run phase with a feature on, in a process of its own [s]."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, __file__, "--run", name, str(tables), out]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{name}: ended with status {done.returncode}:\n{done.stderr}")
        return json.loads((Path(out) / "provenance.json").read_text())["run_cpu_s"]


def costs(name: str, tables: Path, repeats: int) -> tuple[float, float]:
    """Return CPU with a feature over CPU without it: best over best, and median of neighbours."""
    with_it, without = [], []
    turns = [(with_it, name), (without, FEATURES[name].beside)]
    for repeat in range(repeats):
        print(f"{name}, {repeat + 1}/{repeats} ...", file=sys.stderr)
        turns.reverse()
        for spent, feature in turns:
            spent.append(cpu_s(feature, tables))
    neighbours = [a / b for a, b in zip(with_it, without, strict=True)]
    return min(with_it) / min(without), statistics.median(neighbours)


def main() -> None:
    """Measure and print one row per feature; or, as a child of that, run one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, choices=permutation.SHAPES, default=128)
    parser.add_argument("--packets", type=int, help="data packets of each message")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=FEATURES, default=list(FEATURES))
    parser.add_argument("--run", nargs=3, metavar=("FEATURE", "TABLES", "OUT"))
    options = parser.parse_args()
    if options.run:
        name, tables, out = options.run
        simulate(fabric(FEATURES[name], Path(tables)), Path(out), name)
        return
    shape = permutation.SHAPES[options.hosts]
    table = Table("feature", "beside", "CPU with it, times", "median")
    with tempfile.TemporaryDirectory() as folder:
        permutation.save(Path(folder), permutation.tables(shape, options.packets or shape.packets))
        for name in options.only:
            found = costs(name, Path(folder) / "tables.npz", options.repeats)
            table.add_row(name, FEATURES[name].beside, *(f"{number:.2f}" for number in found))
    Console().print(table)


if __name__ == "__main__":
    main()
