# SPDX-License-Identifier: GPL-2.0-only
"""Takes the gradients two data centres exchange, returns how long that takes and what hides it.

Source: [hotnets24] sections 4.1 and 6, figure 3c. The source states neither how often the pair's
bytes cross nor which propagation counts, so three readings stand side by side (docs/theory.md).
"""

from dataclasses import dataclass

import numpy as np

from pyorch.theory._quantities import BITS_PER_BYTE, PS_PER_S, Real, transfer_ps


@dataclass(frozen=True)
class WanModel:
    """T = volume_factor * pair bytes / rate + propagations * RTT + retransmission RTTs * RTT."""

    name: str
    volume_factor: float  #: how often the pair's bytes cross in one direction [1]
    propagation_rtts: float  #: 1 = a whole round trip, 0.5 = one way
    meaning: str


WAN_MODELS = {
    "once-rtt": WanModel("once-rtt", 1, 1.0, "the bytes once and a whole round trip"),
    "twice-one-way": WanModel(
        "twice-one-way", 2, 0.5, "the bytes twice and one way of propagation"
    ),
    "once-one-way": WanModel("once-one-way", 1, 0.5, "the bytes once and one way of propagation"),
}

#: Inferred, not stated: the tightest below 20 Gb/s of the three that satisfy the text.
DEFAULT_WAN_MODEL = "twice-one-way"


def wan_ps(
    pair_bytes: Real, rate_bps: Real, rtt_ps: Real, model: WanModel, retransmission_rtts: Real = 0
) -> Real:
    """Return the time of stage 3 [ps]; each retransmission of the tail costs one more RTT."""
    waits = model.propagation_rtts + np.asarray(retransmission_rtts, float)
    return transfer_ps(np.multiply(pair_bytes, model.volume_factor), rate_bps) + waits * rtt_ps


def hiding_rate_bps(
    pair_bytes: Real, hidden_under_ps: Real, rtt_ps: Real, model: WanModel,
    retransmission_rtts: Real = 0,
) -> Real:  # fmt: skip
    """Return the least rate at which stage 3 ends within `hidden_under_ps` [bit/s].

    Returns
    -------
    float or array
        Infinite where the round trips alone last longer: no rate is enough.
    """
    waits = model.propagation_rtts + np.asarray(retransmission_rtts, float)
    left_ps = np.asarray(hidden_under_ps - waits * rtt_ps, float)
    bits = np.multiply(pair_bytes, model.volume_factor) * BITS_PER_BYTE
    with np.errstate(divide="ignore"):
        return bits * PS_PER_S / np.maximum(left_ps, 0)
