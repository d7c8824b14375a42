# SPDX-License-Identifier: GPL-2.0-only
"""Bytes over capacity of cuts, by hand: 2 leaves x 2 hosts x 2 spines, 1 byte takes 10 ps."""

import numpy as np
import pytest

from pyorch.theory import bounds

RATE_BPS = 800 * 10**9
MESSAGE_BYTES = 40_000
MESSAGE_PS = 400_000  # over one link
#: Hosts 0-3, leaves 4 and 5, spines 6 and 7.
NODES = {"node": np.arange(8), "is_switch": np.array([0] * 4 + [1] * 4)}
PAIRS = np.array([(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (4, 7), (5, 6), (5, 7)])
LINKS = {
    "node_a": PAIRS[:, 0],
    "node_b": PAIRS[:, 1],
    "parallel": np.zeros(8, dtype=int),
    "rate_bps": np.full(8, RATE_BPS),
}


def least_ps(pairs, start_ps=None, changes=(), alone_ps=0):
    """Messages of MESSAGE_BYTES between these hosts; `changes` are (time, a, b, rate)."""
    src, dst = np.array(pairs).T
    tables = {
        "nodes": NODES,
        "links": LINKS,
        "flows": {"src": src, "dst": dst, "start_ps": np.array(start_ps or [0] * len(src))},
    }
    if changes:
        names = ("time_ps", "node_a", "node_b", "rate_bps")
        tables["link_events"] = dict(zip(names, np.array(changes).T, strict=True))
        tables["link_events"]["parallel"] = np.zeros(len(changes), dtype=int)
    wire = np.full(len(src), MESSAGE_BYTES)
    return bounds.least_time_ps(tables, wire, np.full(len(src), alone_ps))


def test_a_receiver_is_the_narrowest_place_of_an_incast():
    assert least_ps([(0, 3), (1, 3), (2, 3)]) == 3 * MESSAGE_PS


def test_a_sender_is_the_narrowest_place_of_an_outcast():
    assert least_ps([(0, 1), (0, 2), (0, 3)]) == 3 * MESSAGE_PS


def test_a_permutation_takes_as_long_as_one_message():
    assert least_ps([(0, 2), (1, 3), (2, 0), (3, 1)]) == MESSAGE_PS


def test_two_messages_leave_a_leaf_with_one_uplink_one_after_the_other():
    pairs = [(0, 2), (1, 3)]

    assert least_ps(pairs, changes=[(0, 4, 6, 0)]) == 2 * MESSAGE_PS
    assert least_ps([(0, 1), (1, 0)], changes=[(0, 4, 6, 0)]) == MESSAGE_PS  # they stay inside


def test_a_link_to_the_target_of_a_quarter_of_the_rate_counts_as_that():
    # Into leaf 5 lead 1 + 1/4 links: 2 messages take 2 / 1.25 of one.
    assert least_ps([(0, 2), (1, 3)], changes=[(0, 5, 7, RATE_BPS // 4)]) == 1.6 * MESSAGE_PS


def test_capacity_that_changes_on_the_path_is_added_up():
    # Half of the bytes in half the time, the other half over one link of two.
    half = MESSAGE_PS // 2

    assert least_ps([(0, 2), (1, 3)], changes=[(half, 4, 6, 0)]) == half + 2 * half
    back = [(half, 4, 6, 0), (half + 10_000, 4, 6, RATE_BPS)]
    assert least_ps([(0, 2), (1, 3)], changes=back) == MESSAGE_PS + 5_000


def test_time_begins_with_the_first_message():
    assert least_ps([(0, 3), (1, 3)], start_ps=[7_000, 7_000]) == 2 * MESSAGE_PS
    assert least_ps([(0, 2), (1, 3)], start_ps=[0, 50_000], alone_ps=390_000) == 440_000


def test_what_is_cut_for_good_is_never_delivered():
    assert least_ps([(0, 2)], changes=[(0, 4, 6, 0), (0, 4, 7, 0)]) == np.inf


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_delivered_sooner_by_one_more_message(seed):
    random = np.random.default_rng(seed)
    pairs = [tuple(random.choice(4, size=2, replace=False)) for _ in range(6)]
    times = [least_ps(pairs[:n]) for n in range(1, 7)]

    assert times == sorted(times)
