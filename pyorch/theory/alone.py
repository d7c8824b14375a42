# SPDX-License-Identifier: GPL-2.0-only
"""Takes frames of messages and all paths they may take, returns the least time of each message.

At each hop four moments have a lower bound: when the first frame is through, the last of the full
ones, the shorter last frame, and all of them. A hop with one link is passed in one frame after the
other; of several equal links one carries at least the n-th part of the frames, rounded up; unequal
ones are as fast as their rates added up. A cut-through switch has a frame before its end is in.
The bound is strict, and reached by even spraying where the links of each hop are alike.
"""

from typing import NamedTuple

import numpy as np

from pyorch.theory.ways import Ways

PS_PER_BYTE_BPS = 8 * 10**12  # a byte over a rate of 1 bit/s [ps]


class Frames(NamedTuple):
    """How messages become frames, on the wire [byte]; one row for each message.

    Of a message of one packet all three are that packet.
    """

    first: np.ndarray
    middle: np.ndarray
    last: np.ndarray
    number: np.ndarray

    @property
    def wire_bytes(self) -> np.ndarray:
        """What a whole message occupies on one link [byte]."""
        several = self.first + (self.number - 2) * self.middle + self.last
        return np.where(self.number == 1, self.first, several)


class _Hop(NamedTuple):
    """Times that frames take at one hop [ps]."""

    first: np.ndarray
    full: np.ndarray  # the last full one
    last: np.ndarray
    all_full: np.ndarray  # all but the last
    all: np.ndarray
    before_last: np.ndarray  # until the last one may begin, at the host


def alone_ps(frames: Frames, ways: Ways, seen_bytes: int | None = None) -> np.ndarray:
    """Return the least time from the start of each message until its last bit is received [ps].

    Parameters
    ----------
    frames : Frames
        Of each message.
    ways : Ways
        Of each message.
    seen_bytes : int, optional
        On the wire: what a cut-through switch has seen of a frame when it forwards it.
    """
    number, zero = frames.number, np.zeros(len(frames.number), dtype=np.int64)
    first = full = last = whole = zero
    saved: tuple[np.ndarray, ...] = (
        zero,
    ) * 3  # by cut-through at the hop before: first, full and last frame
    entered = zero  # the first hop with several links
    inner_ps = np.floor(frames.wire_bytes * float(PS_PER_BYTE_BPS) / ways.between_bps)
    several = ways.links > 1
    ends = several.shape[1] - 1 - several[:, ::-1].argmax(axis=1)
    for hop in range(ways.links.shape[1]):
        here = ways.links[:, hop] > 0
        times = _times(frames, ways, hop)
        arrived = [moment - cut for moment, cut in zip((first, full, last), saved, strict=True)]
        begin = np.minimum(arrived[0], arrived[2])
        if hop:
            begin_last = arrived[2]
            chained = np.minimum(whole - saved[1] + times.full, whole - saved[2] + times.last)
        else:
            begin_last, chained = times.before_last, zero
        new_first = arrived[0] + times.first
        new_full = np.maximum(arrived[1] + times.full, arrived[0] + times.all_full)
        new_last = begin_last + times.last
        pair = np.minimum(arrived[1], arrived[2]) + times.full + times.last
        in_order = (ways.links[:, hop] == 1) & (number > 1)
        entered = np.where(several[:, hop] & ~several[:, :hop].any(axis=1), begin, entered)
        new_whole = np.maximum.reduce(
            [chained, new_full, new_last, begin + times.all, np.where(in_order, pair, 0)]
        )
        through = np.where(several[:, hop] & (ends == hop), entered + inner_ps, 0)
        new_whole = np.maximum(new_whole, through.astype(np.int64))
        first, full, last, whole = (
            np.where(here, new, old)
            for new, old in zip(
                (new_first, new_full, new_last, new_whole), (first, full, last, whole), strict=True
            )
        )
        if seen_bytes is not None:
            saved = _saved(frames, ways.fastest_bps[:, hop], seen_bytes)
    return whole + ways.fixed_ps


def _pass_ps(wire_bytes: np.ndarray | int, rate_bps: np.ndarray) -> np.ndarray:
    """Return how long bytes occupy a link, rounded up; nothing where there is no link [ps]."""
    return np.where(rate_bps > 0, -(-wire_bytes * PS_PER_BYTE_BPS // np.maximum(rate_bps, 1)), 0)


def _saved(frames: Frames, rate_bps: np.ndarray, seen_bytes: int) -> tuple[np.ndarray, ...]:
    """Return how much earlier than its end each frame is forwarded [ps]."""
    full = np.where(frames.number == 2, frames.first, frames.middle)
    return tuple(
        _pass_ps(frame, rate_bps) - _pass_ps(np.minimum(frame, seen_bytes), rate_bps)
        for frame in (frames.first, full, frames.last)
    )


def _times(frames: Frames, ways: Ways, hop: int) -> _Hop:
    """Return what frames take at one hop."""
    number, links = frames.number, np.maximum(ways.links[:, hop], 1)
    rate_bps, total_bps = ways.fastest_bps[:, hop], ways.total_bps[:, hop]
    first, middle, last = (_pass_ps(wire_bytes, rate_bps) for wire_bytes in frames[:3])
    full = np.where(number == 2, first, middle)
    single = number == 1
    in_turn = -(-number // links)
    full_in_turn = -(-(number - 1) // links)
    in_order_ps = first + (number - 2) * middle
    alike_ps = (in_turn - 1) * middle + np.where(number % links == 1, last, middle)
    total_ps = np.floor(
        frames.wire_bytes * float(PS_PER_BYTE_BPS) / np.where(total_bps > 0, total_bps, np.inf)
    ).astype(np.int64)
    one, alike = links == 1, links * rate_bps == total_bps
    return _Hop(
        first=first,
        full=full,
        last=last,
        all_full=np.where(
            single, first, np.where(one, in_order_ps, np.where(alike, full_in_turn * middle, full))
        ),
        all=np.where(
            single, first, np.where(one, in_order_ps + last, np.where(alike, alike_ps, total_ps))
        ),
        before_last=np.where(
            single, 0, np.where(one, in_order_ps, np.where(alike, (in_turn - 1) * middle, 0))
        ),
    )
