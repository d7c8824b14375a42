# SPDX-License-Identifier: GPL-2.0-only
"""Checks raw.npz and its manifest and writes one Parquet file for each table."""

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pyorch.errors import TraceError
from pyorch.reading import check_file, read_archive, read_json
from pyorch.simulate.results import sha256
from pyorch.traces.columns import CONTRACTS, Column, contract_of, unknown_columns
from pyorch.traces.records import MAKE_AGAIN
from pyorch.units import LARGEST
from pyorch.writing import make_folder, write_atomically

Columns = dict[str, np.ndarray]


def convert(folder: Path | str, out: Path | str | None = None) -> list[Path]:
    """Write the tables of a run as Parquet and return their paths.

    Parameters
    ----------
    folder : path
        Has ``raw.npz`` and ``manifest.json``.
    out : path, optional
        Where to write; `folder` by default.

    Raises
    ------
    TraceError
        A file is missing or was changed, or a table breaks its contract.
    """
    folder, out = Path(folder), Path(out or folder)
    tables = read_raw(folder)
    engine = read_json(folder / "manifest.json", TraceError, "").get("engine", "packets")
    for name, columns in tables.items():
        for column in set(unknown_columns(name, engine)) - columns.keys():
            columns[column] = np.full_like(next(iter(columns.values())), -1)
        check(name, columns, f"{folder}/raw.npz", engine)
    make_folder(out)
    return [write_table(out, name, columns, engine) for name, columns in tables.items()]


def write_table(folder: Path, name: str, columns: Columns, engine: str = "packets") -> Path:
    """Write one raw table of an engine as Parquet and return its path."""
    path = folder / f"{name}.parquet"
    table = to_arrow(name, columns, engine)
    write_atomically(path, lambda file: pq.write_table(table, file, compression="zstd"))
    return path


def read_raw(folder: Path) -> dict[str, Columns]:
    """Return the raw tables of a run by name, after comparing them with their manifest."""
    raw, manifest_path = folder / "raw.npz", folder / "manifest.json"
    manifest = read_json(manifest_path, TraceError, MAKE_AGAIN)
    if not isinstance(manifest.get("tables"), dict):
        raise TraceError(f"{manifest_path}: has no mapping of tables. {MAKE_AGAIN}")
    check_file(raw, LARGEST, TraceError, MAKE_AGAIN)
    if sha256(raw) != manifest.get("raw_sha256"):
        raise TraceError(f"{raw}: not the file that {manifest_path.name} describes. {MAKE_AGAIN}")
    empty: dict[str, Columns] = {name: {} for name in manifest["tables"]}
    return empty | read_archive(raw, TraceError, MAKE_AGAIN)


def check(name: str, columns: Columns, source: str, engine: str = "packets") -> None:
    """Raise TraceError unless a raw table keeps its contract.

    Its columns are just those of the contract, equally long, int64, and only what may be missing
    is negative; flows end after they start and at the sender not before the receiver.
    """
    contract = CONTRACTS.get(name)
    if contract is None:
        raise TraceError(
            f"{source}: no contract for table '{name}'. There are {_names(CONTRACTS)}."
        )
    missing, unknown = contract.keys() - columns.keys(), columns.keys() - contract.keys()
    if missing or unknown:
        raise TraceError(
            f"{source}: table {name}: missing {_names(missing)}; not in its contract"
            f" {_names(unknown)}. Engine and pyorch/traces/columns.py must be of one version."
        )
    if len({len(values) for values in columns.values()}) > 1:
        raise TraceError(f"{source}: table {name}: columns differ in length.")
    for column, values in columns.items():
        _check_column(f"{source}: {name}.{column}", contract_of(name, engine)[column], values)
    if name == "flows":
        _check_flows(columns, source)


def _check_column(where: str, column: Column, values: np.ndarray) -> None:
    if values.dtype != np.int64:
        raise TraceError(f"{where}: is {values.dtype}, not int64.")
    lowest = -1 if column.may_be_missing else 0
    if values.min(initial=0) < lowest:
        row = int(np.argmin(values))
        raise TraceError(f"{where}: row {row} is {values[row]}; the least is {lowest}.")


def _check_flows(flows: Columns, source: str) -> None:
    ids = flows["flow"]
    if (np.diff(ids) <= 0).any() and len(np.unique(ids)) != len(ids):
        raise TraceError(f"{source}: flows.flow: an id stands twice.")
    received, acknowledged = flows["receiver_end_ps"], flows["sender_end_ps"]
    wrong = (received >= 0) & (received < flows["start_ps"])
    wrong |= (acknowledged >= 0) & (acknowledged < received)
    wrong |= (acknowledged >= 0) & (received < 0)
    if wrong.any():
        flow = int(flows["flow"][np.argmax(wrong)])
        raise TraceError(
            f"{source}: flow {flow} ends before it starts, or at the sender before the receiver."
        )


def to_arrow(name: str, columns: Columns, engine: str = "packets") -> pa.Table:
    """Return a table in the order of its contract; what never happened is null.

    Its metadata hold the digest of its values, because Parquet's own checksums spare the footer.
    """
    arrays, fields = [], []
    for column, rule in contract_of(name, engine).items():
        arrays.append(_array(columns[column], rule.may_be_missing))
        meaning = {b"meaning": rule.meaning.encode()}
        fields.append(pa.field(column, pa.int64(), nullable=rule.may_be_missing, metadata=meaning))
    digest = hashlib.sha256()
    for column in CONTRACTS[name]:
        digest.update(hashable(columns[column]))
    schema = pa.schema(fields, {b"sha256": digest.hexdigest().encode()})
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: np.ndarray, may_be_missing: bool) -> pa.Array:
    """Return a column; of its bytes, for `pyarrow.array` imports pandas, half a second of CPU."""
    is_there = values >= 0
    bitmap = None
    if may_be_missing and not is_there.all():
        bitmap = pa.py_buffer(np.packbits(is_there, bitorder="little"))
    return pa.Array.from_buffers(pa.int64(), len(values), [bitmap, pa.py_buffer(hashable(values))])


def hashable(values: np.ndarray) -> memoryview:
    """Return an int64 column, -1 for what never happened, as its digest takes it."""
    return np.ascontiguousarray(values, dtype="<i8").data


def _names(names) -> str:
    return ", ".join(sorted(names)) or "nothing"
