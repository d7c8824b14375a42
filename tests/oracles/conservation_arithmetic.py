# SPDX-License-Identifier: GPL-2.0-only
"""Spans of time and packets in order, counted by hand for the ledger."""

from oracle_network import NEVER


def union_ps(spans: list[tuple[int, int]]) -> int:
    """Return the time in which any span lies [ps]."""
    total_ps = until_ps = 0
    for start, end in sorted(spans):
        total_ps += max(0, end - max(start, until_ps))
        until_ps = max(until_ps, end)
    return total_ps


def receive(
    packets: list[int], times_ps: list[int], n: int, in_order_only: bool
) -> tuple[int, int]:
    """Return when a receiver had all n packets, or NEVER, and the most that it held in disorder."""
    expected, held, peak, end_ps = 0, set(), 0, NEVER
    for packet, time_ps in zip(packets, times_ps, strict=True):
        if packet == expected:
            expected += 1
            while expected in held:
                held.remove(expected)
                expected += 1
        elif packet > expected and not in_order_only:
            held.add(packet)
        peak = max(peak, len(held))
        if expected == n and end_ps == NEVER:
            end_ps = time_ps
    return end_ps, peak
