# SPDX-License-Identifier: GPL-2.0-only
"""What a link that is cut, slowed down, restored or flaps costs one flow, to the packet and the ps.

The host's wire is never idle, so it is cut into slots of one packet each; everything follows from
which slots find the link dead. Derived from when frames begin, and from nothing of the package.
"""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_network import GBPS, MS_PS, US_PS, Network, line, one_flow, run, run_tables

from pyorch.metrics import RunTables, recovery
from pyorch.render import input_tables
from pyorch.spec import plan
from pyorch.spec.scenario import parse_scenario

pytestmark = pytest.mark.ns3

RATE = 100 * GBPS
MTU = 4096
DATA_PS = (MTU + 62 + 20) * 80  # "d", one slot; RETH off, so all packets are equal
ACK_PS = (66 + 20) * 80  # "a"
DELAY_PS = 2 * US_PS  # "tau", of every link
HOP_PS = DATA_PS + DELAY_PS
PACKETS = 1500

ROCE = {"RethBytes": 0, "Rto": "100ms"}
#: Transports that the window never holds back, so that slots follow each other.
GO_BACK_N = ("ns3::RoceTransport", ROCE)
SELECTIVE = (
    "ns3::RoceTransport",
    {**ROCE, "Recovery": "SelectiveRepeat", "WindowBytes": 10**9, "RtoLow": "100ms"},
)
SPRAYED = ("ns3::SprayTransport", {"WindowBdp": 100, "ReorderPackets": 8, "Rto": "100ms"})
TRANSPORTS = pytest.mark.parametrize(
    "transport", [GO_BACK_N, SELECTIVE, SPRAYED], ids=["go-back-n", "selective", "sprayed"]
)
#: From the begin of a packet at the host until it begins on the second link of its path.
SECOND_LINK_PS = HOP_PS


def first_slot(time_ps, after_ps=0):
    """Return the first slot that is `after_ps` after its begin not before a time."""
    return max(0, -((after_ps - time_ps) // DATA_PS))


def lost_slots(start_ps, end_ps):
    """Return the slots (first, end) that an outage of the second link costs.

    Lost is what is not yet out of the link when it is cut, and what comes to it until its end.
    """
    return first_slot(start_ps, SECOND_LINK_PS + HOP_PS), first_slot(end_ps, SECOND_LINK_PS)


def slots_needed(transport, packets, outages, hops):
    """Return how many slots a message takes, given the (first, end) slots of each outage.

    A lost packet has one slot more with selective repeat. Go-back-N begins again with the first
    lost packet once its source has the NAK, which answers the first packet after the outage.
    """
    total = packets
    for first, end in outages:
        nak_ps = end * DATA_PS + hops * (HOP_PS + ACK_PS + DELAY_PS)
        resumed = nak_ps // DATA_PS + 1
        total += (resumed if transport == GO_BACK_N else end) - first
        assert total > resumed, "the message must be longer than this"
    return total


def outage_end(start_ps, length_ps, convergence_ps):
    """Return when packets get through again: routes that know of the cut return later as well."""
    return start_ps + length_ps + (convergence_ps if convergence_ps < length_ps else 0)


def first_arrival_ps(got, time_ps):
    """Return when the first data packet comes to its destination that was not in by some time."""
    arrivals = got["arrivals"]["time_ps"]
    return int(arrivals[arrivals >= time_ps].min())


@TRANSPORTS
@settings(max_examples=20)
@given(
    start_ps=st.integers(10 * US_PS, 60 * US_PS),
    length_ps=st.one_of(st.integers(1, 3 * US_PS), st.integers(US_PS, 60 * US_PS)),
    convergence_ps=st.sampled_from([0, 5 * US_PS, 20 * US_PS, MS_PS]),
)
def test_a_link_that_is_cut_and_restored(transport, start_ps, length_ps, convergence_ps):
    end_ps = outage_end(start_ps, length_ps, convergence_ps)
    first, end = lost_slots(start_ps, end_ps)
    arrived_at_cut = first_slot(start_ps, SECOND_LINK_PS)
    routes_know = first_slot(start_ps + min(convergence_ps, length_ps), SECOND_LINK_PS)
    slots = slots_needed(transport, PACKETS, [(first, end)], hops=2)

    got = run(
        line([RATE] * 2, [DELAY_PS] * 2),
        one_flow(0, 1, PACKETS * MTU),
        [transport],
        link_events=[(start_ps, 10, 1, 0), (start_ps + length_ps, 10, 1, RATE)],
        convergence_ps=convergence_ps,
        arrivals=True,
    )

    assert got.port(1, 10)["dropped_loss_frames"] == arrived_at_cut - first
    assert got.port(10, 1)["dropped_link_down_frames"] == routes_know - arrived_at_cut
    assert got.port(10, 0)["dropped_no_route_frames"] == end - routes_know
    assert first_arrival_ps(got, start_ps) == end * DATA_PS + 2 * HOP_PS
    assert got.flow(0)["sent_data_packets"] == slots
    assert got.flow(0)["retransmitted_packets"] == slots - PACKETS
    assert got.fct_ps() == (slots - 1) * DATA_PS + 2 * HOP_PS


def two_paths() -> Network:
    """Return host 0 and host 1 with a leaf (10, 11) each and spines 20 and 21 between these."""
    network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1), (20, 2), (21, 2)])
    for a, b in [(0, 10), (1, 11), (10, 20), (10, 21), (11, 20), (11, 21)]:
        network.link(a, b, RATE, DELAY_PS)
    return network


@pytest.mark.parametrize("convergence_ps", [0, 1, 7_654_321, 30 * US_PS])
@pytest.mark.parametrize("transport", [GO_BACK_N, SELECTIVE], ids=["go-back-n", "selective"])
def test_a_link_that_is_cut_for_good_where_there_is_another_path(transport, convergence_ps):
    # What the leaf sends by the dead spine until its routes follow is lost, and what was on the
    # wire; then packets take the other spine, which is as far.
    start_ps = 33_333_333
    first, end = lost_slots(start_ps, start_ps + convergence_ps)
    arrived_at_cut = first_slot(start_ps, SECOND_LINK_PS)
    slots = slots_needed(transport, PACKETS, [(first, end)], hops=4)
    flows = one_flow(0, 1, PACKETS * MTU)
    dead = run(two_paths(), flows, [transport]).paths()[0][1][1]

    got = run(
        two_paths(),
        flows,
        [transport],
        link_events=[(start_ps, 10, dead, 0)],
        convergence_ps=convergence_ps,
        arrivals=True,
    )

    assert got.port(dead, 10)["dropped_loss_frames"] == arrived_at_cut - first
    assert got.port(10, dead)["dropped_link_down_frames"] == end - arrived_at_cut
    # The last packets that were past the link come first; the next is over the other spine.
    past_ps = (first - 1) * DATA_PS + 4 * HOP_PS
    assert first_arrival_ps(got, past_ps + 1) == end * DATA_PS + 4 * HOP_PS
    assert got.flow(0)["retransmitted_packets"] == slots - PACKETS
    assert got.fct_ps() == (slots - 1) * DATA_PS + 4 * HOP_PS


@pytest.mark.parametrize(("convergence_ps", "timeouts"), [(0, 0), (7_654_321, 0), (30 * US_PS, 1)])
def test_one_of_two_paths_that_is_cut_costs_a_sprayed_flow_half_of_the_slots(
    convergence_ps, timeouts
):
    # Of two packets in a row one goes by each path, so half of the slots are lost until
    # the routes follow, give or take one; then all take the other path at the rate of the host.
    # That takes longer than a round trip in the last case: copies are lost as well. Of that the
    # source learns by its timer alone, which runs from the last acknowledgement of the rest.
    start_ps, rto_ps = 33_333_333, 100 * MS_PS
    first, end = lost_slots(start_ps, start_ps + convergence_ps)

    got = run(
        two_paths(),
        one_flow(0, 1, PACKETS * MTU),
        [SPRAYED],
        forwarding="ns3::EntropyModulo",
        link_events=[(start_ps, 10, 20, 0)],
        convergence_ps=convergence_ps,
    )

    lost = got.port(20, 10)["dropped_loss_frames"] + got.port(10, 20)["dropped_link_down_frames"]
    assert abs(lost - (end - first) / 2) <= 1
    flow = got.flow(0)
    assert (flow["retransmitted_packets"], flow["timeouts"]) == (lost, timeouts)
    # With a timeout the slots fall into two runs, which end with the path to the destination.
    slots, idle_ps = PACKETS + lost, rto_ps + 4 * (ACK_PS + DELAY_PS)
    expected = (slots - 1) * DATA_PS + 4 * HOP_PS
    expected += timeouts * (idle_ps + 4 * HOP_PS - DATA_PS)
    assert got.fct_ps() == expected


@TRANSPORTS
@settings(max_examples=20)
@given(
    start_ps=st.integers(5 * US_PS, 60 * US_PS),
    length_ps=st.one_of(st.integers(1, 3 * US_PS), st.integers(US_PS, 60 * US_PS)),
    routes_follow=st.sampled_from([0, MS_PS]),
)
def test_a_host_waits_while_its_own_link_is_cut(transport, start_ps, length_ps, routes_follow):
    # Only what was on the wire is lost. The host goes on with the packet that was next when the
    # link is back, or when the frame that was cut is through.
    begun = first_slot(start_ps)
    first = first_slot(start_ps, HOP_PS)
    resumed_ps = max(start_ps + length_ps, begun * DATA_PS)
    slots = slots_needed(transport, PACKETS, [(first, begun)], hops=2)

    got = run(
        line([RATE] * 2, [DELAY_PS] * 2),
        one_flow(0, 1, PACKETS * MTU),
        [transport],
        link_events=[(start_ps, 0, 10, 0), (start_ps + length_ps, 0, 10, RATE)],
        convergence_ps=routes_follow,
    )

    assert got.port(10, 0)["dropped_loss_frames"] == begun - first
    assert got.port(0, 10)["dropped_link_down_frames"] == 0
    assert got.flow(0)["sent_data_packets"] == slots
    assert got.fct_ps() == resumed_ps + (slots - 1 - begun) * DATA_PS + 2 * HOP_PS


@TRANSPORTS
@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_link_that_flaps_costs_the_same_each_time(transport, times):
    # The outages are far enough from each other for all repairs to be through.
    length_ps, every_ps = 11_111_111, 77_777_777
    starts_ps = [20 * US_PS + i * every_ps for i in range(times)]
    outages = [lost_slots(start_ps, start_ps + length_ps) for start_ps in starts_ps]
    slots = slots_needed(transport, PACKETS, outages, hops=2)
    events = [(start_ps, 10, 1, 0) for start_ps in starts_ps]
    events += [(start_ps + length_ps, 10, 1, RATE) for start_ps in starts_ps]

    got = run(
        line([RATE] * 2, [DELAY_PS] * 2),
        one_flow(0, 1, PACKETS * MTU),
        [transport],
        link_events=events,
        convergence_ps=MS_PS,
    )

    assert got.flow(0)["sent_data_packets"] == slots
    assert got.fct_ps() == (slots - 1) * DATA_PS + 2 * HOP_PS


@TRANSPORTS
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("slow_gbps", [50, 10])
def test_a_link_that_is_slow_for_a_while_costs_what_the_packets_begun_then_take_longer(
    transport, times, slow_gbps
):
    # The link has a packet to send at any time: it gets one per slot and is never faster. So
    # every packet is later by what all the slow ones before it took longer.
    slow_ps = DATA_PS * 100 // slow_gbps
    length_ps, every_ps, late_ps = 12_345_678, 99_999_999, 0
    events = []
    for i in range(times):
        start_ps = 20 * US_PS + i * every_ps
        events += [(start_ps, 10, 1, slow_gbps * GBPS), (start_ps + length_ps, 10, 1, RATE)]
        begins_ps = first_slot(start_ps, SECOND_LINK_PS + late_ps) * DATA_PS
        begins_ps += SECOND_LINK_PS + late_ps
        late_ps += -((begins_ps - start_ps - length_ps) // slow_ps) * (slow_ps - DATA_PS)

    got = run(
        line([RATE] * 2, [DELAY_PS] * 2),
        one_flow(0, 1, PACKETS * MTU),
        [transport],
        link_events=events,
    )

    assert got.flow(0)["retransmitted_packets"] == 0
    assert got.fct_ps() == (PACKETS - 1) * DATA_PS + 2 * HOP_PS + late_ps


BACK_PS = 2 * (ACK_PS + DELAY_PS)
WINDOW = -(-(2 * HOP_PS + BACK_PS) // DATA_PS)
WINDOWED = [
    ("ns3::RoceTransport", {**ROCE, "WindowBytes": WINDOW * MTU, "Rto": "60us"}),
    ("ns3::RoceTransport", {**ROCE, "Recovery": "SelectiveRepeat", "Rto": "60us"}),
    ("ns3::SprayTransport", {"Rto": "60us"}),
]


@pytest.mark.parametrize("timeouts", [1, 2, 3])
@pytest.mark.parametrize("transport", WINDOWED, ids=["go-back-n", "selective", "sprayed"])
def test_a_window_that_is_all_lost_comes_back_with_the_first_timeout_after_the_outage(
    transport, timeouts
):
    # A window of one round trip is used up soon after the cut. The timer runs from the last
    # acknowledgement that passed the link before the cut, and doubles each time; the window is
    # sent anew each time, and the flow goes on from where it was acknowledged.
    start_ps, rto_ps = 50 * US_PS, 60 * US_PS
    acked = first_slot(start_ps, 2 * HOP_PS + ACK_PS + DELAY_PS)
    timer_ps = (acked - 1) * DATA_PS + 2 * HOP_PS + BACK_PS

    def begins_ps(timeout):
        return timer_ps + (2**timeout - 1) * rto_ps

    for back_ps in (  # as soon as the window before is lost, and just in time for this one
        begins_ps(timeouts - 1) + WINDOW * DATA_PS + SECOND_LINK_PS,
        begins_ps(timeouts) + SECOND_LINK_PS,
    ):
        got = run(
            line([RATE] * 2, [DELAY_PS] * 2),
            one_flow(0, 1, PACKETS * MTU),
            [transport],
            link_events=[(start_ps, 10, 1, 0), (back_ps, 10, 1, RATE)],
            convergence_ps=MS_PS,
            arrivals=True,
        )

        assert first_arrival_ps(got, start_ps) == begins_ps(timeouts) + 2 * HOP_PS
        flow = got.flow(0)
        assert (flow["timeouts"], flow["retransmitted_packets"]) == (timeouts, timeouts * WINDOW)
        last = PACKETS - 1 - acked
        assert got.fct_ps() == begins_ps(timeouts) + last * DATA_PS + 2 * HOP_PS


@settings(max_examples=25)
@given(start_ps=st.integers(30 * US_PS, 400 * US_PS), length_ps=st.integers(1, 9 * US_PS))
def test_a_pause_that_was_on_the_wire_holds_nobody_back_when_the_link_is_back(start_ps, length_ps):
    # The switch sends on at a quarter of the rate, and PFC holds the host back from 32 us on.
    # What it has stored lasts for longer than any outage here, so its slow link is always busy
    # and each packet crosses it once. A PAUSE that came after all would never be taken back.
    # (Lossless it is not: what comes after a short cut finds the headroom in use.)
    delay_ps, packets = 5 * US_PS, 600

    got = run(
        line([RATE, RATE // 4], [delay_ps, delay_ps]),
        one_flow(0, 1, packets * MTU),
        [SELECTIVE],
        pfc={"XoffBytes": 200_000},
        link_events=[(start_ps, 0, 10, 0), (start_ps + length_ps, 0, 10, RATE)],
        convergence_ps=MS_PS,
        stop_ps=10 * MS_PS,
    )

    assert got.fct_ps() == DATA_PS + delay_ps + packets * 4 * DATA_PS + delay_ps


SCENARIO = """\
name: cut
topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 1, spines: 1} # hosts 0, 1; leaves 2, 3; 4
link: {rate: 100 Gb/s, delay: 2 us}
switch: {buffer: 8 MB, convergence: 1 ms}
workload: {type: single, message: 6144 kB}
transport:
  type: ns3::RoceTransport
  attributes:
    {RethBytes: 0, Rto: 100 ms, RtoLow: 100 ms, Recovery: SelectiveRepeat, WindowBytes: 1 GB}
failures: [{type: scheduled, links: [[2, 4]], at: 101 us, duration: 33 us}]
trace: {sample: 4 us}
stop: 20 ms
"""


def test_the_metric_recovery_measures_what_the_slots_say():
    # Packets come in one per slot but for those lost. The acknowledgements that come to the spine
    # while the link is dead are lost with them. The rate is back in the first sample of 4 us that
    # has nine tenths of the packets; that is the one after the sample in which they begin again.
    period_ps, start_ps, end_ps = 4 * US_PS, 101 * US_PS, 134 * US_PS
    first, end = lost_slots(start_ps, end_ps)
    unheard = first_slot(start_ps, 4 * HOP_PS + 3 * (ACK_PS + DELAY_PS))
    again_ps = end * DATA_PS + 4 * HOP_PS
    before, rest_ps = divmod(again_ps, period_ps)
    assert period_ps - rest_ps < 0.9 * period_ps - DATA_PS
    resolved = plan(parse_scenario(SCENARIO, "cut.yaml"))[0].spec
    transport = resolved.transport[0]
    tables = input_tables(resolved)
    events = tables.pop("link_events")
    names = ("time_ps", "node_a", "node_b", "rate_bps")

    got = run_tables(
        **tables,
        link_events=list(zip(*(events[name].tolist() for name in names), strict=True)),
        transports=[(transport.type, transport.attributes)],
        forwarding="ns3::EcmpHash",
        queue=None,
        pfc=None,
        drops=(),
        seed=1,
        stop_ps=resolved.stop_ps,
        convergence_ps=resolved.switch.convergence_ps,
        sample_ps=period_ps,
    )
    frames = {name: pd.DataFrame(columns).astype("Int64") for name, columns in got.tables.items()}
    row = recovery.measure(RunTables(resolved, "cut", frames)).iloc[0]

    assert (row["failed_ps"], row["failed_links"], row["dip_share"]) == (start_ps, 1, 1)
    assert row["lost_frames"] == (end - first) + (first - unheard)
    # One packet of 4158 B per slot, give or take one in ten samples.
    rate_bps = 4158 * 8e12 / DATA_PS
    assert row["before_bps"] == pytest.approx(rate_bps, abs=4158 * 8e12 / (10 * period_ps))
    assert row["recovery_ps"] == (before + 2) * period_ps - start_ps
