# SPDX-License-Identifier: GPL-2.0-only
"""Messages of tokens on their way to experts, and back, that cross once to each rack.

A device sends what is for a rack to its peer there, one rack after the other, and the peer hands it
on to the members that have the experts while the next rack's is on its way. On the way back the
members send to the peer, which adds up and sends one message home.

Source: [deepseek24] section 3.2.2.
"""

import numpy as np

from pyorch.collective._graph import AT_RECEIVER, AT_SENDER, Graph, messages


def graph(racks: int, members: int, rail_bytes: int, rack_bytes: int, back: bool) -> Graph:
    """Return the messages among devices that share experts; ranks are counted rack by rack.

    Parameters
    ----------
    racks, members : int
        Racks, and devices of each.
    rail_bytes : int
        From a device to its peer in one other rack [byte].
    rack_bytes : int
        What of this, or of its own tokens, a device hands on to one other member [byte].
    back : bool
        Whether tokens return: what was sent is received, and what came before comes after.
    """
    ranks = np.arange(racks * members).reshape(racks, members)
    # In turn t the devices of rack r send to rack r + t.
    turn, rack, member = (x.ravel() for x in np.indices((racks - 1, racks, members)))
    home, peer = ranks[rack, member], ranks[(rack + turn + 1) % racks, member]
    rails = np.arange(len(home))
    # In rack r arrives what rack r - t has sent; in turn 0 it is its own.
    turn, rack, member, step = (x.ravel() for x in np.indices((racks, racks, members, members - 1)))
    at, to = ranks[rack, member], ranks[rack, (member + 1 + step) % members]
    inside = len(rails) + np.arange(len(at))
    came = turn > 0
    feeds = ((turn[came] - 1) * racks + (rack[came] - turn[came]) % racks) * members + member[came]

    src, dst = np.concatenate([home, at]), np.concatenate([peer, to])
    sizes = np.repeat([rail_bytes, rack_bytes], [len(rails), len(inside)])
    is_rail = np.arange(len(src)) < len(rails)
    is_own = np.concatenate([np.ones(len(rails), dtype=bool), ~came])
    if back:
        last = np.roll(inside.reshape(racks, -1), -1, axis=0)  # its own tokens come last
        after = [(feeds, inside[came], AT_RECEIVER), _in_turn(last)]
        return messages(dst, src, sizes, ~is_rail, own=True, needed=is_own, waits=after)
    after = [(inside[came], feeds, AT_RECEIVER), _in_turn(rails.reshape(racks - 1, -1))]
    return messages(src, dst, sizes, ~is_rail, own=is_own, waits=after)


def _in_turn(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return dependencies of rows on those a turn before."""
    return rows[1:].ravel(), rows[:-1].ravel(), AT_SENDER
