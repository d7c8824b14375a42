# SPDX-License-Identifier: GPL-2.0-only
"""Batches of requests against a second way of making them, by times that are given."""

import heapq
import random
import sys
import zlib
from pathlib import Path

import pytest

from pyorch.serving import DECODE, PREFILL, TRANSFER, Scheduler

sys.path.insert(0, str(Path(__file__).parent))
import twin

PHASES = {PREFILL: "prefill", TRANSFER: "transfer", DECODE: "decode"}


def drive(requests, prefill, decode, sequences, batch_tokens, lasts):
    """Return first and last token of each request, and all batches, of the scheduler."""
    _, prompts, answers = zip(*requests, strict=True)
    scheduler = Scheduler(prompts, answers, prefill, decode, sequences, batch_tokens)
    events = [(arrival, 0, r, None) for r, (arrival, *_) in enumerate(requests)]
    heapq.heapify(events)
    first, last, batches = {}, {}, []
    while events:
        now = events[0][0]
        while events and events[0][0] == now:
            _, _, number, batch = heapq.heappop(events)
            if batch is None:
                scheduler.arrive(number)
                continue
            done = scheduler.end(batch)
            last |= dict.fromkeys(done, now)
            if batch.phase == PREFILL:
                first |= dict.fromkeys(batch.requests, now)
        for batch in scheduler.begin():
            members = list(zip(batch.requests, batch.tokens, batch.groups, strict=True))
            batches.append((now, batch))
            end = now + lasts(PHASES[batch.phase], members)
            heapq.heappush(events, (end, 1, len(batches), batch))
    n = range(len(requests))
    return [first[r] for r in n], [last[r] for r in n], batches


def drawn(seed):
    """Return a random service, with times that collide often."""
    draw = random.Random(seed)
    n = draw.randint(1, 25)
    requests = sorted(
        (draw.randint(0, 60), draw.randint(1, 9), draw.choice([1, 2, 3, 8])) for _ in range(n)
    )
    prefill = draw.randint(1, 3), draw.choice([1, 2])
    decode = None if draw.random() < 0.4 else (draw.randint(1, 3), draw.choice([1, 3]))
    salt = draw.randint(0, 2**30)

    def lasts(phase, members):
        most = {"prefill": 9, "transfer": 4, "decode": 3}[phase]
        return 1 + zlib.crc32(repr((salt, phase, members)).encode()) % most

    return requests, prefill, decode, draw.randint(1, 6), draw.randint(1, 20), lasts


@pytest.mark.parametrize("seed", range(300))
def test_batches_are_those_of_a_second_scheduler(seed):
    given = drawn(seed)

    first, last, _ = drive(*given)

    assert (first, last) == twin.answer(*given)


@pytest.mark.parametrize("seed", range(50))
def test_each_request_gets_its_tokens_and_no_instance_has_too_many(seed):
    requests, prefill, decode, sequences, batch_tokens, lasts = drawn(seed)

    first, last, batches = drive(requests, prefill, decode, sequences, batch_tokens, lasts)

    # One token of the prefill, and one of each iteration: its answer, no more and no less.
    tokens = [0] * len(requests)
    for _, batch in batches:
        for request in batch.requests if batch.phase != TRANSFER else ():
            tokens[request] += 1
    assert tokens == [answer for _, _, answer in requests]
    assert all(a <= f <= e for (a, *_), f, e in zip(requests, first, last, strict=True))
    assert all(len(b.requests) <= sequences for _, b in batches if b.phase == DECODE)
    prefills = [b for _, b in batches if b.phase == PREFILL]
    assert all(sum(b.tokens) <= batch_tokens or len(b.requests) == 1 for b in prefills)
    transfers = [b.requests[0] for _, b in batches if b.phase == TRANSFER]
    several = [r for r, (_, _, answer) in enumerate(requests) if answer > 1]
    assert sorted(transfers) == (several if decode else [])


@pytest.mark.parametrize(("every", "expected"), [(10, 10), (4, 5)])
def test_throughput_is_that_of_arrivals_or_of_the_instance(every, expected):
    # Oracle: D/D/1. One request needs 2 of prefill and 3 iterations of 1, one at a time: 5. Those
    # that come every 10 leave every 10; those that come every 4 leave every 5.
    requests = [(every * i, 1, 4) for i in range(40)]
    times = {"prefill": 2, "decode": 1}

    _, last, _ = drive(requests, (1, 1), None, 1, 1, lambda phase, _: times[phase])

    assert {b - a for a, b in zip(last, last[1:], strict=False)} == {expected}
