# SPDX-License-Identifier: GPL-2.0-only
"""Reads a file that somebody may have changed; a damaged one is refused in one sentence.

What is read back from disk is input, also if we have written it: each reader here opens ordinary
files only (a device or a pipe may never end), of bounded size, and knows every way in which bytes
can be damaged.
"""

import json
import stat
import zipfile
import zlib
from pathlib import Path

from pyorch.errors import PyorchError

Error = type[PyorchError]
_MB = 2**20
#: Files that we have written ourselves [byte].
LARGEST_JSON_BYTES = 64 * _MB


def read_bytes(path: Path | str, most_bytes: int, error: Error, advice: str = "") -> bytes:
    """Return the content of an ordinary file.

    Parameters
    ----------
    path : path
        Of the file.
    most_bytes : int
        A larger file is refused unread [byte].
    error : type of PyorchError
        What to raise.
    advice : str
        Last sentence of the message: how to get a good file.

    Raises
    ------
    PyorchError
        Not there, no ordinary file, too large, or not readable.
    """
    check_file(path, most_bytes, error, advice)
    try:
        return Path(path).read_bytes()
    except OSError as problem:
        raise _unreadable(path, problem, error, advice) from None


def check_file(path: Path | str, most_bytes: int | None, error: Error, advice: str = "") -> None:
    """Raise as `read_bytes` does, without reading; None: it may have any size."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError) as problem:  # a name with a NUL is a ValueError
        raise _unreadable(path, problem, error, advice) from None
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a device or a pipe"
        raise error(f"{shown(path)}: is {kind}, not a file. {advice}".rstrip())
    if most_bytes is not None and found.st_size > most_bytes:
        raise error(
            f"{shown(path)}: has {found.st_size / _MB:,.0f} MiB; at most {most_bytes // _MB} MiB"
            f" are read. {advice}".rstrip()
        )


def _unreadable(path: Path | str, problem: Exception, error: Error, advice: str) -> PyorchError:
    why = getattr(problem, "strerror", None) or str(problem)
    return error(f"{shown(path)}: cannot be read ({why}). {advice}".rstrip())


def read_json(path: Path | str, error: Error, advice: str, kind: type = dict):
    """Return the mapping, or the list, that a JSON file holds.

    Raises
    ------
    PyorchError
        As `read_bytes`; or no JSON, or of another kind, or a number that JSON has not.
    """
    content = read_bytes(path, LARGEST_JSON_BYTES, error, advice)
    try:
        value = json.loads(content.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        why = f"not JSON: {problem}" if isinstance(problem, json.JSONDecodeError) else "not JSON"
        raise error(f"{shown(path)}: {why}. {advice}") from None
    if not isinstance(value, kind):
        found, wanted = _KINDS[type(value)], _KINDS[kind]
        raise error(f"{shown(path)}: is a {found}, not a {wanted}. {advice}")
    return value


def read_archive(path: Path | str, error: Error, advice: str) -> dict[str, dict]:
    """Return the arrays of an ``.npz`` archive with keys ``<table>.<column>``, by table and column.

    Nothing in it is executed.

    Raises
    ------
    PyorchError
        It is not there, is damaged, or holds something else than arrays of numbers.
    """
    import numpy as np

    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise error(f"{shown(path)}: is no file. {advice}")
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it is no archive")
            arrays = {key: archive[key] for key in archive.files}
    except FileNotFoundError:
        raise error(f"{shown(path)}: not there. {advice}") from None
    except (
        OSError, ValueError, EOFError, KeyError, TypeError, AttributeError, MemoryError,
        SyntaxError, RuntimeError, OverflowError, zipfile.BadZipFile, zlib.error,
    ) as problem:  # fmt: skip
        why = (str(problem).splitlines() or [""])[0].rstrip(".")
        why = f"{type(problem).__name__}: {why}" if why else type(problem).__name__
        what = f"is damaged or no archive of arrays ({why})"
        raise error(f"{shown(path)}: {what}. {advice}") from None
    tables: dict[str, dict] = {}
    for key, values in arrays.items():
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "biuf":
            raise error(f"{shown(path)}: {shown(key)} is no column of numbers. {advice}")
        table, _, column = key.partition(".")
        tables.setdefault(table, {})[column] = values
    return tables


_KINDS = {dict: "mapping of keys", list: "list", str: "text", bool: "truth value", int: "number",
          float: "number", type(None): "null"}  # fmt: skip


def _refuse(constant: str):
    raise ValueError(f"{constant} is no number")


def shown(path: object) -> str:
    """Return a path, or a message with one in it, on one line, whatever is in its name."""
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in str(path)
    )
