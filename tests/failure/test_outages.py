# SPDX-License-Identifier: GPL-2.0-only
"""What kinds of trouble add up to, counted moment by moment, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyorch.failure import random_links, scheduled
from pyorch.failure._outage import NEVER_PS, Outages, link_events, together
from pyorch.spec.fields import FieldError

#: Two hosts under two leaves (10, 11), two spines (20, 21) in planes 0 and 1; a double link.
NODES = {
    "node": np.array([0, 1, 10, 11, 20, 21]),
    "is_switch": np.array([0, 0, 1, 1, 1, 1]),
    "tier": np.array([0, 0, 1, 1, 2, 2]),
    "plane": np.array([0, 0, 0, 0, 0, 1]),
}
LINKS = {
    "node_a": np.array([0, 1, 10, 10, 11, 11, 11]),
    "node_b": np.array([10, 11, 20, 21, 20, 21, 21]),
    "parallel": np.array([0, 0, 0, 0, 0, 0, 1]),
    "rate_bps": np.full(7, 100),
    "delay_ps": np.full(7, 1),
}


def of(*rows) -> Outages:
    return Outages(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


def scheduled_outages(**given):
    params = scheduled.Params.model_validate(given)
    scheduled.check(params, NODES, LINKS, 10**9)
    return scheduled.outages(params, NODES, LINKS, 1, 10**9)


def test_overlapping_outages_leave_the_slowest_rate_and_no_empty_rows():
    # By hand: cut in [10, 30), 40 b/s in [20, 50). So 0 at 10, 40 at 30, 100 again at 50.
    table = link_events(of((2, 10, 30, 0), (2, 20, 50, 40)), LINKS)

    rows = list(zip(table["time_ps"], table["rate_bps"], strict=True))
    assert rows == [(10, 0), (30, 40), (50, 100)]
    assert set(zip(table["node_a"], table["node_b"], strict=True)) == {(10, 20)}


@given(
    st.lists(
        st.tuples(
            st.integers(0, 6), st.integers(0, 50), st.integers(1, 30), st.sampled_from([0, 25, 70])
        ),
        min_size=1,
        max_size=12,
    )
)
def test_at_every_moment_a_link_has_the_rate_of_its_worst_outage(rows):
    # Oracle: look at every link at every moment.
    outages = of(*((link, start, start + length, rate) for link, start, length, rate in rows))
    table = link_events(outages, LINKS)

    for link in range(7):
        ends = tuple(int(LINKS[name][link]) for name in ("node_a", "node_b", "parallel"))
        mine = [
            (int(time), int(rate))
            for *where, time, rate in zip(
                *(table[name] for name in ("node_a", "node_b", "parallel", "time_ps", "rate_bps")),
                strict=True,
            )
            if tuple(where) == ends
        ]
        assert mine == sorted(mine)
        for moment in range(90):
            hit = [rate for at, start, length, rate in rows if at == link]
            hit = [
                rate for at, start, length, rate in rows
                if at == link and start <= moment < start + length
            ]  # fmt: skip
            in_force = [rate for time, rate in mine if time <= moment]
            assert (in_force[-1] if in_force else 100) == min([100, *hit])


def test_a_switch_that_fails_takes_all_its_links_and_a_plane_all_its_switches():
    # By hand: spine 21 is the only switch of plane 1; its links are rows 3, 5 and 6.
    by_switch = scheduled_outages(switches=[21], at="1 ns")
    by_plane = scheduled_outages(planes=[1], at="1 ns")

    assert by_switch.link.tolist() == by_plane.link.tolist() == [3, 5, 6]
    assert (by_switch.end_ps == NEVER_PS).all()


def test_a_flapping_link_fails_as_often_as_it_is_told():
    flaps = scheduled_outages(links=[[20, 10]], at="1 ns", duration="2 ns", every="5 ns", times=3)

    table = link_events(flaps, LINKS)
    assert table["time_ps"].tolist() == [1000, 3000, 6000, 8000, 11000, 13000]
    assert table["rate_bps"].tolist() == [0, 100] * 3


def test_links_fail_for_the_share_of_time_that_mtbf_and_mttr_say():
    # Oracle: an alternating renewal process is down for mttr / (mtbf + mttr) of the time. Each of
    # 5 links has about 10^4 / 110 * 10 = 900 cycles; the share 1/11 then has sigma of about
    # sqrt(2 / 4500) * (1/11) * (10/11) = 0.0018; 5 sigma: a false alarm of 6e-7.
    stop_ps = 100_000_000
    params = random_links.Params.model_validate({"mtbf": "100 ns", "mttr": "10 ns"})
    got = random_links.outages(params, NODES, LINKS, 7, stop_ps)

    assert set(got.link.tolist()) == {2, 3, 4, 5, 6}  # hosts keep theirs
    down = (np.minimum(got.end_ps, stop_ps) - got.start_ps).sum() / (5 * stop_ps)
    assert abs(down - 1 / 11) < 0.009


def test_another_link_changes_nothing_for_the_others():
    params = random_links.Params.model_validate({"mtbf": "100 ns", "mttr": "10 ns"})
    fewer = {name: values[:-1] for name, values in LINKS.items()}

    all_links = random_links.outages(params, NODES, LINKS, 3, 10**6)
    some = random_links.outages(params, NODES, fewer, 3, 10**6)
    assert all_links.start_ps[all_links.link < 6].tolist() == some.start_ps.tolist()
    other_seed = random_links.outages(params, NODES, LINKS, 4, 10**6)
    assert other_seed.start_ps.tolist() != all_links.start_ps.tolist()


def test_no_trouble_at_all_is_an_empty_table():
    params = random_links.Params.model_validate({"mtbf": "1 s", "mttr": "1 ns"})
    got = together([random_links.outages(params, NODES, LINKS, 1, 10)])
    assert len(link_events(got, LINKS)["time_ps"]) == 0


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"at": "1 ns"}, "links", "nothing fails"),
        ({"at": "1 ns", "links": [[0, 11]]}, "links", "no link between nodes 0 and 11"),
        ({"at": "1 ns", "switches": [1]}, "switches", "node 1 is no switch. Switches: 10 to 21"),
        ({"at": "1 ns", "planes": [7]}, "planes", "no plane 7"),
        ({"at": "1 ms", "switches": [20]}, "at", "is not before stop"),
        ({"at": "1 ns", "switches": [20], "times": 2}, "times", "needs `duration` and `every`"),
        (
            {"at": "1 ns", "switches": [20], "times": 2, "duration": "3 ns", "every": "2 ns"},
            "every",
            "longer than `duration`",
        ),
    ],
)
def test_an_impossible_schedule_names_the_key_and_why(given, field, message):
    with pytest.raises(FieldError, match=message) as caught:
        scheduled_outages(**given)
    assert caught.value.field == field
