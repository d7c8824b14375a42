# SPDX-License-Identifier: GPL-2.0-only
"""Switches of a class of their own: each part that differs is in force there and nowhere else."""

import runpy

import pytest
from oracle_network import Outcome, run_fabric

from pyorch import render, spec
from pyorch.spec.scenario import parse_scenario

pytestmark = pytest.mark.ns3

BYTE_PS = 80  # at 100 Gb/s
FRAME_BYTES = 4096 + 62 + 16  # of the first packet of a message
LEAF, SPINE = 1, 2  # tiers
ROCE = "transport: {type: ns3::RoceTransport}"
ONE_PACKET = f"workload: {{type: single, message: 4096 B, target: 2}}\n{ROCE}"
#: From two leaves over one spine to a third: it is the spine that has a queue.
INCAST = f"workload: {{type: incast, senders: 2, message: 300 kB}}\n{ROCE}"
TWO_PRIORITIES = """\
workload:
  - {type: single, message: 300 kB, source: 1, target: 0, transport: low}
  - {type: single, message: 300 kB, source: 2, target: 0, transport: high}
transport:
  - {name: low, type: ns3::RoceTransport, attributes: {Priority: 1}}
  - {name: high, type: ns3::RoceTransport, attributes: {Priority: 3}}"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that runs three hosts below leaves of their own; one class of switches."""

    def run(tier: int, part: str, traffic: str, spines: int = 1) -> Outcome:
        text = f"""\
name: classes
topology: {{type: leaf_spine, leaves: 3, hosts_per_leaf: 1, spines: {spines}}}
link: {{rate: 100 Gb/s, delay: 500 ns}}
switch: {{buffer: 64 MB, processing_delay: 30 ns, classes: [{{tiers: [{tier}], {part}}}]}}
{traffic}
stop: 100 ms
"""
        (planned,) = spec.plan(parse_scenario(text, "classes.yaml"))
        monkeypatch.chdir(tmp_path)
        render.write_tables(render.input_tables(planned.spec), tmp_path / "tables.npz")
        (tmp_path / "scenario.py").write_text(render.render_script(planned.spec))
        fabric = runpy.run_path(str(tmp_path / "scenario.py"))["build"]()
        return run_fabric(fabric, fabric.stop_ps)

    return run


def tiers_that(got: Outcome, column: str, least: int = 1) -> set[int]:
    """Return the tiers of switches with a port that has at least so many in a column."""
    ports = got["ports"]
    switches = ports["node"] >= 3  # hosts are 0 to 2, then leaves, then spines
    nodes = ports["node"][switches & (ports[column] >= least)]
    return {LEAF if node < 6 else SPINE for node in nodes.tolist()}


@pytest.mark.parametrize(("tier", "passed"), [(LEAF, 2), (SPINE, 1)])
def test_latency(run, tier, passed):
    plain = run(tier, "processing_delay: 30 ns", ONE_PACKET).fct_ps()

    assert run(tier, "processing_delay: 1 us", ONE_PACKET).fct_ps() - plain == passed * 970_000


@pytest.mark.parametrize(("tier", "passed"), [(LEAF, 2), (SPINE, 1)])
def test_cut_through(run, tier, passed):
    plain = run(tier, "processing_delay: 30 ns", ONE_PACKET).fct_ps()
    saved_ps = plain - run(tier, "cut_through: 64 B", ONE_PACKET).fct_ps()

    assert saved_ps == passed * (FRAME_BYTES - 64) * BYTE_PS


@pytest.mark.parametrize("part", [
    "buffer: 30 kB", "queue: {type: ns3::DropTail, attributes: {LimitBytes: 30 kB}}",
])  # fmt: skip
def test_buffer_and_queue(run, part):
    assert tiers_that(run(SPINE, part, INCAST), "dropped_buffer_frames") == {SPINE}
    assert tiers_that(run(LEAF, part, INCAST), "dropped_buffer_frames") == set()


@pytest.mark.parametrize(("tier", "uplinks"), [(LEAF, 4), (SPINE, 1)])
def test_forwarding(run, tier, uplinks):
    traffic = "workload: {type: single, message: 1 MB, target: 2}\n"
    transport = (
        "transport: {type: ns3::SprayTransport, attributes: {PathSelector: ns3::FlowEntropy}}"
    )
    got = run(tier, "forwarding: {type: ns3::RandomSpray}", traffic + transport, spines=4)

    assert sum(got.port(3, 6 + spine)["sent_data_packets"] > 0 for spine in range(4)) == uplinks


def test_scheduler(run):
    # Oracle: strict priority lets the one wait until the other is through; in turns they share.
    turns = "scheduler: {type: ns3::WeightedRoundRobin, attributes: {Weights: '1:1,3:1'}}"
    frame_ps = (FRAME_BYTES + 20) * BYTE_PS
    for tier, shares in ((SPINE, True), (LEAF, False)):
        low, high = run(tier, turns, TWO_PRIORITIES).fcts_ps()

        assert (low - high < 3 * frame_ps) == shares
        assert low - high > 0


def test_programs(run):
    # Oracle: a packet grows by 2 bytes at the first switch that writes, and by 8 at each.
    telemetry = "programs: [{type: ns3::InbandTelemetry, attributes: {BaseBytes: 2, HopBytes: 8}}]"
    path = [(3, 6), (6, 5), (5, 2)]  # leaf, spine, leaf, host
    for tier, grown in ((LEAF, [10, 10, 18]), (SPINE, [0, 10, 10])):
        got = run(tier, telemetry, ONE_PACKET)

        sent_bytes = [got.port(*link)["sent_bytes"] for link in path]
        assert [sent - FRAME_BYTES - 20 for sent in sent_bytes] == grown
