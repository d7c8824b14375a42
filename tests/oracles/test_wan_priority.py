# SPDX-License-Identifier: GPL-2.0-only
"""Wide-area traffic in a class of its own beside sprayed traffic: its share, and what is left."""

from pathlib import Path

import pandas as pd
import pytest

from pyorch.metrics import wan_priority
from pyorch.metrics._run import RunTables
from pyorch.spec import read_spec
from tests.loaded_runs import command_line

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "scenarios" / "wan_priority.yaml"

pytestmark = pytest.mark.ns3


def run(folder, variant, *words):
    folder.mkdir()
    done = command_line(
        "run", str(SCENARIO), "--variant", variant, "--seed", "1",
        "--out", str(folder), *(part for word in words for part in ("--set", word)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    spec = read_spec(folder / "spec.json")
    return RunTables(spec, folder)


@pytest.mark.parametrize("variant", ["weighted", "adaptive", "oblivious"])
def test_sprayed_traffic_loses_what_is_gone_or_what_its_slowest_link_lacks(tmp_path, variant):
    """Of four links one has 1 - w left: evenly filled 4 / (4 - w), in turn 1 / (1 - w).

    With w = 1/2 of w = 1/100: 1.140 weighted and 1.98 in turn. A queue that leads to the full link
    is long at the leaf itself in the east; in the west only once PFC holds the spine back. In the
    east a shortest queue comes 3 % short of the free capacity, here 5 % are allowed.
    """
    shares = ("0.01", "0.5")
    got = [
        wan_priority.measure(run(tmp_path / share, variant, f"workload.0.scale={share}"))
        for share in shares
    ]
    east, west = (got[1]["slowdown"] / got[0]["slowdown"]).tolist()

    assert (got[1]["achieved_share"] - 1).abs().max() < 0.02
    assert got[1]["free_slowdown"].tolist() == pytest.approx([4 / 3.5] * 2)
    assert (got[1]["dropped_buffer_frames"] == 0).all()
    gone = 4 / 3.5 / (4 / 3.99)
    if variant == "oblivious":
        assert min(east, west) >= 0.95 * 0.99 / 0.5
    elif variant == "weighted":
        assert [east, west] == pytest.approx([gone] * 2, rel=0.02)
    else:
        assert 0.98 * gone <= east <= 1.05 * gone


SHARED = """\
name: shared
topology: {{type: dumbbell, left: 2, right: 2}}
link:
  rate: 100 Gb/s
  delay: 500 ns
  flow_control: {{type: ns3::Pfc, attributes: {{XoffBytes: 100 kB, Priorities: 40}}}}
switch:
  buffer: 8 MB
  scheduler: {{type: ns3::DeficitRoundRobin, attributes: {{Quanta: "5:{wan},3:{sprayed}"}}}}
workload:
  - {{type: single, source: 0, target: 2, message: {wan} kB, transport: wan}}
  - {{type: single, source: 1, target: 3, message: {sprayed} kB, transport: sprayed}}
transport:
  - {{name: wan, type: ns3::WanTransport, attributes: {{Priority: 5}}}}
  - {{name: sprayed, type: ns3::SprayTransport, attributes: {{WindowBdp: 8}}}}
stop: 10 ms
"""


@pytest.mark.parametrize("wan", [4000, 12_000])
def test_weighted_scheduling_gives_a_class_its_share_of_a_link(tmp_path, wan):
    """Messages as the quanta, 1 to 3 or 3 to 1, end together: when 16 MB have passed the link.

    Each host could fill the link alone; PFC on both classes holds them back. 4178 B for 4096.
    """
    path = tmp_path / "shared.yaml"
    path.write_text(SHARED.format(wan=wan, sprayed=16_000 - wan))
    done = command_line("run", path, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    flows = pd.read_parquet(tmp_path / "out" / "flows.parquet")

    both_ps = 16e6 * 4178 / 4096 * 8 / 100e9 * 1e12
    assert flows["receiver_end_ps"].astype(float).tolist() == pytest.approx([both_ps] * 2, rel=0.02)
