# SPDX-License-Identifier: GPL-2.0-only
"""Each column of drops is counted at the port that docs/definitions.md says, and nowhere else."""

import numpy as np
import pytest
from oracle_network import GBPS, NS_PS, US_PS, Flows, Network, run

pytestmark = pytest.mark.ns3

SWITCH = 1000

#: What is done to 200 kB each from hosts 1 and 2 to host 0 (and 0 to 3), and by which ports, as
#: (node, peer), the frames that it costs are counted. 30 kB are seven packets.
CASES = {
    "a queue that is full": (
        "buffer", {(SWITCH, 0)}, {"queue": ("ns3::DropTail", {"LimitBytes": 30_000})},
    ),
    "a buffer that is full": ("buffer", {(SWITCH, 0)}, {"buffer_bytes": 30_000}),
    "too little headroom": (  # a packet that is on its way fits, and not the one behind it
        "headroom", {(SWITCH, 1), (SWITCH, 2)},
        {"pfc": {"XoffBytes": 30_000, "HeadroomBytes": 5_000}, "buffer_bytes": 10**6},
    ),
    "scripted losses": ("loss", {(SWITCH, 1)}, {"drops": [(1, SWITCH, n) for n in (3, 7)]}),
    "bit errors": ("corrupt", {(SWITCH, 1)}, {}),
    "a destination that is cut off": (
        "no_route", {(SWITCH, 1), (SWITCH, 2)}, {"link_events": [(10 * US_PS, 0, SWITCH, 0)]},
    ),
    "routes that know of a cut too late": (
        "link_down", {(SWITCH, 0)},
        {"link_events": [(10 * US_PS, 0, SWITCH, 0)], "convergence_ps": 10**9},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_drops_are_counted_where_they_are_said_to_be(case):
    cause, where, options = CASES[case]
    network = Network(hosts=[0, 1, 2, 3], switches=[(SWITCH, 1)])
    for host in network.hosts:
        errors = 3e-6 if cause == "corrupt" and host == 1 else 0.0  # of a packet: 10 %
        network.link(host, SWITCH, 100 * GBPS, 500 * NS_PS, bit_errors=errors)
    flows = Flows()
    for src, dst in ((1, 0), (2, 0), (0, 3)):
        flows.add(src, dst, 200_000)

    # Few acknowledgements, so that only data meets the errors.
    roce = ("ns3::RoceTransport", {"AckInterval": 1000, "AckBytes": 64})
    got = run(network, flows, [roce], stop_ps=30 * US_PS, **options)

    ports = list(zip(got["ports"]["node"].tolist(), got["ports"]["peer"].tolist(), strict=True))
    dropped = got["ports"][f"dropped_{cause}_frames"]
    assert {ports[row] for row in np.flatnonzero(dropped)} == where
