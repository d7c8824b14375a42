# SPDX-License-Identifier: GPL-2.0-only
"""Completion time of one message on an idle path, exact to the picosecond.

Store-and-forward: a packet is sent on a link when it has arrived whole and the packet before it
has left. A message is cut into full packets and one shorter last packet; the first carries an
extra header (RETH of RoCEv2). With s(k, l) the time packet k of n occupies link l of L, the last
bit arrives at

    T = sum of delays + max over 1 = t0 <= t1 <= ... <= tL = n of sum_l sum_{k=t(l-1)..t(l)} s(k, l)

the longest monotone path through packets and links. All packets between the first and the last
are alike, so only three places need to be told apart for each turn t(l), which leaves L (L + 1) / 2
cases to take the largest of.
"""

from collections.abc import Sequence
from dataclasses import dataclass

PS_PER_S = 10**12
MIN_FRAME_BYTES = 64


@dataclass(frozen=True)
class Framing:
    """How a message becomes frames [byte].

    Attributes
    ----------
    mtu_bytes : int
        Payload of a full packet.
    header_bytes, first_header_bytes : int
        Headers of every packet; further headers of the first one.
    framing_bytes : int
        Preamble, start delimiter and gap: on the wire, not in the frame.
    """

    mtu_bytes: int = 4096
    header_bytes: int = 62
    first_header_bytes: int = 16
    framing_bytes: int = 20

    def wire_bytes(self, payload_bytes: int, first: bool) -> int:
        """Return what one packet occupies on the wire [byte]; a frame has at least 64 bytes."""
        frame = payload_bytes + self.header_bytes + (self.first_header_bytes if first else 0)
        return max(frame, MIN_FRAME_BYTES) + self.framing_bytes

    def n_packets(self, message_bytes: int) -> int:
        """Return the number of packets of a message."""
        return -(-message_bytes // self.mtu_bytes)

    def classes(self, message_bytes: int) -> tuple[int, int, int, int]:
        """Return the wire bytes of the first, a middle and the last packet, and how many.

        With one packet the first is also the last.
        """
        n = self.n_packets(message_bytes)
        last_payload = message_bytes - (n - 1) * self.mtu_bytes
        if n == 1:
            only = self.wire_bytes(message_bytes, first=True)
            return only, 0, only, 1
        full = self.mtu_bytes
        return (
            self.wire_bytes(full, first=True),
            self.wire_bytes(full, first=False),
            self.wire_bytes(last_payload, first=False),
            n,
        )

    def message_wire_bytes(self, message_bytes: int) -> int:
        """Return what a whole message occupies on one link [byte]."""
        first, middle, last, n = self.classes(message_bytes)
        return first if n == 1 else first + (n - 2) * middle + last


def serialisation_ps(wire_bytes: int, rate_bps: int) -> int:
    """Return the time bytes occupy a link, rounded up to a whole picosecond."""
    return -(-wire_bytes * 8 * PS_PER_S // rate_bps)


def unloaded_fct_ps(
    message_bytes: int,
    rates_bps: Sequence[int],
    delays_ps: Sequence[int],
    framing: Framing,
    processing_delay_ps: int = 0,
) -> int:
    """Return the time from the start of a message until its last bit is at the receiver [ps].

    Parameters
    ----------
    message_bytes : int
        Payload, at least 1.
    rates_bps, delays_ps : sequence of int, one entry per link
        Rate and one-way delay of the links of the path, sender first.
    framing : Framing
        Headers and framing.
    processing_delay_ps : int
        Added at each switch between two links.
    """
    first_bytes, middle_bytes, last_bytes, n = framing.classes(message_bytes)
    first = [serialisation_ps(first_bytes, rate) for rate in rates_bps]
    middle = [serialisation_ps(middle_bytes, rate) for rate in rates_bps]
    last = [serialisation_ps(last_bytes, rate) for rate in rates_bps]
    n_links = len(rates_bps)
    fixed = sum(delays_ps) + processing_delay_ps * (n_links - 1)
    if n == 1:
        return fixed + sum(first)
    if n == 2:
        return fixed + max(sum(first[: i + 1]) + sum(last[i:]) for i in range(n_links))
    # Links 0..i carry the first packet of the longest path, links j..L-1 the last one, and links
    # i..j at least one middle packet each; the n - 3 others are where they take longest.
    return fixed + max(
        sum(first[: i + 1])
        + sum(middle[i : j + 1])
        + (n - 3) * max(middle[i : j + 1])
        + sum(last[j:])
        for i in range(n_links)
        for j in range(i, n_links)
    )
