# SPDX-License-Identifier: GPL-2.0-only
"""One mark for each run that need not be run again; to Snakemake a run without one is not there.

Snakemake judges a run by its files. Whether code or a library that made it has changed is said by
`pyorch.runs.finished` alone, so its answer becomes a file. Snakemake makes a missing mark only for
a job that it starts anyway. So each scenario has a second file, an input of what is measured: it is
new if a run of the scenario is outdated, and otherwise as old as can be.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.errors import OutputError
from pyorch.runs.finished import is_finished
from pyorch.writing import make_folder, write_text

if TYPE_CHECKING:
    from pyorch.workflow.runs import Workflow

_FOLDER = Path(".snakemake", "pyorch", "finished")
#: The mark of a run, with Snakemake's wildcards.
MARK = f"{_FOLDER}/{{scenario}}/{{run}}"
#: New if a run of this scenario is outdated.
OUTDATED = ".snakemake/pyorch/outdated/{scenario}"
_LONG_AGO_S = 1


def bring_up_to_date(found: "Workflow") -> set[str]:
    """Mark the runs of a workflow that are finished, and only these; note which are outdated.

    Where nothing can be written, as in a folder of somebody else, marks stay as they are: there
    nothing can be run either.

    Returns
    -------
    set of str
        Folders, below results/, of the runs that are finished.
    """
    finished = {
        run.folder for runs in found.runs.values() for run in runs.values()
        if is_finished(run.spec, Path("results", run.folder))
    }  # fmt: skip
    with suppress(OSError, OutputError):
        for scenario, runs in found.runs.items():
            folders = {run.folder for run in runs.values()}
            for folder in folders:
                _mark(folder, folder in finished)
            is_outdated = any(
                Path("results", folder, "flows.parquet").exists() for folder in folders - finished
            )
            note = Path(OUTDATED.format(scenario=scenario))
            make_folder(note.parent)
            if is_outdated or not note.exists():
                write_text(note, f"{time.time_ns()}\n")  # by content: it is compared too
            if not is_outdated:
                os.utime(note, (_LONG_AGO_S, _LONG_AGO_S))
    return finished


def _mark(folder: str, finished: bool) -> None:
    """Mark a run if it is finished, otherwise take its mark away."""
    mark = _FOLDER / folder
    if finished and not mark.exists():
        put(folder)
    elif not finished:
        mark.unlink(missing_ok=True)


def put(folder: str) -> None:
    """Mark a run, by its folder below results/, as finished."""
    mark = _FOLDER / folder
    make_folder(mark.parent)
    write_text(mark, "")
