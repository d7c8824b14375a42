# SPDX-License-Identifier: GPL-2.0-only
"""What kinds of trouble add up to, counted moment by moment, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch import spec
from pyorch.failure import drawn, random, scheduled
from pyorch.failure._outage import NEVER_PS, Outages, link_events, merged
from pyorch.render import input_tables
from pyorch.spec.fields import FieldError
from pyorch.spec.scenario import parse_scenario
from tests.failure.failing import LINKS, NODES, SCENARIO, TYPEIDS, scheduled_outages


def of(*rows) -> Outages:
    return Outages(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


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


def drawn_outages(count, seed=1, **given):
    params = drawn.Params.model_validate({"count": count, **given})
    drawn.check(params, NODES, LINKS, 10**9)
    return drawn.outages(params, NODES, LINKS, seed, 10**9)


def test_links_that_are_drawn_are_so_many_and_more_of_them_are_those_and_others():
    # By hand: rows 2 to 6 of the link table join switches.
    hit = [set(drawn_outages(count).link.tolist()) for count in range(6)]

    assert [len(rows) for rows in hit] == [0, 1, 2, 3, 4, 5]
    assert all(less < more for less, more in zip(hit, hit[1:], strict=False))
    assert hit[5] == {2, 3, 4, 5, 6}
    assert len({drawn_outages(1, seed).link[0] for seed in range(50)}) == 5

    whole = drawn_outages(1, what="switches", at="1 us", duration="2 us", rate="50 bit/s")
    assert set(whole.start_ps) == {10**6} and set(whole.end_ps) == {3 * 10**6}
    assert set(whole.rate_bps) == {50} and len(whole.link) >= 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"count": 6}, "6, but there are 5 fabric_links here. Write 0 to 5."),
        ({"count": 1, "at": "2 ms"}, "2 ms is not before stop, 1 ms. Raise stop."),
        ({"count": 1, "rate": "100 bit/s"}, "is not slower than these links"),
    ],
)
def test_what_cannot_be_drawn_is_refused(given, said):
    with pytest.raises(FieldError) as error:
        drawn_outages(**given)
    assert said in str(error.value)


def random_outages(what, seed, stop_ps, links=LINKS, nodes=NODES, **more):
    params = random.Params.model_validate({"what": what, "mtbf": "100 ns", "mttr": "10 ns", **more})
    random.check(params, nodes, links, stop_ps)
    return random.outages(params, nodes, links, seed, stop_ps)


def rows_of(outages, link):
    hit = outages.link == link
    return list(zip(outages.start_ps[hit].tolist(), outages.end_ps[hit].tolist(), strict=True))


@pytest.mark.parametrize(
    ("what", "links_per_element"),
    [
        ("links", [1] * 7),
        ("fabric_links", [1] * 5),  # hosts keep theirs
        ("switches", [3, 4, 2, 3]),  # 10, 11, 20, 21
        ("planes", [7, 3]),  # 10, 11, 20; 21
    ],
)
def test_each_element_fails_for_the_share_of_time_that_mtbf_and_mttr_say(what, links_per_element):
    # Oracle: an alternating renewal process is down for mttr / (mtbf + mttr) = 1/11 of the time. In
    # 10^9 ps an element has about 9000 cycles, so its share has sigma sqrt(2 / 9000) * (1/11) *
    # (10/11) = 0.0012. Each counts once per link; 5 sigma of the sum: a false alarm of 6e-7.
    stop_ps = 10**9
    weights = np.array(links_per_element)
    sigma = np.sqrt(2 / 9000) * (1 / 11) * (10 / 11) * np.sqrt((weights**2).sum()) / weights.sum()
    got = random_outages(what, 7, stop_ps)

    assert len(set(got.link.tolist())) == (5 if what == "fabric_links" else 7)
    down = (np.minimum(got.end_ps, stop_ps) - got.start_ps).sum() / (weights.sum() * stop_ps)
    assert abs(down - 1 / 11) < 5 * sigma


@pytest.mark.parametrize("what", ["links", "switches", "planes"])
def test_another_element_changes_nothing_for_the_others(what):
    # Without link 3 and the host links nothing is left of switch 10 but link 2, and of plane 1 but
    # the double link, rows 5 and 6.
    some_links = {name: values[[2, 4, 5, 6]] for name, values in LINKS.items()}

    everything = random_outages(what, 3, 10**7)
    some = random_outages(what, 3, 10**7, some_links)

    for row, link in enumerate([2, 4, 5, 6]):
        assert len(rows_of(some, row)) > 50
        assert rows_of(some, row) == rows_of(everything, link)
    assert random_outages(what, 4, 10**7).start_ps.tolist() != everything.start_ps.tolist()


def test_a_plane_takes_the_links_of_its_switches_and_is_not_the_switch_of_its_number():
    # Planes 10 (of 10 and 20) and 11 (of 11 and 21): link 0 ends in the first alone, 1 in the
    # second alone, as also with the switches 10 and 11.
    nodes = NODES | {"plane": np.array([10, 10, 10, 11, 10, 11])}

    by_plane = random_outages("planes", 3, 10**6, nodes=nodes)
    by_switch = random_outages("switches", 3, 10**6, nodes=nodes)

    assert rows_of(by_plane, 2) == rows_of(by_plane, 0)  # 10 and 20
    assert rows_of(by_plane, 5) == rows_of(by_plane, 1)  # 11 and 21
    assert sorted(rows_of(by_plane, 3)) == sorted(rows_of(by_plane, 0) + rows_of(by_plane, 1))
    assert rows_of(by_plane, 0) != rows_of(by_switch, 0)


def test_a_link_is_slow_while_any_of_its_switches_or_planes_fails():
    # Oracle: look at every ns. Link 0 (host 0) fails with switch 10 alone, link 2 with 10 and 20.
    # Of 20 alone we learn by a link to it from a host.
    stop_ps = 2 * 10**6
    only_20 = {name: values[:1] for name, values in LINKS.items()} | {"node_b": np.array([20])}
    by_10 = rows_of(random_outages("switches", 5, stop_ps), 0)
    by_20 = rows_of(random_outages("switches", 5, stop_ps, only_20), 0)
    table = link_events(random_outages("switches", 5, stop_ps, rate="25 bit/s"), LINKS)
    mine = (table["node_a"] == 10) & (table["node_b"] == 20)

    slow = 0
    for moment in range(0, stop_ps, 1000):
        fails = any(start <= moment < end for start, end in by_10 + by_20)
        before = table["rate_bps"][mine & (table["time_ps"] <= moment)]
        assert (before[-1] if len(before) else 100) == (25 if fails else 100)
        slow += fails
    assert slow > 100


def test_two_random_kinds_of_trouble_of_one_scenario_do_not_fail_together():
    # The same thing said twice: with the same random numbers the second would add nothing.
    def failing(*failures):
        scenario = parse_scenario(SCENARIO.format(failures=", ".join(failures)), "twice.yaml")
        table = input_tables(spec.plan(scenario, typeids_file=TYPEIDS)[0].spec)["link_events"]
        return set(table["time_ps"][table["rate_bps"] == 0].tolist())

    kind = "{type: random, what: fabric_links, mtbf: 1 ms, mttr: 1 us}"
    once, twice = failing(kind), failing(kind, kind)

    # 2 x 4 cables for 20 ms: 160 failures each, a few of the second while a link is down.
    assert len(once) > 100
    assert len(twice - once) > 100


def test_no_trouble_at_all_is_an_empty_table():
    got = merged([random_outages("links", 1, 10, mtbf="1 s")])
    assert len(link_events(got, LINKS)["time_ps"]) == 0


def test_links_between_switches_can_fail_only_where_there_are_any():
    at_hosts = {name: values[:2] for name, values in LINKS.items()}
    with pytest.raises(FieldError, match="no link joins two switches here") as caught:
        random_outages("fabric_links", 1, 10, at_hosts)
    assert caught.value.field == "what"


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"at": "1 ns"}, "links", "nothing fails"),
        (
            {"at": "1 ns", "links": [[0, 11]]},
            "links",
            "no link between nodes 0 and 11. Node 0 has links to 10.",
        ),
        ({"at": "1 ns", "links": [[5, 11]]}, "links", "between nodes 5 and 11. There is no node 5"),
        ({"at": "1 ns", "switches": [1]}, "switches", "node 1 is no switch. Switches: 10 to 21"),
        ({"at": "1 ns", "planes": [7]}, "planes", "no plane 7"),
        ({"at": "1 ms", "switches": [20]}, "at", "1 ms is not before stop, 1 ms. Raise stop"),
        (
            {"at": "0 ns", "switches": [20], "times": 3, "duration": "1 ns", "every": "500 us"},
            "times",
            "the last of 3 outages would begin at 1 ms, which is not before stop, 1 ms",
        ),
        (
            {"at": "1 ns", "switches": [20], "rate": "100 bit/s"},
            "rate",
            "0.1 kb/s is not slower than these links, 0.1 kb/s. Write less, or leave `rate` out",
        ),
        ({"at": "1 ns", "switches": [20], "times": 2}, "times", "needs `duration` and `every`"),
        (
            {"at": "1 ns", "switches": [20], "times": 2, "duration": "3 ns", "every": "2 ns"},
            "every",
            "longer than `duration`",
        ),
        # 64 bits would wrap around, and the outage would be over before it began.
        (
            {"at": "1 ns", "switches": [20], "duration": "8e5 s", "times": 10, "every": "9e5 s"},
            "at",
            "would end later than",
        ),
    ],
)
def test_an_impossible_schedule_names_the_key_and_why(given, field, message):
    with pytest.raises(FieldError, match=message) as caught:
        scheduled_outages(**given)
    assert caught.value.field == field


def test_random_trouble_that_slows_nothing_down_is_refused():
    with pytest.raises(FieldError, match="0.1 kb/s is not slower than these links") as caught:
        random.check(
            random.Params.model_validate(
                {"what": "switches", "mtbf": "1 s", "mttr": "1 s", "rate": "100 bit/s"}
            ),
            NODES, LINKS, 10,
        )  # fmt: skip
    assert caught.value.field == "rate"


def slow_link_events(outages, links):
    """Second witness: at each moment the minimum over all outages that hold, link by link."""
    rows = []
    for link in sorted(set(outages.link.tolist())):
        own = [
            (start, end, min(rate, int(links["rate_bps"][link])))
            for hit, start, end, rate in zip(
                *(column.tolist() for column in (
                    outages.link, outages.start_ps, outages.end_ps, outages.rate_bps)),
                strict=True,
            )
            if hit == link
        ]  # fmt: skip
        before = int(links["rate_bps"][link])
        for time_ps in sorted({t for start, end, _ in own for t in (start, end)}):
            holding = [rate for start, end, rate in own if start <= time_ps < end]
            now = min(holding, default=int(links["rate_bps"][link]))
            if now != before and time_ps < NEVER_PS:
                rows.append((time_ps, link, now))
            before = now
    return rows


@settings(max_examples=200)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 20), st.integers(1, 10), st.integers(0, 9)),
        max_size=25,
    )
)
def test_overlapping_outages_of_any_rates_add_up_to_the_slowest_at_each_moment(rows):
    # Links of three rates, so an outage may have a higher rate than its link.
    links = {
        "node_a": np.array([0, 1, 2]), "node_b": np.array([9, 9, 9]),
        "rate_bps": np.array([4, 8, 5]),
    }  # fmt: skip
    table = np.array([(link, start, start + lasts, rate) for link, start, lasts, rate in rows])
    outages = Outages(*table.reshape(-1, 4).astype(np.int64).T)

    got = link_events(outages, links)

    expected = slow_link_events(outages, links)
    assert list(zip(got["time_ps"], got["node_a"], got["rate_bps"], strict=True)) == expected


def test_an_outage_never_makes_a_slower_link_faster():
    # 40 Gb/s for links of 100 and of 10: only the fast one changes.
    links = {
        "node_a": np.array([0, 1]), "node_b": np.array([9, 9]),
        "rate_bps": np.array([10**11, 10**10]),
    }  # fmt: skip
    both = np.array([0, 1])
    outages = Outages(both, np.array([5, 5]), np.array([8, 8]), np.full(2, 4 * 10**10))

    got = link_events(outages, links)

    assert got["node_a"].tolist() == [0, 0]
    assert got["rate_bps"].tolist() == [4 * 10**10, 10**11]


def test_outages_without_end_are_refused_before_one_is_drawn():
    spec = {"what": "links", "mtbf": "1 ps", "mttr": "1 ps"}
    with pytest.raises(FieldError, match="outages of .* links until the stop; at most 200,000"):
        random.check(random.Params.model_validate(spec), NODES, LINKS, 10**9)
    every = {"planes": [0], "at": "0 ns", "duration": "1 ps", "every": "2 ps", "times": 2**20}
    with pytest.raises(FieldError, match="outages; at most 200,000. Write less"):
        scheduled.check(scheduled.Params.model_validate(every), NODES, LINKS, 10**9)


def test_as_many_outages_of_one_link_as_there_may_be_are_no_trouble():
    n = 100_000  # with a look at all of them for each, this takes minutes
    links = {"node_a": np.array([0]), "node_b": np.array([1]), "rate_bps": np.array([100])}
    start = np.arange(n) * 10
    outages = Outages(np.zeros(n, dtype=np.int64), start, start + 5, np.zeros(n, dtype=np.int64))

    assert len(link_events(outages, links)["time_ps"]) == 2 * n
