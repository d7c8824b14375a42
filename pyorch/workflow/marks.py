# SPDX-License-Identifier: GPL-2.0-only
"""One mark for each run that need not be run again; to Snakemake a run without one is not there.

Snakemake judges a run by its files. Whether code or a library that made it has changed is said by
`pyorch.runs.finished` alone, so its answer becomes a file. Snakemake makes a missing mark only for
a job that it starts anyway. So a second file per scenario is newer than every table of an outdated
run: what is measured from that table is older, and is measured again.
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
_OUTDATED = Path(".snakemake", "pyorch", "outdated")


def outdated(scenario: str) -> list[str]:
    """Return the file that says when a run of a scenario was found outdated; none if never."""
    path = _OUTDATED / scenario
    return [str(path)] if path.exists() else []


def bring_up_to_date(found: "Workflow") -> None:
    """Mark the runs of a workflow that are finished, and only these; note which are outdated.

    Where nothing can be written, as in a folder of somebody else, marks stay as they are: there
    nothing can be run either.
    """
    runs = {run.folder: run for run in found.points}.values()
    for run in runs:
        mark, folder = _FOLDER / run.folder, Path("results", run.folder)
        finished = is_finished(run.spec, folder)
        try:
            if finished and not mark.exists():
                put(run.folder)
            elif not finished:
                mark.unlink(missing_ok=True)
                _note_outdated(run.scenario, folder / "flows.parquet")
        except OSError:
            return


def put(folder: str) -> None:
    """Mark a run, by its folder below results/, as finished."""
    mark = _FOLDER / folder
    make_folder(mark.parent)
    write_text(mark, "")


def _note_outdated(scenario: str, table: Path) -> None:
    """Make the note of a scenario newer than a table of an outdated run, if there is one."""
    note = _OUTDATED / scenario
    if table.exists() and not (note.exists() and note.stat().st_mtime > table.stat().st_mtime):
        make_folder(note.parent)
        write_text(note, "")
