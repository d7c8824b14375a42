# SPDX-License-Identifier: GPL-2.0-only
"""The work that every engine is measured on: takes a number of hosts, leaves its tables.

Two-tier leaf-spine, 800 Gb/s, 500 ns per link; every host sends one message of 4096-byte packets
to a host below another leaf. On the wire a data packet has 4160 bytes and its acknowledgement 64.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pyorch.spec.resolved import Link
from pyorch.topology import leaf_spine
from pyorch.workload import permutation

RATE_BPS = 800_000_000_000
DELAY_PS = 500_000
PAYLOAD_BYTES = 4096
SEED = 1


@dataclass(frozen=True)
class Shape:
    """A fully provisioned leaf-spine and the message that makes a run long enough to time."""

    leaves: int
    hosts_per_leaf: int
    spines: int
    packets: int  # of a message

    @property
    def hosts(self) -> int:
        """Return the number of hosts."""
        return self.leaves * self.hosts_per_leaf


SHAPES = {
    shape.hosts: shape
    for shape in (Shape(16, 8, 16, 2000), Shape(32, 32, 32, 500), Shape(128, 64, 64, 100))
}


def tables(shape: Shape, packets: int, jitter_ps: int = 0) -> dict[str, dict[str, np.ndarray]]:
    """Return the tables ``nodes``, ``links`` and ``flows``.

    Parameters
    ----------
    shape : Shape
        The fabric.
    packets : int
        Full data packets of each message.
    jitter_ps : int
        Each link is longer by a random time up to this.
    """
    link = Link(rate_bps=RATE_BPS, delay_ps=DELAY_PS)
    topology = leaf_spine.Params.model_validate(
        {"leaves": shape.leaves, "hosts_per_leaf": shape.hosts_per_leaf, "spines": shape.spines},
        context={"link": link},
    )
    network = leaf_spine.tables(topology, link)
    delay_ps = network["links"]["delay_ps"]
    longer_ps = np.random.default_rng(SEED).integers(jitter_ps + 1, size=len(delay_ps))
    network["links"]["delay_ps"] = delay_ps + longer_ps
    message = permutation.Params.model_validate({"message": f"{packets * PAYLOAD_BYTES} B"})
    flows = permutation.flows(message, network["nodes"], network["links"], SEED)
    flows |= {"flow": np.arange(shape.hosts), "transport": np.zeros(shape.hosts, dtype=np.int64)}
    return network | {"flows": flows}


def save(folder: Path, network: dict[str, dict[str, np.ndarray]]) -> None:
    """Write ``tables.npz`` for ours; for stock ns-3 ``peers.txt`` and ``delays.txt``.

    These have the destination of each host, and the delay of each link [ps].
    """
    columns = {
        f"{table}.{column}": values
        for table, its_columns in network.items()
        for column, values in its_columns.items()
    }
    np.savez(folder / "tables.npz", **columns)
    np.savetxt(folder / "peers.txt", network["flows"]["dst"], fmt="%d")
    np.savetxt(folder / "delays.txt", network["links"]["delay_ps"], fmt="%d")
