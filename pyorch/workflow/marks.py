# SPDX-License-Identifier: GPL-2.0-only
"""One mark for each run that need not be run again; to Snakemake a run without one is not there.

Snakemake judges a run by its files. Whether code or a library that made it has changed is said by
`pyorch.runs.finished` alone, so its answer becomes a file.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from pyorch.runs.finished import is_finished
from pyorch.writing import make_folder, write_text

if TYPE_CHECKING:
    from pyorch.workflow.runs import Workflow

_FOLDER = Path(".snakemake", "pyorch", "finished")
#: The mark of a run, with Snakemake's wildcards.
MARK = f"{_FOLDER}/{{scenario}}/{{run}}"


def bring_up_to_date(found: "Workflow") -> None:
    """Mark the runs of a workflow that are finished, and only these.

    Where nothing can be written, as in a folder of somebody else, marks stay as they are: there
    nothing can be run either.
    """
    runs = {run.folder: run for run in found.points}.values()
    for run in runs:
        mark, finished = _FOLDER / run.folder, is_finished(run.spec, Path("results", run.folder))
        try:
            if finished and not mark.exists():
                put(run.folder)
            elif not finished:
                mark.unlink(missing_ok=True)
        except OSError:
            return


def put(folder: str) -> None:
    """Mark a run, by its folder below results/, as finished."""
    mark = _FOLDER / folder
    make_folder(mark.parent)
    write_text(mark, "")
