# SPDX-License-Identifier: GPL-2.0-only
"""Takes a resolved spec, writes scenario.py and tables.npz in the folder of its run."""

from pathlib import Path

from pyorch.errors import SpecError
from pyorch.render.script import render_script
from pyorch.render.tables import input_tables, is_open, write_tables
from pyorch.spec.resolved import Spec
from pyorch.writing import make_folder, write_text


def write_run(spec: Spec, folder: Path | str, *, to_open: bool = False) -> None:
    """Write the tables, then the script that reads them: no script is there without its tables.

    Raises
    ------
    SpecError
        A program sends the messages, and nobody asked to open a session for it.
    """
    if is_open(spec) and not to_open:
        raise SpecError(
            "workload.type: session: a program sends the messages, pyorch.Session or one in C."
            " Open the scenario in it, or take another workload."
        )
    folder = Path(folder)
    script = render_script(spec)
    make_folder(folder)
    tables = input_tables(spec)
    write_tables(tables, folder / "tables.npz")
    write_text(folder / "scenario.py", script)
