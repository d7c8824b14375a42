# SPDX-License-Identifier: GPL-2.0-only
"""Frames are neither made nor lost unseen, on random small networks under random loads."""

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from oracle_network import GBPS, MS_PS, NEVER, Flows, Network, run

pytestmark = pytest.mark.ns3

#: Long after everything else: when this flow has ended, no other frame is left anywhere.
PROBE_PS = 200 * MS_PS
STOP_PS = 400 * MS_PS
RATES = [rate * GBPS for rate in (10, 56, 100, 400)]


@st.composite
def networks(draw):
    """Return a leaf-spine with rates, delays, losses and parallel links of its own."""
    leaves, spines = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    per_leaf, parallel = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    planes = draw(st.integers(1, 2))
    loss = draw(st.sampled_from([0.0, 0.0, 1e-3, 2e-2]))
    rate, delay_ps = st.sampled_from(RATES), st.integers(1, 2_000_000)
    network = Network(hosts=list(range(max(2, leaves * per_leaf))))
    network.switches = [(100 + leaf, 1) for leaf in range(leaves)]
    network.switches += [(200 + spine, 2) for spine in range(spines)]
    for host in network.hosts:
        leaf = min(host // per_leaf, leaves - 1)
        network.link(host, 100 + leaf, draw(rate), draw(delay_ps), loss=loss)
        if planes == 2:  # a second port, to the next leaf or once more to the only one
            other = (leaf + 1) % leaves
            parallel_index = int(other == leaf)
            network.link(
                host, 100 + other, draw(rate), draw(delay_ps), parallel=parallel_index, loss=loss
            )
    for leaf in range(leaves):
        for spine in range(spines):
            for k in range(parallel):
                ends = (100 + leaf, 200 + spine)
                network.link(*ends, draw(rate), draw(delay_ps), parallel=k, loss=loss)
    return network


@st.composite
def loads(draw, hosts):
    flows = Flows()
    for _ in range(draw(st.integers(1, 12))):
        src = draw(st.sampled_from(hosts))
        dst = draw(st.sampled_from([host for host in hosts if host != src]))
        size = draw(st.one_of(st.integers(1, 9000), st.integers(1, 300_000)))
        start_ps = draw(st.sampled_from([0, 0, 1, 5_000_000, 123_456_789]))
        flows.add(src, dst, size, start_ps, transport=draw(st.integers(0, 1)))
    return flows


TRANSPORTS = st.tuples(
    st.fixed_dictionaries(
        {
            "Recovery": st.sampled_from(["GoBackN", "SelectiveRepeat"]),
            "MtuBytes": st.sampled_from([256, 1000, 4096]),
            "AckInterval": st.sampled_from([1, 4]),
            "WindowBytes": st.sampled_from([0, 20_000]),
            "Rto": st.just("300us"),
            "MaxBackoff": st.just(4),
        }
    ),
    st.fixed_dictionaries(
        {
            "Entropy": st.sampled_from(["ns3::PermutedEntropy", "ns3::RandomEntropy"]),
            "WindowBdp": st.sampled_from([0.3, 1.0, 3.0]),
            "Priority": st.sampled_from([2, 3]),
            "Rto": st.just("300us"),
        }
    ),
)
QUEUES = st.sampled_from(
    [
        None,
        ("ns3::DropTail", {"LimitBytes": 20_000}),
        ("ns3::RedEcn", {"LimitBytes": 60_000, "KminBytes": 5_000, "KmaxBytes": 50_000}),
    ]
)
FLOW_CONTROL = st.sampled_from([None, {"XoffBytes": 10_000, "XonOffsetBytes": 3_000}])
FORWARDING = st.sampled_from(
    ["ns3::EcmpHash", "ns3::EntropyModulo", "ns3::RandomSpray", "ns3::RoundRobinSpray"]
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    network=networks(),
    data=st.data(),
    transports=TRANSPORTS,
    queue=QUEUES,
    pfc=FLOW_CONTROL,
    forwarding=FORWARDING,
    buffer_bytes=st.sampled_from([0, 30_000]),
    framing_bytes=st.sampled_from([0, 20]),
    switch_delay_ps=st.sampled_from([0, 300_000]),
    seed=st.integers(0, 1000),
)
def test_every_frame_is_accounted_for(
    network, data, transports, queue, pfc, forwarding, buffer_bytes, framing_bytes,
    switch_delay_ps, seed,
):  # fmt: skip
    flows = data.draw(loads(network.hosts))
    probe = flows.add(network.hosts[0], network.hosts[1], 1, PROBE_PS, transport=2)
    roce, spray = transports
    got = run(
        network,
        flows,
        # The probe sends one packet that is lost only by a lossy link, and asks again soon.
        [("ns3::RoceTransport", roce), ("ns3::SprayTransport", spray),
         ("ns3::RoceTransport", {"Rto": "50us"})],
        queue=queue,
        # With flow control the buffer must hold its headroom, so it is unlimited here.
        pfc=pfc,
        buffer_bytes=0 if pfc else buffer_bytes,
        forwarding=forwarding,
        framing_bytes=framing_bytes,
        switch_delay_ps=switch_delay_ps,
        seed=seed,
        stop_ps=STOP_PS,
    )  # fmt: skip
    note(f"{got['summary']}")
    check_flows(got, flows, roce["MtuBytes"], probe)
    check_ports(got, framing_bytes)
    if pfc:
        assert got["ports"]["dropped_headroom_frames"].sum() == 0


def check_flows(got, flows, roce_mtu, probe):
    for flow, _, _, size, start_ps, transport in flows.rows:
        found = got.flow(flow)
        mtu = roce_mtu if transport == 0 else 4096
        first_copies = found["sent_data_packets"] - found["retransmitted_packets"]
        assert found["sender_end_ps"] >= found["receiver_end_ps"] > start_ps, "all of them end"
        assert first_copies == -(-size // mtu), "each packet has one first copy"
        assert found["ecn_marked_packets"] <= found["sent_data_packets"]
    assert got.flow(probe)["receiver_end_ps"] != NEVER


def check_ports(got, framing_bytes):
    """Check that what went in came out, now that nothing is under way any more."""
    ports = {name: values.copy() for name, values in got["ports"].items()}
    row = {
        key: i
        for i, key in enumerate(zip(ports["node"], ports["peer"], ports["parallel"], strict=True))
    }
    peer = [row[b, a, k] for a, b, k in row]
    # wire: sent here = received there + lost there
    assert (
        ports["sent_frames"] == (ports["received_frames"] + ports["dropped_loss_frames"])[peer]
    ).all()
    # each PAUSE and RESUME sent is received
    assert (ports["pause_frames_sent"] == ports["pause_frames_received"][peer]).all()
    assert (ports["sent_bytes"] >= (64 + framing_bytes) * ports["sent_frames"]).all()
    for node in set(ports["node"].tolist()):
        if node < 100:
            continue
        here = ports["node"] == node
        total = {name: int(values[here].sum()) for name, values in ports.items()}
        # switch: received - own control - dropped = sent - own control
        dropped = sum(total[f"dropped_{why}_frames"] for why in ("buffer", "headroom", "no_route"))
        assert (
            total["received_frames"] - total["pause_frames_received"] - dropped
            == total["sent_frames"] - total["pause_frames_sent"]
        )
    # data: sent by the flows = put on the wire by hosts; delivered = what hosts were sent
    hosts, to_host = ports["node"] < 100, ports["peer"] < 100
    sent = int(got["flows"]["sent_data_packets"].sum())
    assert sent == ports["sent_data_packets"][hosts].sum()
    delivered = int(got["summary"]["data_packets_delivered"][0])
    lost = {name: int(v.sum()) for name, v in ports.items() if name.startswith("dropped_")}
    assert delivered <= ports["sent_data_packets"][to_host].sum() <= delivered + sum(lost.values())
    assert delivered <= sent <= delivered + sum(lost.values())
    assert ports["trimmed_packets"].sum() == 0
    assert got["summary"]["flows_done"][0] == len(got["flows"]["flow"])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(network=networks(), data=st.data(), stop_ps=st.integers(0, 60_000_000))
def test_a_run_stopped_anywhere_still_adds_up(network, data, stop_ps):
    # Finish() checks the engine's own identities with frames queued and on the wires.
    got = run(
        network,
        data.draw(loads(network.hosts)),
        [("ns3::RoceTransport", {}), ("ns3::SprayTransport", {})],
        pfc={"XoffBytes": 10_000, "XonOffsetBytes": 3_000},
        stop_ps=stop_ps,
    )
    assert got["summary"]["now_ps"][0] <= stop_ps
    ports = got["ports"]
    on_wires = (
        ports["sent_frames"].sum()
        - ports["received_frames"].sum()
        - ports["dropped_loss_frames"].sum()
    )
    assert 0 <= on_wires <= got["summary"]["frames_allocated_peak"][0]
    ended = got["flows"]["receiver_end_ps"]
    assert ((ended == NEVER) | (ended <= stop_ps)).all()
    assert np.all(got["flows"]["start_ps"][ended != NEVER] < ended[ended != NEVER])
