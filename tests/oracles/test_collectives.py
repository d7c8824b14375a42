# SPDX-License-Identifier: GPL-2.0-only
"""On an idle network a collective takes its closed form, to the picosecond and to the byte.

Hosts around one switch, 100 Gb/s (80 ps for a byte), 500 ns per link. A full packet of 4096 B has
62 B of headers and 20 B of framing, the first of a message 16 B more; an ACK of 66 + 20 B goes back
for each message, because AckInterval is larger than any message here. The first packet of a message
is the longest, so the second link is never idle once it has come.
"""

import numpy as np
import pandas as pd
import pytest
from oracle_network import run_tables

from pyorch import spec
from pyorch.metrics import RunTables, collective, collective_steps
from pyorch.render import input_tables
from pyorch.spec.scenario import parse_scenario

pytestmark = pytest.mark.ns3

BYTE_PS, LINK_PS = 80, 500_000
PACKET, FIRST, ACK = 4096 + 62 + 20, 16, 66 + 20
ACK_PS = ACK * BYTE_PS
ANSWER_PS = 2 * (LINK_PS + ACK_PS)
TEXT = """
name: ideal
topology: {{type: leaf_spine, leaves: 1, hosts_per_leaf: {hosts}, spines: 1}}
link: {{rate: 100 Gb/s, delay: 500 ns}}
switch: {{buffer: none}}
workload: {workload}
transport: {{type: ns3::RoceTransport, attributes: {{AckInterval: 1000}}}}
stop: 100 ms
"""


def alone_ps(n_packets):
    """Return what a message takes alone: the second link carries it behind its first packet."""
    first, whole = PACKET + FIRST, n_packets * PACKET + FIRST
    return 2 * LINK_PS + (first + whole) * BYTE_PS


def ideal(workload, hosts=8, engine="packets"):
    """Return the outcome on a star, and its tables as a metric sees them."""
    text = TEXT.format(workload=workload, hosts=hosts)
    (planned,) = spec.plan(parse_scenario(text, "ideal.yaml"))
    tables = input_tables(planned.spec)
    waits = tables.get("dependencies", {})
    names = [name for name in ("flow", "after", "at_sender", "delay_ps") if name in waits]
    rows = list(zip(*(waits[name].tolist() for name in names), strict=True))
    (transport,) = planned.spec.transport
    got = run_tables(
        tables["nodes"], tables["links"], tables["flows"],
        [(transport.type, transport.attributes)], forwarding="ns3::EcmpHash", queue=None,
        pfc=None, drops=(), seed=1, stop_ps=10**11, dependencies=rows, engine=engine,
    )  # fmt: skip
    frames = {name: pd.DataFrame(got[name]) for name in ("flows", "paths", "ports", "transports")}
    return got, RunTables(planned.spec, ".", frames)


def completion_ps(got):
    assert (got["flows"]["receiver_end_ps"] >= 0).all()
    return int(got["flows"]["receiver_end_ps"].max())


@pytest.mark.parametrize("n_packets", [1, 5])
@pytest.mark.parametrize("operation, steps", [("all_reduce", 14), ("all_gather", 7)])
def test_a_ring_takes_its_steps_and_nothing_else(operation, steps, n_packets):
    # Oracle: 2 (n-1) or n-1 messages after each other. Each but the first finds the ACK of the one
    # before it ahead of it on the wire of its host.
    size = 8 * n_packets * 4096
    got, run = ideal(
        f"{{type: collective, algorithm: ring, operation: {operation}, bytes: {size} B, ranks: 8}}"
    )

    assert completion_ps(got) == steps * alone_ps(n_packets) + (steps - 1) * ACK_PS
    (row,) = collective.measure(run).to_dict("records")
    assert row["completion_ps"] == completion_ps(got)
    assert row["ideal_ps"] == steps * alone_ps(n_packets)
    assert row["steps"] == steps and row["port_bytes"] == steps * n_packets * 4096


def test_a_ring_puts_on_every_link_exactly_what_it_counts():
    # Oracle: 14 messages of 5 packets leave and come to each host, and so do 14 ACKs.
    got, _ = ideal(
        f"{{type: collective, algorithm: ring, operation: all_reduce, bytes: {8 * 5 * 4096} B,"
        " ranks: 8}"
    )

    each = 14 * (5 * PACKET + FIRST) + 14 * ACK
    hosts = np.isin(got["ports"]["node"], range(8)) | np.isin(got["ports"]["peer"], range(8))
    assert got["ports"]["sent_bytes"][hosts].tolist() == [each] * 16


def test_halving_and_doubling_take_halves_and_doubles():
    # Oracle: parts of 4, 2 and 1 times 2 packets, and back: each message waits for one ACK.
    got, run = ideal(
        "{type: collective, algorithm: halving_doubling, operation: all_reduce,"
        f" bytes: {16 * 4096} B, ranks: 8}}"
    )

    chain = 2 * sum(alone_ps(n) for n in (8, 4, 2))
    assert completion_ps(got) == chain + 5 * ACK_PS
    assert collective.measure(run)["ideal_ps"].tolist() == [chain]


def test_a_tree_sends_to_one_child_after_the_other():
    # Oracle: the root sends three messages, each when the one before is acknowledged; nobody is
    # later than its last child, and nothing else is on its link.
    got, run = ideal(
        "{type: collective, algorithm: tree, operation: broadcast, bytes: 20480 B, ranks: 8}"
    )

    chain = 3 * alone_ps(5) + 2 * ANSWER_PS
    assert completion_ps(got) == chain
    assert collective.measure(run)["ideal_ps"].tolist() == [chain]


def test_an_all_to_all_in_turns_waits_for_an_answer_between_any_two():
    got, run = ideal(
        f"{{type: collective, algorithm: pairwise, operation: all_to_all, bytes: {8 * 20480} B,"
        " ranks: 8}"
    )

    chain = 7 * alone_ps(5) + 6 * ANSWER_PS
    assert completion_ps(got) == chain
    assert collective.measure(run)["ideal_ps"].tolist() == [chain]


def test_a_gather_is_bound_by_the_port_of_the_root():
    # Oracle: seven messages of 5 packets through one link, which is never idle once the first
    # packet has come.
    got, run = ideal(
        f"{{type: collective, algorithm: direct, operation: gather, bytes: {8 * 20480} B,"
        " ranks: 8}"
    )

    port = alone_ps(5) + 6 * (5 * PACKET + FIRST) * BYTE_PS
    assert completion_ps(got) == port
    assert collective.measure(run)["ideal_ps"].tolist() == [port]


def test_chunks_fill_the_links_of_a_chain():
    # Oracle: the last of four chunks leaves the root after three round trips, and goes seven times
    # over two links; it meets only ACKs of the chunk before, at most one per host.
    one, _ = ideal(
        "{type: collective, algorithm: ring, operation: broadcast, bytes: 81920 B, ranks: 8}"
    )
    four, run = ideal(
        "{type: collective, algorithm: ring, operation: broadcast, bytes: 81920 B, ranks: 8,"
        " chunks: 4}"
    )

    assert completion_ps(one) == 7 * alone_ps(20) + 6 * ACK_PS
    chain = 3 * (alone_ps(5) + ANSWER_PS) + 7 * alone_ps(5)
    assert collective.measure(run)["ideal_ps"].tolist() == [chain]
    assert chain < completion_ps(four) <= chain + 2 * 7 * ACK_PS
    assert completion_ps(four) < completion_ps(one)


def test_groups_do_not_meet_on_an_idle_network_and_steps_follow_each_other():
    got, run = ideal(
        "{type: collective, algorithm: ring, operation: all_gather, bytes: 16384 B, ranks: 4,"
        " groups: 2, placement: strided, stride: 2, step_delay: 3 us, start: 1 us}"
    )

    table = collective.measure(run)
    steps = collective_steps.measure(run)
    # Oracle: three messages of a packet; between them 3 us, in which the ACK is gone.
    chain = 3 * alone_ps(1) + 2 * 3_000_000
    assert table["completion_ps"].tolist() == [chain, chain] == table["ideal_ps"].tolist()
    assert steps["messages"].tolist() == [8, 8, 8]
    assert steps["first_start_ps"].tolist() == [1_000_000 + k * (alone_ps(1) + 3_000_000)
                                                for k in range(3)]  # fmt: skip
    assert steps["longest_ps"].tolist() == [alone_ps(1)] * 3
    hosts = set(zip(got["flows"]["src"].tolist(), got["flows"]["dst"].tolist(), strict=True))
    assert hosts == {(0, 2), (2, 4), (4, 6), (6, 0), (1, 3), (3, 5), (5, 7), (7, 1)}


#: Of a message of a packet at 1 Tb/s, and of what launches a collective [ps].
REDUCTION_PS, LAUNCH_PS = 4096 * 8, 7_000_001


@pytest.mark.parametrize(
    ("algorithm", "operation", "parts", "steps", "reductions"),
    [
        ("ring", "all_reduce", 8, 14, 7),
        ("ring", "reduce_scatter", 8, 7, 7),
        ("ring", "all_gather", 8, 7, 0),
        ("recursive_doubling", "all_reduce", 1, 3, 3),
        ("tree", "reduce", 1, 3, 3),
        ("tree", "broadcast", 1, 3, 0),
        ("{type: hierarchical, local: 4}", "all_reduce", 8, 8, 4),
    ],
)
def test_a_step_that_reduces_takes_the_time_of_its_bytes_longer(
    algorithm, operation, parts, steps, reductions
):
    # Oracle: messages of a packet follow each other, 3 us apart so that no ACK is in the way; what
    # is reduced starts later by its bytes over the rate, and the last is done as much later. Four
    # ranks of a rack exchange quarters of eight packets, two racks halves of a quarter.
    stages = [2] * 3 + [1] * 2 + [2] * 3
    sizes = stages if "hierarchical" in algorithm else [1] * steps  # packets of each message
    alone = sum(alone_ps(n) for n in sizes)
    added = sum(n * REDUCTION_PS for n in sizes[:reductions])
    acks = (steps - 1) * ANSWER_PS if operation == "broadcast" else 0
    chain = LAUNCH_PS + alone + added + acks + (steps - 1) * 3_000_000
    got, run = ideal(
        f"{{type: collective, algorithm: {algorithm}, operation: {operation}, ranks: 8,"
        f" bytes: {parts * 4096} B, step_delay: 3 us, launch_time: {LAUNCH_PS} ps,"
        " reduction_rate: 1 Tb/s}"
    )

    table = collective.measure(run)
    assert table["completion_ps"].tolist() == [chain] == table["ideal_ps"].tolist()
    assert got["flows"]["start_ps"].min() == LAUNCH_PS


@pytest.mark.parametrize("parts", [1, 4])
def test_a_message_in_parts_is_reduced_when_its_last_part_has_come(parts):
    # Oracle: a ring of two, 4096 packets in each of two messages. At flow level parts that share
    # the only link take as long as one message, less the headers of packets that are the first of
    # theirs; then 4096 x 4096 B are added at 1 Tb/s, and the last message goes.
    size = 4096 * 4096
    load = "{{type: collective, algorithm: ring, operation: all_reduce, ranks: 2, bytes: {} B{}}}"
    pairs = f", queue_pairs: {{per_connection: {parts}, split: true}}, reduction_rate: 1 Tb/s"
    _, run = ideal(load.format(2 * size, pairs), hosts=2, engine="fluid")
    (row,) = collective.measure(run).to_dict("records")

    wire_ps = (4096 * PACKET + parts * FIRST) * BYTE_PS
    message_ps = 2 * LINK_PS + wire_ps
    chain = 2 * message_ps + 8 * size
    frame_ps = (PACKET + FIRST) * BYTE_PS  # is stored on the switch
    for found in (row["completion_ps"], row["ideal_ps"]):
        assert chain <= found <= chain + 2 * parts * frame_ps
    assert row["ideal_ps"] <= row["completion_ps"]


def test_fluid_reduces_as_long_as_packets():
    # Oracle: the two runs differ by the reductions of seven steps and the launch alone.
    load = (
        "{{type: collective, algorithm: ring, operation: all_reduce, bytes: 1048576 B, ranks: 8{}}}"
    )
    costs = ", launch_time: 5 us, reduction_rate: 1 Tb/s"
    times = {}
    for engine in ("packets", "fluid"):
        for more in ("", costs):
            _, run = ideal(load.format(more), engine=engine)
            times[engine, more] = int(collective.measure(run)["completion_ps"].iloc[0])
    reductions = 7 * 1048576 // 8 * 8
    assert times["fluid", costs] - times["fluid", ""] == 5_000_000 + reductions
    # In packets an ACK leaves in the time of a reduction instead of delaying the next message.
    less = 5_000_000 + reductions - (times["packets", costs] - times["packets", ""])
    assert 0 <= less <= 7 * ACK_PS


def test_what_costs_nothing_changes_no_spec_and_no_table():
    load = "{type: collective, algorithm: ring, operation: all_reduce, bytes: 64 kB, ranks: 8}"
    text = TEXT.format(workload=load, hosts=8)
    (planned,) = spec.plan(parse_scenario(text, "ideal.yaml"))
    assert "delay_ps" not in input_tables(planned.spec)["dependencies"]
    assert not {"launch_time_ps", "reduction_rate_bps"} & set(planned.spec.plain()["workload"][0])
