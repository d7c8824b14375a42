# SPDX-License-Identifier: GPL-2.0-only
"""Transports of one host that are equally urgent share its link evenly, whoever else is there."""

import pytest
from oracle_network import GBPS, MS_PS, NS_PS, Flows, run, star

pytestmark = pytest.mark.ns3

PACKET_BITS = (4096 + 62 + 20) * 8


@pytest.mark.parametrize("equals", [2, 3, 4])
@pytest.mark.parametrize("idle", [1, 2, 3, 4, 5])
def test_equals_share_the_link_beside_more_urgent_ones_that_are_idle(equals, idle):
    # Oracle: round robin of equal messages; the last packets of all leave one after the other, so
    # all are complete within one round of n packets of n times what one needs alone.
    rate, packets = 100 * GBPS, 100
    flows = Flows()
    for turn in range(equals):
        flows.add(0, 1 + turn, packets * 4096, transport=turn)
    for turn in range(idle):
        flows.add(0, 1, 100, MS_PS, transport=equals + turn)
    transports = [
        ("ns3::RoceTransport", {"Priority": priority, "RethBytes": 0})
        for priority in [3] * equals + [5] * idle
    ]

    got = run(star(1 + equals, rate, 500 * NS_PS), flows, transports)

    packet_ps = PACKET_BITS * 10**12 / rate
    latency_ps = 2 * 500 * NS_PS + packet_ps
    last = got.fcts_ps()[:equals]
    assert last.max() == pytest.approx(equals * packets * packet_ps + latency_ps, abs=1)
    assert last.max() - last.min() <= (equals - 1) * packet_ps
