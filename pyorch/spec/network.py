# SPDX-License-Identifier: GPL-2.0-only
"""What a workload is checked against: the network of a run, counted and as tables."""

from typing import NamedTuple

import numpy as np

Columns = dict[str, np.ndarray]


class Network(NamedTuple):
    """Closed-form numbers, node table and link table of a topology."""

    counts: dict[str, int]
    nodes: Columns
    links: Columns
