# SPDX-License-Identifier: GPL-2.0-only
"""Frames that come at one instant: the port decides who loses, until cables differ a little."""

import numpy as np
import pytest
from oracle_network import Outcome, run_tables
from scipy import stats

from pyorch import render, spec
from pyorch.spec.scenario import parse_scenario

pytestmark = pytest.mark.ns3

SENDERS = 8
SEEDS = 16
TRANSPORTS = {
    "go-back-N": {"WindowBytes": "100 kB"},
    "selective repeat": {
        "Recovery": "SelectiveRepeat", "WindowBytes": "100 kB", "Rto": "500 us", "RtoLow": "200 us",
    },
}  # fmt: skip


def incast(transport: str, jitter: str, seeds: int) -> list[Outcome]:
    """Return 1 MB from each of 8 hosts to one, over a queue of 200 kB, for each seed."""
    attributes = ", ".join(f"{name}: {value}" for name, value in TRANSPORTS[transport].items())
    text = f"""\
name: ties
topology: {{type: star, hosts: {SENDERS + 1}}}
link: {{rate: 100 Gb/s, delay: 500 ns, jitter: {jitter}}}
switch: {{buffer: 64 MB, queue: {{type: ns3::DropTail, attributes: {{LimitBytes: 200 kB}}}}}}
workload: {{type: incast, senders: {SENDERS}, message: 1 MB}}
transport: {{type: ns3::RoceTransport, attributes: {{{attributes}}}}}
stop: 1 s
sweep: {{seed: {list(range(1, seeds + 1))}}}
"""
    outcomes = []
    for planned in spec.plan(parse_scenario(text, "ties.yaml")):
        tables, given = render.input_tables(planned.spec), planned.spec
        queue, sender = given.switch.queue, given.transport[0]
        got = run_tables(
            tables["nodes"], tables["links"], tables["flows"],
            [(sender.type, sender.attributes)], forwarding="ns3::EcmpHash",
            queue=(queue.type, queue.attributes), pfc=None, drops=(), seed=given.seed,
            stop_ps=given.stop_ps, buffer_bytes=given.switch.buffer_bytes,
        )  # fmt: skip
        assert got.drops() > 0
        outcomes.append(got)
    return outcomes


def port_decides(got: Outcome) -> float:
    """Return Spearman's correlation of a sender's port and its completion time."""
    assert got["flows"]["src"].tolist() == list(range(1, SENDERS + 1))  # ports are in this order
    return stats.spearmanr(got["flows"]["src"], got.fcts_ps()).statistic


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_equal_cables_have_one_outcome_whatever_the_seed(transport):
    outcomes = incast(transport, "0 ns", 3)

    assert len({tuple(got.fcts_ps()) for got in outcomes}) == 1


def test_on_equal_cables_the_port_decides_who_loses():
    (got,) = incast("selective repeat", "0 ns", 1)

    assert port_decides(got) > 0.8  # measured: 0.90


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_cables_that_differ_by_less_than_a_frame_leave_it_to_chance(transport):
    # Oracle: ranks of independent draws. One correlation of 8 pairs has a standard deviation of
    # 1 / sqrt(8 - 1), the mean of 16 a quarter of it; four of these are allowed.
    outcomes = incast(transport, "330 ns", SEEDS)  # a frame takes 334 ns

    assert len({tuple(got.fcts_ps()) for got in outcomes}) == SEEDS
    mean = np.mean([port_decides(got) for got in outcomes])
    assert abs(mean) < 4 / np.sqrt((SENDERS - 1) * SEEDS)
