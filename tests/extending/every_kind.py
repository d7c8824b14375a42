# SPDX-License-Identifier: GPL-2.0-only
"""Each kind that `pyorch new` writes, made and used, wherever pyorch is installed.

Standard library only: it is imported by what tries a release, too.
"""

import csv
import re
from collections.abc import Callable
from pathlib import Path

#: Names of the modules, which share one folder; files have one name, so the figure finds its own.
MODULES = {
    "transport": "drum",
    "congestion-control": "bass",
    "path-selector": "viola",
    "forwarding": "cello",
    "queue": "oboe",
    "scheduler": "flute",
    "switch-program": "horn",
    "flow-control": "tuba",
    "loss-model": "harp",
}
FILES = ("topology", "workload", "collective", "trace_format", "allocation", "failure",
         "controller", "metric", "scenario", "figure")  # fmt: skip
#: Those that a scenario names, all of them at once.
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
#: A scenario of the wide area, which a controller needs.
WIDE_AREA = """\
name: wide
topology:
  type: multi_site
  sites:
    - {name: east, topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}}
    - {name: west, topology: {type: leaf_spine, leaves: 2, hosts_per_leaf: 2, spines: 2}}
  long_haul: [{between: [east, west], rate: 1 Gb/s, delay: 30 ms}]
link: {rate: 10 Gb/s, delay: 500 ns}
switch: {buffer: 32 MB, forwarding: {type: ns3::ExplicitRoutes}}
workload:
  type: wan_demands
  demands: [{name: one, from: east, to: west, demand: 400 Mb/s, hosts: 2, message: 10 MB}]
  control: {epoch: 100 ms, delay: 60 ms, step: 20 ms, controller: {type: drum}}
transport: {type: ns3::WanTransport}
stop: 60 s
"""


def make_and_use(run: Callable[[str], str], folder: Path) -> None:
    """Write one of each kind, build, run its suite, use it in a run, a metric and a figure.

    Parameters
    ----------
    run : callable
        Runs a shell command in the folder; returns its output, and raises if it fails.
    folder : Path
        A study, or a clone.
    """
    kinds = MODULES | dict.fromkeys(FILES, "drum")
    told = {kind: run(f"pyorch new {kind} {name}") for kind, name in kinds.items()}
    run("python -m pyorch.simulate.build test-runner")
    for kind in MODULES:
        (suite,) = re.findall(r"--suite=(\S+)", told[kind])
        said = run(f"build/bin/test-runner --suite={suite} --verbose")
        assert said.startswith(f"PASS {suite}"), said

    run("snakemake --cores 1 figures/laptop/drum.pdf results/drum/laptop/drum.csv")
    with (folder / "results/drum/laptop/drum.csv").open() as file:
        goodputs_bps = [float(row["goodput_bps"]) for row in csv.DictReader(file)]
    # Oracle: 16 hosts of 100 Gb/s cannot deliver more than all their links.
    assert goodputs_bps and all(1e9 < one < 16 * 100e9 for one in goodputs_bps), goodputs_bps

    settings = " ".join(f'--set "{key}={value}"' for key, value in TOGETHER.items())
    run(f"pyorch run scenarios/drum.yaml --out results/together {settings}")
    run('pyorch run scenarios/drum.yaml --out results/jobs --variant sprayed'
        ' --set "jobs={type: drum, hosts: [8], spare: 1}"')  # fmt: skip
    scatter = "{type: collective, algorithm: drum, operation: scatter, ranks: 8, bytes: 1 MB}"
    run("pyorch run scenarios/drum.yaml --out results/scatter --variant sprayed"
        f' --set "workload={scatter}"')  # fmt: skip
    (folder / "scenarios" / "drum.txt").write_text("0 1 100000\n1 2 100000\n")
    run("pyorch run scenarios/drum.yaml --out results/trace --variant sprayed"
        ' --set "workload={type: trace, format: drum, file: drum.txt}"')  # fmt: skip
    (folder / "scenarios" / "wide.yaml").write_text(WIDE_AREA)
    run("pyorch run scenarios/wide.yaml --out results/wide")
