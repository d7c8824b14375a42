# SPDX-License-Identifier: GPL-2.0-only
"""Tokens that cross once to each rack: where they are when, as each message and its waits say."""

import numpy as np
import pytest

from pyorch.collective._graph import AT_RECEIVER
from pyorch.theory import parallelism, preset
from pyorch.training import by_rack
from pyorch.training.plan import Shape, amounts

SHAPES = [(2, 1), (2, 3), (4, 2), (5, 4)]


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize(("racks", "members"), SHAPES)
def test_each_device_sends_to_its_peers_and_hands_on(racks, members, back):
    graph = by_rack.graph(racks, members, 1000, 7, back)

    each = (racks - 1) * 1000 + racks * (members - 1) * 7
    for ends in (graph.src, graph.dst):
        assert np.bincount(ends, graph.bytes).tolist() == [each] * racks * members
    same_rack = graph.src // members == graph.dst // members
    same_rail = graph.src % members == graph.dst % members
    assert (same_rack ^ same_rail).all()
    assert (graph.bytes == np.where(same_rack, 7, 1000)).all()


@pytest.mark.parametrize(("racks", "members"), SHAPES)
def test_tokens_of_each_device_come_to_all_and_return(racks, members):
    """Follow the tokens of one device: who has them, and whose sums have come home."""
    there, back = (by_rack.graph(racks, members, 1000, 7, way) for way in (False, True))
    everybody = set(range(racks * members))
    for device in everybody:
        have = {device}
        rails = np.flatnonzero((there.src == device) & (there.bytes == 1000))
        have |= set(there.dst[rails].tolist())
        carries = there.after[there.at_sender == AT_RECEIVER], there.flow[there.at_sender == 0]
        handed = carries[1][np.isin(carries[0], rails)]
        own = np.flatnonzero((there.src == device) & (there.bytes == 7) & there.own)
        have |= set(there.dst[np.concatenate([handed, own])].tolist())
        assert have == everybody
        assert len(handed) + len(own) == racks * (members - 1)

        home = np.flatnonzero((back.dst == device) & back.needed)
        added = back.after[np.isin(back.flow, home) & (back.at_sender == AT_RECEIVER)]
        assert set(back.src[np.concatenate([home, added])].tolist()) == everybody - {device}


def test_what_a_device_sends_is_that_of_the_closed_form():
    # [deepseek24]: 8 experts of each token in 4 racks at most; 64 devices in 8 racks share them.
    setup = preset.training("deepseek-v3").setup
    found = amounts(setup, Shape(1, 8, 8, 1), 1)
    inside, outside = parallelism.expert_bytes(setup)

    assert found.expert_rail_bytes * 2 == found.expert_bytes
    sent = found.expert_rail_bytes + found.combine_rail_bytes
    assert sent * 7 / 8 == pytest.approx(outside)
    assert (found.expert_bytes + found.combine_bytes) * 7 / 8 == pytest.approx(inside)
