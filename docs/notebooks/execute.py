# SPDX-License-Identifier: GPL-2.0-only
"""Runs the notebooks of this folder in a folder of their own and keeps what they show.

python docs/notebooks/execute.py
"""

import tempfile
from pathlib import Path

import nbclient
import nbformat

HERE = Path(__file__).resolve().parent


def execute(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Return a notebook with the outputs of all its cells, run from top to bottom in a folder."""
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    for cell in notebook.cells:  # when a cell ran is nothing to keep
        cell.metadata.pop("execution", None)
    return notebook


if __name__ == "__main__":
    for path in sorted(HERE.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(execute(path, Path(folder)), path)
        print(path)
