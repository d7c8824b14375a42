# SPDX-License-Identifier: GPL-2.0-only
"""Runs networks and messages that a seed has drawn on htsim and on our engine.

``python tests/peers/random_networks.py --peer /there/htsim_uec /there/htsim_eqds /there/htsim_ndp``
runs htsim's programs and writes tests/data/htsim/random_networks.csv. Without ``--peer`` it runs
ours on what stands there and prints the table of docs/validation.md. Builds nothing of others: the
binaries are the user's, uet-htsim's for UEC and EQDS and csg-htsim's for NDP.

Constants are htsim's, in bytes as its source counts them: 4096 B of payload, 64 B of headers and of
control frames, no framing, 256 paths, completion at the sender, its timeouts. Aims, written before
the first run: the median of the messages of a case within 2 % of htsim's, the slowest within 5 %.
Paths and coins are each simulator's own, so a case beyond is run with five seeds.
"""

import argparse
import math
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from pyorch.topology import _graph, _htsim

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
sys.path.insert(0, str(Path(__file__).parents[2]))
from oracle_network import MS_PS, US_PS, Flows, run_tables

TABLE = Path(__file__).parents[1] / "data" / "htsim" / "random_networks.csv"
TRANSPORTS = ("rccc", "nscc", "eqds", "ndp")
#: The program of htsim for each.
PROGRAMS = {
    "rccc": "htsim_uec", "nscc": "htsim_uec", "eqds": "htsim_eqds", "ndp": "htsim_ndp",
    "roce": "htsim_roce",
}  # fmt: skip
CASES = 20
SEEDS = (1, 2, 3, 4, 5)
AIMS = {"fct_p50_us": 0.02, "fct_max_us": 0.05}
MTU_BYTES, CONTROL_BYTES = 4096, 64
PACKET_BYTES = MTU_BYTES + 64
PATHS = "ns3::PermutedEntropy[Paths=256]"
NDP_QUEUE_PACKETS = 8
STOP_PS = 400 * MS_PS
#: Messages begin at whole microseconds up to this one, if not together.
LAST_START_US = 10
#: Unit of a start in a matrix [ps]: main_ndp of csg-htsim takes picoseconds, main_uec and main_eqds
#: of uet-htsim microseconds.
START_UNIT_PS = {"rccc": US_PS, "nscc": US_PS, "eqds": US_PS, "ndp": 1, "roce": US_PS}
#: Pause and resume of RoCE [packet]; its queues never drop.
PAUSE_PACKETS, RESUME_PACKETS, ROCE_QUEUE_PACKETS = 15, 12, 100_000


@dataclass(frozen=True)
class Case:
    """A network and its messages.

    Attributes
    ----------
    shape : tuple of int
        Hosts of a leaf, leaves (of a pod), and with three tiers pods. As much goes up as down.
    kind : str
        The workload.
    rows : tuple of (src, dst, bytes, start_ps)
    """

    transport: str
    number: int
    shape: tuple[int, ...]
    gbps: int
    delay_ps: int
    kind: str
    rows: tuple[tuple[int, int, int, int], ...]

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return math.prod(self.shape)

    @property
    def links(self) -> int:
        """Links of a longest path."""
        return 2 * len(self.shape)

    @property
    def byte_ps(self) -> int:
        """Time of a byte on a link [ps]."""
        return 8000 // self.gbps

    @property
    def rtt_ps(self) -> int:
        """Longest round trip of a lone packet [ps]."""
        return self.links * (2 * self.delay_ps + (PACKET_BYTES + CONTROL_BYTES) * self.byte_ps)

    @property
    def product_bytes(self) -> int:
        """Bandwidth-delay product of a longest path [byte]."""
        return self.rtt_ps // self.byte_ps

    @property
    def counted_packets(self) -> int:
        """Product in packets, as a queue of EQDS has it in trimming.csv."""
        return round(self.product_bytes / MTU_BYTES)

    @property
    def window_packets(self) -> int:
        """Packets that a message of EQDS and NDP sends unasked."""
        return round(1.2 * self.product_bytes / MTU_BYTES)


def draw(transport: str, number: int) -> Case:
    """Return a case; the generator is that of Python, whose draws do not change."""
    rng = random.Random(f"{transport} {number}")
    tiers = rng.choice((2, 3))
    shape = (0,)
    while not 16 <= math.prod(shape) <= 128:
        bounds = ((2, 16), (2, 32)) if tiers == 2 else ((2, 8), (2, 4), (2, 8))
        shape = tuple(rng.randint(*bound) for bound in bounds)
    gbps, delay_ps = rng.choice((100, 200, 400, 800)), rng.choice((500_000, 1_000_000, 2_000_000))
    kind = rng.choice(("permutation", "incast", "pairs"))
    bare = Case(transport, number, shape, gbps, delay_ps, kind, ())

    def size() -> int:
        bytes_ = bare.product_bytes * 10 ** rng.uniform(-1, 1)
        return max(1, round(bytes_ / MTU_BYTES)) * MTU_BYTES

    hosts = range(bare.hosts)
    rows = []
    if kind == "permutation":
        order = rng.sample(hosts, bare.hosts)
        each = size()
        rows = [(src, order[i - 1], each, 0) for i, src in enumerate(order)]
    elif kind == "incast":
        dst, *sources = rng.sample(hosts, 1 + rng.randint(4, min(32, bare.hosts - 1)))
        each = size()
        rows = [(src, dst, each, 0) for src in sources]
    else:
        for src in hosts:
            for _ in range(rng.randint(1, 4)):
                dst = rng.choice([other for other in hosts if other != src])
                rows.append((src, dst, size(), rng.randint(0, LAST_START_US) * US_PS))
    return Case(transport, number, shape, gbps, delay_ps, kind, tuple(rows))


def topology(case: Case) -> str:
    """Return the fabric as a topology file, which both sides read."""
    pods = case.shape[2] if len(case.shape) == 3 else 1
    down = (case.shape[0], case.shape[1], pods)[: len(case.shape)]
    tiers = [
        f"Tier {tier}\nDownlink_speed_Gbps {case.gbps}\nRadix_Down {radix}\n"
        + (f"Radix_Up {down[tier]}\n" if tier < len(down) - 1 else "")
        + f"Downlink_Latency_ns {case.delay_ps // 1000}\nSwitch_Latency_ns 0\n"
        for tier, radix in enumerate(down)
    ]
    head = f"Nodes {case.hosts}\nTiers {len(down)}\nPodsize {case.hosts // pods}\n\n"
    return head + "\n".join(tiers)


def matrix(case: Case) -> str:
    """Return the messages as a connection matrix of htsim."""
    unit_ps = START_UNIT_PS[case.transport]
    rows = [
        f"{src}->{dst} id {i + 1} start {start_ps // unit_ps} size {size}"
        for i, (src, dst, size, start_ps) in enumerate(case.rows)
    ]
    return "\n".join([f"Nodes {case.hosts}", f"Connections {len(rows)}", *rows]) + "\n"


def arguments(case: Case) -> str:
    """Return what a program of htsim is told of the transport."""
    uec = "-mtu 4160 -paths 256 -load_balancing_algo oblivious -enable_accurate_base_rtt"
    sprayed = f"-strat ecmp_host -paths 256 -cwnd {case.window_packets}"
    return {
        "rccc": f"{uec} -receiver_cc_only",
        "nscc": f"{uec} -sender_cc_only -sender_cc_algo nscc",
        "eqds": f"-mtu 4160 {sprayed} -q {case.counted_packets}",
        "ndp": f"-mtu 4096 {sprayed} -q {NDP_QUEUE_PACKETS}",
        "roce": f"-mtu 4096 -strat ecmp_host -paths 1 -q {ROCE_QUEUE_PACKETS}"
        f" -pfc_thresholds {RESUME_PACKETS} {PAUSE_PACKETS}",
    }[case.transport]


def summary(fct_us: np.ndarray, resent: int) -> dict:
    """Return what is compared: times [us] of what has ended, and packets sent again."""
    return {
        "ended": int((~np.isnan(fct_us)).sum()),
        "fct_p50_us": round(float(np.nanmedian(fct_us)), 4),
        "fct_mean_us": round(float(np.nanmean(fct_us)), 4),
        "fct_max_us": round(float(np.nanmax(fct_us)), 4),
        "resent": int(resent),
    }


def run_peer(case: Case, binary: Path, seed: int = 1) -> dict:
    """Run a program of htsim on a case."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "fabric.topo").write_text(topology(case))
        (folder / "flows.cm").write_text(matrix(case))
        command = [
            binary.resolve(), "-topo", folder / "fabric.topo", "-tm", folder / "flows.cm",
            "-o", folder / "log", "-nodes", case.hosts, "-linkspeed", case.gbps * 1000,
            "-seed", seed, "-end", STOP_PS // US_PS, *arguments(case).split(),
        ]  # fmt: skip
        words = [str(word) for word in command]
        said = subprocess.run(words, capture_output=True, text=True, cwd=folder)
    if said.returncode:
        raise SystemExit(f"{case}: {said.stderr or said.stdout[-500:]}")
    names = [str(i + 1) for i in range(len(case.rows))]
    said_as = r"flow_?[iI]d (\d+) .*?"
    if case.transport == "roce":  # which names a message by its ends
        names = [f"{src}_{dst}" for src, dst, *_ in case.rows]
        said_as = r"Flow Roce_(\d+_\d+) .*?"
    ends_us = dict(re.findall(rf"{said_as}finished at ([0-9.e+]+)", said.stdout))
    fct_us = [float(ends_us.get(name, "nan")) - row[3] / US_PS
              for name, row in zip(names, case.rows, strict=True)]  # fmt: skip
    return summary(np.array(fct_us), re.search(r"Rtx: (\d+)", said.stdout)[1])


def transport_of(case: Case) -> tuple[str, dict]:
    """Return the type and attributes of a transport with htsim's constants."""
    common = {"HeaderBytes": 64, "AckBytes": CONTROL_BYTES, "PathSelector": PATHS}
    longest = f"{case.rtt_ps}ps"
    if case.transport in ("rccc", "nscc"):
        queue_bytes = uec_packets(case) * PACKET_BYTES
        mode = {"rccc": {"ReceiverCredit": True},
                "nscc": {"CongestionControl": f"ns3::Nscc[NetworkRtt={longest}]"}}  # fmt: skip
        return "ns3::UecTransport", {
            **common, "PullBytes": CONTROL_BYTES, "Trimmable": True, **mode[case.transport],
            "Rto": f"{15 * US_PS + 6 * queue_bytes * case.byte_ps}ps",
        }  # fmt: skip
    if case.transport == "eqds":
        queue_bytes = case.counted_packets * PACKET_BYTES
        return "ns3::EqdsTransport", {
            **common, "WindowPackets": case.window_packets,
            "SpeculativePriority": 3,  # htsim's queue knows of no third one
            "Rto": f"{150 * US_PS + 6 * queue_bytes * case.byte_ps}ps",
        }  # fmt: skip
    if case.transport == "roce":
        return "ns3::RoceTransport", {
            "Recovery": "GoBackN", "HeaderBytes": 64, "RethBytes": 0, "AckBytes": CONTROL_BYTES,
            "Priority": 3, "ControlPriority": 3, "Rto": "1s", "RtoLow": "1s",
        }  # fmt: skip
    return "ns3::NdpTransport", {**common, "InitialPackets": case.window_packets, "Rto": "50ms"}


def uec_packets(case: Case) -> int:
    """Return a bandwidth-delay product in packets, which sizes the queues of UEC."""
    return -(-case.product_bytes // PACKET_BYTES)


def pfc_of(case: Case) -> dict | None:
    """Return the thresholds of PFC; htsim resumes strictly below its own, our engine at it."""
    if case.transport != "roce":
        return None
    between = PAUSE_PACKETS - RESUME_PACKETS
    return {"XoffBytes": PAUSE_PACKETS * MTU_BYTES, "XonOffsetBytes": between * MTU_BYTES + 1}


def queue_of(case: Case) -> tuple[str, dict] | None:
    """Return the queue of a switch.

    htsim counts the packet on the wire to its queue, so limits are a packet less here.
    """
    if case.transport == "roce":
        return None
    if case.transport in ("rccc", "nscc"):
        packets = uec_packets(case)
        queue_bytes = packets * PACKET_BYTES
        marks = {"KminBytes": math.ceil(packets * 0.2) * PACKET_BYTES,
                 "KmaxBytes": math.ceil(packets * 0.8) * PACKET_BYTES, "Pmax": 1.0}  # fmt: skip
    else:
        counted = {"eqds": case.counted_packets * PACKET_BYTES,
                   "ndp": NDP_QUEUE_PACKETS * MTU_BYTES}  # fmt: skip
        queue_bytes, marks = counted[case.transport], {}
    return "ns3::TrimmingQueue", {
        "LimitBytes": queue_bytes - PACKET_BYTES, "HeaderLimitBytes": 2 * queue_bytes,
        "ReturnToSender": False, **marks,
    }  # fmt: skip


def run_ours(case: Case, seed: int = 1, changes: dict | None = None) -> dict:
    """Run our engine on a case; `changes` are attributes of the transport."""
    lines = [(i + 1, line.split()) for i, line in enumerate(topology(case).splitlines()) if line]
    tables = _htsim.parse(lines, "fabric.topo", 0.0)
    flows = Flows()
    for row in case.rows:
        flows.add(*row)
    type_name, attributes = transport_of(case)
    got = run_tables(
        _graph.with_tiers(tables["nodes"], tables["links"]), tables["links"], flows.table(),
        [(type_name, {**attributes, **(changes or {})})], forwarding="ns3::EcmpHash",
        queue=queue_of(case), pfc=pfc_of(case), drops=(), seed=seed, stop_ps=STOP_PS,
        framing_bytes=0, buffer_bytes=10**12,
    )["flows"]  # fmt: skip
    end_ps = np.where(got["sender_end_ps"] > 0, got["sender_end_ps"], np.nan)
    return summary((end_ps - got["start_ps"]) / US_PS, got["retransmitted_packets"].sum())


def ranges(runs: list[dict]) -> dict:
    """Return the least and most of the times of several seeds [us]."""
    table = pd.DataFrame(runs)[list(AIMS)]
    bounds = {f"{name}_least": table[name].min() for name in AIMS}
    return bounds | {f"{name}_most": table[name].max() for name in AIMS}


def describe(case: Case) -> str:
    """Return a case in a few words."""
    sizes = [row[2] / case.product_bytes for row in case.rows]
    shape = " x ".join(str(part) for part in case.shape)
    size = f"{min(sizes):.2g}" if len(set(sizes)) == 1 else f"{min(sizes):.2g} to {max(sizes):.2g}"
    return (
        f"{case.transport} {case.number}: {shape}, {case.gbps} Gb/s, {case.delay_ps / US_PS:g} us,"
        f" {case.kind}, {len(case.rows)} of {size} BDP"
    )


def inputs(case: Case) -> dict:
    """Return the columns by which a reader sees what was drawn, and a test that it still is."""
    return {
        "transport": case.transport, "number": case.number,
        "shape": "x".join(str(part) for part in case.shape), "link_gbps": case.gbps,
        "delay_ns": case.delay_ps // 1000, "workload": case.kind, "messages": len(case.rows),
        "bytes": sum(row[2] for row in case.rows),
        "first_src": case.rows[0][0], "first_dst": case.rows[0][1],
    }  # fmt: skip


def peers() -> pd.DataFrame:
    """Return htsim's results, one row for each case."""
    return pd.read_csv(TABLE)


def beyond(ours: dict, theirs) -> list[str]:
    """Return the names of the times that miss their aim."""
    return [name for name, aim in AIMS.items() if abs(ours[name] / theirs[name] - 1) > aim]


def where(name: str, ours: dict, theirs: dict) -> str:
    """Return how the ranges of five seeds of both lie to each other."""
    low, high = ours[f"{name}_least"], ours[f"{name}_most"]
    their_low, their_high = theirs[f"{name}_least"], theirs[f"{name}_most"]
    spans = f"{low:.6g} to {high:.6g} ({their_low:.6g} to {their_high:.6g})"
    if low <= theirs[name] <= high:
        return f"inside {spans}"
    return f"{'overlap' if low <= their_high and their_low <= high else 'apart'} {spans}"


def report(transports: list[str]) -> None:
    """Print a table; what is beyond an aim with the range of five seeds."""
    print("| case | median [us]: ours (htsim) | ratio | slowest [us] | ratio | sent again | |")
    print("|---|---|---|---|---|---|---|")
    for theirs in peers().to_dict("records"):
        if theirs["transport"] not in transports:
            continue
        case = draw(theirs["transport"], theirs["number"])
        ours = run_ours(case)
        cells = [describe(case)]
        for name in AIMS:
            cells += [f"{ours[name]:.6g} ({theirs[name]:.6g})", f"{ours[name] / theirs[name]:.3f}"]
        cells.append(f"{ours['resent']} ({theirs['resent']})")
        notes = []
        if names := beyond(ours, theirs):
            seen = ranges([ours, *(run_ours(case, seed) for seed in SEEDS[1:])])
            notes = [f"{name}: {where(name, seen, theirs)}" for name in names]
        print(f"| {' | '.join(cells)} | {'; '.join(notes)} |", flush=True)


def write(binaries: list[Path]) -> None:
    """Run htsim's programs on all cases and write the table."""
    by_name = {path.name: path for path in binaries}
    if missing := {PROGRAMS[transport] for transport in TRANSPORTS} - set(by_name):
        raise SystemExit(f"--peer: {', '.join(sorted(missing))} is missing.")
    rows = []
    for transport in TRANSPORTS:
        for number in range(1, CASES + 1):
            case = draw(transport, number)
            runs = [run_peer(case, by_name[PROGRAMS[transport]], seed) for seed in SEEDS]
            rows.append(inputs(case) | runs[0] | ranges(runs))
            print(describe(case), rows[-1], file=sys.stderr, flush=True)
    pd.DataFrame(rows).to_csv(TABLE, index=False)


def main() -> None:
    """Write htsim's table, or print ours beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", type=Path, nargs="+", help="programs of htsim")
    parser.add_argument("--transports", nargs="+", choices=TRANSPORTS, default=TRANSPORTS)
    options = parser.parse_args()
    if options.peer:
        write(options.peer)
    else:
        report(options.transports)


if __name__ == "__main__":
    main()
