# SPDX-License-Identifier: GPL-2.0-only
"""Takes what a message costs the hosts at its ends, returns how long messages take for it.

The stages are those of ns3::Host; options have their keys in a resolved spec.
"""

import math
from collections.abc import Mapping

import numpy as np

#: What a message alone passes on its way; an interface keeps its connection already.
_ON_THE_WAY = ("message_time_ps", "request_time_ps", "send_delay_ps", "delivery_time_ps",
               "delivery_delay_ps")  # fmt: skip


def alone_ps(
    host: Mapping[str, int | None], message_bytes: np.ndarray | int, line_bps: np.ndarray | int
) -> np.ndarray:
    """Return what hosts add to the time of messages that have them to themselves [ps].

    A message begins so late that its bus and its work requests never make its ports wait.

    Parameters
    ----------
    host : mapping
        Options of ns3::Host.
    message_bytes : int or ndarray
        Payload.
    line_bps : int or ndarray
        Rates of the ports of its source, added up [bit/s].

    Examples
    --------
    >>> int(alone_ps({"message_time_ps": 400_000, "delivery_delay_ps": 600_000}, 64, 10**11))
    1000000
    >>> int(alone_ps({"bus_rate_bps": 40 * 10**9}, 1_000_000, 100 * 10**9))
    120000000
    """
    size, line = np.asarray(message_bytes), np.asarray(line_bps)
    late_ps = np.maximum(bus_ps(host, size) - _move_ps(size, line), 0)
    if request_bytes := host.get("request_size_bytes"):
        further = np.maximum(-(-size // request_bytes), 1) - 1
        busy_ps = further * (host.get("request_time_ps") or 0)
        late_ps = np.maximum(late_ps, busy_ps - _move_ps(further * request_bytes, line))
    return late_ps + sum(host.get(key) or 0 for key in _ON_THE_WAY)


def bus_ps(host: Mapping[str, int | None], message_bytes: np.ndarray | int) -> np.ndarray:
    """Return how long the bus between memory and interface is busy with messages [ps].

    Examples
    --------
    >>> int(bus_ps({"bus_credit_bytes": 32_768, "bus_round_trip_ps": 800_000}, 65_536))
    1600000
    """
    size = np.asarray(message_bytes)
    rate_bps, credit_bytes = host.get("bus_rate_bps"), host.get("bus_credit_bytes")
    at_rate_ps = _move_ps(size, np.asarray(rate_bps)) if rate_bps else np.zeros_like(size)
    if not credit_bytes:
        return at_rate_ps
    return np.maximum(at_rate_ps, _ceil(size, host["bus_round_trip_ps"] or 0, credit_bytes))


def _move_ps(message_bytes: np.ndarray, rate_bps: np.ndarray) -> np.ndarray:
    """Return the time of some bytes at a rate, rounded up [ps]."""
    return _ceil(message_bytes, 8 * 10**12, rate_bps)


def _ceil(factor: np.ndarray, other: int, divisor: np.ndarray | int) -> np.ndarray:
    """Return a product over a divisor, rounded up, in whole numbers of any length."""
    product = np.asarray(factor).astype(object) * other
    return np.asarray(-(-product // np.asarray(divisor).astype(object)), dtype=np.int64)


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
    times_ps = {
        name: host.get(f"{name}_time_ps") or 0 for name in ("message", "request", "delivery")
    }
    requests = max(
        1, -(-message_bytes // (host.get("request_size_bytes") or max(message_bytes, 1)))
    )
    times_ps["request"] *= requests
    slowest_ps = max(*times_ps.values(), int(bus_ps(host, message_bytes)))
    return 1e12 / slowest_ps if slowest_ps else math.inf
