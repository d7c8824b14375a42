# SPDX-License-Identifier: GPL-2.0-only
"""What block codes leave, by hand."""

import numpy as np
import pytest

from pyorch.theory import fec


def test_without_parity_every_loss_is_sent_again():
    # 1 - 0.99^64 of the blocks, 1 % of the packets.
    assert fec.block_loss(64, 0, 0.01) == pytest.approx(1 - 0.99**64)
    assert fec.resent_share(64, 0, 0.01) == pytest.approx(0.01)


def test_a_block_of_two_and_one():
    # Lost: two of three, 3 p^2 q, one more than parity, or all three, p^3, two more.
    p, q = 0.1, 0.9
    assert fec.block_loss(2, 1, p) == pytest.approx(3 * p * p * q + p**3)
    assert fec.resent_share(2, 1, p) == pytest.approx((3 * p * p * q + 2 * p**3) / 2)


def test_what_is_left_of_a_transfer_of_57_megabytes():
    # 13 953 packets of 4096 B are 218 blocks of 64. Chances that a transfer needs anything sent
    # again, from the leading term of the tail: C(65, 2) p^2 = 2.08e-3 at 1e-3 with one packet of
    # parity, so 1 - (1 - 2.0e-3)^218 = 0.35; C(66, 3) p^3 with two, 4.6e-5, so 1 %.
    chance = 1 - (1 - fec.block_loss(64, np.array([1, 2]), 1e-3)) ** 218
    assert chance == pytest.approx([0.35, 9.5e-3], rel=0.03)
    assert fec.resent_share(64, 2, np.array([1e-3, 1e-2])).shape == (2,)
