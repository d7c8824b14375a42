# SPDX-License-Identifier: GPL-2.0-only
"""Takes a loss ratio and a round trip, returns the window that TCP keeps [packet].

Both laws are of one loss per 1/p packets, exactly. Losses that are independent leave more, because
some come soon after another, when the window is small, and several in one round trip count once
(`windows_of_chance`); a limit of the window leaves less.
"""

import numpy as np

from pyorch.draws import stream
from pyorch.theory._quantities import PS_PER_S, Real

#: RFC 9438 sections 4.6 and 5.1: multiplicative decrease, and growth in segments per cubic second.
CUBIC_BETA, CUBIC_C = 0.7, 0.4


def reno_window(loss_ratio: Real) -> Real:
    """Return the mean window of Reno, sqrt(3 / 2p) = 1.22 / p^0.5.

    Source: Mathis, Semke, Mahdavi, Ott, CCR 27(3), 1997, equation 3, each packet acknowledged.
    """
    return np.sqrt(1.5 / np.asarray(loss_ratio, float))


def cubic_window(loss_ratio: Real, rtt_ps: Real) -> Real:
    """Return the mean window of CUBIC, 1.054 RTT^0.75 / p^0.75 with RTT in seconds, or Reno's.

    Source: RFC 9438 section 5.1, equation 6; where Reno has more CUBIC follows it (section 4.3).
    """
    factor = (CUBIC_C * (3 + CUBIC_BETA) / 4 / (1 - CUBIC_BETA)) ** 0.25
    rtt_s = np.asarray(rtt_ps, float) / PS_PER_S
    cubic = factor * (rtt_s / np.asarray(loss_ratio, float)) ** 0.75
    return np.maximum(cubic, reno_window(loss_ratio))


def windows_of_chance(
    variant: str,
    loss_ratio: float,
    rtt_ps: float,
    packets: int,
    *,
    most_packets: float = np.inf,
    draws: int = 400,
    even: bool = False,
    seed: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean windows of messages whose packets are lost independently, and the shares lost.

    A model of whole round trips: each sends a window, losses in it are answered once at its end,
    slow start doubles the window until the first. What recovery costs is left out.

    Parameters
    ----------
    variant : str
        ``reno``, or ``cubic`` with fast convergence (RFC 9438 section 4.7) and Reno's as the least.
    packets : int
        Of a message, from its slow start on; windows are counted after the first third of them.
    most_packets : float
        No window is larger.
    draws : int
        Messages.
    even : bool
        Instead one loss per 1 / `loss_ratio` packets, the first of them half as late.

    Returns
    -------
    windows, shares : ndarray, draws
        Packets for each round trip [packet], and what of all packets was lost [1].
    """
    random, rtt_s = stream(seed, "windows_of_chance"), rtt_ps / PS_PER_S
    gap = np.full(draws, 1 / loss_ratio)
    window, slow, sent, trips = np.full(draws, 10.0), np.full(draws, True), np.zeros(draws), 0.0
    peak, base, since_s = window.copy(), window.copy(), np.zeros(draws)
    third, end, lost = np.full(draws, np.nan), np.full(draws, np.nan), np.zeros(draws)
    due = gap / 2 if even else random.geometric(loss_ratio, draws).astype(float)
    while np.isnan(end).any():
        after, hit = sent + window, np.zeros(draws, bool)
        while (now := due <= after).any():
            lost += now & np.isnan(end)
            hit |= now
            due += np.where(now, gap if even else random.geometric(loss_ratio, draws), 0)
        for goal, when in ((packets / 3, third), (packets, end)):
            new = np.isnan(when) & (after >= goal)
            when[new] = trips + (goal - sent[new]) / window[new]
        sent, trips, since_s = after, trips + 1, since_s + rtt_s
        if variant == "reno":
            grown, cut = window + 1, window / 2
        else:
            peak = np.where(hit, np.where(window < peak, 0.5 + CUBIC_BETA / 2, 1) * window, peak)
            base = np.where(hit, CUBIC_BETA * window, base)
            until_s = np.cbrt(np.maximum(peak - base, 0) / CUBIC_C)
            friendly = base + 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA) * since_s / rtt_s
            grown = np.maximum(CUBIC_C * (since_s - until_s) ** 3 + peak, friendly)
            cut = base
        grown = np.where(slow, 2 * window, np.maximum(grown, window))
        window = np.minimum(np.where(hit, np.maximum(cut, 1), grown), most_packets)
        since_s, slow = np.where(hit, 0, since_s), slow & ~hit
    return packets * 2 / 3 / (end - third), lost / packets
