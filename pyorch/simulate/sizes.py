# SPDX-License-Identifier: GPL-2.0-only
"""What is known of a run before it begins: how many packets it takes, how much it leaves."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pyorch.errors import SimulationError
from pyorch.units import TIME, format_exact, format_si

#: Of a transport that does not say it; for progress and resources alone, metrics ask for it.
DEFAULT_MTU_BYTES = 4096
#: Before each frame of a pcap file, and of a row of ``arrivals`` in ``raw.npz``.
RECORD_BYTES, ARRIVAL_BYTES = 16, 4 * 8
#: Memory of a row of the samples until it is a table, measured [byte].
SAMPLE_BYTES = 136
MEMINFO = Path("/proc/meminfo")


def data_packets(
    flows: Mapping[str, np.ndarray], transports: Sequence[Mapping[str, object]]
) -> np.ndarray:
    """Return how many data packets each flow takes when nothing is sent twice.

    Parameters
    ----------
    flows : mapping of int64 arrays
        Column bytes, and maybe transport (else the first).
    transports : sequence of mappings
        Attributes of each.
    """
    said = (given.get("MtuBytes", given.get("SegmentBytes", "")) for given in transports)
    mtus = [_mtu_bytes(str(text)) for text in said]
    index = flows.get("transport", np.zeros_like(flows["bytes"]))
    mtu_bytes = np.array(mtus or [DEFAULT_MTU_BYTES])[index.clip(0, max(len(mtus) - 1, 0))]
    return -(-flows["bytes"] // mtu_bytes)


def _mtu_bytes(text: str) -> int:
    """Return the payload of a packet; what cannot be one is refused by the engine."""
    return int(text) if text.isdecimal() and int(text) > 0 else DEFAULT_MTU_BYTES


def least_result_bytes(
    flows: Mapping[str, np.ndarray],
    n_links: int,
    packets: np.ndarray,
    arrivals: bool,
    captures: Sequence[tuple[int, int]],
) -> int:
    """Return the least that a run leaves when all its flows end [byte].

    Ten columns of its flows and of its ports, four of the arrivals, and the data packets of the
    hosts that are captured; what samples and pauses take is known only afterwards.

    Parameters
    ----------
    flows : mapping of int64 arrays, n_flows rows
        Columns src, dst and bytes.
    n_links : int
        Of the network.
    packets : ndarray, n_flows
        From `data_packets`.
    arrivals : bool
        Whether every arrival is recorded.
    captures : sequence of (int, int)
        Hosts, and what is kept of each of their frames [byte].
    """
    found = 10 * 8 * (len(packets) + 2 * n_links)
    if arrivals:
        found += ARRIVAL_BYTES * int(packets.sum())
    for host, snaplen_bytes in captures:
        its = (flows["src"] == host) | (flows["dst"] == host)
        kept = np.minimum(flows["bytes"], (packets - 1) * snaplen_bytes)  # the last may be short
        found += int((kept + RECORD_BYTES * packets)[its].sum())
    return found


def least_duration_ps(
    flows: Mapping[str, np.ndarray], links: Mapping[str, np.ndarray], stop_ps: int
) -> int:
    """Return the least time until all is delivered, or the stop: what each host has to take in.

    Parameters
    ----------
    flows : mapping of int64 arrays, n_flows rows
        Columns dst, bytes and maybe start_ps.
    links : mapping of int64 arrays, n_links rows
        Columns node_a, node_b and rate_bps.
    stop_ps : int
        The run lasts no longer [ps].
    """
    n_nodes = 1 + max(int(ids.max(initial=0)) for ids in (
        flows["dst"], links["node_a"], links["node_b"]
    ))  # fmt: skip
    rate_a, rate_b = (
        np.bincount(links[end], weights=links["rate_bps"], minlength=n_nodes)
        for end in ("node_a", "node_b")
    )
    rates = rate_a + rate_b
    taken = np.bincount(flows["dst"], weights=flows["bytes"], minlength=n_nodes)
    start_ps = int(flows["start_ps"].min(initial=stop_ps)) if "start_ps" in flows else 0
    needs = taken[rates > 0] * 8e12 / rates[rates > 0]
    return min(stop_ps, start_ps + int(needs.max(initial=0)))


def check_samples(sample_ps: int, n_ports: int, duration_ps: int) -> str:
    """Return what to warn of if samples may take more memory than there is; nothing if they fit.

    Parameters
    ----------
    sample_ps, duration_ps : int
        Period, and the least time of the run [ps].
    n_ports : int
        How many are sampled.

    Raises
    ------
    SimulationError
        One row for each moment is too much already.
    """
    moments, free_bytes = duration_ps // sample_ps, available_bytes()
    n_rows = moments * n_ports
    if n_rows * SAMPLE_BYTES < free_bytes:
        return ""
    said = f"trace.sample: {format_exact(sample_ps, TIME)} is"
    free = f"{format_si(free_bytes, 'B')} of memory"
    fits = next(f"{n} {u}" for u, ps in TIME.factors.items() for n in (1, 10, 100)
                if duration_ps // (n * ps) * n_ports * SAMPLE_BYTES < free_bytes / 2)  # fmt: skip
    advice = f"Write a longer one, for example {fits}, or some trace.nodes."
    if moments * SAMPLE_BYTES > free_bytes:
        raise SimulationError(
            f"{said} {moments:,} samples of each of {n_ports} ports; {free} hold"
            f" {free_bytes // SAMPLE_BYTES:,} rows of one. Nothing was run. {advice}"
        )
    needed = format_si(n_rows * SAMPLE_BYTES, "B")
    return f"{said} up to {n_rows:,} rows, {needed}, and {free} are free. {advice}"


def available_bytes() -> int:
    """Return the memory that programs of this machine may still take [byte]."""
    for line in MEMINFO.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
