# SPDX-License-Identifier: GPL-2.0-only
"""A step at full size: the closed form, hand counts, and the fluid engine on the same network."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pyorch.errors import TheoryError
from pyorch.theory import fct, full_step, parallelism, preset

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))

#: 4 stages of 6 peers at each of 2 sites; racks of 4 devices in 2 groups of 2.
SMALL = (
    ("model.layers", 4), ("cluster.rack_gpus", 4), ("cluster.racks", 48),
    ("parallelism.tensor", 2), ("gpu.memory", "1000 TB"), ("model.hidden", 1024),
    ("model.heads", 8), ("model.vocabulary", 1000), ("job.sequence_tokens", 2000),
)  # fmt: skip
FABRIC = full_step.Fabric(radix=4, planes=2, rails=4)


@pytest.fixture
def setup():
    return preset.training("dense-100t", SMALL).setup


def outcomes(setup, fabric=FABRIC):
    return {phase.name: full_step.solve(setup, fabric, phase) for phase in full_step.phases(setup)}


def test_without_headers_and_latency_it_is_the_closed_form(setup):
    # Bytes over rate, and in each round three more packets on their way at 400 Gb/s; times of
    # packets are rounded up to a ps, 2e-4 of them at 14.4 Tb/s.
    framing = fct.Framing(mtu_bytes=4096, header_bytes=0, first_header_bytes=0, framing_bytes=0)
    found = outcomes(setup, replace(FABRIC, delay_ps=0, framing=framing))
    ideal = parallelism.stage_times(setup)

    for name, got in found.items():
        if name != "dp3":
            expected = float(getattr(ideal, f"{name}_ps"))
            latency_ps = got.rounds * 3 * 4096 * 8e12 / 400e9
            assert expected <= got.time_ps * (1 + 1e-9)
            assert got.time_ps <= expected * (1 + 1e-3) + latency_ps


def test_devices_and_bytes_are_those_of_the_model(setup):
    # Each of 2 x 6 x 4 racks x 4 devices sends 2 (n - 1) chunks of g / (4 n) in the all-reduce
    # among n = 6 racks: 2 (n - 1) / n of its g / 4.
    gradients = float(parallelism.gradient_bytes(setup))
    by_name = {phase.name: phase for phase in full_step.phases(setup)}
    among = by_name["dp2"]

    assert len(among.src) == 192 and among.rounds == 10
    sent = among.rounds * among.message_bytes
    assert sent == pytest.approx(2 * 5 / 6 * gradients / 4, rel=1e-4)
    assert len(by_name["pipeline"].src) == 192 * 3 // 4  # the last stage sends nothing on
    for phase in by_name.values():
        assert len(np.unique(phase.src)) == len(np.unique(phase.dst)) == len(phase.src)
        assert (phase.src != phase.dst).all()


def test_rails_keep_to_their_slot_and_sites_meet_only_in_the_wide_area(setup):
    for phase in full_step.phases(setup):
        same_rack = phase.src // 4 == phase.dst // 4
        assert same_rack.all() == (phase.network == "scale_up")
        if phase.network != "scale_up":
            assert (phase.src % 4 == phase.dst % 4).all()
        assert ((phase.src // 96 == phase.dst // 96).all()) == (phase.network != "wan")


def test_oversubscription_slows_down_what_leaves_its_switch(setup):
    # 4 racks below an edge switch of a rail, and a peer is 4 racks away: all leave, and share 1/r.
    full = outcomes(setup)["dp2"]
    half = outcomes(setup, replace(FABRIC, oversubscription=2.0))["dp2"]
    wire = FABRIC.framing.message_wire_bytes(full.message_bytes)

    assert half.is_exact and full.is_exact
    assert half.longest_ps - full.longest_ps == pytest.approx(wire * 8e12 / 800e9, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"rails": 3}, "3 rails do not divide the 4 devices"),
     ({"planes": 0}, "0 planes of chips with 4 ports"),
     ({"oversubscription": 0.5}, "oversubscription 0.5: 1 to 4"),
     ({"oversubscription": float("nan")}, "oversubscription nan: 1 to 4")],
)  # fmt: skip
def test_what_is_no_network_is_refused(setup, change, message):
    with pytest.raises(TheoryError, match=message):
        full_step.check(setup, replace(FABRIC, **change))


@pytest.mark.ns3
@pytest.mark.parametrize("oversubscription", [1, 2])
def test_a_ring_is_that_of_the_fluid_engine_message_by_message(setup, oversubscription):
    # One rail of one site: 24 racks with a device each, 2 planes of 6 edge switches of 4 hosts
    # and `half / r` links up. The engine runs all 10 rounds of all 24 messages with their waits.
    from oracle_network import Flows, Network, run

    fabric = replace(FABRIC, oversubscription=float(oversubscription))
    phase = next(p for p in full_step.phases(setup) if p.name == "dp2")
    expected = full_step.solve(setup, fabric, phase)
    rate, spines = 400 * 10**9, 4 // oversubscription
    network = Network(hosts=list(range(24)))
    for plane in range(2):
        base = 1000 * (plane + 1)
        network.switches += [(base + leaf, 1) for leaf in range(6)]
        network.switches += [(base + 100 + spine, 2) for spine in range(spines)]
        for host in range(24):
            network.link(host, base + host // 4, rate, fabric.delay_ps)
        for leaf in range(6):
            for spine in range(spines):
                network.link(base + leaf, base + 100 + spine, rate, fabric.delay_ps)
    flows, waits = Flows(), []
    for turn in range(phase.rounds):
        for rack in range(24):
            flow = flows.add(rack, (rack + 4) % 24, phase.message_bytes)
            if turn:
                waits.append((flow, flow - 24 - rack + (rack - 4) % 24, 0, 0))
    got = run(network, flows, [("ns3::SprayTransport", {})], dependencies=waits, engine="fluid")

    end_ps = int(got["flows"]["receiver_end_ps"].max())
    assert abs(end_ps - expected.time_ps) <= phase.rounds  # a ps of rounding in each
