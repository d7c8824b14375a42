# SPDX-License-Identifier: GPL-2.0-only
"""What a controller does as links change: when, for whom, and in which order."""

import numpy as np
import pytest

from pyorch.errors import SpecError
from pyorch.render.tables import input_tables
from pyorch.spec import typeids
from pyorch.spec.resolve import Resolver
from pyorch.spec.scenario import scenario_of
from pyorch.wan.control import Control

MS_PS = 10**9
SITE = {"type": "star", "hosts": 2}
#: Hosts 0-1 east, 2-3 middle, 4-5 west; switches 6, 7, 8; border switches 9, 10, 11.
BORDER = {"east": 9, "middle": 10, "west": 11}


def tables(failures, control, quanta=1, borders=1, direct=100, **more):
    """Two demands of 80 Gb/s: direct from east to west, and from east to middle."""
    scenario = {
        "name": "cut",
        "topology": {
            "type": "multi_site",
            "sites": [
                {"name": name, "topology": SITE, "borders": borders if name == "east" else 1}
                for name in BORDER
            ],
            "long_haul": [
                {"between": ["east", "west"], "rate": f"{direct} Gb/s", "delay": "5 ms"},
                {"between": ["east", "middle"], "rate": "100 Gb/s", "delay": "10 ms"},
                {"between": ["middle", "west"], "rate": "100 Gb/s", "delay": "10 ms"},
            ],
        },
        "link": {"rate": "400 Gb/s", "delay": "500 ns"},
        "switch": {"buffer": "32 MB", "forwarding": {"type": "ns3::ExplicitRoutes"}},
        "workload": {
            "type": "wan_demands", "headroom": 0, "quanta": quanta,
            "demands": [
                {"name": "far", "from": "east", "to": "west", "demand": "80 Gb/s",
                 "message": "1 GB"},
                {"name": "near", "from": "east", "to": "middle", "demand": "80 Gb/s",
                 "message": "1 GB"},
            ],
            "control": control, **more,
        },
        "transport": {"type": "ns3::WanTransport"},
        "failures": failures,
        "stop": "1 s",
    }  # fmt: skip
    return input_tables(Resolver(typeids.load()).resolve(scenario_of(scenario)))


def cut(a, b, at="100 ms", **more):
    ends = [BORDER[a], BORDER[b]]
    return {"type": "scheduled", "links": [ends], "at": at, **more}


def rows(table, *names):
    return list(zip(*(table[name].tolist() for name in names), strict=True))


def test_a_cut_moves_a_flow_and_makes_two_share_what_is_left():
    """By hand: without the direct link both demands share the 100 Gb/s from east to middle.

    Each has 50. Looked at when it is cut (100 ms), told 20 ms later: both send less at 120 ms, the
    one moves at 125 ms: at east it leaves border 9 to 10 instead of 11, at middle 10 to 11.
    """
    made = tables([cut("east", "west")], {"delay": "20 ms", "step": "5 ms"})

    changes = sorted(rows(made["rate_changes"], "flow", "time_ps", "rate_bps"))
    assert [row[:2] for row in changes] == [(0, 120 * MS_PS), (1, 120 * MS_PS)]
    assert [row[2] for row in changes] == pytest.approx([50e9, 50e9], rel=1e-6)
    later = {name: column[made["routes"]["from_ps"] > 0] for name, column in made["routes"].items()}
    assert set(later["from_ps"].tolist()) == {125 * MS_PS}
    assert set(later["flow"].tolist()) == {0}
    forth = later["reverse"] == 0
    hops = set(rows({k: v[forth] for k, v in later.items()}, "node", "peer"))
    assert {(9, 10), (10, 11)} <= hops and (9, 11) not in hops
    back = set(rows({k: v[~forth] for k, v in later.items()}, "node", "peer"))
    assert {(11, 10), (10, 9)} <= back


def test_what_comes_back_is_as_it_was_and_who_gets_more_comes_last():
    """The link is back at 300 ms: nobody has to send less, so at 325 ms one moves back, and at
    330 ms both have their 80 Gb/s again."""
    made = tables([cut("east", "west", duration="200 ms")], {"delay": "20 ms", "step": "5 ms"})

    changes = sorted(rows(made["rate_changes"], "time_ps", "flow", "rate_bps"))
    assert [row[:2] for row in changes[2:]] == [(330 * MS_PS, 0), (330 * MS_PS, 1)]
    assert [row[2] for row in changes[2:]] == pytest.approx([80e9, 80e9], rel=1e-6)
    routes = made["routes"]
    first = {row for row in rows(routes, "from_ps", "reverse", "node", "peer", "flow")
             if row[0] == 0 and row[-1] == 0}  # fmt: skip
    again = {row for row in rows(routes, "from_ps", "reverse", "node", "peer", "flow")
             if row[0] == 325 * MS_PS and row[-1] == 0}  # fmt: skip
    assert {row[1:] for row in again} == {row[1:] for row in first}


def test_nobody_moves_or_changes_whom_the_cut_does_not_concern():
    """Between middle and west nothing flows, so a cut there changes nothing at all."""
    made = tables([cut("middle", "west")], {"delay": "20 ms"})

    assert "rate_changes" not in made
    assert "from_ps" not in made["routes"]


def test_a_slower_link_changes_rates_alone():
    """East to middle at 40 Gb/s: near, which may take no other path, gets 40, far keeps its 80."""
    demands = [
        {"name": "far", "from": "east", "to": "west", "demand": "80 Gb/s", "message": "1 GB"},
        {"name": "near", "from": "east", "to": "middle", "demand": "80 Gb/s", "message": "1 GB",
         "paths": [["east", "middle"]]},
    ]  # fmt: skip
    failures = [cut("east", "middle", rate="40 Gb/s")]
    made = tables(failures, {"delay": "1 ms"}, demands=demands)

    assert rows(made["rate_changes"], "time_ps", "flow") == [(101 * MS_PS, 1)]
    assert made["rate_changes"]["rate_bps"].tolist() == pytest.approx([40e9], rel=1e-6)
    assert "from_ps" not in made["routes"]


def test_quanta_that_need_not_move_stay():
    """Of 180 Gb/s the direct link has 100 and the middle the rest; three of four quanta stay."""
    more = {"demands": [
        {"name": "far", "from": "east", "to": "west", "demand": "120 Gb/s", "message": "1 GB"},
    ]}  # fmt: skip
    made = tables([cut("middle", "west")], {"delay": "1 ms"}, quanta=4, **more)

    routes = made["routes"]
    start = {flow: set() for flow in range(4)}
    for flow, node, peer, reverse, from_ps in rows(
        routes, "flow", "node", "peer", "reverse", "from_ps"
    ):
        if not reverse and not from_ps:
            start[flow].add((node, peer))
    direct = [flow for flow, hops in start.items() if (9, 11) in hops]
    assert len(direct) == 3
    assert set(routes["flow"][routes["from_ps"] > 0].tolist()) == set(range(4)) - set(direct)


def test_flows_on_other_cables_stay_when_one_of_three_is_cut():
    """East has border switches 9, 10, 11, each with 40 Gb/s to 13, and three quanta one each.

    Without 9 its flow joins one of the others; dealt out anew all of them would move.
    """
    more = {"demands": [
        {"name": "far", "from": "east", "to": "west", "demand": "100 Gb/s", "message": "1 GB",
         "paths": [["east", "west"]]},
    ]}  # fmt: skip
    failures = [{"type": "scheduled", "links": [[9, 13]], "at": "100 ms"}]
    made = tables(failures, {"delay": "1 ms"}, quanta=3, borders=3, direct=40, **more)

    routes = made["routes"]
    crossing = (routes["peer"] == 13) & (routes["reverse"] == 0)
    first = dict(rows({k: v[crossing & (routes["from_ps"] == 0)] for k, v in routes.items()},
                      "node", "flow"))  # fmt: skip
    assert sorted(first) == [9, 10, 11]
    assert set(routes["flow"][routes["from_ps"] > 0].tolist()) == {first[9]}
    # Two quanta on one cable of 40 Gb/s: 20 each, so 60 in all.
    assert made["rate_changes"]["rate_bps"].tolist() == pytest.approx([20e9] * 3, rel=1e-6)


@pytest.mark.parametrize(
    ("control", "changed_ps", "looks_ps"),
    [
        (Control(20), 101, 101),
        (Control(20, epoch_ps=50), 101, 150),
        (Control(20, epoch_ps=50), 150, 150),
        # Away from 140 on it has not told what it saw at 101 before 121 + 2 x 10.
        (Control(20, 10, away=[(140, 500)]), 101, 500),
        (Control(20, 10, away=[(142, 500)]), 101, 101),
        (Control(20, 10, away=[(140, 500), (510, 600)]), 101, 600),
    ],
)
def test_it_looks_at_its_epochs_and_when_it_is_there(control, changed_ps, looks_ps):
    assert control.looks_ps(changed_ps) == looks_ps


def test_while_the_controller_is_away_nothing_changes_and_then_it_sees_the_last_state():
    """Cut from 100 to 300 ms; away from 50 to 250 ms: told at 270 and 320. Away until 350: both
    changes are over, and there is nothing to tell."""
    failures = [cut("east", "west", duration="200 ms")]
    away = [{"from": "50 ms", "to": "250 ms"}]
    made = tables(failures, {"delay": "20 ms", "away": away})
    assert sorted(set(made["rate_changes"]["time_ps"].tolist())) == [270 * MS_PS, 320 * MS_PS]

    away = [{"from": "50 ms", "to": "350 ms"}]
    assert "rate_changes" not in tables(failures, {"delay": "20 ms", "away": away})


MISTAKES = {
    "no path": (
        [cut("east", "west"), cut("east", "middle")], {"delay": "1 ms"}, {},
        r"workload.0.control: with the links as they are after 0.1 s: demand far: no path from",
    ),
    "nothing to control": (
        [], {"delay": "1 ms"}, {"admission": "asked"},
        "control: a controller sets rates and paths. Leave `admission` and `routed` out",
    ),
    "away for no time": (
        [], {"delay": "1 ms", "away": [{"from": "2 ms", "to": "2 ms"}]}, {},
        "control.away.0.to: 2 ms is not later than `from`, 2 ms. Write a later time.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", MISTAKES)
def test_what_cannot_be_is_refused_before_the_run(what):
    failures, control, more, message = MISTAKES[what]
    with pytest.raises(SpecError, match=message) as caught:
        tables(failures, control, **more)
    assert "\n" not in str(caught.value)


def test_without_failures_control_changes_nothing():
    made = tables([], {"delay": "1 ms"})
    assert "rate_changes" not in made and "from_ps" not in made["routes"]
    assert np.array_equal(made["routes"]["flow"], tables([], None)["routes"]["flow"])
