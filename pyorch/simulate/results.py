# SPDX-License-Identifier: GPL-2.0-only
"""Takes output columns, writes ``raw.npz`` and ``manifest.json``: each whole or not at all."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pyorch.writing import write_atomically, write_text

Tables = Mapping[str, Mapping[str, np.ndarray]]


def save(folder: Path, tables: Tables, outcome: Mapping[str, object]) -> None:
    """Write the raw columns, then the manifest that says what they are.

    A manifest is therefore only ever beside columns that are complete.

    Parameters
    ----------
    folder : Path
        Exists already; what it holds of an earlier run is replaced.
    tables : mapping
        Columns by table and name.
    outcome : mapping
        How the run ended; becomes part of the manifest.
    """
    (folder / "manifest.json").unlink(missing_ok=True)
    columns: dict[str, Any] = {
        f"{table}.{column}": values
        for table, its_columns in tables.items()
        for column, values in its_columns.items()
    }
    write_atomically(folder / "raw.npz", lambda file: np.savez(file, **columns))
    manifest = dict(outcome) | {
        "raw_sha256": sha256(folder / "raw.npz"),
        "tables": {table: _summary(its_columns) for table, its_columns in tables.items()},
    }
    save_json(folder / "manifest.json", manifest)


def save_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a mapping as readable JSON."""
    write_text(path, json.dumps(content, indent=2) + "\n")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _summary(columns: Mapping[str, np.ndarray]) -> dict[str, object]:
    return {
        "rows": max((len(values) for values in columns.values()), default=0),
        "columns": {name: str(values.dtype) for name, values in columns.items()},
    }
