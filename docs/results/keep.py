# SPDX-License-Identifier: GPL-2.0-only
"""Puts into docs/results what `make figures SCALE=paper` has made, all of one commit.

make figures SCALE=paper && python docs/results/keep.py
python docs/results/keep.py jobs rail     # these figures alone
"""

import subprocess
import sys
from pathlib import Path

import pandas as pd

from pyorch.figures import need_path, read_needs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCALE = "paper"
LICENCE = "GPL-2.0-only"
#: What the page says beyond the figures: metric and scenario.
FURTHER = (("slowest", "figure_5"), ("slowest", "figure_6"))


def python(*words: str) -> None:
    """Run a program in the root of the repository; its messages are shown."""
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True)


def main(names: list[str]) -> None:
    """Compute what no figure needs, draw the figures, copy the tables behind them and describe them."""
    plots = sorted((ROOT / "plots").glob("[!_]*.py"))
    if unknown := {*names} - {path.stem for path in plots}:
        raise SystemExit(f"docs/results: no figure {', '.join(sorted(unknown))} in plots/.")
    plots = [path for path in plots if not names or path.stem in names]
    needed = {need for plot in plots for need in read_needs(plot).values()}
    tables = {need_path(need, "results", SCALE) for need in needed}
    for metric, scenario in FURTHER:
        if not any(need.startswith(f"{scenario}/") for need in needed):
            continue
        table = need_path(f"{scenario}/{metric}.csv", "results", SCALE)
        python("-m", "pyorch", "metrics", metric, f"scenarios/{scenario}.yaml", "--scale", SCALE,
               "--out", table)  # fmt: skip
        tables.add(table)
    commits = {}
    for plot in plots:
        python(f"plots/{plot.name}", "--scale", SCALE, "--out", str(HERE))
        (HERE / f"{plot.stem}.svg").unlink()  # the pages show the PNG
        made = HERE / f"{plot.stem}.provenance.csv"
        if made.exists():
            for commit in pd.read_csv(made)["git_commit"]:
                commits.setdefault(commit, plot.stem)
    for table in sorted(tables):
        copy = HERE / Path(table).relative_to("results")
        copy.parent.mkdir(parents=True, exist_ok=True)
        # A run is named by its spec, so a version with one more key names it anew.
        rows = pd.read_csv(ROOT / table, dtype=str, keep_default_na=False)
        rows.drop(columns="run", errors="ignore").to_csv(copy, index=False, lineterminator="\n")
    python("-m", "pyorch", "package", str(HERE), "--license", LICENCE)
    if len(commits) > 1 or any(commit.endswith("-dirty") for commit in commits):
        named = ", ".join(f"{commit} ({figure})" for commit, figure in commits.items())
        raise SystemExit(f"docs/results: runs of more than one commit, or of changed files: {named}")


if __name__ == "__main__":
    main(sys.argv[1:])
