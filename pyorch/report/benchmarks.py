# SPDX-License-Identifier: GPL-2.0-only
"""What the runs of scenarios have cost: one table from the provenance of each.

Times differ from machine to machine and from day to day, so no figure is drawn from this table.
"""

import math
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from pyorch import spec as specs
from pyorch.figures.provenance import made_by, pairs
from pyorch.metrics import write_csv
from pyorch.report.pages import html
from pyorch.simulate.progress import time_text
from pyorch.traces import read_provenance
from pyorch.units import format_si
from pyorch.writing import write_text

COLUMNS = (
    "scenario", "scale", "case", "variant", "label", "point", "seed", "run", "wall_s", "cpu_s",
    "engine_cpu_s", "peak_memory_bytes", "events", "data_packets", "events_per_cpu_s",
    "simulated_ps", "git_commit", "versions",
    "libraries_sha256",
)  # fmt: skip
#: What the page shows beside the simulated time: heading and unit by column.
_SHOWN = {
    "wall_s": ("wall", "s"), "cpu_s": ("CPU", "s"), "engine_cpu_s": ("engine CPU", "s"),
    "peak_memory_bytes": ("peak memory", "B"), "events": ("events", ""),
    "data_packets": ("data packets", ""), "events_per_cpu_s": ("events per CPU s", ""),
}  # fmt: skip


def collect(runs: Iterable[specs.Run], results: Path) -> pd.DataFrame:
    """Return one row for each finished run; columns as in docs/definitions.md.

    Parameters
    ----------
    runs : iterable of Run
        From `pyorch.spec.plan`.
    results : path
        Folder of the results.

    Raises
    ------
    TraceError
        What a run left about itself cannot be read.
    """
    rows = []
    for run in runs:
        path = results / run.folder / "provenance.json"
        if path.exists():
            rows.append(_row(run, path))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _row(run: specs.Run, path: Path) -> dict[str, object]:
    """Return what one run has cost."""
    facts = read_provenance(path.parent)
    cost = {
        "wall_s": facts["wall_s"],
        "cpu_s": facts["cpu_user_s"] + facts["cpu_system_s"],
        "engine_cpu_s": facts["run_cpu_s"],
        "peak_memory_bytes": facts["peak_memory_bytes"],
        "events": facts["events"],
        "data_packets": facts["data_packets"],
        "events_per_cpu_s": facts["events"] / (facts["run_cpu_s"] or math.nan),
        "simulated_ps": facts["simulated_ps"],
    }
    about = {
        "scenario": run.scenario, "scale": run.scale, "case": run.case, "variant": run.variant,
        "label": run.label, "point": pairs(run.point), "seed": run.seed, "run": run.id,
    }  # fmt: skip
    return about | cost | made_by(facts)


def write(table: pd.DataFrame, out: Path) -> list[Path]:
    """Write the table as CSV, and as a page to read beside it; return both paths."""
    write_csv(table, out)
    page = out.with_suffix(".html")
    shown = _readable(table)
    rows = shown.astype(object).where(shown.notna(), "").to_numpy().tolist()
    write_text(
        page, html("benchmarks", summary=summary(table), names=list(shown.columns), rows=rows)
    )
    return [out, page]


def summary(table: pd.DataFrame) -> str:
    """Return the sum of all runs in one sentence."""
    if table.empty:
        return "No run is finished."
    return (
        f"{len(table)} runs: {format_si(table['cpu_s'].sum(), 's')} of CPU,"
        f" {format_si(table['data_packets'].sum(), '')} data packets,"
        f" {format_si(table['events'].sum(), '')} events; at most"
        f" {format_si(table['peak_memory_bytes'].max(), 'B')} of memory for one run{_speed(table)}."
    )


def _speed(table: pd.DataFrame) -> str:
    """Return the end of a sentence: how fast runs were that took time by the system's clock."""
    median = table["events_per_cpu_s"].median()
    return "" if math.isnan(median) else f"; median {format_si(median, '')} events per CPU second"


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table as a page shows it, with units of the size of each value."""
    shown = table[["scenario", "case", "variant", "run", "seed"]].copy()
    shown = shown.loc[:, (shown != "").any() | (shown.columns != "case")]
    for name, (heading, unit) in _SHOWN.items():
        shown[heading] = [
            "" if pd.isna(value) else format_si(value, unit).strip() for value in table[name]
        ]
    shown["simulated"] = list(map(time_text, table["simulated_ps"]))
    return shown
