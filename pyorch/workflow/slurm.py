# SPDX-License-Identifier: GPL-2.0-only
"""Refuses to submit jobs to a Slurm that would take them and never be heard of again.

Snakemake's plug-in asks for the state of jobs with a command that fails on a cluster without
accounting, and waits for ever; and it quotes no path.
"""

import re
import shutil
import subprocess
from pathlib import Path

from pyorch.errors import OutputError

#: A path of which the shell of a job makes one word.
_PLAIN = re.compile(r"[\w./+@%=:,-]+")
#: What asks for the state of a job, the best first.
STATES = ("sacct", "squeue")
#: A queue that answers later is said not to answer [s].
PATIENCE_S = 60.0


def check(status_command: str = "", folder: Path | None = None) -> None:
    """Return if jobs can be submitted from a folder, and be asked for.

    Parameters
    ----------
    status_command : str
        ``sacct`` or ``squeue``, as ``--slurm-status-command`` has it; by default the first of them
        that is there.
    folder : path, optional
        Of the study; this one by default.

    Raises
    ------
    OutputError
        They cannot; says what is missing, or which option is.
    """
    folder = folder or Path.cwd()
    if not _PLAIN.fullmatch(str(folder)):
        raise OutputError(
            f"{folder}: Slurm's jobs need a path of letters, digits and . _ + @ % = : , - alone."
            " Rename the folder, or move the study."
        )
    state = status_command or next((name for name in STATES if shutil.which(name)), STATES[-1])
    if missing := [name for name in ("sbatch", "scancel", state) if not shutil.which(name)]:
        raise OutputError(
            f"Slurm: no {', '.join(missing)} on this machine. Start Snakemake on one that submits"
            " jobs, or load Slurm's commands."
        )
    if said := _failure([state, "--noheader"]):
        other = next((name for name in STATES if name != state and not _failure([name, "-h"])), "")
        advice = f" Add --slurm-status-command {other}" if other else " Ask who runs the cluster"
        raise OutputError(
            f"Slurm: {state}, which asks for the state of jobs, fails: {said}.{advice}."
        )


def _failure(command: list[str]) -> str:
    """Return in one line how a command fails; nothing if it does not."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = (done.stderr or done.stdout).strip().splitlines()
    return (lines[-1:] or [f"status {done.returncode}"])[0].rstrip(".") if done.returncode else ""
