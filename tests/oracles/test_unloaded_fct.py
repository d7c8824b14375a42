# SPDX-License-Identifier: GPL-2.0-only
"""A message alone takes exactly as long as the closed form of store-and-forward says, to the ps.

The closed form has its own oracles in tests/theory/test_fct.py; here the whole pipeline, from YAML
to the table of flows, is held against it.
"""

from pathlib import Path

import pandas as pd
import pytest

from pyorch.theory.fct import Framing, unloaded_fct_ps
from tests.loaded_runs import command_line

ROOT = Path(__file__).parents[2]
SIZES = [1, 63, 1000, 4096, 4097, 8192, 12_289, 100_000, 1_000_000, 10_000_000]
DELAY_PS, SWITCH_DELAY_PS = 500_000, 30_000

pytestmark = pytest.mark.ns3


def scenario(rate_gbps, uplink_gbps, transport):
    loads = "\n".join(
        f"  - {{type: single, message: {size} B, start: {number * 3} ms, target: {target}}}"
        for number, (size, target) in enumerate(
            (size, target) for size in SIZES for target in (-1, 1)
        )
    )
    return f"""\
name: alone
topology: {{type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 1,
           uplink_rate: {uplink_gbps} Gb/s}}
link: {{rate: {rate_gbps} Gb/s, delay: 500 ns}}
switch: {{buffer: 64 MB, processing_delay: 30 ns}}
workload:
{loads}
transport: {transport}
stop: 1 s
"""


@pytest.mark.parametrize(
    ("rate_gbps", "uplink_gbps"),
    [(100, 100), (400, 400), (800, 800), (1600, 1600), (800, 100), (100, 800), (300, 700)],
)
def test_the_engine_agrees_with_the_closed_form(tmp_path, rate_gbps, uplink_gbps):
    path = tmp_path / "alone.yaml"
    path.write_text(scenario(rate_gbps, uplink_gbps, "{type: ns3::RoceTransport}"))
    done = command_line("run", path, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr

    flows = pd.read_parquet(tmp_path / "out" / "flows.parquet").sort_values("flow")
    got = (flows["receiver_end_ps"] - flows["start_ps"]).tolist()

    edge, core = rate_gbps * 10**9, uplink_gbps * 10**9
    expected = []
    for size in SIZES:
        for rates in ([edge, core, core, edge], [edge, edge]):
            delays = [DELAY_PS] * len(rates)
            expected.append(unloaded_fct_ps(size, rates, delays, Framing(), SWITCH_DELAY_PS))
    assert got == expected
