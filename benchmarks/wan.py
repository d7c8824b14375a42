# SPDX-License-Identifier: GPL-2.0-only
"""What a wide area costs: CPU per data packet and memory, long pipes beside short ones.

``python benchmarks/wan.py [--repeats 3] [--only WORD ...] [--packets MILLIONS]``. Cases take turns,
each run in a process of its own; user CPU of the run phase counts, the best of the repeats is the
row, beside that of the case named as its measure.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pyorch import spec
from pyorch.errors import PyorchError
from pyorch.runs.make import make
from pyorch.spec.scenario import parse_scenario

PACKET_BYTES = 4096
PIPE = """\
name: pipe
topology: {{type: dumbbell, left: {hosts}, right: {hosts}, bottleneck_delay: {delay}}}
link: {{rate: 400 Gb/s, delay: 500 ns}}
switch: {{buffer: 1 GB, forwarding: {{type: ns3::EcmpHash}}}}
workload: {{type: stride, stride: {hosts}, message: {message} B}}
transport: {{type: {transport}}}
stop: 1000 s
"""
WAN = "ns3::WanTransport, attributes: {{NicShare: {share}, Rto: 200 ms}}"
TCP = "ns3::TcpTransport, attributes: {Connections: 1}"


@dataclass(frozen=True)
class Case:
    """Hosts on each side send as many flows to the other, both ways."""

    hosts: int
    delay: str
    transport: str
    measure: str
    bytes_each: int = 0  #: of each flow; 0: packets shared out
    both_ways: int = 2


def _wan(hosts: int, delay: str, measure: str) -> Case:
    return Case(hosts, delay, WAN.format(share=0.95 / hosts), measure)


CASES = {
    "one flow each way, 1 us": _wan(1, "1 us", "one flow each way, 1 us"),
    "one flow each way, 30 ms (1.4 GB in flight)": _wan(1, "30 ms", "one flow each way, 1 us"),
    "1024 flows, 1 us": _wan(512, "1 us", "1024 flows, 1 us"),
    "1024 flows, 30 ms": _wan(512, "30 ms", "1024 flows, 1 us"),
    "64 flows of 57.13 MB, TCP of ns-3, 30 ms": Case(
        32, "30 ms", TCP, "64 flows of 57.13 MB, TCP of ns-3, 30 ms", 57_130_000
    ),
}


def run(case: Case, packets: int) -> tuple[float, int, float]:
    """Return user CPU [s], data packets delivered, and peak memory [byte]."""
    each = case.bytes_each or packets // (case.both_ways * case.hosts) * PACKET_BYTES
    text = PIPE.format(
        hosts=case.hosts, delay=case.delay, message=each, transport=case.transport
    )  # fmt: skip
    planned = spec.plan(parse_scenario(text, "pipe.yaml"))[0]
    with tempfile.TemporaryDirectory() as folder:
        end = make(planned.spec, folder, Path(folder) / "log")
        if end.status != 0:
            raise SystemExit((Path(folder) / "log").read_text())
        facts = json.loads((Path(folder) / "provenance.json").read_text())
    return facts["run_cpu_s"], facts["data_packets"], facts["peak_memory_bytes"]


def main() -> None:
    """Measure and print one row per case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=[], help="words of the names of cases")
    parser.add_argument("--packets", type=float, default=2, help="of `wan`, in millions (2)")
    options = parser.parse_args()
    chosen = {
        name: case for name, case in CASES.items()
        if not options.only or any(word in name for word in options.only)
    }  # fmt: skip
    best: dict[str, tuple[float, int, float]] = {}
    for repeat in range(options.repeats):
        for name, case in chosen.items():
            print(f"{repeat + 1}/{options.repeats}: {name} ...", file=sys.stderr)
            cpu_s, packets, memory = run(case, round(options.packets * 1e6))
            before = best.get(name, (float("inf"), 0, 0.0))
            best[name] = min(before, (cpu_s, packets, memory))
    table = Table("case", "data packets", "CPU [s]", "us per packet", "times short", "memory")
    for name, (cpu_s, packets, memory) in best.items():
        us = 1e6 * cpu_s / packets
        other = best.get(chosen[name].measure, (cpu_s, packets, memory))
        ratio = us / (1e6 * other[0] / other[1])
        table.add_row(
            name, f"{packets:,}", f"{cpu_s:.1f}", f"{us:.2f}", f"{ratio:.2f}",
            f"{memory / 1e6:.0f} MB",
        )  # fmt: skip
    Console(width=110).print(table)


if __name__ == "__main__":
    try:
        main()
    except PyorchError as error:
        raise SystemExit(f"error: {error}") from None
