# SPDX-License-Identifier: GPL-2.0-only
"""Who skips steady states is told where a small difference decides what happens next."""

import numpy as np
import pytest

from pyorch.simulate.fabric import Fabric

NONE, ONE = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)


@pytest.mark.parametrize(
    ("table", "column", "transport", "told"),
    [
        ("link_events", ONE, "ns3::SprayTransport", ["links change"]),
        ("link_events", NONE, "ns3::SprayTransport", []),
        ("dependencies", ONE, "ns3::RoceTransport", ["messages on single paths"]),
        ("dependencies", ONE, "ns3::SprayTransport", []),
    ],
)
@pytest.mark.parametrize("skips", [True, False])
def test_a_small_difference_that_decides_is_told(table, column, transport, told, skips):
    fabric = Fabric(seed=1)
    fabric.transport(transport, {})
    fabric.table(table, {"flow": column})
    if skips:
        fabric.engine = {"skip_ppm": 10_000}

    lines = fabric.warnings()

    assert len(lines) == (len(told) if skips else 0)
    assert all(word in line for word, line in zip(told, lines, strict=False))
