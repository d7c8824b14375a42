# SPDX-License-Identifier: GPL-2.0-only
"""A controller that looks at a run: what waits while it is away, links that fall, domains."""

from pathlib import Path

import pandas as pd
import pytest

from pyorch.metrics import wan_control
from pyorch.metrics._run import RunTables
from pyorch.spec import read_spec
from tests.loaded_runs import command_line, in_domains

ROOT = Path(__file__).parents[2]
#: Frames per second of 6 Gb/s, in packets of 4096 B: 62 B of headers and 20 B of framing more.
FAR_PER_S = 6e9 / 8 / 4178
S_PS = 10**12

pytestmark = pytest.mark.ns3


def run(folder, scenario, *words):
    done = command_line(
        "run", str(ROOT / "scenarios" / f"{scenario}.yaml"),
        "--scale", "smoke", "--out", str(folder),
        *(part for word in words for part in ("--set", word)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return RunTables(read_spec(folder / "spec.json"), folder)


@pytest.fixture(scope="module")
def stale(tmp_path_factory):
    return run(tmp_path_factory.mktemp("stale"), "wan_stale")


def test_what_waits_while_nobody_decides_is_what_was_made_less_the_limit(stale):
    """600 Mb/s from 400 ms on, admitted to 200 and 10 %: seen at 900 ms, told by 1000 ms.

    380 Mb/s x 0.6 s = 28.5 MB; a packet more or less each epoch for each of 8 flows.
    """
    rising = wan_control.measure(stale).set_index("demand").loc["rising"]

    assert rising["most_waiting_bytes"] == pytest.approx(28.5e6, rel=0.005)
    assert rising["most_waiting_ps"] == S_PS
    # Looks at 0.5 to 0.8 s, and that at 0.4 s, which would have been told by 0.5 s.
    assert rising["missed_looks"] == 5


def test_admitted_traffic_loses_nothing_while_demands_and_plans_change(stale):
    ports = stale.table("ports")
    assert ports.filter(like="dropped_").to_numpy().sum() == 0
    assert stale.flows["receiver_end_ps"].notna().all()
    # At no time was more granted than links between sites have room for: 0.95 x 2 Gb/s from east.
    granted = stale.table("control").groupby("time_ps")["granted_bps"].sum()
    assert granted.max() <= 1.9e9 * (1 + 1e-6)


def test_sources_send_what_they_make_and_no_more(stale):
    """Before anything grows each epoch of 0.1 s has 200 and 400 Mb/s, to a packet for each flow."""
    early = stale.table("control").query("time_ps <= 400_000_000_000")
    for demand, bps in ((0, 400e6), (1, 200e6)):
        sent = early.loc[early["demand"] == demand, "sent_bytes"]
        assert len(sent) == 4
        assert sent.to_list() == pytest.approx([bps / 80] * 4, abs=8 * 4178)


def test_a_link_that_falls_is_seen_at_the_next_epoch(tmp_path):
    """wan_cut, seen and not foretold: cut at 200 ms, seen at 250, moved 30 ms later.

    Lost: 30 ms of data and of answers on the wire, and what is sent in those 80 ms.
    """
    cut = run(
        tmp_path, "wan_cut",
        "workload.demands.0.message=150 MB", "workload.demands.1.message=75 MB",
        "workload.control={delay: 20 ms, step: 10 ms, epoch: 50 ms, controller: max_min}",
        "failures=[{type: scheduled, links: [[24, 26]], at: 200 ms}]",
    )  # fmt: skip

    ports = cut.table("ports").set_index(["node", "peer"])
    forth, back = ports.loc[(24, 26)], ports.loc[(26, 24)]
    lost = forth["dropped_link_down_frames"] + back["dropped_loss_frames"]
    assert lost == pytest.approx(FAR_PER_S * (0.03 + 0.08), rel=0.01)
    answers = back["dropped_link_down_frames"] + forth["dropped_loss_frames"]
    assert answers == pytest.approx(FAR_PER_S * 0.03, rel=0.01)
    moved = cut.table("control").groupby("time_ps")["moved_flows"].sum()
    assert moved[moved > 0].to_dict() == {250 * 10**9: 8}
    assert cut.flows["receiver_end_ps"].notna().all()


def test_domains_change_nothing(stale):
    three = RunTables(stale.spec, in_domains(stale.folder, 3))

    for name in ("flows", "ports", "control"):
        pd.testing.assert_frame_equal(stale.table(name), three.table(name))


def test_a_transport_that_keeps_its_rate_is_refused_before_the_run(tmp_path):
    with pytest.raises(AssertionError, match="--set: transport.type: ns3::TcpTransport keeps the"):
        run(tmp_path, "wan_stale", "transport={type: ns3::TcpTransport}")
