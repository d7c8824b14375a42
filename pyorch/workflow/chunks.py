# SPDX-License-Identifier: GPL-2.0-only
"""Deals runs out to the jobs of a cluster: a chunk is what one job makes, one run after the other.

A job on another machine starts a Snakemake, which takes seconds, so it gets a minute of work and
more. A chunk is a rule of its own, called `simulate_<scenario>_<digest>`, with its piece of the
plan as input; its job reads no other.
"""

import hashlib
import math
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyorch import spec as specs
from pyorch.errors import SpecError
from pyorch.runs.make import FILES
from pyorch.spec.files import files_of
from pyorch.workflow import estimate, resources
from pyorch.workflow.events import RUN_RULE
from pyorch.workflow.marks import MARK
from pyorch.workflow.planfile import write_plan
from pyorch.workflow.runs import Workflow

#: Estimated CPU of the runs of a chunk, if Snakemake's configuration has no `chunk` [minute].
CHUNK_MIN = 1.0
#: Runs of a chunk that need not be made. Snakemake asks for each file all outputs of the rule that
#: may have made it, so one rule of 10,000 finished runs takes it ten minutes.
FINISHED_RUNS = 50
#: Processes of a chunk beside a run: Snakemake, and what forks for each run. Measured: 820 to 1000
#: MB with a run of four hosts, as Slurm counts: what two processes share counts twice.
BESIDE_MB = 800
_FOLDER = Path(".snakemake", "pyorch", "chunks")


@dataclass(frozen=True)
class Chunk:
    """Runs of one scenario that one job makes.

    Attributes
    ----------
    name : str
        Of its rule.
    runs : list of Run
        Each once.
    is_due : bool
        Whether its runs have to be made.
    threads, memory_mb, disk_mb, runtime_min : int
        What the job asks for; only the Snakemake that submits it knows.
    """

    name: str
    runs: list[specs.Run]
    is_due: bool = True
    threads: int = 1
    memory_mb: int = 0
    disk_mb: int = 0
    runtime_min: int = 0

    @property
    def plan(self) -> Path:
        """Its piece of the plan."""
        return plan_of(self.name)

    @property
    def inputs(self) -> list[str]:
        """What its job reads beside pyorch: its piece of the plan, and data that its runs name."""
        if not self.is_due:
            return []
        data = {file["path"] for run in self.runs for file in files_of(run.spec.plain())}
        return [str(self.plan), *sorted(data)]

    @property
    def outputs(self) -> list[str]:
        """The mark and the files of each run."""
        return [path for run in self.runs for path in _files(run)]

    @property
    def folders(self) -> list[str]:
        """Its runs, as they are called below results/."""
        return [run.folder for run in self.runs]


def plan_of(name: str) -> Path:
    """Return the piece of the plan of a chunk."""
    return _FOLDER / f"{name}.jsonl"


def minutes_of(given: object) -> float:
    """Return the time of a chunk, as Snakemake's configuration has it under ``chunk``.

    Raises
    ------
    SpecError
        It is no time.
    """
    try:
        minutes = float(str(given))
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < math.inf:
        raise SpecError(f"--config chunk={given}: is no number of minutes. Write one: chunk=5")
    return minutes


def _files(run: specs.Run) -> Iterator[str]:
    yield MARK.format(scenario=run.scenario, run=run.id)
    yield from (f"results/{run.folder}/{name}" for name in FILES)


def deal(found: Workflow, finished: Collection[str], minutes: float = CHUNK_MIN) -> list[Chunk]:
    """Return chunks of all runs of a workflow; those that are finished are in chunks of their own.

    Parameters
    ----------
    found : Workflow
        Has the runs.
    finished : collection of str
        Folders, below results/, of those that need not be made.
    minutes : float
        CPU of the runs of a chunk, by estimate.
    """
    chunks = []
    for scenario, runs in found.runs.items():
        sweep = estimate.Sweep([], [])
        for run in runs.values():
            sweep[run.folder not in finished].append(run)
        for first in range(0, len(sweep.finished), FINISHED_RUNS):
            done = sweep.finished[first : first + FINISHED_RUNS]
            chunks.append(Chunk(_name(scenario, done), done, is_due=False))
        chunks += map(_asking, cut(sweep, minutes * 60))
    return chunks


def cut(sweep: estimate.Sweep, most_s: float) -> Iterator[list[specs.Run]]:
    """Yield the missing runs in pieces of about so much CPU, each with one number of threads."""
    costs = estimate.costs(sweep)
    piece: list[specs.Run] = []
    piece_s = 0.0
    for run in sorted(sweep.missing, key=lambda run: run.threads):
        cost_s = costs[run.folder].cpu_s
        if piece and (piece_s + cost_s > most_s or run.threads != piece[0].threads):
            yield piece
            piece, piece_s = [], 0.0
        piece.append(run)
        piece_s += cost_s
    if piece:
        yield piece


def _asking(runs: list[specs.Run]) -> Chunk:
    """Return a chunk with what its job asks for: the most of any run, and time for all of them."""
    return Chunk(
        _name(runs[0].scenario, runs),
        runs,
        threads=runs[0].threads,
        memory_mb=max(resources.memory_mb(run.spec) for run in runs) + BESIDE_MB,
        disk_mb=1000 + sum(resources.disk_mb(run.spec) - 1000 for run in runs),
        runtime_min=resources.chunk_runtime_min(run.spec for run in runs),
    )


def _name(scenario: str, runs: Iterable[specs.Run]) -> str:
    digest = hashlib.sha256("".join(run.folder for run in runs).encode()).hexdigest()
    return f"{RUN_RULE}_{scenario}_{digest[:10]}"


def write(chunks: Iterable[Chunk]) -> None:
    """Write the pieces of the plan for the jobs."""
    for chunk in chunks:
        if chunk.is_due:
            write_plan(chunk.runs, chunk.plan)


def remove_old() -> None:
    """Remove the pieces of all Snakemakes, for who is alone in the folder."""
    shutil.rmtree(_FOLDER, ignore_errors=True)


def is_one(rule: str) -> bool:
    """Return whether a rule has this name because it makes a chunk."""
    return re.fullmatch(rf"{RUN_RULE}_.+_[0-9a-f]{{10}}", rule) is not None
