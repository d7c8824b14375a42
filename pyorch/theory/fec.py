# SPDX-License-Identifier: GPL-2.0-only
"""Takes a block code and the loss of packets, returns what the code cannot give back.

Of k data and m parity packets any k are enough (maximum distance separable), losses are
independent. Source: the binomial distribution.
"""

import numpy as np
from scipy.stats import binom

from pyorch.theory._quantities import Real


def block_loss(data: int, parity: int, loss_ratio: Real) -> Real:
    """Return the probability that more packets of a block are lost than it has parity [1]."""
    return binom.sf(parity, data + parity, loss_ratio)


def resent_share(data: int, parity: int, loss_ratio: Real) -> Real:
    """Return the packets that have to be sent once more, over those of the message [1].

    A block that has lost i > m needs i - m of them; those that are lost again are not counted.
    """
    n, ratio = data + parity, np.asarray(loss_ratio, float)
    # E[(X - m)+] is the sum over j >= m of P(X > j).
    beyond = binom.sf(np.arange(parity, n).reshape(-1, *[1] * ratio.ndim), n, ratio)
    return beyond.sum(axis=0) / data
