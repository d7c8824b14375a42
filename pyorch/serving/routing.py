# SPDX-License-Identifier: GPL-2.0-only
"""To which experts tokens go: shares of each expert, and whole copies of tokens by these."""

import numpy as np

#: Of whose multiples the fractional parts are spread most evenly.
_GOLDEN = (5**0.5 - 1) / 2


class Routing:
    """Shares of the experts in each layer.

    Parameters
    ----------
    shares : ndarray of float, n_layers x n_experts
        Each layer of them sums up to 1; a layer beyond the last begins anew.
    active : int
        Experts that a token visits, none of them twice.
    """

    def __init__(self, shares: np.ndarray, active: int):
        self.active = active
        self.shares = np.array([_at_most(row, 1 / active) for row in np.atleast_2d(shares)])

    def copies(self, layer: int, tokens: np.ndarray) -> np.ndarray:
        """Return how many copies each expert gets of each group's tokens, n_groups x n_experts.

        Each row sums up to tokens x active, and each number is its share rounded up or down: the
        copies of a row are dealt out at equal distances along the shares, from a place that differs
        from group to group and layer to layer.
        """
        shares = self.shares[layer % len(self.shares)]
        sent = np.asarray(tokens)[:, None] * self.active
        until = np.cumsum(shares)
        until[-1] = 1
        begin = (np.arange(len(sent))[:, None] + 1 + layer * len(sent)) * _GOLDEN % 1
        places = np.floor(sent * until + begin).astype(np.int64)
        return np.diff(places, axis=1, prepend=0)


def zipf(experts: int, exponent: float) -> np.ndarray:
    """Return shares that fall as a power of the number of the expert: (i + 1)^-exponent."""
    weights = np.arange(1, experts + 1, dtype=float) ** -exponent
    return weights / weights.sum()


def _at_most(shares: np.ndarray, most: float) -> np.ndarray:
    """Return shares of which none is above `most`; the others get the rest in proportion."""
    shares = np.asarray(shares, dtype=float)
    full = np.zeros(len(shares), dtype=bool)
    while True:
        rest = np.where(full, 0, shares)
        left = 1 - most * full.sum()
        found = np.where(full, most, rest * (left / rest.sum() if rest.sum() else 0))
        more = found > most * (1 + 1e-12)
        if not more.any():
            return found
        full |= more
