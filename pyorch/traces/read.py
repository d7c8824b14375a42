# SPDX-License-Identifier: GPL-2.0-only
"""Reads a table of a run as a DataFrame of Int64 columns."""

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from pyorch.errors import TraceError
from pyorch.reading import check_file, read_archive
from pyorch.traces import manifest
from pyorch.traces.columns import CONTRACTS, RECORDED_WITH
from pyorch.traces.convert import hashable
from pyorch.traces.records import MAKE_AGAIN
from pyorch.units import LARGEST

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


def read_table(
    folder: Path | str, name: str, columns: Collection[str] | None = None
) -> "pd.DataFrame":
    """Return a table of a run; <NA> is what never happened.

    Every column is read, one after the other, and compared with what was written; only those that
    are asked for are kept.

    Parameters
    ----------
    folder : path
        Of the run.
    name : str
        Of the table.
    columns : collection of str, optional
        Which to keep; all by default.

    Raises
    ------
    TraceError
        It is not there, is damaged, or has other columns than its contract.
    """
    import pandas as pd  # takes a third of a second, and who makes a run reads no table

    path = Path(folder) / f"{name}.parquet"
    again = f"Make it again: pyorch traces {folder}"
    if not path.exists():
        raise TraceError(_not_there(path))
    check_file(path, LARGEST, TraceError, again)
    manifest.check(folder, path.name)
    damaged = f"{path}: is damaged: it does not hold what was written. {again}"
    try:
        file = pq.ParquetFile(path)
        found, written = file.schema_arrow.names, file.schema_arrow.metadata or {}
    except Exception as error:
        raise TraceError(_no_table(path, error, again)) from None
    if found != list(CONTRACTS[name]):
        raise TraceError(
            f"{path}: has columns {', '.join(found)}; its contract is"
            f" {', '.join(CONTRACTS[name])}. {again}"
        )
    kept, digest = {}, hashlib.sha256()
    for column in found:
        try:
            values = file.read(columns=[column]).column(0)
        except Exception as error:
            raise TraceError(_no_table(path, error, again)) from None
        if values.type != pa.int64():
            raise TraceError(damaged)
        digest.update(hashable(values.fill_null(-1).to_numpy()))
        if columns is None or column in columns:
            kept[column] = pd.Int64Dtype().__from_arrow__(values)
    if digest.hexdigest() != written.get(b"sha256", b"").decode("latin-1"):
        raise TraceError(damaged)
    return pd.DataFrame(kept, copy=False)


def _not_there(path: Path) -> str:
    """Return why a table is missing: nothing has recorded it, or the run is not finished."""
    is_whole = manifest.looks_whole(path.parent)
    if path.stem in RECORDED_WITH and is_whole:
        return (
            f"{path}: this run has not recorded it. In a scenario it is recorded by"
            f" {RECORDED_WITH[path.stem]}. Add that, and run it again."
        )
    return f"{path}: no such table. Make it with: pyorch traces {path.parent}"


def _no_table(path: Path, error: Exception, again: str) -> str:
    """Return the line about a file that Parquet cannot read: damaged bytes fail in many ways."""
    why = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return f"{path}: is damaged or no Parquet file ({why}). {again}"


def read_inputs(folder: Path | str) -> dict[str, dict[str, "np.ndarray"]]:
    """Return the tables that a run was given, by table and column.

    Parameters
    ----------
    folder : path
        Of the run; has ``tables.npz``.

    Raises
    ------
    TraceError
        They are not there, or not what was written.
    """
    path = Path(folder) / "tables.npz"
    manifest.check(folder, path.name)
    return read_archive(path, TraceError, MAKE_AGAIN)
