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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from pyorch import built, jobs, origin
from pyorch.built import INSTALLED
from pyorch.errors import BuildError, PyorchError
from pyorch.simulate import build_cache, loader, provenance, sanitizers, stack
from pyorch.simulate.fabric import as_text
from pyorch.simulate.process import how
from pyorch.writing import make_folder, write_text

#: Builds whose answers are kept; the ones that were used last.
KEPT = 100
#: Given lists of types with attributes and roles, returns for each list what the engine says
#: against its parts or against having them together; "" if nothing.
Refusals = Callable[[list[list[dict]]], list[str]]


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

    def refusals(self, questions: list[list[dict]]) -> list[str]:
        name = origin.combined_digest([self._digests, provenance.package_versions()])
        answers = _kept(name)
        before = len(answers)
        found = [self._refusal(parts, answers) for parts in questions]
        if len(answers) > before:
            _keep(name, answers)
        return found

    def _refusal(self, parts: list[dict], answers: dict[str, str]) -> str:
        index = loader.library_index()
        named = loader.with_named([(part["type"], as_text(part["attributes"])) for part in parts])
        if {index[name] for name in named if name in index} - self._digests.keys():
            return ""  # a type of the study, and only installed ones may be asked
        question = json.dumps(parts, sort_keys=True)
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
            f"{', '.join(part['type'] for part in json.loads(question))}: the process that made one"
            f" to check its attributes {how(status)}{where}."
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


def answer(parts: list[dict], folder: Path) -> dict[str, str]:
    """Return what the engine says of types with attributes, in this process.

    The stack of a crash goes to the folder.
    """
    given = [as_text(part["attributes"]) for part in parts]
    try:
        stack.trace(folder)
        types = [part["type"] for part in parts]
        loader.load_types(loader.with_named(list(zip(types, given, strict=True))))
    except PyorchError as error:
        return {"error": str(error)}
    asked = (_Part * len(parts))()
    for place, part, attributes in zip(asked, parts, given, strict=True):
        texts = [text.encode() for pair in attributes.items() for text in pair]
        place.role, place.type = part["role"].encode(), part["type"].encode()
        place.attributes = (ctypes.c_char_p * len(texts))(*texts)
        place.count = len(attributes)
    refusal = loader.engine().PyorchRefusal
    refusal.restype = ctypes.c_char_p
    said = refusal(asked, ctypes.c_size_t(len(parts)))
    words, _, frames = said.decode(errors="replace").partition("\n")
    return {"refusal": f"{words}{stack.culprit(stack.frames(frames))}"}


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
