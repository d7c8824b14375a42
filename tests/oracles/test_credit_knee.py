# SPDX-License-Identifier: GPL-2.0-only
"""Credits of a lane: up to which round trip they fill its link, and what they carry beyond."""

import pytest
from oracle_network import GBPS, US_PS, line, one_flow, run

pytestmark = pytest.mark.ns3

BYTE_PS = 80  # at 100 Gb/s
DELAY_PS = 5 * US_PS
MTU, FRAME, FRAMING = 4096, 4096 + 62, 2
PACKETS = 4000
FRAME_BLOCKS = -(-FRAME // 64)
# A block is in use from the first bit of its frame on the link until an update says that the frame
# has left the switch behind it: on both links once, and the update of 6 B.
LOOP_PS = 2 * (FRAME + FRAMING) * BYTE_PS + 2 * DELAY_PS + (6 + FRAMING) * BYTE_PS
LOOP_BLOCKS = LOOP_PS / ((FRAME + FRAMING) * BYTE_PS) * FRAME_BLOCKS


def share(lane_blocks, update_blocks):
    """Return what a message of many round trips gets of the link [1]."""
    got = run(
        line([100 * GBPS] * 2, [DELAY_PS] * 2),
        one_flow(0, 1, PACKETS * MTU),
        [("ns3::RoceTransport", {"RethBytes": 0})],
        link_control=(
            "ns3::CreditFlowControl",
            {"LaneBlocks": lane_blocks, "UpdateBlocks": update_blocks},
        ),
        framing_bytes=FRAMING,
    )
    return PACKETS * (FRAME + FRAMING) * BYTE_PS / (got.fct_ps() - 2 * DELAY_PS)


@pytest.mark.parametrize("lane_blocks", [1000, 1600, 2000, 2200, 2600, 4000])
@pytest.mark.parametrize("update_blocks", [1, 0])
def test_a_lane_carries_what_is_said_of_its_blocks_in_each_loop(lane_blocks, update_blocks):
    # By default new credit is said an eighth at a time, so up to an eighth is free and not used. A
    # frame more or less may be under way.
    used = lane_blocks if update_blocks else lane_blocks * 7 / 8
    least, most = ((used + slack) / LOOP_BLOCKS for slack in (-FRAME_BLOCKS, FRAME_BLOCKS))
    assert min(1, least) * 0.99 <= share(lane_blocks, update_blocks) <= min(1, most) * 1.001


def test_the_knee_is_at_the_loop_and_an_eighth_above_it_by_default():
    knee = round(LOOP_BLOCKS)
    assert knee == pytest.approx(2083, abs=FRAME_BLOCKS)
    assert share(knee + FRAME_BLOCKS, 1) > 0.99 > 0.95 > share(knee - 3 * FRAME_BLOCKS, 1)
    assert share(round(knee * 8 / 7) + 2 * FRAME_BLOCKS, 0) > 0.99 > 0.95 > share(knee, 0)
