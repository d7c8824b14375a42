# SPDX-License-Identifier: GPL-2.0-only
"""CPU per data packet beside htsim, on the same permutation and the same fabric.

``python benchmarks/peers.py --hosts 128 1024 --peer /there/htsim_roce /there/htsim_uec``. Builds
nothing of others: the binaries are the user's, compiled with -O3. Ours are variants of Figure 5
with the hosts and rates that htsim is told. Engines take turns. User CPU counts: theirs of the
whole process, ours of the run phase and of the whole process with the start of Python.

The slowest message of both sides is printed, and the comparison is refused where one takes more
than twice as long as the other: then they have not done the same work. What still differs: htsim's
RoCE paces and draws other paths, its UEC acknowledges one packet in about four.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import permutation

from pyorch import render
from pyorch.simulate import modules
from pyorch.spec import plan, read_scenario

SCENARIO = Path(__file__).parents[1] / "scenarios" / "figure_5.yaml"
#: Most of the time of one side's slowest message over that of the other's.
LIKE = 2.0
#: htsim's programs run until a time, which is the least time of the messages, that often.
ENDS_AFTER = 20


@dataclass(frozen=True)
class Peer:
    """A program of htsim: the variant of Figure 5 that does its work, and its own arguments."""

    variant: str
    arguments: str


#: By the name of the binary. Sizes of queues and windows are those of the variant.
PEERS = {
    "htsim_roce": Peer(
        "rocev2", "-mtu 4096 -q 100000 -pfc_thresholds 22 24 -strat ecmp_host -paths 1"
    ),
    "htsim_uec": Peer(
        "nscc",
        "-mtu 4160 -sender_cc_only -sender_cc_algo nscc -paths 256 -load_balancing_algo oblivious",
    ),
    "htsim_ndp": Peer("ndp", "-mtu 4160 -q 8 -cwnd 128 -strat perm"),
    "htsim_eqds": Peer("eqds", "-mtu 4160 -q 103 -cwnd 128 -strat ecmp_host -paths 256"),
}


@dataclass(frozen=True)
class Measurement:
    """One process: user CPU of its run and of all of it [s], its slowest message [us]."""

    run_s: float
    whole_s: float
    slowest_us: float


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


def write_ours(shape: permutation.Shape, packets: int, variant: str, folder: Path) -> None:
    """Write the script and tables of a variant of Figure 5 on the fabric of the benchmark."""
    sets = {
        "topology.leaves": shape.leaves,
        "topology.hosts_per_leaf": shape.hosts_per_leaf,
        "topology.spines": shape.spines,
        "link.rate": f"{permutation.RATE_BPS} bit/s",
        "link.delay": f"{permutation.DELAY_PS // 1000} ns",
        "workload.message": f"{packets * permutation.PAYLOAD_BYTES} B",
    }
    run = plan(read_scenario(SCENARIO), sets=sets.items(), variant=variant)[0]
    render.write_run(run.spec, folder)


def call(command: list) -> tuple[float, str]:
    """Return the user CPU that a program takes from its start to its end [s], and what it says."""
    before = os.times().children_user
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().rpartition("\n")[2]
        raise SystemExit(f"{command[0]} ended with status {done.returncode}: {last}")
    return os.times().children_user - before, done.stdout


def measure_ours(folder: Path) -> Measurement:
    """Run a script that `write_ours` has left."""
    whole_s, _ = call([sys.executable, "-P", folder / "scenario.py", "--out", folder])
    facts = json.loads((folder / "provenance.json").read_text())
    with np.load(folder / "raw.npz") as raw:
        ends_ps = raw["flows.sender_end_ps"]
    if (ends_ps < 0).any():
        raise SystemExit(f"{folder.name}: {(ends_ps < 0).sum()} messages did not end")
    return Measurement(facts["run_cpu_s"], whole_s, ends_ps.max() / 1e6)


def measure_peer(command: list, messages: int) -> Measurement:
    """Run a program of htsim."""
    whole_s, said = call(command)
    ends_us = [float(end) for end in re.findall(r" finished at ([0-9.e+]+)", said)]
    if len(ends_us) != messages:
        raise SystemExit(f"{command[0]}: {len(ends_us)} of {messages} messages ended")
    return Measurement(whole_s, whole_s, max(ends_us))


def prepare(shape: permutation.Shape, packets: int, binary: Path, folder: Path) -> list:
    """Write what both engines read, and return the command of a program of htsim."""
    peer = PEERS[binary.name]
    write_ours(shape, packets, peer.variant, folder)
    with np.load(folder / "tables.npz") as tables:
        flows = {key: tables[f"flows.{key}"] for key in ("src", "dst", "bytes")}
    (folder / "fabric.topo").write_text(topology(shape))
    (folder / "flows.cm").write_text(matrix(flows))
    least_us = packets * permutation.PAYLOAD_BYTES * 8e6 / permutation.RATE_BPS
    return [
        binary, "-topo", folder / "fabric.topo", "-tm", folder / "flows.cm", "-o",
        folder / "log", "-nodes", shape.hosts, "-linkspeed", permutation.RATE_BPS // 10**6,
        "-seed", 1, "-end", int(ENDS_AFTER * least_us) + 100, *peer.arguments.split(),
    ]  # fmt: skip


def compare(
    head: str, packets: int, ours: list[Measurement], theirs: list[Measurement]
) -> Iterator[str]:
    """Yield lines with the CPU per packet of both, or why they are not compared."""
    slowest = theirs[0].slowest_us, ours[0].slowest_us
    yield f"{head}: slowest message {slowest[0]:.1f} us and {slowest[1]:.1f} us"
    if max(slowest) > LIKE * min(slowest):
        yield f"{head}: not compared: they have not done the same work"
        return
    run, whole = ([getattr(one, f"{name}_s") for one in ours] for name in ("run", "whole"))
    of_peer = [one.whole_s for one in theirs]
    for what, its in (("theirs", of_peer), ("ours, run", run), ("ours, whole", whole)):
        yield (
            f"{head}: {what}: {min(its) / packets * 1e6:.3f} us of CPU per packet (median"
            f" {statistics.median(its) / packets * 1e6:.3f})"
        )
    for what, its in (("run", run), ("whole", whole)):
        yield (
            f"{head}: ours takes {min(of_peer) / min(its):.1f} times less, {what} (median"
            f" {statistics.median(of_peer) / statistics.median(its):.1f})"
        )


def measure(
    shape: permutation.Shape, packets: int, binary: Path, repeats: int
) -> tuple[list[Measurement], list[Measurement]]:
    """Return measurements of ours and of a program of htsim, taken in turns."""
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = prepare(shape, packets, binary, folder)
        for repeat in range(repeats):
            print(f"{shape.hosts} hosts, {repeat + 1}/{repeats}: {binary} ...", file=sys.stderr)
            ours.append(measure_ours(folder))
            theirs.append(measure_peer(command, shape.hosts))
    return ours, theirs


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="+", choices=permutation.SHAPES, default=[128])
    parser.add_argument("--packets", type=int, help="data packets of each message")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", type=Path, nargs="+", required=True, help=", ".join(PEERS))
    options = parser.parse_args()
    for peer in options.peer:
        if peer.name not in PEERS or not peer.is_file():
            raise SystemExit(f"--peer {peer}: no such program; name one of {', '.join(PEERS)}.")
    modules.bring_up_to_date()
    for hosts in options.hosts:
        shape = permutation.SHAPES[hosts]
        shape = replace(shape, spines=shape.hosts_per_leaf)
        packets = options.packets or shape.packets
        for peer in options.peer:
            ours, theirs = measure(shape, packets, peer, options.repeats)
            head = f"{hosts} hosts, {peer.name} and {PEERS[peer.name].variant}"
            print(*compare(head, hosts * packets, ours, theirs), sep="\n")


if __name__ == "__main__":
    main()
