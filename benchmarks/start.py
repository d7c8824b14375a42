# SPDX-License-Identifier: GPL-2.0-only
"""What a run costs before and beside its packets: start, build, memory, and planning many runs.

``python benchmarks/start.py``. Times are the best of three, wall clock.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import permutation
from rich.console import Console
from rich.table import Table

from pyorch import built
from pyorch.simulate import build

REPEATS = 3
LARGE_HOSTS = 8192
SMALL_HOSTS = 128
DRY_RUNS = 1000


def run_ours(hosts: int, packets: int, variant: str = "spray") -> dict:
    """Return the provenance of one permutation on our engine."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        network = permutation.tables(permutation.SHAPES[hosts], packets)
        permutation.save(folder, network)
        ours = Path(__file__).with_name("ours.py")
        command = [sys.executable, ours, variant, folder / "tables.npz", "--out", folder]
        subprocess.run(command, check=True)
        return json.loads((folder / "provenance.json").read_text())


def base_memory_bytes() -> int:
    """Return the peak memory of a process that has loaded Python, cppyy and the engine only."""
    code = (
        "import resource; from pyorch.simulate import loader;"
        "loader.facade_of(['ns3::RoceTransport']).Facade();"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)


def dry_run_s(runs: int) -> float:
    """Return the wall time of a Snakemake dry run of one scenario with this many seeds [s]."""
    seeds = ", ".join(str(seed) for seed in range(1, runs + 1))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for entry in ("Snakefile", "profiles", "pyorch", "build", "ns3-modules", "environment.yml"):
            (folder / entry).symlink_to(built.REPOSITORY / entry)
        (folder / "scenarios").mkdir()
        (folder / "scenarios/many.yaml").write_text(MANY_RUNS.format(seeds=seeds))
        target = "results/many/laptop/fct.csv"
        command = ["snakemake", target, "--dry-run", "--quiet", "--cores", "1"]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        start_s = time.monotonic()
        subprocess.run(
            command, cwd=folder, check=True, capture_output=True, env=os.environ | {"PATH": path}
        )
        return time.monotonic() - start_s


def rows() -> list[tuple[str, str, str]]:
    """Return what was measured: quantity, value, target."""
    small = [run_ours(SMALL_HOSTS, 1) for _ in range(REPEATS)]
    large = [run_ours(LARGE_HOSTS, 100) for _ in range(REPEATS)]
    both = [run_ours(LARGE_HOSTS, 100, "gobackn")], large
    start_s = min(facts["start_to_first_event_s"] for facts in small)
    build_s = min(facts["build_s"] for facts in large)
    peak_bytes = [max(facts["peak_memory_bytes"] for facts in runs) for runs in both]
    engine_bytes = [max(facts["engine_memory_bytes"] for facts in runs) for runs in both]
    base_bytes = base_memory_bytes()
    beyond_bytes = [peak - base_bytes for peak in peak_bytes]
    large_start_s = min(facts["start_to_first_event_s"] for facts in large)

    def per_host(sizes_bytes: list[int]) -> str:
        each = "; ".join(f"{size / LARGE_HOSTS / 1000:.2f}" for size in sizes_bytes)
        return f"{each} kB per host"

    return [
        (f"start to first event, {SMALL_HOSTS} hosts", f"{start_s:.2f} s", "1.5 s"),
        (f"start to first event, {LARGE_HOSTS} hosts", f"{large_start_s:.2f} s", ""),
        (f"fabric of {LARGE_HOSTS} hosts built", f"{build_s:.3f} s", "1 s"),
        ("memory, go-back-N; spray: engine's arrays", per_host(engine_bytes), "10 kB"),
        ("  process beyond its start", per_host(beyond_bytes), "10 kB"),
        ("  whole process", per_host(peak_bytes), ""),
        ("  of that Python, cppyy and libraries", f"{base_bytes / 1e6:.0f} MB", ""),
        (f"dry run of {DRY_RUNS} runs", dry_run_text(), "10 s"),
    ]


def dry_run_text() -> str:
    """Return how long the dry run takes, or why it could not be timed."""
    try:
        return f"{min(dry_run_s(DRY_RUNS) for _ in range(REPEATS)):.1f} s"
    except subprocess.CalledProcessError as error:
        said = (error.stdout + error.stderr).decode().strip().splitlines()
        return f"failed: {next((line for line in said if 'rror' in line), 'no message')}"


MANY_RUNS = """\
# Question: how long does a dry run of many runs take?
name: many
template: fabric

topology: {{type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}}
link: {{rate: 800 Gb/s, delay: 500 ns}}
switch:
  buffer: 64 MB
  queue: {{type: ns3::DropTail}}
  forwarding: {{type: ns3::EcmpHash}}
workload: {{type: permutation, message: 1 MB}}
transport: {{type: ns3::RoceTransport}}
stop: 20 ms
sweep:
  seed: [{seeds}]
"""


def main() -> None:
    """Measure and print a table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    build.build()
    table = Table("quantity", "measured", "at most")
    for row in rows():
        table.add_row(*row)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
