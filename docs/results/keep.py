# SPDX-License-Identifier: GPL-2.0-only
"""Puts into docs/results what `make figures SCALE=paper` has made, or compares it with that.

make figures SCALE=paper && python docs/results/keep.py --compare
python docs/results/keep.py --compare figure_6     # this figure and the tables behind it
python docs/results/keep.py                        # overwrites; all runs must be of one commit
make figures && python docs/results/keep.py --compare --scale laptop    # digests in laptop.csv
make figures SCALE=smoke && python docs/results/keep.py --compare --scale smoke
"""

import argparse
import hashlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from pyorch.figures import need_path, read_needs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCALE = "paper"
#: Of the other scales only the digests of the tables are kept.
DIGESTS = {scale: HERE / f"{scale}.csv" for scale in ("smoke", "laptop")}
LICENCE = "GPL-2.0-only"
#: Not compared: what a run cost, which differs on every machine, and its name, of its whole spec.
LEFT_OUT = ["run", "cpu_s", "peak_memory_mb"]
#: What the page says beyond the figures: metric and scenario.
FURTHER = (("slowest", "figure_5"), ("slowest", "figure_6"), ("slowdown", "nscc_step"))


def python(*words: str) -> None:
    """Run a program in the root of the repository; its messages are shown."""
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True)


def chosen(names: list[str], scale: str = SCALE) -> tuple[list[Path], set[Path]]:
    """Return the programs of figures, all or those named, and the tables that they need."""
    plots = sorted((ROOT / "plots").glob("[!_]*.py"))
    if unknown := {*names} - {path.stem for path in plots}:
        raise SystemExit(f"docs/results: no figure {', '.join(sorted(unknown))} in plots/.")
    plots = [path for path in plots if not names or path.stem in names]
    needed = {need for plot in plots for need in read_needs(plot).values()}
    return plots, {Path(need_path(need, "results", scale)) for need in needed}


def further(tables: set[Path]) -> dict[Path, tuple[str, str]]:
    """Return the tables that the page names beside those of figures: metric, scenario of each."""
    shown = {table.parts[1] for table in tables}
    return {
        Path(need_path(f"{scenario}/{metric}.csv", "results", SCALE)): (metric, scenario)
        for metric, scenario in FURTHER
        if scenario in shown
    }


def difference(made: pd.DataFrame, kept: pd.DataFrame) -> str:
    """Return in a few words how two tables differ in what does not depend on the machine."""
    made, kept = (table.drop(columns=LEFT_OUT, errors="ignore") for table in (made, kept))
    if [*made] != [*kept] or len(made) != len(kept):
        return f"{len(made)} rows of {', '.join(made)}; kept are {len(kept)} of {', '.join(kept)}"
    worst, where = 0.0, ""
    for name in made:
        one, other = made[name], kept[name]
        if not all(pd.api.types.is_numeric_dtype(column) for column in (one, other)):
            if not one.equals(other):
                return f"{name}: other words"
            continue
        one, other = one.to_numpy(float), other.to_numpy(float)
        if (np.isnan(one) != np.isnan(other)).any():
            return f"{name}: values are missing"
        scale = np.maximum(np.abs(one), np.abs(other))
        off = np.abs(one - other) / np.where(scale > 0, scale, 1)
        if np.nanmax(off, initial=0) > worst:
            worst, where = float(np.nanmax(off)), f" ({name})"
    return f"differs by up to {worst:.2g} of the value{where}" if worst else "equal"


def end(equal: int, differ: int, missing: int) -> None:
    """Print how many tables there are of each kind; exit 1 unless all are equal."""
    print(f"{equal} tables equal, {differ} differ, {missing} not made")
    if differ or missing:
        raise SystemExit(1)


def compare(names: list[str]) -> None:
    """Print how each table that was made differs from the one that is kept."""
    plots, tables = chosen(names)
    try:
        tables = with_further(tables)
    except subprocess.CalledProcessError:  # it has said which runs are missing
        tables |= further(tables).keys()
    pairs = {ROOT / "figures" / SCALE / f"{plot.stem}.csv": HERE / f"{plot.stem}.csv"
             for plot in plots}  # fmt: skip
    pairs |= {ROOT / table: HERE / table.relative_to("results") for table in sorted(tables)}
    words: Counter[str] = Counter()
    for made, kept in pairs.items():
        found = difference(pd.read_csv(made), pd.read_csv(kept)) if made.exists() else "not made"
        words[found if found in ("equal", "not made") else "other"] += 1
        print(f"{kept.relative_to(HERE)}: {found}")
    end(words["equal"], words["other"], words["not made"])


def digest(table: pd.DataFrame) -> str:
    """Return the SHA-256 of a table of text, but for what depends on the machine."""
    text = table.drop(columns=LEFT_OUT, errors="ignore").to_csv(index=False, lineterminator="\n")
    return hashlib.sha256(text.encode()).hexdigest()


def digests(names: list[str], scale: str) -> pd.DataFrame:
    """Return the digests of the tables behind figures and of what is drawn at a scale."""
    plots, tables = chosen(names, scale)
    tables |= {Path("figures") / scale / f"{plot.stem}.csv" for plot in plots}
    rows = [
        (str(table), digest(pd.read_csv(ROOT / table, dtype=str, keep_default_na=False)))
        if (ROOT / table).exists()
        else (str(table), "not made")
        for table in sorted(tables)
    ]
    return pd.DataFrame(rows, columns=["table", "sha256"])


def compare_digests(names: list[str], scale: str) -> None:
    """Print which tables of a scale are not those whose digests are kept."""
    kept = pd.read_csv(DIGESTS[scale]).set_index("table")["sha256"]
    words: Counter[str] = Counter()
    for table, found in digests(names, scale).itertuples(index=False):
        same = {kept.get(table): "equal", "not made": "not made"}
        word = same.get(found, "differs" if table in kept else "has no digest")
        words[word] += 1
        if word != "equal":
            print(f"{table}: {word}")
    end(words["equal"], words["differs"] + words["has no digest"], words["not made"])


def with_further(tables: set[Path]) -> set[Path]:
    """Compute the tables that no figure needs and add them."""
    added = further(tables)
    for table, (metric, scenario) in added.items():
        python("-m", "pyorch", "metrics", metric, f"scenarios/{scenario}.yaml", "--scale", SCALE,
               "--out", str(table))  # fmt: skip
    return tables | added.keys()


def keep(names: list[str]) -> None:
    """Draw the figures, copy and describe the tables behind them."""
    plots, tables = chosen(names)
    tables = with_further(tables)
    commits = {}
    for plot in plots:
        python(f"plots/{plot.name}", "--scale", SCALE, "--out", str(HERE))
        (HERE / f"{plot.stem}.svg").unlink()  # the pages show the PNG
        made = HERE / f"{plot.stem}.provenance.csv"
        if made.exists():
            for commit in pd.read_csv(made)["git_commit"]:
                commits.setdefault(commit, plot.stem)
    for table in sorted(tables):
        copy = HERE / table.relative_to("results")
        copy.parent.mkdir(parents=True, exist_ok=True)
        # A run is named by its spec, so a version with one more key names it anew.
        rows = pd.read_csv(ROOT / table, dtype=str, keep_default_na=False)
        rows.drop(columns="run", errors="ignore").to_csv(copy, index=False, lineterminator="\n")
    python("-m", "pyorch", "package", str(HERE), "--license", LICENCE)
    if len(commits) > 1 or any(commit.endswith("-dirty") for commit in commits):
        named = ", ".join(f"{commit} ({figure})" for commit, figure in commits.items())
        raise SystemExit(
            f"docs/results: runs of more than one commit, or of changed files: {named}"
        )


def main() -> None:
    """Compare, or overwrite."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help="all without any")
    parser.add_argument("--compare", action="store_true", help="write nothing; print differences")
    parser.add_argument("--scale", choices=[SCALE, *DIGESTS], default=SCALE)
    given = parser.parse_args()
    if given.scale == SCALE:
        (compare if given.compare else keep)(given.figures)
    elif given.compare:
        compare_digests(given.figures, given.scale)
    elif given.figures:
        parser.error("digests are written for all figures at once; name none")
    elif (missing := (made := digests([], given.scale)).query("sha256 == 'not made'")).empty:
        made.to_csv(DIGESTS[given.scale], index=False, lineterminator="\n")
    else:
        parser.error(f"make figures first: {', '.join(missing['table'])} is not made")


if __name__ == "__main__":
    main()
