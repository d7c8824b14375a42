# SPDX-License-Identifier: GPL-2.0-only
"""What is known of a run before it begins: how many packets it takes, how much it leaves."""

from collections.abc import Mapping, Sequence

import numpy as np

#: Of a transport that does not say it; for progress and resources alone, metrics ask for it.
DEFAULT_MTU_BYTES = 4096
#: Before each frame of a pcap file, and of a row of ``arrivals`` in ``raw.npz``.
RECORD_BYTES, ARRIVAL_BYTES = 16, 4 * 8


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
