# SPDX-License-Identifier: GPL-2.0-only
"""The package of docs/extending brings a topology in Python and a C++ module to any study."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "docs" / "extending" / "package" / "pyorch_ring"
#: As pip would have installed it.
ENTRY_POINTS = """\
[pyorch.topology]
ring = pyorch_ring.ring

[pyorch.ns3-modules]
ring = pyorch_ring
"""
SCENARIO = """\
name: ring
topology: {type: ring, switches: 5, hosts_per_switch: 2}
link:
  rate: 100 Gb/s
  delay: 500 ns
  loss_model: {type: ns3::CutLoss, attributes: {Every: 300, Length: 3}}
switch: {buffer: 8 MB}
workload: {type: permutation, message: 1 MB}
transport: {type: ns3::RoceTransport, attributes: {Recovery: SelectiveRepeat}}
stop: 200 ms
"""


@pytest.mark.ns3
@pytest.mark.slow
def test_a_study_uses_both(tmp_path):
    site, study = tmp_path / "site", tmp_path / "study"
    (site / "pyorch_ring-1.0.0.dist-info").mkdir(parents=True)
    (site / PACKAGE.name).symlink_to(PACKAGE)
    information = site / "pyorch_ring-1.0.0.dist-info"
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: pyorch-ring\nVersion: 1\n")
    (information / "entry_points.txt").write_text(ENTRY_POINTS)

    def run(*arguments, folder=study):
        return subprocess.run(
            [sys.executable, "-P", "-m", *arguments], cwd=folder, text=True, check=True,
            stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(site)},
        ).stdout  # fmt: skip

    run("pyorch", "init", str(study), folder=tmp_path)
    (study / "scenarios" / "ring.yaml").write_text(SCENARIO)
    run("pyorch", "run", "scenarios/ring.yaml", "--out", "out")
    show = "import pandas; print(*pandas.read_parquet('out/ports.parquet')[{}].sum())"
    columns = ["sent_frames", "dropped_loss_frames"]
    table = subprocess.run(
        [sys.executable, "-c", show.format(columns)], cwd=study, capture_output=True, text=True,
        check=True,
    ).stdout  # fmt: skip
    sent, lost = (int(number) for number in table.split())

    # Oracle: of each 303 frames of a wire 3 are lost; a wire that ends within a cut loses fewer.
    assert sent * 3 / 303 - 3 * 30 < lost <= sent * 3 / 303
    assert lost > 0
    assert (study / "build" / "lib" / "libcut.so").exists()
