# SPDX-License-Identifier: GPL-2.0-only
"""A controller in the loop: what it is told, when its limits hold, and what waits meanwhile.

The network of `test_control`, without packets: sources send just at the rates that they are told.
"""

import importlib.util

import numpy as np
import pytest

from pyorch.errors import PluginError, SpecError
from pyorch.render.tables import input_tables
from pyorch.scaffold import write
from pyorch.spec import typeids
from pyorch.spec.resolve import Resolver
from pyorch.spec.scenario import scenario_of
from pyorch.wan.online import Counted
from pyorch.wan.plan import Grant, Plan, Tunnel
from pyorch.workload import wan_demands

MS_PS = 10**9
BORDER = {"east": 9, "middle": 10, "west": 11}
#: A packet of 4096 B with headers and framing [bit].
FRAME_BITS = 4178 * 8
CONTROL = {"epoch": "50 ms", "delay": "20 ms", "step": "5 ms", "controller": "max_min"}


def demand(name, target, rate, **more):
    return {"name": name, "from": "east", "to": target, "demand": rate, "message": "10 GB", **more}


def scenario(demands, control, **more):
    return {
        "name": "online",
        "topology": {
            "type": "multi_site",
            "sites": [{"name": name, "topology": {"type": "star", "hosts": 2}} for name in BORDER],
            "long_haul": [
                {"between": ["east", "west"], "rate": "100 Gb/s", "delay": "5 ms"},
                {"between": ["east", "middle"], "rate": "100 Gb/s", "delay": "10 ms"},
                {"between": ["middle", "west"], "rate": "100 Gb/s", "delay": "10 ms"},
            ],
        },
        "link": {"rate": "400 Gb/s", "delay": "500 ns"},
        "switch": {"buffer": "32 MB", "forwarding": {"type": "ns3::ExplicitRoutes"}},
        "workload": {"type": "wan_demands", "headroom": 0, "quanta": 1, "demands": demands,
                     "control": control},
        "transport": {"type": "ns3::WanTransport"},
        "stop": "1 s", **more,
    }  # fmt: skip


class Run:
    """A loop, and sources that do as they are told until some time."""

    def __init__(self, demands, until_ms, cut=None, decide=None, **control):
        spec = Resolver(typeids.load()).resolve(scenario_of(scenario(demands, CONTROL | control)))
        tables = input_tables(spec)
        links = tables["links"]
        self.loop = wan_demands.loop(spec.workload[0].params, tables["nodes"], links)
        if decide:
            self.loop._decide = decide
        n_flows = len(self.loop.rates_bps)
        sent, rate = np.zeros(n_flows), np.array(self.loop.rates_bps, dtype=float)
        whole = np.ceil(tables["flows"]["bytes"] / 4096) * FRAME_BITS
        now_ps, self.changes, self.moved = 0, [], []
        while (next_ps := self.loop.next_ps) <= until_ms * MS_PS:
            sent = np.minimum(whole, sent + rate * (next_ps - now_ps) / 1e12)
            up = links["rate_bps"].copy()
            if cut and next_ps > cut[0]:
                for pair in cut[1:]:
                    ends = sorted(BORDER[site] for site in pair)
                    up[(links["node_a"] == ends[0]) & (links["node_b"] == ends[1])] = 0
            orders = self.loop.step(Counted(sent, whole, np.full(n_flows, FRAME_BITS), up, {}))
            for flow, bps in orders.rates_bps:
                rate[flow] = bps
                self.changes.append((next_ps / MS_PS, flow, bps / 1e9))
            self.moved += [(next_ps / MS_PS, flow, stream) for flow, stream in orders.moved]
            now_ps = next_ps

    def looks(self, name):
        return [getattr(row, name) for row in self.loop.decisions if row.demand == 0]


def test_a_demand_that_grows_is_seen_at_the_next_epoch_and_admitted_a_delay_and_two_steps_later():
    """By hand. 20 Gb/s were seen at 50 ms, so at 80 ms the limit is 22, 10 % more.

    At 100 ms the demand is 60 and sends at its limit. At 150 ms it has sent 22 x 0.05 Gbit, and
    38 x 0.05 Gbit wait: it is taken for 22 x 1.1 + 38 = 62.2 Gb/s, from 180 ms on. Then 38 x 0.08
    Gbit wait and become 2.2 Gb/s less.
    """
    run = Run([demand("far", "west", "20 Gb/s", profile=[{"from": "100 ms", "demand": "60 Gb/s"}])],
              until_ms=190)  # fmt: skip

    assert [row[:2] for row in run.changes] == [(100, 0), (180, 0)]
    assert [row[2] for row in run.changes] == pytest.approx([22, 62.2], rel=1e-6)
    assert run.looks("waiting_bytes") == pytest.approx([0, 0, 38e9 * 0.05 / 8], rel=1e-6)
    assert run.looks("sent_bytes") == pytest.approx([20e9 / 160, 20e9 / 160, 22e9 / 160], rel=1e-6)
    assert run.looks("limit_bps") == pytest.approx([20e9, 22e9, 22e9], rel=1e-6)
    assert run.looks("granted_bps") == pytest.approx([22e9, 22e9, 62.2e9], rel=1e-6)
    assert run.moved == []


def test_what_waits_is_gone_at_once_and_the_source_goes_back_to_what_it_makes():
    """At 200 ms 38 x 0.08 - 2.2 x 0.02 = 2.996 Gbit wait of 62.2 x 0.02 + 22 x 0.03 sent: taken for
    38.08 x 1.1 + 59.92 = 101.808 it gets 100 at 230 ms, when 2.93 Gbit wait. 40 Gb/s more than it
    makes drain that in 73.25 ms, less two packets."""
    later = {"profile": [{"from": "100 ms", "demand": "60 Gb/s"}], "paths": [["east", "west"]]}
    run = Run([demand("far", "west", "20 Gb/s", **later)], until_ms=320)

    at = {row[0]: row[2] for row in run.changes}
    assert at[230] == pytest.approx(100, rel=1e-6)
    last_ms, _, last_gbps = run.changes[-1]
    assert last_ms == pytest.approx(303.25, abs=0.01)
    assert last_gbps == pytest.approx(60, rel=1e-6)


@pytest.mark.parametrize("away_ms", [200, 400])
def test_while_nobody_decides_limits_stay_and_what_waits_is_what_was_made_less_the_limit(away_ms):
    """Away from 90 ms on, after 22 Gb/s were told at 80 ms: at each epoch 38 Gb/s x time waits."""
    back = f"{90 + away_ms} ms"
    run = Run([demand("far", "west", "20 Gb/s", profile=[{"from": "100 ms", "demand": "60 Gb/s"}])],
              until_ms=100 + away_ms, away=[{"from": "90 ms", "to": back}])  # fmt: skip

    looks_ms = np.arange(50, 101 + away_ms, 50)
    assert run.looks("waiting_bytes") == pytest.approx(
        38e9 / 8e3 * np.maximum(looks_ms - 100, 0), rel=1e-6, abs=1
    )
    missed = [granted is None for granted in run.looks("granted_bps")]
    assert missed == [90 <= ms < 90 + away_ms for ms in looks_ms]
    assert [row[0] for row in run.changes] == [100]


def test_a_cut_link_is_seen_and_answered_as_by_the_controller_that_knows_it_beforehand():
    """Cut at 120 ms: seen at 150, slower at 170, moved at 175: rates and paths of `re_engineered`.

    80 Gb/s each, without a margin; on what is left both share the 100 from east to middle.
    """
    demands = [demand("far", "west", "80 Gb/s"), demand("near", "middle", "80 Gb/s")]
    own = {"controller": {"type": "max_min", "margin": 0}}
    run = Run(demands, until_ms=190, cut=(120 * MS_PS, ("east", "west")), **own)

    assert [row[:2] for row in run.changes] == [(170, 0), (170, 1)]
    assert [row[2] for row in run.changes] == pytest.approx([50, 50], rel=1e-6)
    (moved,) = run.moved
    assert moved[:2] == (175, 0)
    hops = {(a, b) for a, b, _ in moved[2].path}
    assert {(9, 10), (10, 11)} <= hops and (9, 11) not in hops


def test_demands_that_want_more_than_there_is_share_it_by_weight_and_fill_no_link_twice():
    """60 of 80 Gb/s by weights 3 and 1 on one link of 80: both want 80 from 100 ms on.

    far may go by the middle alone, near as well: both share 100 Gb/s there, 75 and 25, once their
    demands are known.
    """
    later = {"profile": [{"from": "100 ms", "demand": "90 Gb/s"}]}
    demands = [
        demand("far", "west", "30 Gb/s", weight=3, paths=[["east", "middle", "west"]], **later),
        demand("near", "middle", "30 Gb/s", paths=[["east", "middle"]], **later),
    ]
    run = Run(demands, until_ms=500)

    last = {row.demand: row.limit_bps for row in run.loop.decisions}
    assert last == {0: pytest.approx(75e9, rel=1e-6), 1: pytest.approx(25e9, rel=1e-6)}
    by_look = np.array([row.granted_bps for row in run.loop.decisions]).reshape(-1, 2)
    assert (by_look.sum(axis=1) <= 100e9 * (1 + 1e-9)).all()


def test_a_demand_that_has_ended_leaves_its_rate_to_others():
    """far is through after 1 GB; from the epoch after that it is taken for the least, 1 Mb/s."""
    demands = [
        demand("far", "west", "60 Gb/s", message="100 MB", paths=[["east", "middle", "west"]]),
        demand("near", "middle", "60 Gb/s", paths=[["east", "middle"]]),
    ]
    run = Run(demands, until_ms=200)

    granted = np.array([row.granted_bps for row in run.loop.decisions]).reshape(-1, 2)
    assert granted[-1, 0] == 1_000_000
    assert granted[-1, 1] > 60e9


GRANTS = {
    "nothing": (None, "it returns NoneType. Return a pyorch.wan.plan.Plan"),
    "a path over a link that is not there": (
        lambda d: [Grant(d, 1e9, 1.0, (Tunnel(("east", "north", "west"), 1.0),))],
        "sends demand far by east - north - west. Lead it from east to west over links that are up:"
        " east - west, east - middle, middle - west",
    ),
    "a path to another site": (
        lambda d: [Grant(d, 1e9, 1.0, (Tunnel(("east", "middle"), 1.0),))],
        "sends demand far by east - middle. Lead it from east to west",
    ),
    "other demands": (lambda d: [], "the plan is for . Grant, in this order: far"),
    "a third of fourths": (
        lambda d: [Grant(d, 1e9, 1.0, (Tunnel(("east", "west"), 0.3),))],
        "splits demand far into 0.3. Write multiples of 1/1 that add up to 1",
    ),
    "no number": (
        lambda d: [Grant(d, float("nan"), 1.0, (Tunnel(("east", "west"), 1.0),))],
        "grants demand far nan bit/s. Write 0 or more",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", GRANTS)
def test_a_plan_that_cannot_be_is_refused_in_one_line(what):
    grants, message = GRANTS[what]

    def controller(request, seen):
        return grants and Plan(tuple(grants(request.demands[0])), {}, {})

    with pytest.raises(PluginError, match=message) as caught:
        Run([demand("far", "west", "20 Gb/s")], until_ms=60, decide=controller)
    assert str(caught.value).startswith(
        "pyorch/controller/max_min.py: plan, at the epoch until 50 ms: "
    )
    assert "\n" not in str(caught.value)


def test_what_a_controller_raises_ends_the_run_and_says_in_which_line(tmp_path):
    """Also an error of ours that its own code asks for: it is no link that is down."""
    file = tmp_path / "pyorch/controller/max_min.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "from pyorch.wan import plan as planned\n\n"
        "def plan(request, seen):\n"
        "    alone = request.model_copy(update={'links': request.links[1:2]})\n"
        "    return planned(alone) if seen.now_ps > 60e9 else 1 / 0\n"
    )
    spec = importlib.util.spec_from_file_location("own", file)
    own = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)
    with pytest.raises(PluginError) as caught:
        Run([demand("far", "west", "20 Gb/s")], until_ms=60, decide=own.plan)
    assert str(caught.value) == (
        "pyorch/controller/max_min.py: plan, at the epoch until 50 ms: line 5: ZeroDivisionError:"
        " division by zero"
    )
    away = [{"from": "0 ms", "to": "90 ms"}]
    with pytest.raises(PluginError) as caught:
        Run([demand("far", "west", "20 Gb/s")], until_ms=110, decide=own.plan, away=away)
    assert str(caught.value) == (
        "pyorch/controller/max_min.py: plan, at the epoch until 0.1 s: line 5: TheoryError: demand"
        " far: no path from site east to west. Add a link."
    )


@pytest.mark.parametrize(
    ("paths", "cuts"),
    [({"paths": [["east", "west"]]}, [("east", "west")]),
     ({}, [("east", "west"), ("middle", "west")])],
)  # fmt: skip
def test_a_demand_to_which_no_path_is_left_is_told_from_a_controller_that_is_away(paths, cuts):
    """Away at 50 ms, all is well at 100 ms, and from 120 ms on far has no path, but near has."""
    demands = [demand("near", "middle", "20 Gb/s"), demand("far", "west", "20 Gb/s", **paths)]
    away = [{"from": "0 ms", "to": "60 ms"}]
    run = Run(demands, until_ms=160, cut=(120 * MS_PS, *cuts), away=away)

    rows = [(row.demand, row.is_infeasible, row.granted_bps is None) for row in run.loop.decisions]
    assert rows[:2] == [(0, None, True), (1, None, True)]
    assert rows[2:4] == [(0, False, False), (1, False, False)]
    assert rows[4:] == [(0, False, True), (1, True, True)]
    assert run.moved == []


def test_what_a_plan_grants_too_much_is_lowered_to_what_cables_carry():
    def controller(request, seen):
        (far,) = request.demands
        return Plan((Grant(far, 5e12, 1.0, (Tunnel(("east", "west"), 1.0),)),), {}, {})

    run = Run([demand("far", "west", "20 Gb/s", profile=[{"from": "60 ms", "demand": "90 Gb/s"}])],
              until_ms=60, decide=controller)  # fmt: skip
    assert run.looks("granted_bps") == pytest.approx([100e9], rel=1e-6)


def test_the_controller_that_is_written_gives_all_the_same(tmp_path):
    """Two demands on one link of 100 Gb/s have 50 each, whatever they ask for."""
    write("controller", "equal", tmp_path)
    spec = importlib.util.spec_from_file_location("equal", tmp_path / "pyorch/controller/equal.py")
    equal = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(equal)
    demands = [
        demand("far", "west", "10 Gb/s", paths=[["east", "middle", "west"]]),
        demand("near", "middle", "60 Gb/s", paths=[["east", "middle"]]),
    ]
    params = equal.Params()
    run = Run(demands, until_ms=60, decide=lambda asked, seen: equal.plan(params, asked, seen, {}))

    assert [row.granted_bps for row in run.loop.decisions] == pytest.approx([50e9] * 2, rel=1e-6)


MISTAKES = {
    "an epoch that is too short": (
        {}, {"epoch": "20 ms"}, {},
        "control.epoch: 20 ms: a plan is told in full before the next is made. Write at least"
        " delay and two steps, 30 ms",
    ),
    "an unknown controller": (
        {}, {"controller": "maxmin"}, {},
        "control.controller: no controller 'maxmin'. Found in pyorch/controller: max_min.",
    ),
    "an unknown parameter": (
        {}, {"controller": {"type": "max_min", "margn": 1}}, {}, "control.controller.margn",
    ),
    "a demand that nobody follows": (
        {"profile": [{"from": "1 ms", "demand": "1 Gb/s"}]}, {"controller": None}, {},
        "demands.0.profile: only who looks at the run follows a demand that changes",
    ),
    "changes out of order": (
        {"profile": [{"from": "2 ms", "demand": "1 Gb/s"}, {"from": "1 ms", "demand": "1 Gb/s"}]},
        {}, {}, "demands.0.profile.1.from: 1 ms is not after 2 ms. Sort the changes",
    ),
    "a change that comes too late": (
        {"profile": [{"from": "1 s", "demand": "1 Gb/s"}]}, {}, {},
        "demands.0.profile.0.from: 1 s is not before stop, 1 s. Raise stop.",
    ),
    "what is skipped": (
        {}, {}, {"engine": {"skip": "1%"}},
        "scenario: workload.control.controller: it looks at a run again and again",
    ),
}  # fmt: skip


def test_two_controllers_that_know_nothing_of_each_other_are_refused():
    given = scenario([demand("far", "west", "20 Gb/s")], CONTROL)
    own = given["workload"]
    given["workload"] = [{key: own[key] for key in own if key != "control"}, own]
    Resolver(typeids.load()).resolve(scenario_of(given))  # one may be there
    given["workload"] = [own, own]
    with pytest.raises(SpecError) as caught:
        Resolver(typeids.load()).resolve(scenario_of(given))
    assert (
        "workload.1.control: workload.0 has a controller already, and two know nothing of each"
        " other: both would give away the same links. Write all demands into one workload."
    ) in str(caught.value)


@pytest.mark.parametrize("what", MISTAKES)
def test_what_cannot_be_is_refused_before_the_run(what):
    of_demand, of_control, more, message = MISTAKES[what]
    given = scenario([demand("far", "west", "20 Gb/s", **of_demand)], CONTROL | of_control, **more)
    with pytest.raises(SpecError) as caught:
        Resolver(typeids.load()).resolve(scenario_of(given))
    assert message in str(caught.value) and "\n" not in str(caught.value)
