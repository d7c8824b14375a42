# SPDX-License-Identifier: GPL-2.0-only
"""TCP in a lossy pipe, from the scenario: windows as their laws say, and who fills it anyway."""

from pathlib import Path

import pytest

from pyorch.metrics import throughput
from pyorch.metrics._run import RunTables
from pyorch.spec import read_spec
from tests.loaded_runs import command_line

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "scenarios" / "wan_tcp.yaml"

pytestmark = pytest.mark.ns3


def measured(folder, case, variant):
    done = command_line(
        "run", str(SCENARIO), "--case", case, "--variant", variant, "--out", str(folder)
    )
    assert done.returncode == 0, done.stderr
    spec = read_spec(folder / "spec.json")
    return throughput.measure(RunTables(spec, folder)).iloc[0]


@pytest.mark.parametrize(("case", "pipe"), [("r10_p2", 80.7), ("r60_p2", 483.9)])
@pytest.mark.parametrize("variant", ["reno", "cubic"])
def test_the_window_that_losses_leave_is_that_of_reno(tmp_path, case, pipe, variant):
    """sqrt(1.5 / p), which Cubic follows here as well: its own law has 1 and 4 packets.

    10 000 packets of 1460 B see some 60 losses in the two thirds that count, an eighth of their
    number by chance, half of that in the window; that they are not evenly spaced leaves up to a
    quarter more. A packet with headers and framing has 1550 B: 12.5 MB/s x 10 ms / 1550 B = 80.6.
    """
    row = measured(tmp_path, case, variant)

    law = (1.5 / row["lost_share"]) ** 0.5
    assert row["lost_share"] == pytest.approx(0.01, rel=0.3)
    assert 0.8 * law <= row["window_packets"] <= 1.35 * law
    assert row["link_share"] == pytest.approx(row["window_packets"] / pipe, rel=0.01)


def test_bbr_fills_the_pipe_in_which_cubic_has_a_fortieth(tmp_path):
    assert measured(tmp_path, "r60_p2", "bbr")["link_share"] > 0.8
