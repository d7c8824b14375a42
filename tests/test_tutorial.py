# SPDX-License-Identifier: GPL-2.0-only
"""The tutorial and the notebooks do what they say, in a fresh folder, as they stand."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text()
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
#: A file with its name, or commands, or what these print.
BLOCK = re.compile(
    r"(?:^`([\w./]+)`:\n\n)?^```(\w+)( fails)?\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


def words(text):
    """Return the words of a text without frames of tables."""
    return " ".join(re.sub(r"[│┃┏━┳┓┡╇┩└─┴┘]", " ", text).split())


@pytest.mark.ns3
@pytest.mark.slow
def test_the_tutorial_from_its_first_command_to_its_last(tmp_path):
    folder, said, files, commands = tmp_path, "", 0, 0
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
    start = TUTORIAL.index("## Ask a question")  # an environment is there
    for name, kind, fails, text in BLOCK.findall(TUTORIAL, start):
        if name:
            (folder / name).write_text(text)
            files += 1
        elif kind == "sh":
            done = subprocess.run(
                ["bash", "-euc", f"{text}\npwd"], cwd=folder, env=environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            assert (done.returncode != 0) == bool(fails), f"{text}\n{done.stdout}"
            said = done.stdout
            folder = folder if fails else Path(said.splitlines()[-1])
            commands += 1
        else:
            assert kind == "text"
            for line in text.splitlines():
                assert words(line) in words(said), line
    assert (files, commands) == (4, 11)
    assert folder == tmp_path / "my-study"
    for picture in ("longest_queue.png", "queues.png", "fct.png", "figures/laptop/price.png"):
        assert (folder / picture).stat().st_size > 10_000


@pytest.mark.ns3
@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_stores(path, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    execute = runpy.run_path(str(path.parent / "execute.py"))["execute"]
    again, stored = execute(path, tmp_path), nbformat.read(path, as_version=4)

    for cell, before in zip(again.cells, stored.cells, strict=True):
        outputs = [plain(output) for output in cell.get("outputs", [])]
        assert outputs == [plain(output) for output in before.get("outputs", [])], cell.source


def plain(output):
    """Return what a cell says in words; sizes on disk, costs and addresses are its own.

    So are names of runs: they change with each attribute that a module gets.
    """
    kinds = sorted(output.get("data", {}))
    text = output.get("text", "") or output["data"].get("text/plain", "")
    return kinds, "" if "size_bytes" in text else re.sub(r"0x[0-9a-f]+|-[0-9a-f]{10}", "", text)
