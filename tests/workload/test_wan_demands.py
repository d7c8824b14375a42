# SPDX-License-Identifier: GPL-2.0-only
"""Engineered demands in a scenario: what becomes of them, and what is refused before the run."""

import copy

import numpy as np
import pytest

from pyorch.errors import SpecError
from pyorch.metrics import wan_te
from pyorch.render.tables import input_tables
from pyorch.spec import typeids
from pyorch.spec.resolve import Resolver
from pyorch.spec.scenario import scenario_of
from pyorch.spec.stored import checked

SITE = {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 2}
SCENARIO = {
    "name": "engineered",
    "topology": {
        "type": "multi_site",
        "sites": [{"name": name, "topology": SITE} for name in ("east", "middle", "west")],
        "long_haul": [
            {"between": ["east", "middle"], "rate": "400 Gb/s", "delay": "10 ms"},
            {"between": ["middle", "west"], "rate": "400 Gb/s", "delay": "20 ms"},
            {"between": ["west", "east"], "rate": "100 Gb/s", "delay": "25 ms", "parallel": 2},
        ],
    },
    "link": {"rate": "400 Gb/s", "delay": "500 ns"},
    "switch": {"buffer": "32 MB", "forwarding": {"type": "ns3::ExplicitRoutes"}},
    "workload": {
        "type": "wan_demands",
        "headroom": 0,
        "demands": [
            {"name": "bulk", "from": "east", "to": "west", "demand": "300 Gb/s", "hosts": 2,
             "message": "1 MB", "start": "1 us"},
            {"name": "web", "from": "middle", "to": "west", "hosts": 2, "message": "10001 B",
             "function": [{"share": 10, "rate": "100 Gb/s"}]},
        ],
    },
    "transport": {"type": "ns3::WanTransport"},
    "stop": "1 s",
}  # fmt: skip


def resolved(change=lambda scenario: None):
    scenario = copy.deepcopy(SCENARIO)
    change(scenario)
    return Resolver(typeids.load()).resolve(scenario_of(scenario))


def demand(number):
    return lambda scenario: scenario["workload"]["demands"][number]


def test_flows_are_the_quanta_of_each_source_and_keep_to_what_is_granted():
    """The direct link has 200 of the 300 of bulk, the path by the middle the rest, 2 to 1.

    In fourths that is 3 to 1, so 3/4 of bulk fill the direct link: 200 / (3/4) = 800/3.
    """
    flows = input_tables(resolved())["flows"]

    assert flows["bytes"].tolist() == [250_000] * 8 + [2500, 2500, 2500, 2501] * 2
    each_bps = [800e9 / 3 / 8] * 8 + [100e9 / 8] * 8
    assert flows["rate_bps"].tolist() == pytest.approx(each_bps, rel=1e-6)
    assert flows["start_ps"].tolist() == [1_000_000] * 8 + [0] * 8
    # hosts 0 to 3 are east, 4 to 7 middle, 8 to 11 west; demands take the next hosts in turn
    assert flows["src"].tolist() == [0] * 4 + [1] * 4 + [4] * 4 + [5] * 4
    assert flows["dst"].tolist() == [8] * 4 + [9] * 4 + [10] * 4 + [11] * 4


def test_paths_lead_from_the_leaf_to_the_host_and_back_on_the_same_cables():
    tables = input_tables(resolved())
    flows, routes = tables["flows"], tables["routes"]
    for flow in range(len(flows["flow"])):
        ends = flows["src"][flow], flows["dst"][flow]
        cables = {}
        for reverse in (0, 1):
            mine = (routes["flow"] == flow) & (routes["reverse"] == reverse)
            order = np.argsort(routes["hop"][mine])
            a, b, parallel = (routes[n][mine][order] for n in ("node", "peer", "parallel"))
            assert b[-1] == ends[1 - reverse]
            assert (a[1:] == b[:-1]).all()
            assert not np.isin(a, np.arange(12)).any()  # switches alone forward
            pairs = zip(np.minimum(a, b), np.maximum(a, b), parallel, strict=True)
            cables[reverse] = {tuple(map(int, cable)) for cable in pairs if min(cable[:2]) >= 12}
        assert cables[0] == cables[1]


def test_what_is_asked_or_nothing_may_limit_the_flows_instead():
    def asked(scenario):
        scenario["workload"] |= {"admission": "asked", "scale": 1.5, "headroom": 0.1}

    flows = input_tables(resolved(lambda s: (asked(s), demand(0)(s).update(hosts=4))))["flows"]
    assert flows["rate_bps"].tolist() == [450 * 10**9 // 16] * 16 + [150 * 10**9 // 8] * 8

    tables = input_tables(resolved(lambda s: s["workload"].update(admission="none", routed=False)))
    assert "rate_bps" not in tables["flows"] and "routes" not in tables


def test_parity_of_the_transport_is_reserved():
    def parity(scenario):
        scenario["transport"]["attributes"] = {"ParityPackets": 16}  # on 64
        demand(0)(scenario).update(demand="600 Gb/s", hosts=4, paths=[["east", "west"]])

    with pytest.raises(SpecError, match="demand bulk: 600 .* its 1 tunnels carry 160 Gbit/s"):
        resolved(parity)


def test_a_spec_on_disk_is_the_same_spec():
    spec = resolved().plain()
    assert checked(spec, "spec.json").plain() == spec


MISTAKES = {
    "an unknown site": (
        lambda s: demand(0)(s).update({"to": "wset"}),
        r"workload.demands.0.to: no site is called 'wset'. .* Did you mean west\?",
    ),
    "a tunnel over a link that does not exist": (
        lambda s: (
            demand(0)(s).update(paths=[["east", "middle", "west"]]),
            s["topology"]["long_haul"].pop(0),
        ),
        "demands.0.paths.0: east - middle - west: no link joins east and middle. There are",
    ),
    "a tunnel that ends elsewhere": (
        lambda s: demand(0)(s).update(paths=[["east", "middle"]]),
        "demands.0.paths.0: east - middle does not lead from east to west",
    ),
    "more than can ever be granted": (
        lambda s: demand(0)(s).update(demand="700 Gb/s", hosts=4),
        "workload.demands: demand bulk: 700 Gbit/s can never be granted: its 2 tunnels carry 600",
    ),
    "more than the hosts can send": (
        lambda s: demand(0)(s).update(demand="500 Gb/s", hosts=1),
        "demand bulk: 500 Gbit/s can never be granted: the links of its hosts \\(1\\) carry 400",
    ),
    "nothing left": (
        lambda s: (
            demand(0)(s).update(demand="600 Gb/s", hosts=4),
            demand(1)(s).update(priority=1, paths=[["middle", "west"]]),
        ),
        "workload.demands: demand web is granted nothing; others of higher priority have all of",
    ),
    "a message that does not divide": (
        lambda s: demand(1)(s).update(message="3 B"),
        "demands.1.message: 3 B do not divide into 4 quanta",
    ),
    "a late start": (
        lambda s: demand(1)(s).update(start="1 s"),
        "workload.demands.1.start: 1 s is not before stop, 1 s. Raise stop",
    ),
    "another topology": (
        lambda s: s.update(topology=SITE),
        "workload.type: demands are between the sites of multi_site; the topology is leaf_spine",
    ),
    "nobody who looks at paths": (
        lambda s: s["switch"].update(forwarding={"type": "ns3::EcmpHash"}),
        "switch.forwarding: ns3::EcmpHash does not look at the routes of wan_demands",
    ),
    "rates at flow level": (
        lambda s: s.update(engine={"type": "fluid"}),
        "workload.0?.?admission: engine fluid knows no rate of a flow's own. Write none, or",
    ),
    "blocks of no packets": (
        lambda s: s["transport"].update(attributes={"BlockPackets": 0, "ParityPackets": 1}),
        "BlockPackets: ns3::WanTransport: BlockPackets: 0 is out of range; it must be 1 to 32768",
    ),
    "sites of one's own": (
        lambda s: s["workload"].update(sites=["a"]),
        "workload.sites: sites are those of the scenario. Leave it out",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", MISTAKES)
def test_what_cannot_be_is_refused_before_the_run(what):
    change, message = MISTAKES[what]
    with pytest.raises(SpecError, match=message) as caught:
        resolved(change)
    assert "\n" not in str(caught.value)


def test_the_metric_asks_for_one_such_workload():
    spec = resolved()
    assert wan_te.refusal(spec) == ""
    assert "not one of its workloads is wan_demands" in wan_te.refusal(
        spec.model_copy(update={"workload": ()})
    )  # fmt: skip
