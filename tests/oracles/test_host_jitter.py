# SPDX-License-Identifier: GPL-2.0-only
"""Random times at hosts: their bounds, the order of frames, and what they do to equal senders."""

import numpy as np
import pytest
from oracle_network import GBPS, MS_PS, US_PS, Flows, Network, line, one_flow, run

pytestmark = pytest.mark.ns3

ROCE = ("ns3::RoceTransport", {"RethBytes": 0})
PACKETS = 400


def arrivals(seed=1, program=None):
    network, flow = line([100 * GBPS] * 2, [US_PS] * 2), one_flow(0, 1, PACKETS * 4096)
    got = run(network, flow, [ROCE], program=program, seed=seed, arrivals=True)
    assert got["arrivals"]["packet"].tolist() == list(range(PACKETS))
    return got["arrivals"]["time_ps"]


def test_frames_are_later_by_up_to_the_limit_and_keep_their_order():
    # A frame waits for its own time or for the frame before it, which waits no longer; then the
    # line to the other host, which is never asked for more than its rate, may be busy with one.
    most_ps, frame_ps = 2 * US_PS, (4096 + 62 + 20) * 80
    plain = arrivals()
    later = arrivals(program=("ns3::HostJitter", {"Most": "2us"})) - plain
    assert (later > 0).all() and later.max() <= most_ps + frame_ps
    other = arrivals(seed=2, program=("ns3::HostJitter", {"Most": "2us"})) - plain
    assert (other != later).any()


@pytest.mark.parametrize("most_ps", [50_000, US_PS])
def test_the_time_of_a_frame_is_uniform(most_ps):
    # One frame a host, all to themselves: 300 draws, Kolmogorov-Smirnov at a chance of 1e-4 of a
    # false alarm (1.36 is the 5 % point; 2.23 / sqrt(n) is that of 1e-4).
    network, flows = Network(hosts=list(range(301)), switches=[(1000, 1)]), Flows()
    for host in network.hosts:
        network.link(host, 1000, 100 * GBPS, US_PS)
    for host in range(300):
        flows.add(host, 300, 100, 10 * host * US_PS)
    plain = run(network, flows, [ROCE]).fcts_ps()
    program = ("ns3::HostJitter", {"Most": f"{most_ps}ps"})
    draws = np.sort((run(network, flows, [ROCE], program=program).fcts_ps() - plain) / most_ps)
    steps = np.arange(301) / 300
    farthest = max(np.abs(draws - steps[1:]).max(), np.abs(draws - steps[:-1]).max())
    assert farthest < 2.23 / 300**0.5


def shares(seed, program):
    """Two equal TCPs of one flow each over a link of 10 Gb/s and a queue of 300 kB: their parts."""
    network, flows = Network(hosts=[0, 1, 2, 3], switches=[(10, 1), (11, 1)]), Flows()
    for host in (0, 1):
        network.link(host, 10, 10 * GBPS, 2 * US_PS)
        network.link(host + 2, 11, 10 * GBPS, 2 * US_PS)
        flows.add(host, host + 2, 10**10)
    network.link(10, 11, 10 * GBPS, 2 * US_PS)
    got = run(
        network, flows, [("ns3::MptcpTransport", {"Subflows": 1})], program=program, seed=seed,
        queue=("ns3::DropTail", {"LimitBytes": 300_000}), stop_ps=150 * MS_PS,
    )  # fmt: skip
    sent = [got.port(11, host)["sent_data_packets"] for host in (2, 3)]
    return max(sent) / sum(sent)


def test_equal_senders_share_a_full_queue():
    # On one grid of times the same sender loses for ever, and seeds change nothing; with a random
    # time for each packet of about one on the link each has about half.
    locked = {shares(seed, None) for seed in (1, 2)}
    assert len(locked) == 1 and locked.pop() > 0.8
    for seed in (1, 2, 3):
        assert shares(seed, ("ns3::HostJitter", {"Most": "4us"})) < 0.6
