# SPDX-License-Identifier: GPL-2.0-only
"""CPU per data packet beside htsim, on the same permutation and the same fabric.

``python benchmarks/peers.py --hosts 128 1024 --peer /there/htsim_roce /there/htsim_uec``. Builds
nothing of others: the binaries are the user's, compiled with -O3. Engines take turns; user CPU of
the whole process counts, ours with the start of Python. Work is not identical: htsim's RoCE paces,
NDP pulls, UEC acknowledges one packet in about four and has congestion control.
"""

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import permutation

#: What each program of htsim is told beside topology and matrix, by the name of its binary.
ARGUMENTS = {
    "htsim_roce": "-mtu 4096 -q 100000 -pfc_thresholds 22 24 -strat ecmp_host -paths 1",
    "htsim_ndp": "-q 50 -cwnd 128 -strat perm",
    "htsim_uec": "-mtu 4160 -sender_cc_only -sender_cc_algo nscc -paths 256"
    " -load_balancing_algo oblivious",
}
OURS = ("gobackn", "spray")


def topology(shape: permutation.Shape) -> str:
    """Return the fabric as a topology file of htsim; it wants as much up as down at a leaf."""
    gbps, delay_ns = permutation.RATE_BPS // 10**9, permutation.DELAY_PS // 1000
    tiers = [
        f"Tier {tier}\nDownlink_speed_Gbps {gbps}\nRadix_Down {down}\n{up}"
        f"Downlink_Latency_ns {delay_ns}\nSwitch_Latency_ns 0\n"
        for tier, down, up in (
            (0, shape.hosts_per_leaf, f"Radix_Up {shape.spines}\n"),
            (1, shape.leaves, ""),
        )  # fmt: skip
    ]
    head = f"Nodes {shape.hosts}\nTiers 2\nPodsize {shape.hosts}\n\n"
    return head + "\n".join(tiers)


def matrix(flows: dict[str, np.ndarray]) -> str:
    """Return the flows as a connection matrix of htsim."""
    ends = zip(flows["src"].tolist(), flows["dst"].tolist(), flows["bytes"].tolist(), strict=True)
    lines = [f"{src}->{dst} id {i + 1} start 0 size {size}" for i, (src, dst, size) in
             enumerate(ends)]  # fmt: skip
    return "\n".join([f"Nodes {len(lines)}", f"Connections {len(lines)}", *lines]) + "\n"


def user_cpu_s(command: list) -> float:
    """Return the user CPU that a program takes from its start to its end [s]."""
    before = os.times().children_user
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().rpartition("\n")[2]
        raise SystemExit(f"{command[0]} ended with status {done.returncode}: {last}")
    return os.times().children_user - before


def commands(shape: permutation.Shape, packets: int, peers: list[Path], folder: Path) -> dict:
    """Write what the engines read, and return the command of each by its name."""
    network = permutation.tables(shape, packets)
    permutation.save(folder, network)
    (folder / "fabric.topo").write_text(topology(shape))
    (folder / "flows.cm").write_text(matrix(network["flows"]))
    found = {
        f"pyorch {variant}": [
            sys.executable, Path(__file__).with_name("ours.py"), variant, folder / "tables.npz",
            "--out", folder,
        ]
        for variant in OURS
    }  # fmt: skip
    for peer in peers:
        files = ["-topo", folder / "fabric.topo", "-tm", folder / "flows.cm", "-o", folder / "log"]
        found[peer.name] = [peer, *files, *shlex.split(ARGUMENTS[peer.name])]
    return found


def measure(hosts: int, packets: int | None, peers: list[Path], repeats: int) -> list[str]:
    """Return lines with the CPU per packet of each engine, and its ratio to ours."""
    shape = permutation.SHAPES[hosts]
    shape = replace(shape, spines=shape.hosts_per_leaf)
    packets = packets or shape.packets
    with tempfile.TemporaryDirectory() as name:
        engines = commands(shape, packets, peers, Path(name))
        taken: dict[str, list[float]] = {engine: [] for engine in engines}
        for repeat in range(repeats):
            for engine, command in engines.items():
                print(f"{hosts} hosts, {repeat + 1}/{repeats}: {engine} ...", file=sys.stderr)
                taken[engine].append(user_cpu_s(command) / (hosts * packets) * 1e6)
    lines = [
        f"{hosts} hosts: {engine}: {min(us):.3f} us of CPU per packet (median"
        f" {statistics.median(us):.3f})"
        for engine, us in taken.items()
    ]
    for peer in peers:
        for ours in OURS:
            best, middle = (
                pick(taken[peer.name]) / pick(taken[f"pyorch {ours}"])
                for pick in (min, statistics.median)
            )
            lines.append(
                f"{hosts} hosts: pyorch {ours} takes {best:.1f} times less than {peer.name}"
                f" (median {middle:.1f})"
            )
    return lines


def main() -> None:
    """Measure and print; without peers only our own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="+", choices=permutation.SHAPES, default=[128])
    parser.add_argument("--packets", type=int, help="data packets of each message")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", type=Path, nargs="+", default=[], help=", ".join(ARGUMENTS))
    options = parser.parse_args()
    for peer in options.peer:
        if peer.name not in ARGUMENTS or not peer.is_file():
            raise SystemExit(f"--peer {peer}: no such program; name one of {', '.join(ARGUMENTS)}.")
    for hosts in options.hosts:
        print(*measure(hosts, options.packets, options.peer, options.repeats), sep="\n")


if __name__ == "__main__":
    main()
