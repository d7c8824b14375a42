# SPDX-License-Identifier: GPL-2.0-only
"""With a discipline per priority each priority is treated as if that one were there for all."""

import re

import pytest
from oracle_network import GBPS, NS_PS, Flows, run, star

from pyorch.errors import PyorchError

pytestmark = pytest.mark.ns3

MTU = 4096
LOW, HIGH = 3, 5
#: Without a controller marks change nothing, and with Kmin = Kmax nothing is random.
EARLY = "ns3::RedEcn[KminBytes=30000|KmaxBytes=30000]"
LATE = "ns3::RedEcn[KminBytes=120000|KmaxBytes=120000]"


def two_priorities(queue):
    """Run two urgent and two other flows into one port; returns their marks and losses."""
    flows = Flows()
    for src in (1, 2, 3, 4):
        flows.add(src, 0, 60 * MTU, start_ps=src * 777, transport=int(src > 2))
    transports = [
        ("ns3::RoceTransport", {"Priority": priority, "Recovery": "SelectiveRepeat"})
        for priority in (LOW, HIGH)
    ]
    got = run(star(5, 100 * GBPS, 500 * NS_PS), flows, transports, queue=queue)
    return got["flows"]["ecn_marked_packets"].tolist(), got.drops()


def alone(name):
    type_name, _, inner = name.removesuffix("]").partition("[")
    attributes = dict(pair.split("=") for pair in inner.split("|"))
    return two_priorities((type_name, attributes))[0]


@pytest.mark.parametrize(("low", "high"), [(EARLY, LATE), (LATE, EARLY)])
def test_each_priority_has_its_own_profile(low, high):
    queue = ("ns3::PerPriority", {f"Priority{LOW}": low, f"Priority{HIGH}": high})
    marks, _ = two_priorities(queue)

    assert marks == alone(low)[:2] + alone(high)[2:]
    assert len(set(marks[:2])) and marks != alone(low) and marks != alone(high)


def test_a_limit_of_one_priority_is_none_of_the_others():
    limit = "ns3::DropTail[LimitBytes=20000]"
    _, of_low = two_priorities(("ns3::PerPriority", {f"Priority{LOW}": limit}))
    _, of_others = two_priorities(
        ("ns3::PerPriority", {"DefaultQueue": limit, f"Priority{LOW}": "ns3::DropTail",
                              f"Priority{HIGH}": "ns3::DropTail"})
    )  # fmt: skip

    assert of_low > 0 and of_others == 0


def test_what_is_no_discipline_is_refused():
    message = (
        "ns3::PerPriority: Priority2 cannot be 'ns3::EcmpHash'; allowed is "
        "ns3::fabric::QueueDiscipline"
    )
    with pytest.raises(PyorchError, match=re.escape(message)):
        two_priorities(("ns3::PerPriority", {"Priority2": "ns3::EcmpHash"}))
