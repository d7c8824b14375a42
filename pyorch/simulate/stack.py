# SPDX-License-Identifier: GPL-2.0-only
"""Reads the stack of a crash of the C++: functions and lines.

The engine notes frames as libraries with offsets (``crash-trace.cc``); ``addr2line`` of binutils,
which comes with any compiler, says what is there.
"""

import os
import re
import subprocess
from pathlib import Path

from pyorch import built
from pyorch.simulate import loader

#: Left by a run that has crashed, beside its result.
FILE = "crash.txt"
MOST_FRAMES = 12
_PLACE = re.compile(r" at ([^/?][^:]*):\d+$")
_NOISE = re.compile(r" \(discriminator \d+\)|(?<= at )\./")


def trace(folder: Path) -> None:
    """Let a crash of this process, which has loaded the engine, leave its stack in a folder."""
    path = folder / FILE
    path.unlink(missing_ok=True)
    loader.engine().PyorchTraceCrashes(os.fsencode(path))


def take(folder: Path) -> list[str]:
    """Return the stack that a crash has left in a folder, innermost frame first, and remove it."""
    path = folder / FILE
    try:
        text = path.read_text()
    except OSError:
        return []
    path.unlink()
    return frames(text)


def frames(text: str) -> list[str]:
    """Return ``function at file:line`` of each frame; ``??:?`` where nobody has noted the line.

    Parameters
    ----------
    text : str
        Lines of ``library offset``, the offset hexadecimal. Frames of libraries that are not our
        modules are left out, and so are offsets that nobody knows.
    """
    found = []
    for line in text.splitlines():
        library, _, offset = line.rpartition(" ")
        if Path(library).parent.resolve() == built.here().libraries.resolve():
            found += _looked_up(library, offset)
    return found[:MOST_FRAMES]


def culprit(stack: list[str]) -> str:
    """Return in words where a crash was: the innermost frame in a source of this folder."""
    own = [frame for frame in stack if (match := _PLACE.search(frame)) and Path(match[1]).is_file()]
    return next((f" in {frame}" for frame in [*own, *stack]), "")


def _looked_up(library: str, offset: str) -> list[str]:
    """Return a frame and, behind it, the functions into which it was inlined."""
    command = ["addr2line", "--demangle", "--functions", "--inlines", "--pretty-print"]
    try:
        done = subprocess.run(
            [*command, "--exe", library, f"0x{offset}"], capture_output=True, text=True
        )
    except OSError:  # there is no addr2line here
        return [f"{Path(library).name}+0x{offset} at ??:?"]
    lines = (line.removeprefix(" (inlined by) ") for line in done.stdout.splitlines())
    return [_NOISE.sub("", line) for line in lines if not line.startswith("?? ")]
