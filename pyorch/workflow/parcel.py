# SPDX-License-Identifier: GPL-2.0-only
"""Takes runs, leaves bytes with all that they need beside pyorch; and brings back what was made.

For machines that share no file system with this one. There pyorch is installed, with the same
modules. A parcel holds the specs of its runs, the data files that these name, and of a study its
plug-ins and its built modules. What comes back holds the folder and the log of each run.

As jobs of Snakemake, with parcels in files: ``python -m pyorch.workflow.parcel pack PLAN IN``,
``make IN OUT`` there, ``unpack OUT PLAN``, which fails if a run has.
"""

import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from pyorch import built, jobs, plugins, trust
from pyorch import spec as specs
from pyorch.errors import OutputError, PyorchError
from pyorch.runs.finished import is_finished, why_again
from pyorch.runs.make import AGAIN, alone, clear, take
from pyorch.simulate.process import how, last_line
from pyorch.spec.files import BESIDE, files_of, opened
from pyorch.traces import manifest
from pyorch.workflow import marks
from pyorch.workflow.planfile import read_plan, write_plan
from pyorch.writing import make_folder, write_bytes

#: The rule that makes a chunk elsewhere, and the folder of the storage with what travels.
RULE, FOLDER = "remote", "travels"
_PLAN, _FILES, _SAID = "plan.jsonl", "files", "said"


def goes(started: object, chunk: str) -> str:
    """Return the file in the storage with what a chunk needs."""
    return f"{FOLDER}/{started}/{chunk}.goes"


def came(started: object, chunk: str) -> str:
    """Return the file in the storage with what was made of a chunk."""
    return f"{FOLDER}/{started}/{chunk}.came"


def pack(runs: Sequence[specs.Run]) -> bytes:
    """Return the parcel of runs."""
    with tempfile.TemporaryDirectory(prefix="pyorch-") as name:
        folder = Path(name)
        write_plan(runs, folder / _PLAN)
        (folder / _FILES).mkdir()
        for file in {f["sha256"]: f for run in runs for f in files_of(run.spec.plain())}.values():
            with opened(file) as source, (folder / _FILES / file["sha256"]).open("wb") as copy:
                shutil.copyfileobj(source, copy)
        if (study := built.study()) is not None:
            (folder / "ns3-modules").mkdir()
            for path in _of_study(study):
                target = folder / path.relative_to(study)
                make_folder(target.parent)
                shutil.copyfile(path, target)
        return _tar(folder, sorted(path for path in folder.rglob("*")))


def _of_study(study: Path) -> Iterator[Path]:
    """Yield the files of a study with which its runs are made: plug-ins, built modules."""
    folders = [study / kind for kind in sorted(plugins.KINDS)]
    build = built.here()
    if build.study:
        folders.append(study / "ns3-modules")
        yield build.typeids
        yield from (path for path in build.module_libraries() if not path.is_symlink())
    for folder in folders:
        paths = (path for path in sorted(folder.rglob("*")) if "__pycache__" not in path.parts)
        yield from (path for path in paths if path.is_file())


def work(parcel: bytes) -> bytes:
    """Make the runs of a parcel in an empty folder of this machine; return what was made.

    Parameters
    ----------
    parcel : bytes
        From `pack`.

    Returns
    -------
    bytes
        For `unpack`; runs that have failed are missing, their logs are there.
    """
    with tempfile.TemporaryDirectory(prefix="pyorch-") as name:
        folder = Path(name)
        with tarfile.open(fileobj=io.BytesIO(parcel)) as tar:
            # Python before 3.11.4, as that of Debian 12, has no filters and takes what is there.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(folder)
        environment = os.environ | {BESIDE: str(folder / _FILES), trust.VARIABLE: "1"}
        command = [sys.executable, "-P", "-m", "pyorch.workflow.chunk", _PLAN]
        made = subprocess.run(
            jobs.tied(command), cwd=folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        end = "" if made.returncode in (0, 1) else f"Their process {how(made.returncode)}.\n"
        (folder / _SAID).write_text(made.stdout + end)
        paths = [*folder.glob("results/*/*/*"), *folder.glob("logs/*/*/*")]
        return _tar(folder, [folder / _SAID, *sorted(path for path in paths if path.is_file())])


def unpack(parcel: bytes, runs: Sequence[specs.Run]) -> dict[str, str]:
    """Put what was made of runs into results/ and logs/.

    Parameters
    ----------
    parcel : bytes
        From `work`.
    runs : sequence of Run
        Those that were packed.

    Returns
    -------
    dict
        The last words of each run that is missing, by its folder below results/.

    Raises
    ------
    OutputError
        A run was made by another pyorch than the one here.
    """
    with tarfile.open(fileobj=io.BytesIO(parcel)) as tar:
        files = {member.name: _read(tar, member) for member in tar if member.isfile()}
    said = files.get(_SAID, b"").decode(errors="replace").strip().splitlines()
    failed = {}
    for run in runs:
        log = Path("logs", "simulate", f"{run.folder}.log")
        if str(log) in files:
            make_folder(log.parent)
            log.write_bytes(files[str(log)])
        its = {
            PurePosixPath(name).name: words for name, words in files.items()
            if str(PurePosixPath(name).parent) == f"results/{run.folder}"
        }  # fmt: skip
        if manifest.FILE in its:
            _put(run, its)
        else:
            failed[run.folder] = last_line(log) if log.exists() else "".join(said[-1:])
    return failed


def _put(run: specs.Run, files: dict[str, bytes]) -> None:
    """Let files be the result of a run, unless it has come to be finished meanwhile."""
    folder = Path("results", run.folder)
    make_folder(folder)
    with alone(folder):
        if is_finished(run.spec, folder):
            return
        if not manifest.looks_whole(folder):
            clear(folder)
        place = folder / AGAIN
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name, words in files.items():
            (place / name).write_bytes(words)
        for name, recorded in manifest.read(place).get("files", {}).items():
            os.utime(place / name, ns=(recorded["changed_ns"],) * 2)
        if why := why_again(run.spec, place):
            raise OutputError(
                f"{run.folder}: the machine that made it has another pyorch: {why}."
                " Install there what is installed here."
            )
        take(folder, place)
    marks.put(run.folder)


def _read(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member)
    assert file is not None  # a plain file
    return file.read()


def _tar(folder: Path, paths: Sequence[Path]) -> bytes:
    """Return files and folders as an archive, each by its path in a folder."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for path in paths:
            tar.add(path, path.relative_to(folder).as_posix(), recursive=False)
    return stream.getvalue()


def main() -> int:
    """Return the exit status; what a user can cause is one message."""
    kind, source, target = sys.argv[1:]
    jobs.join()
    try:
        if kind == "unpack":
            failed = unpack(Path(source).read_bytes(), read_plan(target))
        else:
            make = work(Path(source).read_bytes()) if kind == "make" else pack(read_plan(source))
            write_bytes(Path(target), make)
            return 0
    except PyorchError as error:
        print(error, file=sys.stderr)
        return 1
    for folder, words in failed.items():
        print(f"Run {folder}: {words}", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
