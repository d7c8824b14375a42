# SPDX-License-Identifier: GPL-2.0-only
"""One malformed input, and what must come of it: a refusal in one line, soon, and nothing else."""

import io
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import psutil

#: What a refusal may cost: CPU [s], and memory beside what Python itself has [byte].
MOST_CPU_S, MOST_BYTES = 5, 400_000_000
#: What an input that is executed would leave.
MARK = "PWNED"
#: What stands between two parts of a message: what is wrong, and what is allowed or what to do.
_JOINT = re.compile(r"[.;:,)] ")
_MESSAGE = re.compile(r"(?P<file>[\w.]+):(?P<line>\d+): (?P<key>[\w.]+): (?P<words>.+)")
Content = bytes | str | Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """A command in a folder of its own.

    Attributes
    ----------
    name : str
        What is wrong.
    words : tuple of str
        After ``pyorch``.
    files : dict
        What lies in the folder: bytes, text, or a function that makes it.
    says : tuple of str
        What the message must name: the file, the key, the value.
    path : tuple
        Where in a scenario a single value is wrong; empty if it is something else.
    value : object
        That value.
    """

    name: str
    words: tuple[str, ...]
    files: dict[str, Content] = field(default_factory=dict, repr=False)
    says: tuple[str, ...] = ()
    path: tuple = ()
    value: object = None


@dataclass(frozen=True)
class Outcome:
    """How a case has ended: exit status or minus the signal, its words, what it has left.

    `peak_bytes` is the memory that it took beyond that of the process from which it was forked.
    """

    status: int
    said: str
    cpu_s: float
    peak_bytes: int
    left: tuple[str, ...]


def verdict(case: Case, outcome: Outcome) -> str:
    """Return what is wrong with an outcome; nothing if all is as it should be."""
    lines = outcome.said.strip().splitlines()
    if outcome.left:
        return f"it left {outcome.left}"
    if outcome.status not in (1, 2):
        return f"status {outcome.status}: {outcome.said[-300:]}"
    if len(lines) != 1:
        return f"{len(lines)} lines: {outcome.said[-600:]}"
    if missing := [part for part in case.says if part not in lines[0]]:
        return f"does not name {missing}: {lines[0]}"
    if not _JOINT.search(lines[0]):
        return f"says what is wrong, not what is allowed: {lines[0]}"
    if case.path and (wrong := unlike_a_message(case, lines[0])):
        return f"{wrong}: {lines[0]}"
    if outcome.cpu_s > MOST_CPU_S:
        return f"took {outcome.cpu_s:.1f} s of CPU"
    if outcome.peak_bytes > MOST_BYTES:
        return f"took {outcome.peak_bytes / 1e6:.0f} MB"
    return ""


def unlike_a_message(case: Case, line: str) -> str:
    """Return what a message about one value lacks of ``file:line: key: value ... what is allowed``.

    The line it names must have the key that it names, which must be the one whose value is wrong;
    and of what follows one part names the value, another one says something else.
    """
    found = _MESSAGE.fullmatch(line)
    if not found:
        return "is not file:line: key: words"
    written = case.files[found["file"]].splitlines()
    is_element = found["key"].rpartition(".")[2].isdigit()
    words = [word for word in found["key"].split(".") if not word.isdigit()]
    wanted = [str(word) for word in case.path if not isinstance(word, int)]
    n = min(len(words), len(wanted))
    if words[:n] != wanted[:n]:
        return f"names another key than {'.'.join(wanted)}"
    if not 1 <= int(found["line"]) <= len(written):
        return f"names line {found['line']} of {len(written)}"
    if ("- " if is_element else words[-1]) not in written[int(found["line"]) - 1]:
        return f"line {found['line']} has no {found['key']}"
    if not any(shown in found["words"] for shown in _shown(case.value)):
        return f"does not name the value {str(case.value)[:40]!r}"
    if not _JOINT.search(found["words"]):
        return "says what is wrong, not what is allowed"
    return ""


def _shown(value: object) -> list[str]:
    """Return beginnings of how a message may name a value."""
    if isinstance(value, bool):
        return [str(value).lower(), str(value)]
    if value is None:
        return ["nothing", "none", "null", "None"]
    if isinstance(value, dict):
        return ["mapping", "{"]
    if isinstance(value, list):
        return ["list", "[", *(word for part in value for word in _shown(part))]
    if isinstance(value, float):
        return [str(value), f"{value:g}", f"{value:.0f}"[:20]]
    return [ascii(str(value))[1:13].rstrip("'"), str(value)[:8]]


def run(case: Case) -> Outcome:
    """Run the command of a case in a process of its own and a folder of its own.

    The process is forked from this one, which has imported everything, so a case costs
    milliseconds. The kernel ends it after ten seconds of CPU, or a minute.
    """
    folder = Path(tempfile.mkdtemp(prefix="battery-"))
    try:
        for name, content in case.files.items():
            _put(folder / name, content)
        before = _listed(folder)
        held_bytes = psutil.Process().memory_info().rss
        with tempfile.TemporaryFile() as said:
            child = os.fork()
            if not child:
                _inside(case, folder, said.fileno())
            _, status, usage = os.wait4(child, 0)
            said.seek(0)
            words = said.read().decode(errors="replace")
        return Outcome(
            status=os.waitstatus_to_exitcode(status),
            said=words,
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_bytes=max(0, usage.ru_maxrss * 1024 - held_bytes),
            left=tuple(sorted(_listed(folder) - before)),
        )
    finally:
        shutil.rmtree(folder)


def _put(path: Path, content: Content) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if callable(content):
        content(path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _listed(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _inside(case: Case, folder: Path, said: int) -> None:
    """Be the command line of pyorch, and end."""
    status = 70
    try:
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.chdir(folder)
        signal.alarm(12 * MOST_CPU_S)
        resource.setrlimit(resource.RLIMIT_CPU, (2 * MOST_CPU_S, 2 * MOST_CPU_S))
        sys.argv = ["pyorch", *case.words]
        written = io.StringIO()
        try:
            with redirect_stdout(written), redirect_stderr(written):
                from pyorch.cli import main

                main()
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            written.write(traceback.format_exc())
        os.write(said, written.getvalue().encode(errors="replace")[-100_000:])
    finally:
        os._exit(status)
