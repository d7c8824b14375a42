# SPDX-License-Identifier: GPL-2.0-only
"""Asks the engine before any run what it refuses of types with attributes and roles.

The engine is the one who knows the grammar of its attributes and how they go together. It is asked
in a process of its own, ``python -m pyorch.simulate.check``: questions come by standard input,
answers go to standard output, each a line of JSON. What it has answered once is kept by the content
of the libraries.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from pyorch import built, jobs, origin
from pyorch.built import INSTALLED
from pyorch.errors import BuildError, PyorchError
from pyorch.simulate import build_cache, loader, provenance, sanitizers, stack
from pyorch.simulate.fabric import as_attributes, as_text
from pyorch.simulate.process import how
from pyorch.writing import make_folder, write_text

#: Builds whose answers are kept; the ones that were used last.
KEPT = 100
#: As in `pyorch.spec.plan`.
Refusals = Callable[[list[dict]], list[str]]


@contextmanager
def refusals(installed_only: bool = False) -> Iterator[Refusals]:
    """Give a function that asks the engine, in one process, as long as this lasts.

    Parameters
    ----------
    installed_only : bool
        Load no library of the study in this folder: nothing is asked of its own types.
    """
    engine = _Engine(installed_only)
    try:
        yield engine.refusals
    finally:
        engine.end()


class _Engine:
    """A process that is started by the first question to which no answer is kept."""

    def __init__(self, installed_only: bool):
        self._installed_only = installed_only
        self._process: subprocess.Popen | None = None
        self._folder = tempfile.TemporaryDirectory()

    @cached_property
    def _digests(self) -> dict[str, str]:
        """Digests of the libraries that may be loaded, by name."""
        folder = INSTALLED / "lib" if self._installed_only else built.here().libraries
        paths = (path for path in folder.glob("lib*.so") if not path.name.endswith("-test.so"))
        return {path.name: origin.digest_of(path) for path in paths}

    def refusals(self, questions: list[dict]) -> list[str]:
        name = origin.combined_digest([self._digests, provenance.package_versions()])
        answers = _kept(name)
        before = len(answers)
        found = [self._refusal(question, answers) for question in questions]
        if len(answers) > before:
            _keep(name, answers)
        return found

    def _refusal(self, asked: dict, answers: dict[str, str]) -> str:
        index = loader.library_index()
        named = _named([(part, _texts(part)) for part in asked["parts"]])
        if {index[name] for name in named if name in index} - self._digests.keys():
            return ""  # a type of the study, and only installed ones may be asked
        question = json.dumps(asked, sort_keys=True)
        if question not in answers:
            answers[question] = self._ask(question)
        return answers[question]

    def _ask(self, question: str) -> str:
        if self._process is None:
            command = [sys.executable, "-P", "-m", "pyorch.simulate.check", self._folder.name]
            self._process = subprocess.Popen(
                jobs.tied(command),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env=sanitizers.environment(),
                start_new_session=True,  # Ctrl-C is for this process, with which it ends
                cwd="/" if self._installed_only else None,  # there is no study
            )  # fmt: skip
        try:
            self._process.stdin.write(f"{question}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._process.stdout.readline()
        if not answer:
            return self._crashed(question)
        said = json.loads(answer)
        if "error" in said:
            raise BuildError(said["error"])
        return said["refusal"]

    def _crashed(self, question: str) -> str:
        status = self._process.wait()
        self.end()
        where = stack.culprit(stack.take(Path(self._folder.name)))
        raise BuildError(
            f"{', '.join(part['type'] for part in json.loads(question)['parts'])}: the process that"
            f" made one to check its attributes {how(status)}{where}."
        )

    def end(self) -> None:
        if self._process is not None:
            with self._process as process:
                process.stdin.close()
            self._process = None


def _home() -> Path | None:
    return build_cache.folder("checks")


def _kept(name: str) -> dict[str, str]:
    """Return the answers that are kept of a build; none if there is no such file."""
    try:
        path = _home() / f"{name}.json"
        answers = json.loads(path.read_text())
        os.utime(path)
    except (TypeError, OSError, ValueError):
        return {}
    return answers


def _keep(name: str, answers: dict[str, str]) -> None:
    """Keep answers; a full disk or a read-only home is no error."""
    home = _home()
    if home is None:
        return
    try:
        make_folder(home)
        write_text(home / f"{name}.json", json.dumps(_kept(name) | answers))
        old = sorted(home.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in old[KEPT:]:
            path.unlink(missing_ok=True)
    except (PyorchError, OSError):
        return


class _Part(ctypes.Structure):
    """A type with attributes as the engine reads it, PyorchPart."""

    _fields_ = (
        ("role", ctypes.c_char_p),
        ("type", ctypes.c_char_p),
        ("attributes", ctypes.POINTER(ctypes.c_char_p)),
        ("count", ctypes.c_size_t),
    )


class _Column(ctypes.Structure):
    """A column of a table as the engine reads it, PyorchColumn."""

    _fields_ = (
        ("table", ctypes.c_char_p),
        ("column", ctypes.c_char_p),
        ("values", ctypes.POINTER(ctypes.c_int64)),
        ("rows", ctypes.c_size_t),
    )


def answer(asked: dict, folder: Path) -> dict[str, str]:
    """Return what the engine says of types with attributes, in this process.

    Parameters
    ----------
    asked : dict
        A question, as in `pyorch.spec.plan`.
    folder : Path
        For the stack of a crash.
    """
    given = [_texts(part) for part in asked["parts"]]
    parts = list(zip(asked["parts"], given, strict=True))
    try:
        stack.trace(folder)
        loader.load_libraries(loader.libraries_of(_named(parts)))
    except PyorchError as error:
        return {"error": str(error)}
    asks = [_part(part, texts) for part, texts in parts]
    columns = list(_columns(asked["switches"]))
    refusal = loader.engine().PyorchRefusal
    refusal.restype = ctypes.c_char_p
    said = refusal(
        (_Part * len(asks))(*asks), ctypes.c_size_t(len(asks)),
        (_Column * len(columns))(*columns), ctypes.c_size_t(len(columns)),
    )  # fmt: skip
    words, _, frames = said.decode(errors="replace").partition("\n")
    return {"refusal": f"{words}{stack.culprit(stack.frames(frames))}"}


def _named(parts: list[tuple[dict, dict[str, str]]]) -> list[str]:
    """Return the types of parts, with those that their attributes name; the engine is no module."""
    return loader.with_named(
        [(part["type"], texts) for part, texts in parts if part["role"] != "engine"]
    )


def _texts(part: dict) -> dict[str, str]:
    """Return attributes as ns-3 reads them; those of a section are given as its options."""
    return (as_attributes if part["role"] == "section" else as_text)(part["attributes"])


def _part(part: dict, attributes: dict[str, str]) -> _Part:
    texts = [text.encode() for pair in attributes.items() for text in pair]
    array = (ctypes.c_char_p * len(texts))(*texts)
    return _Part(part["role"].encode(), part["type"].encode(), array, len(attributes))


def _columns(switches: list[list]) -> Iterator[_Column]:
    """Yield the tables of a network of these switches, with a host at the end of every link."""
    links = [
        (node, rate_bps, delay_ps)
        for node, kinds in switches for rate_bps, delay_ps, number in kinds for _ in range(number)
    ]  # fmt: skip
    if not links:
        return
    at, rates_bps, delays_ps = zip(*links, strict=True)
    nodes = [node for node, _ in switches]
    hosts = [max(nodes) + 1 + index for index in range(len(links))]
    is_switch = [1] * len(nodes) + [0] * len(hosts)
    tables: dict[str, dict[str, Sequence[int]]] = {
        "nodes": {"node": nodes + hosts, "is_switch": is_switch, "tier": is_switch},
        "links": {"node_a": hosts, "node_b": at, "rate_bps": rates_bps, "delay_ps": delays_ps},
    }
    for table, its in tables.items():
        for name, values in its.items():
            array = (ctypes.c_int64 * len(values))(*values)
            yield _Column(table.encode(), name.encode(), array, len(values))


def main() -> None:
    """Answer questions until there are no more; the first argument is a folder for a crash."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what a plug-in prints is no answer
    with suppress(BrokenPipeError):  # who has asked has ended
        for question in sys.stdin:
            said = answer(json.loads(question), Path(sys.argv[1]))
            answers.write(f"{json.dumps(said)}\n".encode())


if __name__ == "__main__":
    main()
