# SPDX-License-Identifier: GPL-2.0-only
"""However a network is cut into domains, and on however many threads, the bytes are the same."""

import os
import runpy
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from conservation_cases import cases, circles
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from oracle_network import (
    GBPS,
    US_PS,
    Flows,
    inter_leaf_permutation,
    leaf_spine,
    run_fabric,
    run_tables,
)

from pyorch import spec as specs
from pyorch.errors import SimulationError
from pyorch.render import write_run

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.ns3

#: ``PYORCH_DOMAINS=200 pytest tests/oracles/test_domains.py`` tries so many random networks, and
#: every run of the scenarios.
EXAMPLES = int(os.environ.get("PYORCH_DOMAINS", "6"))
ALL = "PYORCH_DOMAINS" in os.environ
MOST_RUNS = 8

of_many = settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def in_domains(case, seed: int):
    """Return a case whose nodes, hosts too, are dealt out to domains at random.

    In every other case hosts and switches are dealt out in the order of their ids, as they are in
    most networks: then what comes from other domains need not be put in order.
    """
    random = Random(seed)
    n = random.randint(2, 8)
    domains = [random.randrange(n) for _ in case.nodes["node"]]
    if random.random() < 0.5:
        is_switch = case.nodes["is_switch"].tolist()
        for kind in (0, 1):
            of_kind = [i for i, switch in enumerate(is_switch) if switch == kind]
            in_order = sorted(domains[i] for i in of_kind)
            for i, domain in zip(of_kind, in_order, strict=True):
                domains[i] = domain
    return replace(
        case,
        nodes=case.nodes | {"domain": np.array(domains, dtype=np.int64)},
        options=case.options | {"threads": random.choice([1, 1, 1, 2, 3])},
    )


def expect_the_same(got, expected):
    assert got.stop_reason == expected.stop_reason and got.cycle == expected.cycle
    assert got.tables.keys() == expected.tables.keys()
    for table, columns in expected.tables.items():
        for name, column in columns.items() if table != "process" else ():
            assert np.array_equal(got[table][name], column), f"{table}.{name}"


@of_many
@given(case=cases(), seed=st.integers(0, 2**16))
def test_random_networks_in_random_domains(case, seed):
    expect_the_same(in_domains(case, seed).run(), case.run())


@of_many
@given(case=circles(), seed=st.integers(0, 2**16))
def test_circles_of_buffers_in_random_domains(case, seed):
    expect_the_same(in_domains(case, seed).run(), case.run())


@pytest.mark.parametrize("transport", ["ns3::FalconTransport", "ns3::SrdTransport"])
def test_transports_that_draw_their_paths(transport):
    network, flows = leaf_spine(4, 4, 4, 100 * GBPS, US_PS), Flows()
    for src, dst in enumerate(inter_leaf_permutation(4, 4, default_rng(2))):
        flows.add(src, int(dst), 1_000_000)
        flows.add(src, 0 if src else 1, 100_000, 10 * US_PS)
    nodes = network.nodes_table()

    def outcome_of(threads: int, **more):
        return run_tables(
            nodes | more, network.links_table(), flows.table(), [(transport, {})],
            forwarding="ns3::EcmpHash", queue=("ns3::DropTail", {"LimitBytes": 150_000}), pfc=None,
            drops=[(10_000, 20_001, n) for n in range(5, 300, 7)], seed=1, stop_ps=10**12,
            threads=threads,
        )  # fmt: skip

    expected = outcome_of(1)
    assert expected["flows"]["retransmitted_packets"].sum() > 0
    for domains, threads in ((3, 1), (5, 2)):
        cut = np.arange(len(nodes["node"])) % domains
        expect_the_same(outcome_of(threads, domain=cut), expected)


def runs_of(name: str) -> list:
    """Return the runs of a scenario at its smallest, one of each kind of transport and case."""
    runs = specs.plan(specs.read_scenario(ROOT / "scenarios" / f"{name}.yaml"), "smoke")
    each = list({(run.case, run.variant): run for run in runs}.values())
    return each if ALL or len(each) <= MOST_RUNS else Random(name).sample(each, MOST_RUNS)


def outcome(spec: specs.Spec, folder, domains: int | None = None):
    write_run(spec, folder)
    fabric = runpy.run_path(str(folder / "scenario.py"))["build"]()
    fabric.domains = domains
    return run_fabric(fabric, fabric.stop_ps)


@pytest.mark.parametrize("name", ["transports", "failed_link", "collectives", "training_step"])
def test_scenarios_in_three_domains(name, tmp_path):
    refused = []
    for run in runs_of(name):
        expected = outcome(run.spec, tmp_path)
        try:
            expect_the_same(outcome(run.spec, tmp_path, 3), expected)
        except SimulationError as error:
            refused.append(str(error))
    assert all("run it in one domain" in message for message in refused)
