# SPDX-License-Identifier: GPL-2.0-only
"""Progress says how far a run is in words a person understands, and stays out of logs' way."""

import io

import pytest

from pyorch.simulate import progress
from pyorch.simulate.progress import Progress, State, duration_text, line, time_text

HALF_WAY = State(
    now_ps=1_234_000_000, flows_done=10, flows_total=100,
    packets_done=500, packets_total=1000, events=8_000_000, wall_s=4.0,
)  # fmt: skip


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_has_time_flows_share_speed_and_what_is_left():
    # 8 M events in 4 s; half of the packets took 4 s, so the other half takes 4 s more.
    assert line(HALF_WAY) == (
        "1.234 ms simulated, 10/100 flows done, 50 %, 2.0 M events/s, about 4 s left"
    )


def test_before_anything_is_done_no_end_is_promised():
    start = State(0, 0, 100, 0, 1000, 0, 0.0)

    assert line(start) == "0 ps simulated, 0/100 flows done, 0 %"


def test_a_run_that_sends_more_than_it_needs_is_never_over_100_percent():
    late = State(1, 99, 100, 2000, 1000, 1, 1.0)

    assert "100 %" in line(late)


@pytest.mark.parametrize(
    ("time_ps", "text"),
    [(0, "0 ps"), (999, "999 ps"), (1000, "1 ns"), (41_600, "41.6 ns"), (2 * 10**12, "2 s")],
)
def test_times_are_shown_in_the_unit_that_fits(time_ps, text):
    assert time_text(time_ps) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")]
)
def test_durations_are_shown_as_people_say_them(seconds, text):
    assert duration_text(seconds) == text


def test_a_terminal_line_updates_itself_and_is_cleared(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(progress, "TERMINAL_INTERVAL_S", 0)
    shown = Progress("run", stream)
    shown.show(HALF_WAY)
    shown.close()

    assert stream.getvalue() == f"\r\x1b[Krun: {line(HALF_WAY)}\r\x1b[K"


def test_a_log_gets_whole_lines_and_few_of_them(monkeypatch):
    stream = io.StringIO()
    shown = Progress("run", stream)
    shown.show(HALF_WAY)
    assert stream.getvalue() == ""  # not before the interval is over

    monkeypatch.setattr(progress, "PLAIN_INTERVAL_S", 0)
    shown = Progress("run", stream)
    shown.show(HALF_WAY)
    shown.close()
    assert stream.getvalue() == f"run: {line(HALF_WAY)}\n"
