# SPDX-License-Identifier: GPL-2.0-only
"""Takes what a message costs the hosts at its ends, returns how long messages take for it.

The stages are those of ns3::Host; options have their keys in a resolved spec.
"""

import math
from collections.abc import Mapping

#: What a message alone passes on its way; an interface keeps its connection already.
_ON_THE_WAY = ("message_time_ps", "request_time_ps", "send_delay_ps", "delivery_time_ps",
               "delivery_delay_ps")  # fmt: skip


def alone_ps(host: Mapping[str, int | None]) -> int:
    """Return what hosts add to the time of a message that has them to itself [ps].

    Examples
    --------
    >>> alone_ps({"message_time_ps": 400_000, "delivery_delay_ps": 600_000})
    1000000
    """
    return sum(host.get(key) or 0 for key in _ON_THE_WAY)


def goodput_bps(message_bytes: int, rate_bps: float, fixed_s: float, outstanding: int) -> float:
    """Return the goodput of a connection that keeps several messages under way [bit/s].

    They share the link evenly and end together: S / (T / Q + S / C).

    Parameters
    ----------
    message_bytes : int
        S, of each.
    rate_bps : float
        C, at which payload can move.
    fixed_s : float
        T, from a message to the next one in its place, without the time of its bytes.
    outstanding : int
        Q, messages under way at once.

    Examples
    --------
    >>> round(goodput_bps(65536, 400e9, 5.2e-6, 16) / 8e9, 1)  # GB/s
    40.1
    """
    bits = 8 * message_bytes
    return bits / (fixed_s / outstanding + bits / rate_bps)


def most_goodput_bps(
    message_bytes: int, rate_bps: float, fixed_s: float, outstanding: int
) -> float:
    """Return the goodput if messages are sent one after the other; arguments as of `goodput_bps`.

    No order of their frames gives more.
    """
    bits = 8 * message_bytes
    return min(rate_bps, outstanding * bits / (fixed_s + bits / rate_bps))


def messages_per_s(host: Mapping[str, int | None], message_bytes: int) -> float:
    """Return how many messages a pair of hosts can exchange in a second, by the slowest stage.

    Connections are kept. Infinite if hosts cost nothing.
    """
    bus_bps = host.get("bus_rate_bps")
    stages_ps: list[float] = [
        host.get(f"{name}_time_ps") or 0 for name in ("message", "request", "delivery")
    ]
    stages_ps.append(8e12 * message_bytes / bus_bps if bus_bps else 0)
    slowest_ps = max(stages_ps)
    return 1e12 / slowest_ps if slowest_ps else math.inf
