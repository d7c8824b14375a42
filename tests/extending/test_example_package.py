# SPDX-License-Identifier: GPL-2.0-only
"""The package of docs/extending brings a metric in Python and a C++ module to any study."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pandas as pd
import pytest

PACKAGE = Path(__file__).parents[2] / "docs" / "extending" / "package"


def installed(site: Path) -> Path:
    """Make a folder as pip would have installed the package into."""
    with (PACKAGE / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    information = site / "pyorch_cut-1.0.0.dist-info"
    information.mkdir(parents=True)
    (site / "pyorch_cut").symlink_to(PACKAGE / "pyorch_cut")
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\n")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    ]
    (information / "entry_points.txt").write_text("\n".join(lines))
    return site


@pytest.mark.ns3
@pytest.mark.slow
def test_a_study_uses_both(tmp_path):
    site, study = installed(tmp_path / "site"), tmp_path / "study"

    def run(*arguments, folder=study):
        subprocess.run(
            [sys.executable, "-P", "-m", "pyorch", *arguments], cwd=folder, check=True,
            env=os.environ | {"PYTHONPATH": str(site)},
        )  # fmt: skip

    run("init", str(study), folder=tmp_path)
    shutil.copy(PACKAGE / "cut.yaml", study / "scenarios")
    run("sweep", "scenarios/cut.yaml", "--metric", "lost_share")
    (table,) = study.glob("results/cut/*/lost_share.csv")
    row = pd.read_csv(table).iloc[0]
    sent = pd.read_parquet(study / "results" / "cut" / row["run"] / "ports.parquet")["sent_frames"]

    # Oracle: each wire carries 300 frames, then loses 3.
    lost = (sent // 303 * 3 + (sent % 303 - 300).clip(lower=0)).sum()
    assert lost > 0
    assert row["lost_share"] == pytest.approx(lost / sent.sum(), abs=1e-12)
    assert (study / "build" / "lib" / "libcut.so").exists()
