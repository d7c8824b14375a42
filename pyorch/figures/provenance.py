# SPDX-License-Identifier: GPL-2.0-only
"""Says which runs a figure shows, what made each of them, and what it cost."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch import origin, traces

if TYPE_CHECKING:
    import pandas as pd

#: What tells runs apart, as in the tables of metrics; those without cases have none.
RUN = ("scenario", "scale", "case", "variant", "seed", "run")
COST = ("cpu_s", "engine_cpu_s", "peak_memory_bytes", "events", "data_packets")
COLUMNS = (*RUN, *COST, "git_commit", "code_sha256", "versions", "libraries_sha256")
#: Digits of a hash that are enough to tell two libraries apart.
HASH_DIGITS = 16


def runs_of(tables: "Iterable[pd.DataFrame]", results: Path | str) -> "pd.DataFrame":
    """Return one row for each run that is in some tables, with what made it and what it cost.

    Parameters
    ----------
    tables : iterable of DataFrame
        From metrics. Those without a column ``run`` do not say of which runs they are.
    results : path
        Folder of the results.

    Raises
    ------
    TraceError
        What a run left about itself is not there, or cannot be read.
    """
    import pandas as pd

    parts = [table.reindex(columns=list(RUN)) for table in tables if "run" in table]
    if not parts:
        return pd.DataFrame(columns=list(COLUMNS))
    runs = pd.concat(parts, ignore_index=True).drop_duplicates(ignore_index=True)
    made = [
        made_by(traces.read_provenance(Path(results, scenario, run)))
        for scenario, run in runs[["scenario", "run"]].itertuples(index=False, name=None)
    ]
    return pd.concat([runs, pd.DataFrame(made)], axis=1)[list(COLUMNS)]


def made_by(facts: dict) -> dict[str, object]:
    """Return what a run cost and what made it, by its provenance, each for one cell of a table."""
    code = facts.get("code_sha256") or {}
    return {
        "cpu_s": facts["cpu_user_s"] + facts["cpu_system_s"],
        "engine_cpu_s": facts["run_cpu_s"],
        **{name: facts[name] for name in ("peak_memory_bytes", "events", "data_packets")},
        "git_commit": facts["git_commit"],
        "code_sha256": origin.combined_digest([code])[:HASH_DIGITS] if code else None,
        "versions": pairs(facts["versions"]),
        "libraries_sha256": pairs(
            {name: value[:HASH_DIGITS] for name, value in facts["libraries_sha256"].items()}
        ),
    }


def pairs(values: dict[str, object]) -> str:
    """Return a mapping as text for one cell of a table."""
    return " ".join(f"{name}={value}" for name, value in values.items())
