# SPDX-License-Identifier: GPL-2.0-only
"""What messages cost the hosts at their ends, in packets and in fluid, against closed forms."""

import numpy as np
import pytest
from oracle_network import GBPS, NS_PS, US_PS, Flows, leaf_spine, line, one_flow, run, star

from pyorch.theory import hosts

pytestmark = pytest.mark.ns3

RATE, DELAY_PS = 100 * GBPS, 500 * NS_PS
ROCE = [("ns3::RoceTransport", {"RethBytes": 0})]
ENGINES = pytest.mark.parametrize("engine", ["packets", "fluid"])
#: Prime numbers of picoseconds, so that no sum comes about in two ways.
COSTS = {
    "message_time_ps": 400_009, "request_time_ps": 150_001, "send_delay_ps": 700_001,
    "delivery_time_ps": 300_007, "delivery_delay_ps": 900_001, "completion_delay_ps": 210_011,
}  # fmt: skip
MISS = {"miss_time_ps": 1_300_021}


def to_each(sizes, start_ps=0):
    """Messages from host 0, one to each other host."""
    flows = Flows()
    for host, size_bytes in enumerate(sizes, start=1):
        flows.add(0, host, size_bytes, start_ps)
    return flows


@ENGINES
@pytest.mark.parametrize("size_bytes", [1, 4096, 1_000_000])
def test_a_message_alone_is_later_by_the_sum_of_its_costs(engine, size_bytes):
    network, flow = line([RATE] * 2, [DELAY_PS] * 2), one_flow(0, 1, size_bytes, 77)
    free = run(network, flow, ROCE, engine=engine).flow(0)
    got = run(network, flow, ROCE, engine=engine, host=COSTS | MISS).flow(0)

    # Both interfaces have to load the connection.
    sent_ps = sum(COSTS[name] for name in ("message_time_ps", "request_time_ps", "send_delay_ps"))
    sent_ps += MISS["miss_time_ps"]
    assert got["start_ps"] == free["start_ps"] == 77
    assert got["receiver_end_ps"] - free["receiver_end_ps"] == (
        hosts.alone_ps(COSTS, size_bytes, RATE) + 2 * MISS["miss_time_ps"]
    )
    assert got["sender_end_ps"] - free["sender_end_ps"] == sent_ps + COSTS["completion_delay_ps"]


@ENGINES
@pytest.mark.parametrize("slowest", ["message_time_ps", "request_time_ps"])
def test_small_messages_leave_a_host_at_the_rate_of_its_slowest_stage(engine, slowest):
    host = {"message_time_ps": 50_000, "request_time_ps": 50_000} | {slowest: 331_999}
    flows = to_each([64] * 40)
    got = run(star(41, RATE, DELAY_PS), flows, ROCE, engine=engine, host=host)

    assert np.diff(got.fcts_ps()).tolist() == [331_999] * 39
    assert hosts.messages_per_s(host, 64) == 1e12 / 331_999


@ENGINES
def test_a_receiver_takes_small_messages_one_after_the_other(engine):
    flows = Flows()
    for host in range(1, 31):
        flows.add(host, 0, 64)
    got = run(star(31, RATE, DELAY_PS), flows, ROCE, engine=engine,
              host={"delivery_time_ps": 500_003})  # fmt: skip

    ends_ps = np.sort(got["flows"]["receiver_end_ps"])
    assert np.diff(ends_ps).tolist() == [500_003] * 29


@ENGINES
@pytest.mark.parametrize(
    "bus",
    [{"bus_rate_bps": 40 * GBPS}, {"bus_credit_bytes": 50_000, "bus_round_trip_ps": 10 * US_PS}],
    ids=["rate", "credit"],
)
def test_a_bus_slower_than_the_link_sets_the_pace(engine, bus):
    # 1 MB at 40 Gb/s is 200 us, and 83 us on the link: no message waits for a link. 50 kB in each
    # 10 us are 40 Gb/s, too.
    flows = to_each([1_000_000] * 8)
    free = run(star(9, RATE, DELAY_PS), one_flow(0, 1, 1_000_000), ROCE, engine=engine).fct_ps()
    got = run(star(9, RATE, DELAY_PS), flows, ROCE, engine=engine,
              host=bus)  # fmt: skip

    # The first one ends when it has been read, the others as much later as the bus is busy.
    assert got.fcts_ps().tolist() == [free + (i * 200 + 200 - 80) * US_PS for i in range(8)]
    assert hosts.alone_ps(bus, 1_000_000, RATE) == 120 * US_PS


@ENGINES
@pytest.mark.parametrize("request_ps", [3 * US_PS, 7 * US_PS + 3])
def test_a_message_of_several_requests_is_as_late_as_the_last_of_them(engine, request_ps):
    # 1 MB in requests of 64 kB are sixteen; a link needs 5.12 us for the payload of one, so it
    # waits only for requests that take longer.
    host = {"request_time_ps": request_ps, "request_size_bytes": 64_000}
    network = star(2, RATE, DELAY_PS)
    got = run(network, one_flow(0, 1, 1_000_000), ROCE, engine=engine, host=host).fct_ps()
    alone = run(network, one_flow(0, 1, 1_000_000), ROCE, engine=engine).fct_ps()

    late_ps = request_ps + max(15 * request_ps - 15 * 64_000 * 80, 0)
    assert got - alone == late_ps == hosts.alone_ps(host, 1_000_000, RATE)
    assert hosts.messages_per_s(host, 1_000_000) == 1e12 / (16 * request_ps)


@ENGINES
def test_requests_of_several_messages_are_taken_one_after_the_other(engine):
    host = {"request_time_ps": 9 * US_PS, "request_size_bytes": 64_000}
    got = run(star(9, RATE, DELAY_PS), to_each([128_001] * 8), ROCE, engine=engine, host=host)

    assert np.diff(got.fcts_ps()).tolist() == [3 * 9 * US_PS] * 7


@ENGINES
@pytest.mark.parametrize("size_bytes", [4096, 100_000])
def test_one_message_at_a_time_waits_for_the_completion_of_the_last(engine, size_bytes):
    flows = Flows()
    for _ in range(10):
        flows.add(0, 1, size_bytes)
    network = line([RATE] * 2, [DELAY_PS] * 2)
    alone = run(network, one_flow(0, 1, size_bytes), ROCE, engine=engine, host=COSTS).flow(0)
    got = run(network, flows, ROCE, engine=engine, host=COSTS | {"outstanding": 1})

    expected = [alone["receiver_end_ps"] + i * alone["sender_end_ps"] for i in range(10)]
    assert got.fcts_ps().tolist() == expected


@pytest.mark.parametrize("outstanding", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("size_bytes", [4096, 32768, 262_144])
def test_goodput_grows_with_messages_under_way_up_to_the_link(size_bytes, outstanding):
    # 3 % are for the first and the last round.
    count = 40 * outstanding
    flows = Flows()
    for _ in range(count):
        flows.add(0, 1, size_bytes)
    network, host = line([RATE] * 2, [DELAY_PS] * 2), {"send_delay_ps": 5 * US_PS}
    got = run(network, flows, ROCE, host=host | {"outstanding": outstanding})
    alone = run(network, one_flow(0, 1, size_bytes), ROCE, host=host).flow(0)
    packets = -(-size_bytes // 4096)
    payload_bps = RATE * size_bytes / (size_bytes + packets * 82)
    fixed_s = alone["sender_end_ps"] / 1e12 - 8 * size_bytes / payload_bps

    measured_bps = 8 * size_bytes * count / (got["flows"]["sender_end_ps"].max() / 1e12)
    case = (size_bytes, payload_bps, fixed_s, outstanding)
    assert 0.97 * hosts.goodput_bps(*case) < measured_bps < 1.03 * hosts.most_goodput_bps(*case)


@ENGINES
@pytest.mark.parametrize(("kept", "misses"), [(2, 12), (3, 3), (None, 3)])
def test_connections_that_do_not_fit_are_loaded_again(engine, kept, misses):
    flows = Flows()
    for i in range(12):
        flows.add(0, 1 + i % 3, 64, i * 100 * US_PS)
    network = star(4, RATE, DELAY_PS)
    free = run(network, flows, ROCE, engine=engine).fcts_ps()
    got = run(network, flows, ROCE, engine=engine, host=MISS | {"connections": kept}).fcts_ps()

    # A receiver has one peer only, and loads it once.
    assert (got - free).sum() == (misses + 3) * MISS["miss_time_ps"]


@ENGINES
def test_what_waits_for_a_message_waits_for_its_host_too(engine):
    flows = Flows()
    flows.add(0, 1, 10_000)
    flows.add(1, 0, 10_000)
    flows.add(0, 1, 10_000)
    got = run(line([RATE] * 2, [DELAY_PS] * 2), flows, ROCE, engine=engine, host=COSTS,
              dependencies=[(1, 0, 0), (2, 0, 1)])["flows"]  # fmt: skip

    assert got["start_ps"][1] == got["receiver_end_ps"][0]
    assert got["start_ps"][2] == got["sender_end_ps"][0]


@pytest.mark.parametrize("domains", [2, 5])
def test_domains_change_nothing(domains):
    network = leaf_spine(4, 4, 2, RATE, DELAY_PS)
    flows, rng = Flows(), np.random.default_rng(5)
    for _ in range(300):
        src, dst = rng.choice(16, 2, replace=False)
        size_bytes, start_us = rng.integers([1, 0], [60_000, 20])
        flows.add(int(src), int(dst), int(size_bytes), int(start_us) * US_PS)
    rows = flows.table()
    ends = [rows["dst"], rows["src"]]  # where the end of a message is known
    waits = [
        (i, j, at_sender) for i in range(300) for j in range(i - 30, i) for at_sender in (0, 1)
        if j >= 0 and (i + j) % 7 == 0 and ends[at_sender][j] == rows["src"][i]
    ]  # fmt: skip
    assert len(waits) > 30
    host = COSTS | MISS | {"connections": 3, "outstanding": 2, "bus_rate_bps": 60 * GBPS}

    whole, parts = (
        run(network, flows, ROCE, host=host, dependencies=waits, domains=n) for n in (1, domains)
    )
    for table in whole.tables.keys() - {"process"}:
        for name, values in whole[table].items():
            assert np.array_equal(values, parts[table][name]), (table, name)


@ENGINES
def test_hosts_that_cost_nothing_change_nothing(engine):
    network, flows = star(4, RATE, DELAY_PS), to_each([10_000, 1, 500_000])
    free = run(network, flows, ROCE, engine=engine)
    got = run(network, flows, ROCE, engine=engine, host=dict.fromkeys(COSTS, 0))
    for name, values in free["flows"].items():
        assert np.array_equal(values, got["flows"][name]), name
