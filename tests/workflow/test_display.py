# SPDX-License-Identifier: GPL-2.0-only
"""Progress is one line that updates itself, where somebody can see that."""

import os
import pty
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

CODE = """\
from pyorch.workflow import display
from pyorch.workflow.events import Progress

with display.of_runs({wanted}) as show:
    progress = Progress(total=3)
    show(progress)
    progress.tell({{"jobs": {{"simulate": 2}}}})
    for job, run in enumerate(("s1-a", "s2-b")):
        given = {{"scenario": "small", "run": run}}
        progress.tell({{"job": job, "rule": "simulate", "wildcards": given}})
        progress.tell({{"started": [job]}})
        show(progress)
    progress.tell({{"finished": 0}})
    progress.tell({{"failed": 1}})
    show(progress)
with display.one_line({wanted}) as say:
    say("small: 10 % done")
    say("small: 90 % done")
"""
#: What is seen, one after the other.
SEEN = (
    "3 runs: looking which of them are there", "0/2 runs, now small/s1-a, small/s2-b",
    "failed: small/s2-b", "1/2 runs, 1 failed", "small: 10 % done", "small: 90 % done",
)  # fmt: skip


def on_a_terminal(code):
    """Return what a process writes on a terminal."""
    ours, theirs = pty.openpty()
    wide = os.environ | {"COLUMNS": "100"}
    process = subprocess.Popen([sys.executable, "-c", code], stdout=theirs, stderr=theirs, env=wide)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 65536):
            said += part
    except OSError:  # the other end is closed
        pass
    assert process.wait() == 0, said
    return said.decode()


def places(said):
    return [said.find(text) for text in SEEN]


def test_a_terminal_has_one_line_and_above_it_what_should_be_read():
    said = on_a_terminal(CODE.format(wanted=True))

    assert places(said) == sorted(places(said)) and -1 not in places(said), said
    lines = [line.split("\r")[-1].strip() for line in said.split("\r\n")]
    assert lines == ["failed: small/s2-b", ""]  # nothing else stays
    assert on_a_terminal(CODE.format(wanted=False)) == ""


def test_nothing_is_said_where_a_line_cannot_update_itself():
    code = [sys.executable, "-c", CODE.format(wanted=True)]
    done = subprocess.run(code, capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [True, False])
def test_a_notebook_has_the_same_lines_and_no_warning(wanted):
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(CODE.format(wanted=wanted))]
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = notebook.cells[0].outputs
    said = "".join(output.get("text", "") for output in outputs)

    assert {output.get("name") for output in outputs} <= {"stderr"}
    assert "Warning" not in said
    assert (places(said) == sorted(places(said)) and -1 not in places(said)) == wanted, said
    assert said.count("\n") == (1 if wanted else 0)
