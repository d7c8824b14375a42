# SPDX-License-Identifier: GPL-2.0-only
"""What one queue pair carries takes one path; NCCL on an ideal network has a closed form."""

import pandas as pd
import pytest
from oracle_network import run_tables
from scipy import stats

from pyorch import spec
from pyorch.metrics import RunTables, nccl_tests
from pyorch.render import input_tables
from pyorch.spec.scenario import parse_scenario

pytestmark = pytest.mark.ns3

TEXT = """
name: pairs
topology: {{type: leaf_spine, leaves: {leaves}, hosts_per_leaf: {hosts}, spines: 16}}
link: {{rate: 100 Gb/s, delay: 500 ns}}
switch: {{buffer: none}}
workload: {workload}
transport: {{type: ns3::RoceTransport, attributes: {{AckInterval: 1000}}}}
stop: 100 ms
"""
RING = "{{type: collective, algorithm: ring, operation: all_reduce, bytes: 64 kB, ranks: 8{more}}}"
UNLIKELY = 1e-4
LINK_PS = 500_000


def ran(workload, leaves=8, hosts=1, engine="packets", stop_ps=10**11):
    text = TEXT.format(workload=workload, leaves=leaves, hosts=hosts)
    (planned,) = spec.plan(parse_scenario(text, "pairs.yaml"))
    tables = input_tables(planned.spec)
    waits = tables.get("dependencies", {})
    names = [name for name in ("flow", "after", "at_sender", "delay_ps") if name in waits]
    rows = list(zip(*(waits[name].tolist() for name in names), strict=True))
    (transport,) = planned.spec.transport
    got = run_tables(
        tables["nodes"], tables["links"], tables["flows"],
        [(transport.type, transport.attributes)], forwarding="ns3::EcmpHash", queue=None,
        pfc=None, drops=(), seed=1, stop_ps=stop_ps, dependencies=rows, engine=engine,
    )  # fmt: skip
    return planned.spec, {k: pd.DataFrame(got[k]) for k in ("flows", "paths", "transports")}


def spines(workload, **given):
    """Return the spine of each message, with its ends."""
    _, tables = ran(workload, **given)
    paths = tables["paths"]
    first = paths[paths["hop"] == 1].set_index("flow")["peer"]  # leaf to spine
    ends = tables["flows"].set_index("flow")[["src", "dst"]]
    return ends.assign(spine=first)


@pytest.mark.parametrize("pairs", [1, 2, 4])
@pytest.mark.parametrize("engine", ["packets", "fluid"])
def test_all_messages_of_a_connection_take_as_many_paths_as_it_has_queue_pairs(pairs, engine):
    more = f", queue_pairs: {{per_connection: {pairs}}}"
    found = spines(RING.format(more=more), engine=engine).groupby(["src", "dst"])["spine"]
    paths, messages = found.nunique(), found.size()

    assert (messages == 14).all()  # two way round the ring
    assert (paths <= pairs).all() and (pairs == 1 or paths.max() == pairs)
    # In turns: each queue pair every so many messages.
    for _, own in found:
        assert own.iloc[:-pairs].tolist() == own.iloc[pairs:].tolist()


def test_messages_take_their_turns_beside_announcements():
    workload = (
        "{type: collective, algorithm: direct, operation: all_to_all, bytes: 64 kB, ranks: 8,"
        " chunks: 8, queue_pairs: {per_connection: 2}, clear_to_send: {buffers: 2}}"
    )
    _, tables = ran(workload)
    paths = tables["paths"]
    flows = tables["flows"].set_index("flow")
    flows["spine"] = paths[paths["hop"] == 1].set_index("flow")["peer"]
    data, announced = flows[flows["bytes"] == 1000], flows[flows["bytes"] == 64]

    assert len(data) == len(announced) == 8 * 7 * 8
    for _, own in data.groupby(["src", "dst"])["spine"]:
        assert own.tolist() == own.iloc[:2].tolist() * 4
    # Two draws of 16 spines are equal for 1 of 16 pairs: all 56 with less than 1e-67.
    assert data.groupby(["src", "dst"])["spine"].nunique().max() == 2
    assert (announced.groupby(["src", "dst"])["spine"].nunique() == 1).all()


def test_without_queue_pairs_each_message_has_a_path_of_its_own():
    found = spines(RING.format(more="")).groupby(["src", "dst"])["spine"].nunique()
    assert found.min() >= 6  # 14 balls in 16 bins fill 9.5 of them


def test_queue_pairs_of_connections_are_balls_in_bins():
    # 64 hosts, one connection each, one queue pair: 64 draws of 16 spines, all equally likely.
    counts = [0] * 16
    workload = (
        "{type: collective, algorithm: ring, operation: all_gather, bytes: 64 kB, ranks: 64,"
        " queue_pairs: {per_connection: 1}}"
    )
    found = spines(workload, leaves=64, stop_ps=0).drop_duplicates(["src", "dst"])
    for spine in found["spine"] - found["spine"].min():
        counts[int(spine)] += 1

    assert len(found) == 64
    assert stats.chisquare(counts).pvalue > UNLIKELY


def test_parts_of_a_message_add_up_and_the_next_step_waits_for_all():
    more = ", queue_pairs: {per_connection: 4, split: true}"
    _, tables = ran(RING.format(more=more))
    flows = tables["flows"]
    steps = flows.groupby(flows.index // 4 // 8)

    assert len(flows) == 4 * 14 * 8 and flows["bytes"].sum() == 14 * 8 * 8000
    # Each host sends one step when all parts of the one before have come to it.
    ends, starts = steps["receiver_end_ps"], steps["start_ps"]
    assert (starts.min().iloc[1:].to_numpy() >= ends.min().iloc[:-1].to_numpy()).all()
    for step in range(1, 14):
        before = flows[flows.index // 32 == step - 1].groupby("dst")["receiver_end_ps"].max()
        now = flows[flows.index // 32 == step].groupby("src")["start_ps"]
        assert (now.min() == now.max()).all() and now.min().equals(before.loc[now.min().index])


@pytest.mark.parametrize("ranks", [2, 8])
def test_a_ring_of_nccl_takes_its_latencies_and_its_messages(ranks):
    # One node, LL: 6.6 us, and 0.6 us for each of 2 (n - 1) steps, of which two links of 500 ns are
    # more than all; a message of 16 B on the wire is a frame of 16 + 62 + 16 + 20 B on each link.
    workload = (
        f"{{type: nccl, operation: all_reduce, bytes: {8 * ranks} B, ranks: {ranks},"
        f" local: {ranks}, algorithm: ring, protocol: ll}}"
    )
    planned, tables = ran(workload, leaves=1, hosts=8)
    (row,) = nccl_tests.measure(RunTables(planned, ".", tables)).to_dict("records")
    frame_ps = (16 + 62 + 16 + 20) * 80
    steps = 2 * (ranks - 1)

    # The acknowledgement of what has come goes out before what is sent on: 66 + 20 B.
    acks_ps = (steps - 1) * (66 + 20) * 80

    assert row["time_ps"] == 6_600_000 + steps * (2 * LINK_PS + 2 * frame_ps) + acks_ps
    assert row["algbw_bps"] == pytest.approx(64 * ranks * 1e12 / row["time_ps"])
    assert row["busbw_bps"] == pytest.approx(row["algbw_bps"] * 2 * (ranks - 1) / ranks)
    assert (row["algorithm"], row["protocol"], row["count"]) == ("ring", "ll", 2 * ranks)


ANNOUNCED_PS = 2 * (LINK_PS + (64 + 62 + 16 + 20) * 80)  # 64 B alone, over two links


@pytest.mark.parametrize("buffers", [1, 2, 3, 8])
def test_a_message_goes_when_its_buffer_is_announced(buffers):
    more = f", clear_to_send: {{buffers: {buffers}}}"
    _, tables = ran(RING.format(more=more), leaves=1, hosts=8)
    flows = tables["flows"]
    announced, sent = flows[flows["bytes"] == 64], flows[flows["bytes"] == 8000]
    assert len(announced) == len(sent) == 14 * 8

    for (src, dst), own in sent.groupby(["src", "dst"]):
        its = announced[(announced["src"] == dst) & (announced["dst"] == src)]
        assert (own["start_ps"].to_numpy() >= its["receiver_end_ps"].to_numpy()).all()
        freed = own["receiver_end_ps"].to_numpy()[:-buffers]
        assert its["start_ps"].tolist() == [0] * buffers + freed.tolist()


def test_with_one_buffer_each_step_waits_for_an_announcement():
    # A ring of 8 has 14 steps; with one buffer the announcement follows the message before it, when
    # the data of the next step are there too. With more than one it has come by then.
    ends = [
        ran(RING.format(more=more), leaves=1, hosts=8, engine="fluid")[1]["flows"]
        for more in ("", ", clear_to_send: {buffers: 1}", ", clear_to_send: {buffers: 2}")
    ]
    plain, one, two = (int(flows["receiver_end_ps"].max()) for flows in ends)

    assert one - plain == 14 * ANNOUNCED_PS
    assert ANNOUNCED_PS <= two - plain < 2 * ANNOUNCED_PS
