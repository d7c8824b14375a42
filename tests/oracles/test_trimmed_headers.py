# SPDX-License-Identifier: GPL-2.0-only
"""A header without its payload is counted as trimmed, and in no column of delivered data."""

import pytest
from oracle_network import GBPS, NS_PS, US_PS, Flows, run, star

pytestmark = pytest.mark.ns3


def test_what_came_trimmed_is_in_no_column_of_delivered_data():
    # Eight hosts send 100 packets each to one, over a queue of eight. Nothing is lost, so what was
    # sent came whole or trimmed; each packet comes whole once.
    flows, packets = Flows(), 100
    for src in range(1, 9):
        flows.add(src, 0, packets * 4096)
    got = run(
        star(9, 100 * GBPS, 500 * NS_PS), flows, [("ns3::NdpTransport", {})],
        queue=("ns3::TrimmingQueue", {"LimitBytes": 8 * 4158, "HeaderLimitBytes": 10**6}),
        arrivals=True, sample_ps=10 * US_PS,
    )  # fmt: skip

    counted, delivered = got["flows"], 8 * packets
    assert got.drops() == 0
    assert counted["trimmed_packets"].sum() > 20
    whole = counted["sent_data_packets"].sum() - counted["trimmed_packets"].sum()
    assert whole == delivered
    assert got["summary"]["data_packets_delivered"].item() == delivered
    assert len(got["arrivals"]["packet"]) == delivered
    assert got["flow_samples"]["arrived_packets"].sum() == delivered
    assert got["flow_samples"]["arrived_bytes"].sum() >= delivered * 4096
