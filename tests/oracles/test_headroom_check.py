# SPDX-License-Identifier: GPL-2.0-only
"""The check before a run and the engine reserve the same headroom."""

import re

import pytest
from oracle_network import GBPS, one_flow, run, star

from pyorch.errors import SimulationError
from pyorch.spec.checks import pfc_headroom_bytes

pytestmark = pytest.mark.ns3


@pytest.mark.parametrize(
    ("rate_gbps", "delay_ps", "processing_delay_ps"),
    [(100, 500_000, 0), (800, 1_000_000, 0), (400, 300_000, 250_000), (1600, 5_000_000, 0)],
)
def test_the_check_before_a_run_counts_what_the_engine_reserves(
    rate_gbps, delay_ps, processing_delay_ps
):
    # Two computations of one formula, in two languages; the engine says its sum when it refuses.
    frame_bytes = 4096 + 62 + 16
    headroom = pfc_headroom_bytes(rate_gbps * GBPS, delay_ps, frame_bytes, 20, processing_delay_ps)

    with pytest.raises(SimulationError) as refused:
        run(
            star(3, rate_gbps * GBPS, delay_ps),
            one_flow(0, 1, 1000),
            pfc={"XoffBytes": 50_000},
            buffer_bytes=1,
            processing_delay_ps=processing_delay_ps,
        )

    needed = int(re.search(r"switch 1000 needs (\d+) bytes", str(refused.value))[1])
    assert abs(needed - 3 * (50_000 + headroom)) <= 3  # a byte per port of rounding


def test_a_dynamic_threshold_reserves_headroom_only():
    with pytest.raises(SimulationError, match=r"switch 1000 needs (\d+) bytes") as refused:
        run(
            star(3, 100 * GBPS, 500_000),
            one_flow(0, 1, 1000),
            pfc={"XoffBytes": 50_000, "Alpha": 1},
            buffer_bytes=1,
        )

    headroom = pfc_headroom_bytes(100 * GBPS, 500_000, 4096 + 62 + 16, 20)
    needed = int(re.search(r"needs (\d+) bytes", str(refused.value))[1])
    assert abs(needed - 3 * headroom) <= 3
