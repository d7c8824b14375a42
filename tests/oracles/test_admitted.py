# SPDX-License-Identifier: GPL-2.0-only
"""Sources of a crossing between two sites that fit its long haul: no drop, and all end together."""

from pathlib import Path

import pandas as pd
import pytest

from tests.loaded_runs import command_line

ROOT = Path(__file__).parents[2]
SCENARIO = """\
name: crossing
topology:
  type: multi_site
  sites:
    - {name: east, topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 4, spines: 2}}
    - {name: west, topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 4, spines: 2}}
  long_haul: [{between: [east, west], rate: 400 Gb/s, delay: 30 ms}]
link: {rate: 400 Gb/s, delay: 500 ns}
switch: {buffer: 1 MB}
workload: {type: stride, stride: 8, message: 20 MB}
transport: {type: ns3::WanTransport, attributes: {RateBps: 45 Gb/s, ParityPackets: 4}}
stop: 1 s
"""

pytestmark = pytest.mark.ns3


def test_admitted_sources_lose_nothing_and_end_within_two_percent(tmp_path):
    """Eight hosts of each side send 45 Gb/s and 1/16 of parity, 382.5 of the 400 Gb/s there are.

    20 MB are 4883 packets, 76 whole blocks of 64 + 4 and one of 19 + 4: before the last packet
    76 x 68 + 18 full ones leave, 4178 B each at 45 x 17/16 Gb/s. Answers take 1.6 % of the other
    path.
    """
    path = tmp_path / "crossing.yaml"
    path.write_text(SCENARIO)
    done = command_line("run", path, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    flows, ports = (
        pd.read_parquet(tmp_path / "out" / f"{name}.parquet") for name in ("flows", "ports")
    )

    ideal_ps = (76 * 68 + 18) * 4178 * 8 / (45e9 * 17 / 16) * 1e12 + 30e9
    fct_ps = flows["receiver_end_ps"] - flows["start_ps"]
    assert len(fct_ps) == 16
    assert ports.filter(like="dropped_").to_numpy().sum() == 0
    assert fct_ps.max() <= 1.02 * fct_ps.min()
    assert ideal_ps <= fct_ps.min() and fct_ps.max() <= 1.02 * ideal_ps
