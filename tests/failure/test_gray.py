# SPDX-License-Identifier: GPL-2.0-only
"""Which directions of which links lose or slow down what, counted moment by moment."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch import spec
from pyorch.errors import SpecError
from pyorch.failure._outage import (
    BOTH,
    FROM_A,
    FROM_B,
    NEVER_PS,
    WHOLE_BPS,
    Outages,
    link_events,
    loss_changes,
    merged,
)
from pyorch.render import input_tables
from pyorch.spec.fields import FieldError
from pyorch.spec.scenario import parse_scenario
from tests.failure.failing import LINKS, SCENARIO, TYPEIDS, scheduled_outages


def rows_of(table, *names):
    return list(zip(*(table[name].tolist() for name in names), strict=True))


def losses(**given):
    table = loss_changes(scheduled_outages(**given), LINKS)
    return rows_of(table, "time_ps", "node", "peer", "loss_ratio", "bit_error_ratio")


def test_a_direction_loses_and_the_other_does_not():
    # Row 2 of the links is 10-20: spine 20 sends to leaf 10, from `node_b`.
    assert losses(directions=[[20, 10]], at="1 ns", duration="2 ns", loss=0.25) == [
        (1000, 20, 10, 0.25, 0.0), (3000, 20, 10, 0.0, 0.0),
    ]  # fmt: skip
    both = [(1000, 10, 20, 1.0, 0.0), (1000, 20, 10, 1.0, 0.0)]
    assert sorted(losses(links=[[20, 10]], at="1 ns", loss=1)) == both
    assert sorted(losses(directions=[[20, 10], [10, 20]], at="1 ns", loss=1)) == both


def test_a_switch_corrupts_what_it_sends_on_all_links_and_nothing_that_it_gets():
    # Spine 21 has links to 10 and twice to 11.
    rows = losses(switches=[21], at="1 ns", bit_error_ratio=1e-6)
    assert sorted(rows) == [(1000, 21, 10, 0.0, 1e-6)] + 2 * [(1000, 21, 11, 0.0, 1e-6)]
    assert losses(planes=[1], at="1 ns", bit_error_ratio=1e-6) == rows


def test_a_loss_cuts_no_link_until_it_is_heard_of():
    silent = scheduled_outages(directions=[[10, 20]], at="1 ns", duration="9 ns", loss=0.5)
    assert len(link_events(silent, LINKS)["time_ps"]) == 0
    heard = scheduled_outages(
        directions=[[10, 20]], at="1 ns", duration="9 ns", loss=0.5, heard_after="4 ns"
    )
    table = link_events(heard, LINKS)
    assert rows_of(table, "time_ps", "node_a", "node_b", "rate_bps") == [
        (5000, 10, 20, 0), (10_000, 10, 20, 100),
    ]  # fmt: skip
    assert "rate_back_bps" not in table


def test_one_direction_gets_slow_and_back():
    slow = scheduled_outages(directions=[[20, 10]], at="1 ns", duration="2 ns", rate="25 bit/s")
    table = link_events(slow, LINKS)
    assert rows_of(table, "time_ps", "node_a", "rate_bps", "rate_back_bps") == [
        (1000, 10, 100, 25), (3000, 10, 100, 100),
    ]  # fmt: skip


def test_a_table_without_directions_is_what_it_was():
    cut = scheduled_outages(links=[[20, 10]], at="1 ns")
    table = link_events(cut, LINKS)
    assert list(table) == ["time_ps", "node_a", "node_b", "parallel", "rate_bps"]
    assert loss_changes(cut, LINKS) == {}


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 2), st.integers(0, 20), st.integers(1, 10),
            st.sampled_from([FROM_A, FROM_B, BOTH]), st.sampled_from([25, 70, WHOLE_BPS]),
            st.sampled_from([0.0, 0.1, 0.5]), st.sampled_from([0.0, 1e-6]),
        ),
        max_size=12,
    )
)  # fmt: skip
def test_at_every_moment_a_direction_has_its_worst_rate_and_ratios(rows):
    # Oracle: look at each direction at each moment. Link 1 loses a fifth by itself.
    links = LINKS | {"loss_ratio": np.array([0, 0.2, 0, 0, 0, 0, 0])}
    table = list(zip(*[(r[0], r[1], r[1] + r[2], r[4], r[3], r[5], r[6]) for r in rows],
                     strict=True)) or [()] * 7  # fmt: skip
    whole = [np.array(column, dtype=np.int64) for column in table[:5]]
    outages = Outages(*whole, *(np.array(column, dtype=np.float64) for column in table[5:]))
    events, changes = link_events(outages, links), loss_changes(outages, links)
    for link in range(3):
        a, b = int(links["node_a"][link]), int(links["node_b"][link])
        for way, sender in ((FROM_A, a), (FROM_B, b)):
            for moment in range(32):
                own = [r for r in rows
                       if r[0] == link and r[3] & way and r[1] <= moment < r[1] + r[2]]  # fmt: skip
                of_link = events["node_a"] == a
                name = "rate_bps" if way == FROM_A or "rate_back_bps" not in events \
                    else "rate_back_bps"  # fmt: skip
                rate = events[name][of_link & (events["time_ps"] <= moment)]
                assert (rate[-1] if len(rate) else 100) == min([100, *(r[4] for r in own)])
                for name, place, least in (
                    ("loss_ratio", 5, links["loss_ratio"][link]), ("bit_error_ratio", 6, 0.0)
                ):  # fmt: skip
                    ratio = [least]
                    if changes:
                        hit = (changes["node"] == sender) & (changes["time_ps"] <= moment)
                        hit &= changes["peer"] == (b if sender == a else a)
                        ratio += changes[name][hit].tolist()
                    assert ratio[-1] == max([least, *(r[place] for r in own)])


def test_a_cut_of_one_direction_is_refused():
    one = np.array([0])
    cut = Outages(one, one, one + 5, 0 * one, np.array([FROM_A]))
    with pytest.raises(SpecError, match="a cut takes both directions of a link. Write loss_ratio"):
        link_events(cut, LINKS)


def test_outages_of_four_columns_are_cuts_of_both_directions():
    one = np.array([2])
    found = merged([Outages(one, one, one + 5, 0 * one)])
    assert found.direction.tolist() == [BOTH] and found.loss_ratio.tolist() == [0.0]


@pytest.mark.parametrize(
    ("given", "field", "message"),
    [
        ({"directions": [[10, 20]]}, "directions", "a cut takes both directions of a link"),
        ({"directions": [[0, 11]], "loss": 1}, "directions", "no link between nodes 0 and 11"),
        (
            {"links": [[10, 20]], "heard_after": "1 ns"},
            "heard_after",
            "of a cut routing hears after `switch.convergence`",
        ),
        (
            {"links": [[10, 20]], "loss": 1, "duration": "2 ns", "heard_after": "2 ns"},
            "heard_after",
            "shorter than `duration`",
        ),
        ({"loss": 1}, "links", "nothing fails. Name links, directions, switches or planes"),
    ],
)
def test_what_contradicts_itself_names_the_key(given, field, message):
    with pytest.raises(FieldError, match=message) as caught:
        scheduled_outages(**given, at="1 ns")
    assert caught.value.field == field


def planned(failures, more=""):
    text = SCENARIO.format(failures=failures) + more
    return spec.plan(parse_scenario(text, "twice.yaml"), typeids_file=TYPEIDS)[0].spec


LOSES = "{type: scheduled, links: [[4, 6]], at: 1 us, loss: 0.5}"


def test_losses_are_a_table_of_their_own_and_no_part_of_other_specs():
    tables = input_tables(planned(LOSES))
    assert len(tables["loss_changes"]["time_ps"]) == 2 and not len(tables["link_events"]["time_ps"])
    cut = planned("{type: scheduled, links: [[4, 6]], at: 1 us}")
    assert "loss_changes" not in input_tables(cut)
    # A spec of a cut has the keys that it had before there were others.
    assert set(cut.model_dump()["failures"][0]) == {
        "type", "links", "switches", "planes", "at_ps", "duration_ps", "rate_bps", "times",
        "every_ps",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ("engine: fluid\n", r"failures\.0: engine fluid loses no frames"),
        ("engine: {skip: 1%}\n", r"failures\.0: what is lost now and then is not seen"),
    ],
)
def test_engines_that_lose_nothing_refuse_it_in_one_line(engine, message):
    with pytest.raises(SpecError, match=message) as caught:
        planned(LOSES, engine)
    assert "\n" not in str(caught.value)


def test_no_outage_of_a_loss_ends_later_than_never():
    found = scheduled_outages(links=[[10, 20]], at="1 ns", loss=0.5, heard_after="1 ns")
    assert set(found.end_ps.tolist()) == {NEVER_PS}
