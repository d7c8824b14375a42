# SPDX-License-Identifier: GPL-2.0-only
"""The permutation on pyorch's engine: RoCEv2 with PFC, RED/ECN and telemetry on.

``python benchmarks/ours.py gobackn|spray TABLES.npz --out DIR [--threads N] [--domains N]``; run by
engine.py and threads.py.
"""

import argparse
from pathlib import Path

from pyorch.simulate import Fabric
from pyorch.simulate.run import simulate

WINDOW_BYTES = 128 * 4096

#: What the two rows of the benchmark differ in.
VARIANTS = {
    "gobackn": ("ns3::EcmpHash", {"Recovery": "GoBackN"}),
    # Spraying reorders, so only a gap wider than two windows may count as a loss.
    "spray": ("ns3::RandomSpray", {"Recovery": "SelectiveRepeat", "ReorderPackets": 256}),
}


def fabric(variant: str, tables: Path) -> Fabric:
    """Return the network of the benchmark.

    Parameters
    ----------
    variant : str
        Of `VARIANTS`.
    tables : Path
        Written by `permutation.save`.
    """
    forwarding, recovery = VARIANTS[variant]
    network = Fabric(seed=1)
    network.wire(framing_bytes=0)
    network.switch(buffer_bytes=64_000_000)
    network.tables(tables.resolve())
    network.forwarding(forwarding)
    network.queue("ns3::RedEcn", {"KminBytes": 400_000, "KmaxBytes": 1_600_000})
    network.flow_control("ns3::Pfc", {"XoffBytes": 200_000})
    network.transport(
        "ns3::RoceTransport",
        {
            "MtuBytes": 4096,
            "HeaderBytes": 64,
            "RethBytes": 0,
            "AckBytes": 64,
            "AckInterval": 1,
            "WindowBytes": WINDOW_BYTES,
            "PathSelector": "ns3::FlowEntropy",
        }
        | recovery,
    )
    return network


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("tables", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--domains", type=int)
    options = parser.parse_args()
    network = fabric(options.variant, options.tables)
    network.threads = options.threads
    if options.domains:
        network.domains = options.domains
    simulate(network, options.out, options.variant)
