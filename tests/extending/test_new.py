# SPDX-License-Identifier: GPL-2.0-only
"""Every kind that `pyorch new` writes works as written, in a copy of the project."""

import re

import pandas as pd
import pytest

from pyorch.scaffold import KINDS
from pyorch.scaffold.kinds import Module

#: Names of modules, which share one folder; files have one name, so that the figure finds its own.
MODULES = dict(
    zip(
        (name for name, kind in KINDS.items() if isinstance(kind, Module)),
        ["drum", "bass", "viola", "cello", "oboe", "flute", "horn", "tuba", "harp"],
        strict=True,
    )
)
#: All of them at once, where a scenario names them.
TOGETHER = {
    "topology": "{type: drum, hosts: 6}",
    "workload": "{type: drum, message: 200 kB}",
    "failures": "[{type: drum, row: 0, start: 5 us, lasts: 5 us}]",
    "transport": "{type: ns3::DrumTransport, attributes: {CongestionControl: ns3::BassControl,"
    " PathSelector: ns3::ViolaEntropy}}",
    "switch.forwarding": "{type: ns3::CelloForwarding}",
    "switch.queue": "{type: ns3::OboeQueue}",
    "switch.scheduler": "{type: ns3::FluteScheduler}",
    "switch.programs": "[{type: ns3::HornProgram}]",
    "link.flow_control": "{type: ns3::TubaFlowControl}",
    "link.loss_model": "{type: ns3::HarpLoss}",
}


@pytest.mark.ns3
@pytest.mark.long
def test_every_kind_works_as_written(copy):
    before = copy.files()
    told = {kind: copy.run(f"pyorch new {kind} {MODULES.get(kind, 'drum')}")
            for kind in KINDS}  # fmt: skip
    copy.run("python -m pyorch.simulate.build test-runner")
    for kind in MODULES:
        (suite,) = re.findall(r"--suite=(\S+)", told[kind])
        said = copy.run(f"build/bin/test-runner --suite={suite} --verbose")
        assert said.startswith(f"PASS {suite}"), said

    copy.run("snakemake --cores 1 figures/laptop/drum.pdf results/drum/laptop/drum.csv")
    goodput = pd.read_csv(copy.folder / "results/drum/laptop/drum.csv")
    # Oracle: 16 hosts of 100 Gb/s cannot deliver more than all their links.
    assert goodput["goodput_bps"].between(1e9, 16 * 100e9).all()

    settings = " ".join(f'--set "{key}={value}"' for key, value in TOGETHER.items())
    copy.run(f"pyorch run scenarios/drum.yaml --out results/together {settings}")
    copy.run('pyorch run scenarios/drum.yaml --out results/jobs --variant sprayed'
             ' --set "jobs={type: drum, hosts: [8], spare: 1}"')  # fmt: skip
    after = copy.files()
    assert {path: after.get(path) for path in before} == before
