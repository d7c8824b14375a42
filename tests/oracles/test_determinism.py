# SPDX-License-Identifier: GPL-2.0-only
"""A run is a function of its seed and of what is in its tables, not of how they are listed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_network import GBPS, MS_PS, Flows, leaf_spine, run, run_tables

pytestmark = pytest.mark.ns3

RATE = 100 * GBPS
NOT_OF_THE_NETWORK = {"build_ns"}  # wall clock
RANDOM_EVERYWHERE = {
    "queue": ("ns3::RedEcn", {"KminBytes": 10_000, "KmaxBytes": 200_000, "LimitBytes": 300_000}),
    "arrivals": True,
    "stop_ps": 20 * MS_PS,
}


def network(loss=1e-3):
    made = leaf_spine(3, 3, 2, RATE, 500_000)
    made.links = [(*link[:5], loss, 0.0) for link in made.links]
    return made


def some_flows(rng, n=14):
    flows = Flows()
    while len(flows.rows) < n:
        src, dst = rng.integers(0, 9, 2)
        if src != dst:
            start = int(rng.integers(0, 3)) * 10_000_000  # many start together
            size = int(rng.integers(1, 200_000))
            transport = int(rng.integers(0, 2))
            flows.add(int(src), int(dst), size, start, transport=transport, flow=len(flows.rows))
    return flows


TRANSPORTS = [
    ("ns3::RoceTransport", {"Rto": "200us"}),
    ("ns3::SprayTransport", {"Rto": "200us", "PathSelector": "ns3::RandomEntropy", "Priority": 2}),
]
FORWARDING = ["ns3::EcmpHash", "ns3::EntropyModulo", "ns3::RandomSpray", "ns3::RoundRobinSpray"]
FLOW_CONTROL = [None, {"XoffBytes": 30_000, "XonOffsetBytes": 10_000, "Priorities": 0b1100}]


def bytes_of(got):
    """Return every table and column of a run as bytes."""
    return {
        f"{table}.{name}": values.tobytes()
        for table, columns in got.tables.items()
        for name, values in columns.items()
        if name not in NOT_OF_THE_NETWORK
    }


@pytest.mark.parametrize("pfc", FLOW_CONTROL)
@pytest.mark.parametrize("forwarding", FORWARDING)
def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(forwarding, pfc):
    flows = some_flows(np.random.default_rng(5))

    def outcome(seed):
        options = {**RANDOM_EVERYWHERE, "forwarding": forwarding, "pfc": pfc, "seed": seed}
        return bytes_of(run(network(), flows, TRANSPORTS, **options))

    first = outcome(1)
    outcome(2)  # what a process ran before does not matter
    assert outcome(1) == first
    assert outcome(2) != first


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**63 - 1),
    draw=st.integers(0, 2**32 - 1),
    forwarding=st.sampled_from(FORWARDING),
    pfc=st.sampled_from(FLOW_CONTROL),
    loss=st.sampled_from([0.0, 1e-3, 1e-2]),
)
def test_the_order_of_rows_changes_no_result(seed, draw, forwarding, pfc, loss):
    rng = np.random.default_rng(draw)
    made, flows = network(loss), some_flows(rng)
    tables = made.nodes_table(), made.links_table(), flows.table()
    options = {
        **RANDOM_EVERYWHERE,
        "forwarding": forwarding,
        "pfc": pfc,
        "drops": (),
        "seed": seed,
    }
    plain = run_tables(*tables, TRANSPORTS, **options)
    other = run_tables(*shuffle(rng, *tables), TRANSPORTS, **options)

    assert bytes_of(other) == bytes_of(plain)


def shuffle(rng, *tables):
    """Return nodes, links and flows with their rows in any order and links either way round."""
    shuffled = []
    for table in tables:
        order = rng.permutation(len(next(iter(table.values()))))
        shuffled.append({name: values[order] for name, values in table.items()})
    links = shuffled[1]
    swap = rng.random(len(links["node_a"])) < 0.5
    links["node_a"], links["node_b"] = (
        np.where(swap, links["node_b"], links["node_a"]),
        np.where(swap, links["node_a"], links["node_b"]),
    )
    return shuffled


@pytest.mark.parametrize("forwarding", FORWARDING)
def test_the_order_of_rows_changes_nothing_in_instants_of_many_events(forwarding):
    # All hosts start together with equal packets, so hundreds of events share each instant.
    rng = np.random.default_rng(9)
    made = leaf_spine(6, 10, 6, RATE, 500_000)
    flows = Flows()
    for host in range(60):
        flows.add(host, (host + 10) % 60, 200_000, transport=0)
        flows.add(host, (host + 25) % 60, 200_000, transport=1)
    tables = made.nodes_table(), made.links_table(), flows.table()
    options = {
        **RANDOM_EVERYWHERE,
        "forwarding": forwarding,
        "pfc": FLOW_CONTROL[1],
        "drops": (),
        "seed": 1,
    }
    plain = run_tables(*tables, TRANSPORTS, **options)
    assert plain["summary"]["flows_done"][0] == 120

    assert bytes_of(run_tables(*shuffle(rng, *tables), TRANSPORTS, **options)) == bytes_of(plain)


@pytest.mark.parametrize("loss", [0.0, 1e-3])
@pytest.mark.parametrize("forwarding", [*FORWARDING, "ns3::LeastLoaded", "ns3::Flowlet"])
def test_what_large_networks_do_in_advance_changes_nothing(forwarding, loss):
    # Large networks, or long wires, ask for memory before they need it and choose paths early. A
    # wire of 1 s that nothing crosses makes this one large.
    def outcome(far_away):
        made = leaf_spine(6, 10, 6, RATE, 500_000)
        made.links = [(*link[:5], loss, 0.0) for link in made.links]
        if far_away:
            made.switches += [(30_000, 1), (30_001, 1)]
            made.link(30_000, 30_001, RATE, 1000 * MS_PS)
        flows = Flows()
        for host in range(60):
            flows.add(host, (host + 10) % 60, 200_000, transport=0)
            flows.add(host, (host + 25) % 60, 200_000, transport=1)
        options = {**RANDOM_EVERYWHERE, "forwarding": forwarding, "pfc": FLOW_CONTROL[1]}
        cut = [(20_000_000, 10_000, 20_000, 0), (40_000_000, 10_000, 20_000, RATE)]
        got = run(made, flows, TRANSPORTS, **options, link_events=cut)
        here = got["ports"]["node"] < 30_000
        ports = {name: values[here].tobytes() for name, values in got["ports"].items()}
        return ports, {n: c for n, c in bytes_of(got).items() if n.startswith(("flows", "arriv"))}

    assert outcome(far_away=True) == outcome(far_away=False)


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1])
def test_every_seed_runs(seed):
    got = run(
        network(), some_flows(np.random.default_rng(1)), TRANSPORTS, seed=seed, **RANDOM_EVERYWHERE
    )
    assert (got["flows"]["receiver_end_ps"] > 0).all()


@pytest.mark.parametrize("transport", [0, 1])
def test_flows_elsewhere_change_nothing_for_those_they_do_not_meet(transport):
    # Streams are keyed by flow id, node and port. Flows from leaf 2 to leaf 3 share no link with
    # those from leaf 0 to leaf 1, so they leave their paths, losses and times as they are, also
    # when they are listed and sorted before them.
    made = leaf_spine(4, 4, 8, RATE, 500_000)
    made.links = [(*link[:5], 2e-3, 0.0) for link in made.links]

    def outcome(others):
        flows = Flows()
        for i in range(others):
            flows.add(8 + i, 12 + i, 2_000_000, flow=i, transport=transport)
        for i in range(4):
            flows.add(i, 4 + i, 2_000_000, flow=10 + i, transport=transport)
        got = run(made, flows, TRANSPORTS, seed=3)
        return [got.flow(10 + i) for i in range(4)], [got.paths().get(10 + i) for i in range(4)]

    alone, paths = outcome(0)
    assert sum(flow["retransmitted_packets"] for flow in alone) > 0, "random losses"
    assert all(path is None for path in paths) == (transport == 1)
    assert outcome(4) == (alone, paths)


def test_wall_clock_slices_change_nothing():
    # The driver runs 60 s of wall time at once; here slices of no time at all.
    from pyorch.simulate.fabric import Fabric, output_columns

    flows = some_flows(np.random.default_rng(2))
    made = network()
    whole = run(made, flows, TRANSPORTS)
    fabric = Fabric(seed=1)
    for name in ("nodes", "links"):
        fabric.table(name, getattr(made, f"{name}_table")())
    fabric.table("flows", flows.table())
    fabric.forwarding("ns3::EcmpHash")
    for transport in TRANSPORTS:
        fabric.transport(*transport)
    facade = fabric.build(fabric.load())
    slices = 1
    while not facade.RunSlice(10**12, 0.0):
        slices += 1
    facade.Finish()
    sliced = output_columns(facade)
    facade.__destruct__()
    assert slices >= 1
    for table, columns in whole.tables.items():
        for name, values in columns.items():
            if name not in NOT_OF_THE_NETWORK:
                assert (values == sliced[table][name]).all(), f"{table}.{name}"
