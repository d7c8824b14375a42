# SPDX-License-Identifier: GPL-2.0-only
"""Files that a scenario names: they enter the name of a run by what they hold, not by their path.

A name in YAML is relative to the folder of the scenario. In a resolved spec a file is its path, so
that it is found again, and its SHA-256, so that a run is never made from another content.
"""

import hashlib
import io
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, ValidationInfo

from pyorch.errors import SpecError, did_you_mean
from pyorch.spec.fields import FieldError

_KEYS = {"path", "sha256"}
FileRef = dict[str, str]
TABLE_SUFFIXES = (".csv", ".parquet")


def _settle(value: object, info: ValidationInfo) -> FileRef:
    """Return path and digest of the file that a scenario names."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is not a file name. Write one, relative to the scenario.")
    folder = (info.context or {}).get("folder", ".")
    path = Path(os.path.normpath(Path(folder) / value))
    try:
        stat = path.stat()
        return {"path": str(path), "sha256": _digest(str(path), stat.st_mtime_ns, stat.st_size)}
    except OSError as error:
        beside = sorted(p.name for p in path.parent.glob("*")) if path.parent.is_dir() else []
        raise ValueError(
            f"'{value}': {path} cannot be read ({error.strerror}). The name is relative to the"
            f" folder of the scenario.{did_you_mean(path.name, beside)}"
        ) from None


#: A field that holds the name of a file in YAML, and its path and SHA-256 in a resolved spec.
InputFile = Annotated[dict[str, str], BeforeValidator(_settle)]


@lru_cache(maxsize=256)
def _digest(path: str, _mtime_ns: int, _size: int) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def without_paths(spec: object) -> Any:
    """Return a resolved spec in which each file is only what it holds."""
    if isinstance(spec, dict):
        kept = {"sha256"} if spec.keys() == _KEYS else spec.keys()
        return {key: without_paths(spec[key]) for key in kept}
    return [without_paths(part) for part in spec] if isinstance(spec, list) else spec


@lru_cache(maxsize=16)
def _content(path: str, sha256: str) -> bytes:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise SpecError(f"{path}: cannot be read ({error.strerror}). Put it back.") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise SpecError(
            f"{path}: its content has changed since this run was named. Start again: the run of"
            " the new content has another name."
        )
    return content


def content(file: FileRef) -> bytes:
    """Return what a file of a resolved spec holds.

    Raises
    ------
    SpecError
        It is gone, or holds something else than when the run was named.
    """
    return _content(file["path"], file["sha256"])


def numbered_lines(file: FileRef, key: str) -> list[tuple[int, list[str]]]:
    """Return line number and words of each line that is neither empty nor a comment (``#``).

    Parameters
    ----------
    file : dict
        Path and SHA-256.
    key : str
        Key of the scenario that names the file, for messages.
    """
    try:
        text = content(file).decode("utf-8")
    except UnicodeDecodeError:
        raise FieldError(key, f"{file['path']}: is not a text file. Name one.") from None
    lines = ((number, line.split()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, words) for number, words in lines if words and words[0][0] != "#"]


def columns(
    file: FileRef, key: str, required: Mapping[str, type], optional: Mapping[str, type]
) -> dict[str, np.ndarray]:
    """Return the columns of a CSV or Parquet file.

    Parameters
    ----------
    file : dict
        Path and SHA-256.
    key : str
        Key of the scenario that names the file, for messages.
    required, optional : mapping of str to type
        Name of each column to ``int`` or ``float``; other columns are an error.

    Raises
    ------
    FieldError
        Not such a file, a column too few or too many, a cell that is empty or no such number.
    """
    import pandas as pd

    path, known = file["path"], {**required, **optional}
    raw, suffix = io.BytesIO(content(file)), Path(path).suffix.lower()
    if suffix not in TABLE_SUFFIXES:
        raise FieldError(key, f"{path}: is neither {' nor '.join(TABLE_SUFFIXES)}. Convert it.")
    try:
        table = pd.read_csv(raw) if suffix == ".csv" else pd.read_parquet(raw)
    except Exception as error:  # each parser has its own; all mean the same to a user
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FieldError(key, f"{path}: is no readable {suffix} table: {why}") from None
    for name in required:
        if name not in table.columns:
            raise FieldError(
                key, f"{path}: has no column '{name}'. It needs {', '.join(required)}."
                f"{did_you_mean(name, map(str, table.columns))}",
            )  # fmt: skip
    for name in table.columns:
        if name not in known:
            raise FieldError(
                key, f"{path}: column '{name}' is not one of {', '.join(known)}."
                f"{did_you_mean(name, known)}",
            )  # fmt: skip
    return {name: _numbers(table[name], known[name], f"{path}: {name}", key) for name in table}


def _numbers(column: Any, kind: type, where: str, key: str) -> np.ndarray:
    """Return a column as int64 or float64; nothing is rounded and nothing is left out."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce")
    wrong = numbers.isna().to_numpy()
    if kind is int:
        as_float = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
        with np.errstate(invalid="ignore"):
            wrong = wrong | (as_float != np.floor(as_float)) | (np.abs(as_float) >= 2.0**63)
    if wrong.any():
        row = int(np.argmax(wrong))
        what = "a whole number" if kind is int else "a number"
        raise FieldError(key, f"{where}: row {row + 1}: '{column.iloc[row]}' is not {what}.")
    return numbers.to_numpy(dtype=np.int64 if kind is int else np.float64)
