# SPDX-License-Identifier: GPL-2.0-only
"""Links between datacenters that change: what is lost until the controller has moved its flows."""

from pathlib import Path

import pandas as pd
import pytest

from pyorch.metrics import recovery, wan_te
from pyorch.metrics._run import RunTables
from pyorch.spec import read_spec
from tests.loaded_runs import command_line, in_domains

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "scenarios" / "wan_cut.yaml"
#: Frames per second of 6 Gb/s, in packets of 4096 B: 62 B of headers and 20 B of framing more.
FAR_PER_S = 6e9 / 8 / 4178

pytestmark = pytest.mark.ns3


def run(folder, failure, control, *more):
    """Return a run of 0.4 s in which the link from east (24) to west (26) changes at 0.2 s."""
    words = (
        "workload.demands.0.message=150 MB", "workload.demands.1.message=75 MB",
        f"workload.control={{{control}}}",
        f"failures=[{{type: scheduled, links: [[24, 26]], at: 200 ms, {failure}}}]", *more,
    )  # fmt: skip
    done = command_line(
        "run", str(SCENARIO), "--scale", "smoke", "--out",
         str(folder), *(part for word in words for part in ("--set", word)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return RunTables(read_spec(folder / "spec.json"), folder)


def at(run, node, peer, column):
    ports = run.table("ports")
    return int(ports[(ports["node"] == node) & (ports["peer"] == peer)][column].iloc[0])


@pytest.mark.parametrize(
    ("control", "moved_s"),
    [
        ("delay: 20 ms, step: 10 ms", 0.03),
        # Looked at every 150 ms, so at 300 ms.
        ("delay: 20 ms, epoch: 150 ms", 0.12),
        # There again at 240 ms.
        ("delay: 20 ms, away: [{from: 100 ms, to: 240 ms}]", 0.06),
    ],
)
def test_a_cut_loses_what_is_under_way_and_what_is_sent_until_the_flows_move(
    tmp_path, control, moved_s
):
    """6 of 9 Gb/s cross the link, and what is left has room for all of it.

    Lost: 30 ms of data and 30 ms of answers on the wire, and the data of the time until the move.
    After that the first packet takes 32 ms, so that 9 Gb/s come again in the sample of 10 ms after.
    """
    cut = run(tmp_path / "cut", "times: 1", control)

    data = at(cut, 24, 26, "dropped_link_down_frames") + at(cut, 26, 24, "dropped_loss_frames")
    answers = at(cut, 24, 26, "dropped_loss_frames") + at(cut, 26, 24, "dropped_link_down_frames")
    assert data == pytest.approx(FAR_PER_S * (0.03 + moved_s), rel=0.01)
    assert answers == pytest.approx(FAR_PER_S * 0.03, rel=0.01)
    row = recovery.measure(cut).iloc[0]
    assert row["lost_frames"] == data + answers
    assert row["before_bps"] == pytest.approx(9e9 * 4158 / 4178, rel=0.01)
    assert moved_s + 0.032 <= row["recovery_ps"] / 1e12 <= moved_s + 0.032 + 0.02
    # The demand that was cut has what it is granted again then; the other one always had.
    demands = wan_te.measure(cut).set_index(["demand", "from_ps"])
    far, near = (demands.loc[(name, 200 * 10**9)] for name in ("far", "near"))
    assert moved_s + 0.032 <= far["restored_ps"] / 1e12 <= moved_s + 0.032 + 0.02
    assert (far["granted_bps"], near["granted_bps"]) == pytest.approx((6e9, 3e9), rel=1e-6)
    assert (far["achieved_bps"], near["achieved_bps"]) == pytest.approx((6e9, 3e9), rel=0.01)
    assert near["restored_ps"] == 0
    # Nothing is lost elsewhere, and every flow arrives.
    ports = cut.table("ports")
    assert ports["dropped_buffer_frames"].sum() == ports["dropped_no_route_frames"].sum() == 0
    assert cut.flows["receiver_end_ps"].notna().all()


def test_nothing_is_lost_when_flows_move_before_the_link_overflows(tmp_path):
    """The link falls to 4 Gb/s, and is whole again at 300 ms: flows move there and back.

    Until then 2 Gb/s too much for 25 ms are 6 MB in a buffer of 32 MB. 3.8 of far's 6 Gb/s would
    stay (95 % of 4), 2.53 of four quanta, so three do; for these to fit far has 3.8 / (3/4) Gb/s.
    The fourth quantum of each of the two hosts goes by the middle, and comes back.
    """
    slow = run(tmp_path / "slow", "rate: 4 Gb/s, duration: 100 ms", "delay: 20 ms, step: 5 ms")

    changes = pd.DataFrame(slow.inputs["routes"])
    moved = changes[changes["from_ps"] > 0].groupby("from_ps")["flow"].nunique()
    assert moved.to_dict() == {225 * 10**9: 2, 325 * 10**9: 2}
    rates = pd.DataFrame(slow.inputs["rate_changes"]).query("flow < 8").groupby("time_ps")
    assert rates["rate_bps"].mean().to_dict() == pytest.approx(
        {220 * 10**9: 3.8e9 / 0.75 / 8, 330 * 10**9: 6e9 / 8}, rel=1e-6
    )
    # What has waited at the link comes 30 ms after it is whole, higher rates 30 ms after 330 ms.
    far = wan_te.measure(slow).query("demand == 'far'")
    assert far["from_ps"].tolist() == [0, 200 * 10**9, 300 * 10**9]
    assert far["granted_bps"].tolist() == pytest.approx([6e9, 3.8e9 / 0.75, 6e9], rel=1e-6)
    assert 30 <= far["restored_ps"].iloc[2] / 1e9 <= 80
    ports = slow.table("ports")
    assert ports.filter(like="dropped_").to_numpy().sum() == 0
    assert at(slow, 25, 26, "sent_data_packets") > 0  # some have gone by the middle
    assert slow.flows["timeouts"].sum() == 0


def test_domains_change_nothing(tmp_path):
    """Each domain changes paths, and the one of a source its rates, at the same picosecond."""
    change = ("rate: 4 Gb/s, duration: 100 ms", "delay: 20 ms, step: 5 ms")
    one = run(tmp_path / "one", *change)
    three = RunTables(one.spec, in_domains(tmp_path / "one", 3))

    for name in ("flows", "ports"):
        pd.testing.assert_frame_equal(one.table(name), three.table(name))
    counted = ["now_ps", "events", "data_packets_delivered"]
    assert one.table("summary")[counted].equals(three.table("summary")[counted])
