# SPDX-License-Identifier: GPL-2.0-only
"""Decides which requests are computed together: batches of whole iterations, as one ends.

A request waits for its prefill, first come first served. A batch of prefills yields the first token
of each of its requests. A batch of decoding yields one more of each; requests join and leave
between two of them [yu22]. Prefill and decoding have instances of their own, with a transfer of
keys and values between them, or the same ones, where what waits for its prefill goes first.

Nothing here knows times: `arrive` and `end` say what has happened, `begin` what begins.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

PREFILL, TRANSFER, DECODE = range(3)


class Batch(NamedTuple):
    """What begins at one time.

    Attributes
    ----------
    phase : int
        ``PREFILL``, ``TRANSFER`` or ``DECODE``.
    instance : int
        Where, or for a transfer whereto, counted in each pool from 0.
    requests, groups, tokens : tuple of int
        Who is in it; the group of devices of each there; tokens of each that have keys and values:
        the prompt, when decoding also what is answered.
    source : tuple of int
        Of a transfer, the instance and group it comes from.
    """

    phase: int
    instance: int
    requests: tuple[int, ...]
    groups: tuple[int, ...]
    tokens: tuple[int, ...]
    source: tuple[int, ...] = (0, 0)


class Scheduler:
    """Requests and instances as time goes on.

    Parameters
    ----------
    prompt_tokens, answer_tokens : sequence of int
        Of each request.
    prefill, decode : (instances, groups)
        How many instances there are, and groups of devices that take sequences in each; without
        `decode` those of `prefill` do both.
    sequences : int
        Most requests that an instance decodes.
    batch_tokens : int
        Most tokens of a batch of prefills; a longer prompt is one alone.
    """

    def __init__(
        self, prompt_tokens: Sequence[int], answer_tokens: Sequence[int],
        prefill: tuple[int, int], decode: tuple[int, int] | None, sequences: int,
        batch_tokens: int,
    ):  # fmt: skip
        self._prompts, self._answers = list(prompt_tokens), list(answer_tokens)
        self._apart = decode is not None
        self._sequences, self._batch_tokens = sequences, batch_tokens
        self._prefill_groups = prefill[1]
        instances, groups = decode or prefill
        self._waiting: deque[int] = deque()
        self._moving: deque[tuple[int, int, int]] = deque()  # request, instance, group
        self._prefills = [False] * prefill[0]  # whether it is busy
        self._decodes = [False] * instances
        #: Requests that have a place, by group of each instance, and those that decode.
        self._places = [[0] * groups for _ in range(instances)]
        self._running: list[dict[int, int]] = [{} for _ in range(instances)]
        self._answered = [0] * len(self._prompts)

    def arrive(self, request: int) -> None:
        """Take a request."""
        self._waiting.append(request)

    def end(self, batch: Batch) -> list[int]:
        """Take the end of a batch; return the requests that have their last token."""
        if batch.phase == TRANSFER:
            self._running[batch.instance].update(zip(batch.requests, batch.groups, strict=True))
            return []
        is_prefill = batch.phase == PREFILL
        (self._prefills if is_prefill and self._apart else self._decodes)[batch.instance] = False
        done = []
        for request, group in zip(batch.requests, batch.groups, strict=True):
            self._answered[request] += 1
            if self._answered[request] == self._answers[request]:
                done.append(request)
            elif is_prefill and self._apart:
                self._moving.append((request, batch.instance, group))
            elif is_prefill:
                self._running[batch.instance][request] = group
        for request in done if not (is_prefill and self._apart) else ():
            group = dict(zip(batch.requests, batch.groups, strict=True))[request]
            self._running[batch.instance].pop(request, None)
            self._places[batch.instance][group] -= 1
        return done

    def begin(self) -> list[Batch]:
        """Return what begins now, in an order that follows from what has happened alone."""
        begun = []
        while self._moving and (place := self._place()):
            request, *source = self._moving.popleft()
            tokens = (self._prompts[request],)
            begun.append(Batch(TRANSFER, place[0], (request,), place[1:], tokens, tuple(source)))
        if self._apart:
            for instance, busy in enumerate(self._prefills):
                if not busy and self._waiting:
                    begun.append(self._prefill(instance, len(self._waiting)))
                    self._prefills[instance] = True
        for instance, busy in enumerate(self._decodes):
            if not busy and (batch := self._iteration(instance)):
                begun.append(batch)
                self._decodes[instance] = True
        return begun

    def _place(self) -> tuple[int, int] | None:
        """Return instance and group with the fewest requests, and take a place there, if any."""
        counts = [sum(groups) for groups in self._places]
        instance = counts.index(min(counts))
        if counts[instance] == self._sequences:
            return None
        return instance, self._take_place(instance)

    def _take_place(self, instance: int) -> int:
        groups = self._places[instance]
        group = groups.index(min(groups))
        groups[group] += 1
        return group

    def _iteration(self, instance: int) -> Batch | None:
        """Return the next batch of an instance that decodes; None if it has nothing to do."""
        room = self._sequences - sum(self._places[instance])
        if not self._apart and self._waiting and room:
            return self._prefill(instance, room)
        running = self._running[instance]
        if not running:
            return None
        tokens = tuple(self._prompts[request] + self._answered[request] for request in running)
        return Batch(DECODE, instance, tuple(running), tuple(running.values()), tokens)

    def _prefill(self, instance: int, most: int) -> Batch:
        """Return the requests that have waited longest, as many as a batch may have."""
        chosen: list[int] = []
        tokens = 0
        while self._waiting and len(chosen) < most:
            tokens += self._prompts[self._waiting[0]]
            if chosen and tokens > self._batch_tokens:
                break
            chosen.append(self._waiting.popleft())
        prompts = tuple(self._prompts[request] for request in chosen)
        if self._apart:
            groups = _dealt(prompts, self._prefill_groups)
        else:
            groups = tuple(self._take_place(instance) for _ in chosen)
        return Batch(PREFILL, instance, tuple(chosen), groups, prompts)


def _dealt(prompts: Sequence[int], groups: int) -> tuple[int, ...]:
    """Return the group of each prompt: one after the other to the group with the fewest tokens."""
    held = [0] * groups
    found = []
    for tokens in prompts:
        found.append(held.index(min(held)))
        held[found[-1]] += tokens
    return tuple(found)
