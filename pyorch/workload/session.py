# SPDX-License-Identifier: GPL-2.0-only
"""No messages: a program sends them while the run goes on, by `pyorch.Session` or in C."""

import numpy as np

from pyorch.spec.fields import Closed
from pyorch.spec.network import Network

#: Messages come from outside, so a run without any other is no mistake.
IS_OPEN = True


class Params(Closed):
    """There is nothing to choose."""


def check(params: Params, network: Network, stop_ps: int) -> None:
    """Refuse nothing."""


def flows(
    params: Params, nodes: dict[str, np.ndarray], links: dict[str, np.ndarray], seed: int
) -> dict[str, np.ndarray]:
    """Return no row."""
    return {name: np.zeros(0, dtype=np.int64) for name in ("src", "dst", "bytes", "start_ps")}
