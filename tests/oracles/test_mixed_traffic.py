# SPDX-License-Identifier: GPL-2.0-only
"""Two transports share one fabric: each keeps its books, and the urgent one sees nobody else."""

import pytest

import pyorch

pytestmark = pytest.mark.ns3
PACKETS, PAYLOAD = 50, 4096
LOSSLESS = {
    "name": "lossless", "type": "ns3::RoceTransport",
    "attributes": {"Priority": 3, "ControlPriority": 6},
}  # fmt: skip
SPRAYED = {
    "name": "sprayed", "type": "ns3::SprayTransport",
    "attributes": {"Priority": 5, "ControlPriority": 7, "PathSelector": "ns3::PermutedEntropy"},
}  # fmt: skip


def run(folder, names):
    """Return a run with RoCEv2, PFC and ECN marks in class 3, sprayed packets in class 5."""
    loads = {
        "lossless": {"type": "permutation", "message": f"{PACKETS * PAYLOAD} B"},
        "sprayed": {"type": "stride", "message": f"{PACKETS * PAYLOAD} B", "stride": 4},
    }
    transports = {"lossless": LOSSLESS, "sprayed": SPRAYED}
    scenario = {
        "name": "mixed", "seed": 1, "stop": "20 ms",
        "topology": {"type": "leaf_spine", "leaves": 4, "hosts_per_leaf": 4, "spines": 4},
        "link": {
            "rate": "100 Gb/s",
            "delay": "500 ns",
            "flow_control": {
                "type": "ns3::Pfc",
                "attributes": {"XoffBytes": "50 kB", "XonOffsetBytes": "5 kB", "Priorities": 8},
            },
        },
        "switch": {
            "buffer": "16 MB",
            "queue": {
                "type": "ns3::PerPriority",
                "attributes": {"Priority3": "ns3::RedEcn[KminBytes=20000|KmaxBytes=40000]"},
            },
        },
        "workload": [{**loads[name], "transport": name} for name in names],
        "transport": [transports[name] for name in names],
    }  # fmt: skip
    return pyorch.run(scenario, results=folder)


def test_both_deliver_everything_and_the_urgent_class_is_as_fast_as_alone(tmp_path):
    both = run(tmp_path, ["lossless", "sprayed"])
    alone = {name: run(tmp_path, [name]) for name in ("lossless", "sprayed")}
    flows = both.flows

    # Conservation: 16 hosts, one message of each kind; every packet is there once or again.
    assert len(flows) == 32 and flows["receiver_end_ps"].notna().all()
    sent = flows["sent_data_packets"] - flows["retransmitted_packets"]
    assert (sent == PACKETS).all()
    assert both.ports.filter(like="dropped_").to_numpy().sum() == 0

    # Isolation: class 5 goes before class 3 everywhere, so each hop costs at most the frame being
    # sent, 4178 x 80 ps, and PAUSE frames of class 3; it is never paused itself.
    slowest = {name: one.fct_ps.max() for name, one in alone.items()}
    sprayed = flows["transport"] == 1
    fct_ps = both.fct_ps
    assert fct_ps[sprayed].max() < slowest["sprayed"] * 1.15
    # The other one waits for what the urgent class sends from its host and to its destination.
    assert fct_ps[~sprayed].max() > slowest["lossless"] + PACKETS * 4178 * 80 / 2
    # Only the class that marks has marks.
    assert flows.loc[~sprayed, "ecn_marked_packets"].sum() > 0
    assert flows.loc[sprayed, "ecn_marked_packets"].sum() == 0
