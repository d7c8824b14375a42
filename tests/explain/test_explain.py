# SPDX-License-Identifier: GPL-2.0-only
"""What a cause has cost is what a message gains without it, on networks where that is known."""

import pandas as pd
import pytest

from pyorch.errors import SpecError, TraceError
from pyorch.explain import explain, words
from pyorch.explain.rerun import BASE
from tests.look.small_runs import maker

pytestmark = pytest.mark.ns3

#: Two messages that share one of two ways, because the hash says so with seed 0 or with another.
TWO_WAYS = """
name: two_ways
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 4, spines: 4}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 64 MB, forwarding: {type: ns3::EcmpHash}}
workload: {type: permutation, message: 400 kB, inter_leaf: true}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""
#: The same with fewer ways, so that PFC holds senders back.
HELD = """
name: held
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 4, spines: 2}
link:
  rate: 100 Gb/s
  delay: 500 ns
  flow_control: {type: ns3::Pfc, attributes: {XoffBytes: 40 kB}}
switch: {buffer: 64 MB, forwarding: {type: ns3::EcmpHash}}
workload: {type: permutation, message: 400 kB, inter_leaf: true}
transport: {type: ns3::RoceTransport, attributes: {Rto: 200 us}}
trace: {sample: 2 us, pauses: true}
stop: 20 ms
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return maker(tmp_path_factory.mktemp("explain"))


def explained(run, flow=None):
    return explain(run, flow, run.folder.parents[1])


def row(found, cause, draw=0):
    table = found.table
    return table[(table["cause"] == cause) & (table["draw"] == draw)].iloc[0]


def test_the_run_without_a_cause_is_the_run_of_a_scenario_without_it(made):
    # Oracle: the same scenario written without it.
    run = made(TWO_WAYS)
    found = explained(run)
    for draw, seed in enumerate((1, 2, 3)):
        other = made(TWO_WAYS, **{"switch.forwarding.attributes.Seed": seed})
        assert row(found, "another hash of paths", draw)["alone_ps"] == other.fct_ps[found.flow]
        assert row(found, "another hash of paths", draw)["slowest_alone_ps"] == other.fct_ps.max()
    assert found.table["cause"].iloc[0] == BASE
    assert found.flow == run.fct_ps.astype(float).idxmax()
    assert row(found, BASE)["alone_ps"] == run.fct_ps.max()


def test_causes_that_were_not_there_are_no_rows(made):
    run = made(TWO_WAYS)
    causes = list(explained(run).table["cause"].unique())
    assert causes == [BASE, "another hash of paths", "only the last packet is acknowledged"]


def test_causes_add_up_as_the_sentence_says(made):
    run = made(HELD)
    found = explained(run, 2)
    first = found.table[found.table["draw"] == 0]
    base = first["alone_ps"].iloc[0]
    gains = (base - first["alone_ps"].iloc[1:]).sum()

    assert found.flow == 2
    assert "no flow control, endless buffers" in list(first["cause"])
    assert found.interaction_ps == (base - first["together_ps"].iloc[-1]) - gains
    # The first cause that is removed has nothing above it.
    assert first["together_ps"].iloc[1] == first["alone_ps"].iloc[1]
    without_all = made(
        HELD,
        **{
            "switch.forwarding.attributes.Seed": 1,
            "link.flow_control": "none",
            "switch.buffer": "1 TB",
            "transport.attributes.AckInterval": 1_000_000,
        },
    )
    assert first["together_ps"].iloc[-1] == without_all.fct_ps[2]
    assert words.sentence(found)
    assert len(words.rows(found)) == len(first)


def test_a_buffer_that_drops_is_a_cause_and_timeouts_are_told(made):
    # Oracle: seven messages of 200 kB to one host, alone on its link, with room for everything.
    run = made(
        HELD,
        **{
            "link.flow_control": "none",
            "switch.buffer": "100 kB",
            "workload": {"type": "incast", "senders": 7, "message": "200 kB"},
        },
    )
    assert run.summary["dropped_frames"] > 0
    found = explained(run)
    alone = row(found, "endless buffers, nothing is dropped there")
    assert alone["slowest_alone_ps"] == pytest.approx(7 * 200e3 / 4096 * 4180 * 8 * 10, rel=0.05)
    timeouts = int(run.flows.set_index("flow")["timeouts"][found.flow])
    waited = f"waited for {timeouts} retransmission timeout{'s' * (timeouts > 1)}. "
    assert timeouts > 0 and waited in words.sentence(found)


def test_a_figure_has_all_removals(made, tmp_path):
    run = made(TWO_WAYS)
    found = explained(run)
    files = words.draw(found, tmp_path / "why.png")
    assert pd.read_csv(tmp_path / "why.csv")["cause"].tolist() == found.table["cause"].tolist()
    assert {path.suffix for path in files} >= {".png", ".txt"}


def test_a_message_that_is_not_there_is_refused(made):
    run = made(TWO_WAYS)
    with pytest.raises(TraceError, match="there is no message 99"):
        explained(run, 99)


def test_the_path_is_told_or_which_line_records_it(made):
    run = made(TWO_WAYS)
    assert "trace: {sample: ...}" in explained(run).path
    run = made(HELD)
    assert "the link from" in explained(run).path


def test_a_run_of_a_file_is_explained_while_the_file_is_as_it_was(made, tmp_path):
    # Oracle: the same scenario with another hash.
    table = tmp_path / "messages.csv"
    table.write_text("src,dst,bytes,start_ps\n0,4,400000,0\n1,5,400000,0\n")
    load = {"type": "flow_table", "file": str(table)}
    run = made(TWO_WAYS, workload=load)
    found = explained(run)
    assert row(found, BASE)["alone_ps"] == run.fct_ps.max()
    other = made(TWO_WAYS, workload=load, **{"switch.forwarding.attributes.Seed": 1})
    assert row(found, "another hash of paths")["slowest_alone_ps"] == other.fct_ps.max()
    table.write_text("src,dst,bytes,start_ps\n0,4,100,0\n")
    with pytest.raises(SpecError, match=r"messages.csv: its content has changed"):
        explained(run)


def test_a_run_in_which_no_message_ended_is_refused(made):
    run = made(TWO_WAYS, stop="2 us")
    with pytest.raises(TraceError, match="no message ended, so nothing can be compared"):
        explained(run)
