# SPDX-License-Identifier: GPL-2.0-only
"""Two sites from YAML to tables: exact when idle; the long haul has a class of its own."""

from pathlib import Path

import pandas as pd
import pytest

from pyorch.theory.fct import Framing, unloaded_fct_ps
from tests.loaded_runs import command_line

ROOT = Path(__file__).parents[2]
GBPS = 10**9
SIZES = [1, 4097, 1_000_000]
# hosts 0-3 east, 4-5 west; borders 11 and 12
SCENARIO = """\
name: two_sites
topology:
  type: multi_site
  sites:
    - {{name: east, topology: {{type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 1}}}}
    - {{name: west, topology: {{type: dumbbell, left: 1, right: 1, bottleneck_rate: 200 Gb/s}},
       border_rate: 1.6 Tb/s, border_delay: 2 us}}
  long_haul: [{{between: [east, west], rate: 100 Gb/s, delay: 30 ms}}]
link: {{rate: 800 Gb/s, delay: 500 ns, classes: [{{tiers: [3, 3], {haul}}}],
       flow_control: {{type: ns3::Pfc, attributes: {{XoffBytes: 100 kB}}}}}}
switch: {{buffer: 64 MB, processing_delay: 30 ns, classes: [{{tiers: [3], buffer: 1 GB}}]}}
workload: [{workload}]
transport: {{type: ns3::RoceTransport,
            attributes: {{Rto: 200 ms, RtoLow: 200 ms, Recovery: {recovery}}}}}
stop: 20 s
"""

pytestmark = pytest.mark.ns3


def run(folder, haul, workload, recovery="GoBackN"):
    path = folder / "two_sites.yaml"
    path.write_text(SCENARIO.format(haul=haul, workload=workload, recovery=recovery))
    done = command_line("run", path, "--out", str(folder / "out"))
    assert done.returncode == 0, done.stderr
    return (pd.read_parquet(folder / "out" / f"{name}.parquet") for name in ("flows", "ports"))


def test_a_message_alone_between_sites_takes_what_the_closed_form_says(tmp_path):
    loads = ", ".join(
        f"{{type: single, message: {size} B, start: {number} s, source: 1, target: 4}}"
        for number, size in enumerate(SIZES)
    )
    flows, _ = run(tmp_path, "flow_control: none", loads)
    flows = flows.sort_values("flow")

    # host, leaf, spine, border, border, switch, host
    rates = [800 * GBPS] * 3 + [100 * GBPS, 1600 * GBPS, 800 * GBPS]
    delays = [500_000] * 3 + [30 * 10**9, 2_000_000, 500_000]
    assert (flows["receiver_end_ps"] - flows["start_ps"]).tolist() == [
        unloaded_fct_ps(size, rates, delays, Framing(), 30_000) for size in SIZES
    ]


def test_pfc_ends_at_the_border_switches(tmp_path):
    """Two hosts send 100 MB at 800 Gb/s each, the long haul carries 100 Gb/s.

    In 1 ms they would send 200 MB, so the 1 GB at the border holds all of it, but its ingress is
    beyond XoffBytes after 100 kB: the spine is paused, the border switch of the west never is.
    """
    loads = ", ".join(
        f"{{type: single, message: 100 MB, source: {source}, target: 4}}" for source in (0, 2)
    )
    _, ports = run(tmp_path, "flow_control: none", loads)
    sent = ports.set_index(["node", "peer"])["pause_frames_sent"]

    assert sent[11, 8] > 0
    assert sent[11, 12] == sent[12, 11] == 0


def test_only_the_long_haul_loses(tmp_path):
    loss = "flow_control: none, loss_model: {type: ns3::IndependentLoss, attributes: {Ratio: 0.01}}"
    load = "{type: single, message: 2 MB, source: 1, target: 4}"
    flows, ports = run(tmp_path, loss, load, "SelectiveRepeat")
    lost = ports.set_index(["node", "peer"])["dropped_loss_frames"]

    # 489 packets lose 4.9 on average; none with a chance of 0.99^489 = 0.7 %, but the seed is fixed
    assert 0 < lost[12, 11] <= 20
    assert lost.sum() == lost[12, 11] + lost[11, 12]
    assert flows["receiver_end_ps"].notna().all()
