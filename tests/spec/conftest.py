# SPDX-License-Identifier: GPL-2.0-only
"""A small scenario that the tests of this folder change in one place each."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from pyorch import spec
from pyorch.spec.scenario import parse_scenario

TYPEIDS = Path(__file__).parents[1] / "data" / "typeids.json"
TEXT = """\
# Question: none, this is a test
name: small
topology: {type: leaf_spine, leaves: 4, hosts_per_leaf: 2, spines: 2}
link: {rate: 800 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 1 MB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
sweep:
  seed: [1, 2]
variants:
  lossless:
    label: With PFC
    link.flow_control: {type: ns3::Pfc, attributes: {XoffBytes: 50 kB}}
  windowed: {transport.attributes.WindowBytes: 430 kB, transport.attributes.Rto: 320 us}
scales:
  smoke: {sweep.seed: [1], workload.message: 10 kB}
  paper: {topology.leaves: 16}
"""


def plan(text=TEXT, scale="laptop", sets=(), **options):
    return spec.plan(
        parse_scenario(text, "small.yaml"), scale, sets, typeids_file=TYPEIDS, **options
    )


@pytest.fixture
def small():
    """Its text, its runs, and their names."""
    return SimpleNamespace(
        text=TEXT, plan=plan, ids=lambda *args, **options: [r.id for r in plan(*args, **options)]
    )
