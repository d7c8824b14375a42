# SPDX-License-Identifier: GPL-2.0-only
"""Reads and checks what a run has written about itself: how it ended and what it cost."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pyorch.errors import TraceError, quoted
from pyorch.reading import read_json, shown
from pyorch.traces import manifest

Count = Annotated[int, Field(strict=True, ge=0)]
Seconds = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Word = Annotated[str, Field(strict=True, max_length=1000)]
#: A scenario is data; the script of a folder that somebody has handed on is a program.
MAKE_AGAIN = "Make the run again from its scenario: pyorch run SCENARIO.yaml --force"


class _Record(BaseModel):
    """A file of a run; later versions may say more, and earlier ones had one engine."""

    model_config = ConfigDict(extra="allow")

    engine: Word = "packets"


class Provenance(_Record):
    """What made a result, and what that has cost."""

    seed: Count
    events: Count
    data_packets: Count
    simulated_ps: Count
    wall_s: Seconds
    cpu_user_s: Seconds
    cpu_system_s: Seconds
    run_cpu_s: Seconds
    peak_memory_bytes: Count
    git_commit: Word | None
    versions: dict[Word, Word]
    libraries_sha256: dict[Word, Digest]
    code_sha256: dict[Word, Digest] = {}
    made_by_sha256: Digest | None = None


class Outcome(_Record):
    """How a run has ended."""

    stop_reason: Word
    now_ps: Count
    stop_ps: Count
    flows_total: Count
    flows_done: Count
    tasks_total: Count = 0
    tasks_done: Count = 0


def read_provenance(folder: Path | str) -> dict:
    """Return ``provenance.json`` of a run.

    Raises
    ------
    TraceError
        It is not there, or not what a run writes.
    """
    manifest.check(folder, "provenance.json")
    return _read(Path(folder) / "provenance.json", Provenance)


def read_outcome(folder: Path | str) -> dict:
    """Return ``manifest.json`` of a run; raise TraceError as `read_provenance` does."""
    manifest.read(folder)
    return _read(Path(folder) / manifest.FILE, Outcome)


def _read(path: Path, model: type[_Record]) -> dict:
    values = read_json(path, TraceError, MAKE_AGAIN)
    try:
        engine = model.model_validate(values).engine
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        given = "" if first["type"] == "missing" else f" ({quoted(first['input'])})"
        raise TraceError(
            f"{shown(path)}: is damaged: {key}{given}: {first['msg']}. {MAKE_AGAIN}"
        ) from None
    return {"engine": engine, **values}
