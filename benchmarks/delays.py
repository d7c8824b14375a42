# SPDX-License-Identifier: GPL-2.0-only
"""What links of unlike length cost: 128 hosts around a switch, one delay or one for each link.

``python benchmarks/delays.py [--repeats N] [--bytes N]``: user CPU of the run phase per data
packet. Both take turns, each in its own process; the best of the repeats and their median count.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from pyorch.simulate import Fabric, build
from pyorch.simulate.run import simulate

HOSTS, SWITCH = 128, 1000
RATE_BPS, DELAY_PS = 100_000_000_000, 2_000_000_000
#: By how much a link is longer than the one before; no frame lasts a whole number of these.
STEPS_PS = {"one": 0, "all": 1_000_003}


def tables(step_ps: int, message_bytes: int) -> dict[str, np.ndarray]:
    """Return columns of nodes, links and flows: each host to the one opposite."""
    hosts = np.arange(HOSTS)
    zeros, ones = np.zeros_like(hosts), np.ones_like(hosts)
    return {
        "nodes.node": np.append(hosts, SWITCH),
        "nodes.is_switch": np.append(zeros, 1),
        "nodes.tier": np.append(zeros, 1),
        "links.node_a": hosts,
        "links.node_b": ones * SWITCH,
        "links.parallel": zeros,
        "links.rate_bps": ones * RATE_BPS,
        "links.delay_ps": DELAY_PS + hosts * step_ps,
        "links.loss_ratio": np.zeros(HOSTS),
        "flows.flow": hosts,
        "flows.src": hosts,
        "flows.dst": (hosts + HOSTS // 2) % HOSTS,
        "flows.bytes": ones * message_bytes,
        "flows.start_ps": zeros,
        "flows.transport": zeros,
    }


def run(kind: str, message_bytes: int, out: Path) -> None:
    """Run one of `STEPS_PS` in this process."""
    np.savez(out / "in.npz", **tables(STEPS_PS[kind], message_bytes))
    network = Fabric(seed=1)
    network.tables((out / "in.npz").resolve())
    network.forwarding("ns3::EcmpHash")
    network.queue("ns3::DropTail")
    network.transport("ns3::RoceTransport", {"Rto": "1s"})
    simulate(network, out, kind)


def measure(kind: str, message_bytes: int) -> float:
    """Return user CPU per data packet of one process [us]."""
    with tempfile.TemporaryDirectory() as out:
        words = [sys.executable, __file__, "--run", kind, "--bytes", message_bytes, "--out", out]
        subprocess.run([str(word) for word in words], check=True)
        facts = json.loads((Path(out) / "provenance.json").read_text())
    return facts["run_cpu_s"] / facts["data_packets"] * 1e6


def main() -> None:
    """Measure and print one line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--bytes", type=int, default=40_000_000, help="of each message")
    parser.add_argument("--run", choices=STEPS_PS, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run(options.run, options.bytes, options.out)
        return
    build.build()
    found = {kind: [] for kind in STEPS_PS}
    for _ in range(options.repeats):
        for kind in STEPS_PS:
            found[kind].append(measure(kind, options.bytes))
    for kind, those in found.items():
        times = [pick(those) / pick(found["one"]) for pick in (min, statistics.median)]
        print(
            f"{kind}: {min(those):.3f} us per packet, {times[0]:.2f} times (median {times[1]:.2f})"
        )


if __name__ == "__main__":
    main()
