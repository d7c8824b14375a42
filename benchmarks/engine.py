# SPDX-License-Identifier: GPL-2.0-only
"""CPU and memory per data packet: our engine beside stock ns-3, on the same permutation.

``python benchmarks/engine.py --hosts 128 1024 --csv``. Engines take turns within one run, each in
its own process, so that whatever else the machine does meets all of them; the best of the repeats
counts. CPU is user time of the run phase, building excluded. Ratios go to standard error.
"""

import argparse
import csv
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import permutation
from rich.console import Console
from rich.table import Table

from pyorch import built
from pyorch.errors import PyorchError
from pyorch.simulate import build

COLUMNS = ("engine", "hosts", "packets", "cpu_s", "us_per_packet", "peak_rss_bytes")
#: Links are longer by up to this: not at all, or by about the time of a frame [ps].
JITTERS = {"": 0, ", links that differ by 40 ns": 40_000}
#: Variant of ours, and jitter of the links, of each row.
OURS = {
    name + links: (variant, jitter_ps)
    for links, jitter_ps in JITTERS.items()
    for name, variant in {
        "pyorch RoCE go-back-N, ECMP": "gobackn",
        "pyorch RoCE selective repeat, spray": "spray",
    }.items()
}
#: Flow control of stock ns-3, and jitter of the links, of each row.
STOCK = {
    name + links: (flow_control, jitter_ps)
    for links, jitter_ps in JITTERS.items()
    for name, flow_control in {"stock ns-3": "1", "stock ns-3, no flow control": "0"}.items()
}
STOCK_PROGRAM = "stock-permutation"


@dataclass(frozen=True)
class Measurement:
    """One process: user CPU of its run phase [s], its peak memory [byte], end of the run [ps]."""

    cpu_s: float
    peak_rss_bytes: int
    simulated_ps: int


def measure_ours(variant: str, jitter_ps: int, folder: Path) -> Measurement:
    """Run the permutation on our engine; its tables are in the folder of its jitter."""
    ours = Path(__file__).with_name("ours.py")
    tables = folder / str(jitter_ps) / "tables.npz"
    _call([sys.executable, ours, variant, tables, "--out", folder])
    facts = json.loads((folder / "provenance.json").read_text())
    manifest = json.loads((folder / "manifest.json").read_text())
    if manifest["flows_done"] != manifest["flows_total"]:
        raise SystemExit(f"{variant}: {manifest['flows_done']} of {manifest['flows_total']} flows")
    return Measurement(facts["run_cpu_s"], facts["peak_memory_bytes"], facts["simulated_ps"])


def measure_stock(
    flow_control: str, jitter_ps: int, shape: permutation.Shape, packets: int, folder: Path
) -> Measurement:
    """Run the same permutation on stock ns-3."""
    options = {
        "leaves": shape.leaves,
        "hostsPerLeaf": shape.hosts_per_leaf,
        "spines": shape.spines,
        "packets": packets,
        "flowControl": flow_control,
        "peers": folder / str(jitter_ps) / "peers.txt",
        "delays": folder / str(jitter_ps) / "delays.txt",
    }
    program = built.here().folder / "bin" / STOCK_PROGRAM
    output = _call([program, *(f"--{name}={value}" for name, value in options.items())])
    facts = json.loads(output)
    return Measurement(facts["run_cpu_s"], facts["peak_memory_bytes"], facts["simulated_ps"])


def measure(
    hosts: int, packets: int | None, repeats: int, engines: list[str]
) -> dict[str, list[Measurement]]:
    """Return `repeats` measurements of each of the engines, taken in turns."""
    shape = permutation.SHAPES[hosts]
    packets = packets or shape.packets
    found: dict[str, list[Measurement]] = {engine: [] for engine in engines}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for jitter_ps in JITTERS.values():
            (folder / str(jitter_ps)).mkdir()
            network = permutation.tables(shape, packets, jitter_ps)
            permutation.save(folder / str(jitter_ps), network)
        for repeat in range(repeats):
            for engine in found:
                print(f"{hosts} hosts, {repeat + 1}/{repeats}: {engine} ...", file=sys.stderr)
                if engine in OURS:
                    one = measure_ours(*OURS[engine], folder)
                else:
                    one = measure_stock(*STOCK[engine], shape, packets, folder)
                found[engine].append(one)
    return found


def rows(hosts: int, packets: int, found: dict[str, list[Measurement]]) -> list[tuple]:
    """Return one row of `COLUMNS` for each engine: the best CPU of its repeats."""
    total = hosts * packets
    return [
        (
            engine,
            hosts,
            total,
            round(min(one.cpu_s for one in those), 4),
            round(min(one.cpu_s for one in those) / total * 1e6, 4),
            max(one.peak_rss_bytes for one in those),
        )
        for engine, those in found.items()
    ]


def ratios(hosts: int, found: dict[str, list[Measurement]]) -> list[str]:
    """Return how many times less CPU ours takes than stock with the same links, best and median."""
    lines = []
    for ours in [engine for engine in OURS if engine in found]:
        for stock in [one for one in STOCK if one in found and STOCK[one][1] == OURS[ours][1]]:
            times = [
                pick(one.cpu_s for one in found[stock]) / pick(one.cpu_s for one in found[ours])
                for pick in (min, statistics.median)
            ]
            lines.append(
                f"{hosts} hosts: {ours}: {times[0]:.1f} times less CPU than {stock}"
                f" (median {times[1]:.1f})"
            )
    return lines


def _call(command: list) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} ended with status {done.returncode}:\n{done.stderr}")
    return done.stdout


def main() -> None:
    """Measure, then print rows on standard output and ratios on standard error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="+", choices=permutation.SHAPES, default=[128])
    parser.add_argument("--packets", type=int, help="data packets of each message")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=("ours", "stock"), help="leave the other out")
    parser.add_argument("--csv", action="store_true", help="print rows as CSV")
    options = parser.parse_args()
    try:
        build.build((STOCK_PROGRAM,))
    except PyorchError as error:
        raise SystemExit(f"{error}") from None

    engines = {"ours": [*OURS], "stock": [*STOCK], None: [*OURS, *STOCK]}[options.only]
    table, notes = [], []
    for hosts in options.hosts:
        found = measure(hosts, options.packets, options.repeats, engines)
        table += rows(hosts, options.packets or permutation.SHAPES[hosts].packets, found)
        notes += ratios(hosts, found)
        notes += [
            f"{hosts} hosts: {engine} ends at {those[0].simulated_ps / 1e6:.6f} us"
            for engine, those in found.items()
        ]
    _print(table, options.csv)
    print("\n".join(notes), file=sys.stderr)


def _print(table: list[tuple], as_csv: bool) -> None:
    if as_csv:
        csv.writer(sys.stdout).writerows([COLUMNS, *table])
        return
    shown = Table(*COLUMNS)
    for row in table:
        shown.add_row(*(str(value) for value in row))
    Console(width=120).print(shown)


if __name__ == "__main__":
    main()
