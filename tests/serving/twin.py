# SPDX-License-Identifier: GPL-2.0-only
"""A slow second way of batching requests: each request has a state, and all are looked at.

It shares no code with the package. How long a batch lasts is given: `lasts(phase, members)` with
members (request, context tokens, group).
"""

WAITS, COMPUTES, HOLDS, MOVES, READY, RUNS, DONE = range(7)


def answer(requests, prefill, decode, sequences, batch_tokens, lasts):
    """Return first and last token of each request [ps].

    Parameters
    ----------
    requests : list of (arrival_ps, prompt, answer)
    prefill, decode : (instances, groups)
        `decode` None: the same instances do both.
    """
    apart = decode is not None
    n = len(requests)
    state = [None] * n  # not there yet
    count = [0] * n
    where = [None] * n  # (instance, group) of what it is in
    order = [None] * n  # when it came into its state, to sort by
    first, last = [None] * n, [None] * n
    under_way = []  # (end, tick, phase, instance, members)
    pools = {"p": prefill[0], "d": (decode or prefill)[0]}
    busy = {(pool, i): False for pool in pools for i in range(pools[pool])}
    tick = 0

    def held(instance, group=None):
        """Return how many requests have a place at an instance that decodes."""
        states = (MOVES, READY, RUNS) if apart else (COMPUTES, READY, RUNS)
        return sum(
            state[r] in states and where[r] is not None and where[r][0] == instance
            and group in (None, where[r][1]) for r in range(n)
        )  # fmt: skip

    def emptiest(instance):
        groups = (decode or prefill)[1]
        return min(range(groups), key=lambda g: (held(instance, g), g))

    while any(s != DONE for s in state):
        coming = [requests[r][0] for r in range(n) if state[r] is None]
        now = min(coming + [batch[0] for batch in under_way])
        for r in range(n):
            if state[r] is None and requests[r][0] == now:
                state[r], order[r] = WAITS, (now, tick, r)
        tick += 1
        for batch in sorted(b for b in under_way if b[0] == now):
            under_way.remove(batch)
            _, _, phase, instance, members = batch
            if phase == "transfer":
                (r,) = members
                state[r], order[r] = READY, (now, tick)
                tick += 1
                continue
            busy["p" if phase == "prefill" and apart else "d", instance] = False
            for r in members:
                count[r] += 1
                if first[r] is None:
                    first[r] = now
                if count[r] == requests[r][2]:
                    state[r], last[r] = DONE, now
                elif phase == "prefill":
                    state[r], order[r] = (HOLDS if apart else READY), (now, tick)
                    tick += 1
        tick += 1
        # Those that hold keys and values move where there are the fewest.
        for r in sorted((r for r in range(n) if state[r] == HOLDS), key=lambda r: order[r]):
            to = min(range(pools["d"]), key=lambda i: (held(i), i))
            if held(to) >= sequences:
                break
            group = emptiest(to)
            state[r], where[r] = MOVES, (to, group)
            end = now + lasts("transfer", [(r, requests[r][1], group)])
            under_way.append((end, tick, "transfer", to, (r,)))
            tick += 1
        for instance in range(pools["p"]) if apart else ():
            waiting = sorted((r for r in range(n) if state[r] == WAITS), key=lambda r: order[r])
            if busy["p", instance] or not waiting:
                continue
            chosen = chosen_of(waiting, requests, batch_tokens, n)
            groups = dealt([requests[r][1] for r in chosen], prefill[1])
            for r in chosen:
                state[r], where[r] = COMPUTES, None
            busy["p", instance] = True
            members = [(r, requests[r][1], g) for r, g in zip(chosen, groups, strict=True)]
            end = now + lasts("prefill", members)
            under_way.append((end, tick, "prefill", instance, tuple(chosen)))
            tick += 1
        for instance in range(pools["d"]):
            if busy["d", instance]:
                continue
            waiting = sorted((r for r in range(n) if state[r] == WAITS), key=lambda r: order[r])
            room = sequences - held(instance)
            if not apart and waiting and room > 0:
                chosen, phase = chosen_of(waiting, requests, batch_tokens, room), "prefill"
                for r in chosen:
                    group = emptiest(instance)
                    state[r], where[r] = COMPUTES, (instance, group)
                members = [(r, requests[r][1], where[r][1]) for r in chosen]
            else:
                chosen = sorted(
                    (r for r in range(n) if state[r] == READY and where[r][0] == instance),
                    key=lambda r: order[r],
                )
                phase = "decode"
                members = [(r, requests[r][1] + count[r], where[r][1]) for r in chosen]
            if chosen:
                busy["d", instance] = True
                end = now + lasts(phase, members)
                under_way.append((end, tick, phase, instance, tuple(chosen)))
                tick += 1
    return first, last


def chosen_of(waiting, requests, batch_tokens, most):
    """Return the first that fit a batch: one always does."""
    chosen = waiting[:1]
    for r in waiting[1:most]:
        if sum(requests[c][1] for c in [*chosen, r]) > batch_tokens:
            break
        chosen.append(r)
    return chosen


def dealt(prompts, groups):
    """Return the group of each prompt: the one with the fewest tokens before it."""
    found = []
    while len(found) < len(prompts):
        sums = [sum(p for p, g in zip(prompts, found, strict=False) if g == x)
                for x in range(groups)]  # fmt: skip
        found.append(sums.index(min(sums)))
    return found
