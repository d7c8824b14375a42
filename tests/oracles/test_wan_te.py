# SPDX-License-Identifier: GPL-2.0-only
"""Engineered demands in packets: what is admitted loses nothing, what is not loses what is over."""

from pathlib import Path

import numpy as np
import pytest

from pyorch.metrics import wan_te
from pyorch.metrics._run import RunTables
from pyorch.spec import read_spec
from tests.loaded_runs import command_line

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "scenarios" / "wan_te.yaml"

pytestmark = pytest.mark.ns3


def run(folder, *words):
    done = command_line(
        "run", str(SCENARIO), "--scale", "smoke", "--out",
         str(folder), "--set", "topology.long_haul.2.rate=100 Gb/s",
        *(part for word in words for part in ("--set", word)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    spec = read_spec(folder / "spec.json")
    return wan_te.measure(RunTables(spec, folder)).set_index("demand")


@pytest.mark.parametrize("transport", ["ns3::WanTransport", "ns3::SprayTransport"])
def test_admitted_traffic_loses_nothing_and_keeps_to_its_rate(tmp_path, transport):
    """Training asks for 400 of 95 + 380 - logs, logs for 200, at weights of 2 and 1.

    Shares rise until the link to the middle is full: t = 95 + x, x + l = 380, t = 2 l gives
    l = 158.3, t = 316.7 and x / t = 0.7, in fourths 3. So 3/4 t + l = 380 and t = 2 l: l = 152,
    t = 304. A packet's time of 4178 B at a quantum's rate is 1/60 of a part of 250 kB at most.
    """
    got = run(tmp_path, f"transport.type={transport}", "transport.attributes={Rto: 200 ms}")

    assert got["granted_bps"].tolist() == pytest.approx([304e9, 152e9], rel=1e-6)
    assert got["achieved_bps"].tolist() == pytest.approx([304e9, 152e9], rel=1 / 50)
    assert (got["dropped_buffer_frames"] == 0).all()
    assert (got["retransmitted_packets"] == 0).all()
    assert (got["max_cable_share"] <= 0.95 + 1e-9).all()
    assert (got["spread"] < 1.02).all()


def test_bits_at_a_rate_that_changes_take_as_long_as_by_hand():
    # 4 s at 1 bit/s, then 2 bit/s: 10 bits take 4 + 3 s, 4 bits 4 s, 3 bits 3 s.
    found = wan_te._sent_ps(np.array([10.0, 4.0, 3.0]), [0, 4 * 10**12], [1.0, 2.0])
    assert found.tolist() == [7e12, 4e12, 3e12]


def test_what_is_not_admitted_overruns_the_border(tmp_path):
    """Hosts send 400 + 200 Gb/s, three fourths of 400 and 200 to a link of 400 Gb/s.

    500 of 400 Gb/s for the 10 us and more that 3 + 2 MB last: a buffer of 100 kB is too small.
    """
    got = run(tmp_path, "workload.admission=asked", "switch.buffer=100 kB")

    assert (got["dropped_buffer_frames"] > 0).all()
    assert got["retransmitted_packets"].sum() > 0
