# SPDX-License-Identifier: GPL-2.0-only
"""Takes the spec of a run, returns what the run needs of a machine; and what this machine holds."""

import json
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from pyorch.render import message_tables
from pyorch.simulate import sizes
from pyorch.spec import Spec

#: What Linux and other programs keep [1].
_SHARE_FOR_RUNS = 0.9


def memory_mb(spec: Spec) -> int:
    """Return the memory that a run is given [MB].

    Measured: 200 MB for Python, cppyy and ns-3; the engine takes below 16 KB for each host.
    Each further domain holds the network once more, and all of them take 0.3 GB at most.
    """
    hosts = spec.topology.counts()["hosts"]
    copies_mb = min(hosts * 8 * (max(1, hosts // 1100) - 1) // 1000, 300)
    return 300 + hosts * 32 // 1000 + copies_mb + logs_mb(spec)


def logs_mb(spec: Spec) -> int:
    """Return the memory for what a run records beside its results [MB].

    Measured: 88 B for each row of the arrivals, 136 B for one of the samples; a growing array
    may have twice the room of its rows, 24 to 40 B each. Samples may last until the stop.
    """
    return size_of(spec).log_rows * 160 // 1_000_000


def disk_mb(spec: Spec) -> int:
    """Return the disk that a run is given: raw columns and Parquet tables, captures [MB]."""
    size = size_of(spec)
    return 1000 + 2 * (size.result_bytes + size.log_rows * 72) // 1_000_000


def runtime_min(spec: Spec) -> int:
    """Return the time that a run is given [minute].

    Measured: 1 to 3 us of CPU for each data packet, up to 8192 hosts; ten times that is left
    for slower machines and for what is retransmitted, five minutes for the start.
    """
    return 5 + size_of(spec).packets * 30 // 60_000_000


def chunk_runtime_min(runs: Iterable[Spec]) -> int:
    """Return the time that runs are given which one job makes, one after the other [minute].

    As `runtime_min`, with ten seconds for the start of each, which takes 0.5 s of CPU.
    """
    return 5 + math.ceil(sum(10 + size_of(run).packets * 30e-6 for run in runs) / 60)


class Size(NamedTuple):
    """What a run simulates, without what is sent again, and what it writes.

    Attributes
    ----------
    messages, packets : int
        Messages and their data packets, which the fluid engine does not make.
    packet_links, stock_packet_links : float
        Packets times the links that each crosses; those of ns-3's own TCP apart.
    log_rows, result_bytes : int
        Rows of its logs; its other files.
    """

    messages: int
    packets: int
    packet_links: float
    stock_packet_links: float
    log_rows: int
    result_bytes: int


def size_of(spec: Spec) -> Size:
    """Return the size of a run; all seeds are said to have that of the first.

    That is exact but for sizes that are drawn (`poisson`) and for what single hosts send.
    """
    first = spec.model_copy(update={"seed": 1, "failures": ()})
    key = json.dumps(first.plain())
    if key not in _sizes:
        _sizes[key] = _sized(first)
    return _sizes[key]


#: By the spec of the first seed, as JSON.
_sizes: dict[str, Size] = {}


def _sized(spec: Spec) -> Size:
    from pyorch.theory.paths import Network  # takes half a second, and few ask for it

    trace, tables = spec.trace, message_tables(spec)
    flows, links = tables["flows"], tables["links"]
    attributes = [given.attributes for given in spec.transport]
    of_flow = sizes.data_packets(flows, attributes)
    packets = int(of_flow.sum())
    crossed = of_flow * Network(tables["nodes"], links).lengths(flows["src"], flows["dst"])
    is_stock = np.array(["SegmentBytes" in given for given in attributes])[flows["transport"]]
    rows = packets * trace.arrivals
    rows += packets // 10 * trace.pauses  # measured: one for 40 packets
    if period_ps := trace.sample_ps:
        ports = np.concatenate([links["node_a"], links["node_b"]])
        ports = ports[np.isin(ports, trace.nodes)] if trace.nodes else ports
        rows += (len(ports) + len(of_flow)) * (spec.stop_ps // period_ps + 1)
    n_links = len(links["node_a"])
    captures = [(host, trace.snaplen_bytes) for host in trace.pcap]
    return Size(
        messages=len(of_flow),
        packets=packets,
        packet_links=float(crossed[~is_stock].sum()),
        stock_packet_links=float(crossed[is_stock].sum()),
        log_rows=rows,
        result_bytes=sizes.least_result_bytes(flows, n_links, of_flow, False, captures),
    )


def available_mb() -> int:
    """Return the memory that runs may take together on this machine [MB]."""
    return int(sizes.available_bytes() / 1e6 * _SHARE_FOR_RUNS)
