# SPDX-License-Identifier: GPL-2.0-only
"""Takes one run of a scenario, returns the network of a session as the engine reads it.

``python -m pyorch.runs.session_file`` reads a choice from standard input, as JSON, and leaves the
text, or what is refused, on standard output. So the process of the session loads nothing of this.
"""

import json
import os
import runpy
import shlex
import sys
import tempfile
from pathlib import Path

from pyorch import built
from pyorch import spec as specs
from pyorch.errors import PyorchError, SpecError
from pyorch.render.folder import write_run
from pyorch.runs.choose import choose, named
from pyorch.runs.remarks import remarks
from pyorch.simulate import loader, modules


def text_of(run: specs.Run) -> str:
    """Return the text of a session file.

    Raises
    ------
    SpecError, SimulationError
        The network does something that no session can.
    """
    with tempfile.TemporaryDirectory() as folder:
        write_run(run.spec, folder, to_open=True)
        fabric = runpy.run_path(str(Path(folder) / "scenario.py"))["build"]()
    return fabric.session_text()


def advice() -> str:
    """Return how a program in C that opens such a file is compiled and run: two lines of a shell.

    Examples
    --------
    >>> compile, run = advice().splitlines()
    >>> compile.startswith("cc "), run.startswith("LD_LIBRARY_PATH=")
    (True, True)
    """
    libraries = built.here().libraries
    paths = f"{shlex.quote(str(libraries))}:{shlex.quote(str(loader.wheel_libraries()))}"
    include = shlex.quote(str(built.here().headers))
    return (
        f"cc PROGRAM.c -I{include} {shlex.quote(str(libraries / built.ENGINE))}"
        " -Wl,--unresolved-symbols=ignore-in-shared-libs -o PROGRAM\n"
        f"LD_LIBRARY_PATH={paths} ./PROGRAM"
    )


def chosen(request: dict) -> specs.Run:
    """Return the one run that a choice leaves.

    Raises
    ------
    SpecError
        There are several.
    """
    modules.bring_up_to_date()
    runs = choose(**request, asks=True)
    if len(runs) > 1:
        raise SpecError(
            f"a session is one run, and there are {len(runs)} at scale {request['scale']}: the"
            f" first is {named(runs[0])}. Choose with variant, case, seed and set."
        )
    return runs[0]


def main() -> None:
    """Answer one request."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what plug-ins print is no answer
    try:
        run = chosen(json.load(sys.stdin))
        said = {"text": text_of(run), "remarks": remarks([run])}
    except PyorchError as error:
        said = {"error": type(error).__name__, "message": str(error)}
    with answer:
        json.dump(said, answer)


if __name__ == "__main__":
    main()
