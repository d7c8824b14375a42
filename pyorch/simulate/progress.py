# SPDX-License-Identifier: GPL-2.0-only
"""Says in one line how far a simulation is and how long it takes yet."""

import sys
import time
from dataclasses import dataclass
from typing import TextIO

TERMINAL_INTERVAL_S = 0.2
PLAIN_INTERVAL_S = 10.0


@dataclass(frozen=True)
class State:
    """Where a run stands."""

    now_ps: int
    flows_done: int
    flows_total: int
    packets_done: int
    packets_total: int  # 0: not known
    events: int
    wall_s: float


class Progress:
    """Shows states: one line that updates itself on a terminal, now and then a line elsewhere."""

    def __init__(self, name: str, stream: TextIO | None = None):
        self._name = name
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._interval_s = TERMINAL_INTERVAL_S if self._terminal else PLAIN_INTERVAL_S
        self._shown_s = time.monotonic()
        self._open_line = False

    def show(self, state: State) -> None:
        """Show a state, unless the last one was shown a moment ago."""
        if time.monotonic() - self._shown_s < self._interval_s:
            return
        self._shown_s = time.monotonic()
        text = f"{self._name}: {line(state)}"
        if self._terminal:
            self._stream.write(f"\r\x1b[K{text}")
            self._open_line = True
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()

    def close(self) -> None:
        """Clear the line that was being updated, so that what follows starts on a clean one."""
        if self._open_line:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._open_line = False


def line(state: State) -> str:
    """Return a state in words: simulated time, flows, speed and what is left."""
    parts = [
        f"{time_text(state.now_ps)} simulated",
        f"{state.flows_done}/{state.flows_total} flows done",
        f"{int(100 * done_share(state))} %",
    ]
    if state.wall_s > 0:
        parts.append(f"{state.events / state.wall_s / 1e6:.1f} M events/s")
    left_s = seconds_left(state)
    if left_s is not None:
        parts.append(f"about {duration_text(left_s)} left")
    return ", ".join(parts)


def done_share(state: State) -> float:
    """Return the share of the work that is done, 0 to 1, by packets; by flows if unknown."""
    flows = state.flows_done / state.flows_total if state.flows_total else 0.0
    packets = state.packets_done / state.packets_total if state.packets_total else 0.0
    return min(1.0, max(flows, packets))


def seconds_left(state: State) -> float | None:
    """Return the wall time still needed at the pace so far [s]; None before there is a pace."""
    share = done_share(state)
    return state.wall_s * (1 - share) / share if share > 0.001 else None


def time_text(time_ps: int) -> str:
    """Return a simulated time with four digits in the unit that fits: ``1.234 ms``."""
    for unit, ps in (("s", 10**12), ("ms", 10**9), ("us", 10**6), ("ns", 10**3)):
        if abs(time_ps) >= ps:
            return f"{time_ps / ps:.4g} {unit}"
    return f"{time_ps} ps"


def duration_text(seconds: float) -> str:
    """Return a wall time as ``42 s``, ``3 min 20 s`` or ``2 h 05 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
