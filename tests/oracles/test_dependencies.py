# SPDX-License-Identifier: GPL-2.0-only
"""A flow that waits for others starts when the last of them has ended, to the picosecond."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_network import GBPS, MS_PS, NEVER, NS_PS, US_PS, Flows, run, star

from pyorch.errors import PyorchError

pytestmark = pytest.mark.ns3

NETWORK = star(6, 100 * GBPS, 500 * NS_PS)
AT_RECEIVER, AT_SENDER = 0, 1
ACK_PS = (66 + 20) * 80


@pytest.mark.parametrize("at_sender, column", [(0, "receiver_end_ps"), (1, "sender_end_ps")])
def test_a_flow_follows_another_without_delay(at_sender, column):
    flows = Flows()
    for hop in range(4):  # who learns of the end goes on: a chain of hosts, or one host
        flows.add(*((0, hop + 1) if at_sender else (hop, hop + 1)), 100_000)
    got = run(NETWORK, flows, dependencies=[(i + 1, i, at_sender) for i in range(3)])

    ends, starts = got["flows"][column], got["flows"]["start_ps"]
    assert starts.tolist() == [0, *ends[:3].tolist()]
    # Each is alone; at the receiver it finds the last ACK of the one before it on the wire.
    ack_ps = 0 if at_sender else ACK_PS
    assert np.diff(got.fcts_ps()).tolist() == [ack_ps, 0, 0]


def test_a_start_time_that_is_later_holds():
    flows = Flows()
    flows.add(0, 1, 100_000)
    flows.add(1, 2, 100_000, start_ps=MS_PS)
    flows.add(1, 3, 100_000, start_ps=1)
    got = run(NETWORK, flows, dependencies=[(1, 0, AT_RECEIVER), (2, 0, AT_RECEIVER)])

    end_ps = got.flow(0)["receiver_end_ps"]
    assert got["flows"]["start_ps"].tolist() == [0, MS_PS, end_ps]


def test_who_waits_for_a_flow_that_never_ends_never_starts():
    flows = Flows()
    flows.add(0, 1, 100_000)
    flows.add(0, 2, 1000)
    got = run(
        NETWORK, flows, dependencies=[(1, 0, AT_SENDER)], stop_ps=10 * US_PS,
        link_events=[(2 * US_PS, 1, 1000, 0)],
    )  # fmt: skip

    assert got["flows"]["receiver_end_ps"].tolist() == [NEVER, NEVER]
    assert got.flow(1)["sent_data_packets"] == 0
    assert got["flows"]["start_ps"].tolist() == [0, NEVER]


def test_news_needs_a_path_to_travel():
    # Oracle: flow 0 ends at host 1; host 2 cannot know of it at the same picosecond.
    flows = Flows()
    flows.add(0, 1, 1000)
    flows.add(2, 3, 1000)
    message = "flow 1 after flow 0: it starts at host 2, but host 1 learns of that end"
    with pytest.raises(PyorchError, match=re.escape(f"dependencies: {message}")):
        run(NETWORK, flows, dependencies=[(1, 0, AT_RECEIVER)])

    got = run(NETWORK, flows, dependencies=[(1, 0, AT_RECEIVER, 3 * US_PS)])
    assert got.flow(1)["start_ps"] == got.flow(0)["receiver_end_ps"] + 3 * US_PS


def test_a_flow_of_no_bytes_is_a_point_in_time():
    # Oracle: compute of 7 us between two messages, and a join of two of them: sums and a maximum.
    flows = Flows()
    flows.add(0, 1, 100_000)
    flows.add(1, 1, 0)  # the end of the computation at host 1
    flows.add(2, 1, 400_000)
    flows.add(1, 1, 0)  # both are there
    flows.add(1, 3, 1000)
    got = run(
        NETWORK, flows,
        dependencies=[
            (1, 0, AT_RECEIVER, 7 * US_PS), (3, 1, AT_SENDER), (3, 2, AT_RECEIVER),
            (4, 3, AT_SENDER),
        ],
    )  # fmt: skip

    ends = got["flows"]["receiver_end_ps"]
    assert ends[1] == ends[0] + 7 * US_PS
    assert ends[3] == max(ends[1], ends[2]) == got.flow(4)["start_ps"]
    assert got["flows"]["sent_data_packets"][[1, 3]].tolist() == [0, 0]
    assert got["paths"]["flow"].tolist().count(1) == 0


@st.composite
def graphs(draw):
    """Return flows and dependencies of each on some of those before it."""
    flows = Flows()
    rows = []
    for flow in range(draw(st.integers(1, 12))):
        src, step = draw(st.integers(0, 5)), draw(st.integers(1, 5))
        start_ps = draw(st.sampled_from([0, 0, 3 * US_PS, 100 * US_PS]))
        n_bytes = draw(st.sampled_from([0, 1, 4096, 30_000]))
        flows.add(src, (src + step) % 6, n_bytes, start_ps)
        for before in range(flow):
            for at_sender in (AT_RECEIVER, AT_SENDER):
                if draw(st.integers(0, 3)) == 0:
                    known_at = flows.rows[before][1 if at_sender else 2]
                    least_ps = 0 if known_at == src else 1
                    delay_ps = least_ps * draw(st.integers(1, 5 * US_PS))
                    rows.append((flow, before, at_sender, delay_ps))
    return flows, draw(st.permutations(rows))


@settings(max_examples=40)
@given(graphs())
def test_every_flow_starts_at_the_last_of_what_it_waits_for(graph):
    flows, rows = graph
    got = run(NETWORK, flows, dependencies=rows)

    table = got["flows"]
    assert (table["sender_end_ps"] != NEVER).all()
    for row, (flow, _, _, _, earliest_ps, _) in enumerate(flows.rows):
        ends = [
            int(table["sender_end_ps" if at_sender else "receiver_end_ps"][after]) + delay_ps
            for waiting, after, at_sender, delay_ps in rows
            if waiting == flow
        ]
        assert table["start_ps"][row] == max([earliest_ps, *ends])


@pytest.mark.parametrize(
    "rows, message",
    [
        ([(0, 1, 0), (1, 2, 0), (2, 1, 0)], "flow 0 can never start: it waits for flow 1"),
        ([(1, 1, 0)], "flow 1 can never start"),
        ([(1, 7, 0)], "flow 1 after flow 7: there is no flow 7"),
        ([(9, 0, 0)], "flow 9 after flow 0: there is no flow 9"),
        ([(1, 0, 1), (2, 0, 1), (1, 0, 1)], "flow 1 after flow 0 is listed twice"),
        ([(1, 0, 0, -1)], "flow 1 after flow 0: delay_ps is -1, not >= 0"),
    ],
)
def test_dependencies_that_cannot_be_are_refused(rows, message):
    flows = Flows()
    for src in range(3):
        flows.add(src, src + 1, 1000)
    with pytest.raises(PyorchError, match=re.escape(f"dependencies: {message}")):
        run(NETWORK, flows, dependencies=rows)


def test_the_order_of_flows_that_start_at_once_does_not_depend_on_the_order_of_rows():
    flows = Flows()
    flows.add(0, 1, 100_000)
    for _ in range(5):
        flows.add(1, 3, 50_000)
    rows = [(i, 0, AT_RECEIVER) for i in range(1, 6)]
    one, other = (run(NETWORK, flows, dependencies=order) for order in (rows, rows[::-1]))

    assert all(np.array_equal(one["flows"][name], other["flows"][name]) for name in one["flows"])
