# SPDX-License-Identifier: GPL-2.0-only
"""Raw columns become Parquet unchanged, or are refused with what is wrong; never repaired."""

import hashlib
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyorch import traces
from pyorch.errors import TraceError
from pyorch.traces.convert import check, to_arrow


def table(name, rows=2, **changed):
    columns = {column: np.zeros(rows, dtype=np.int64) for column in traces.CONTRACTS[name]}
    if name == "flows":
        columns["flow"] = np.arange(rows, dtype=np.int64)
    return columns | {key: np.array(values) for key, values in changed.items()}


def write_run(folder, **tables):
    given = {name: table(name) for name in traces.ALWAYS} | tables
    columns = {f"{t}.{c}": values for t, cs in given.items() for c, values in cs.items()}
    np.savez(folder / "raw.npz", **columns)
    digest = hashlib.sha256((folder / "raw.npz").read_bytes()).hexdigest()
    manifest = {"raw_sha256": digest, "tables": {name: {} for name in given}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_values_come_back_unchanged_and_never_is_na(tmp_path):
    flows = table("flows", start_ps=[5, 7], receiver_end_ps=[9, -1], sender_end_ps=[11, -1])
    traces.convert(write_run(tmp_path, flows=flows))

    got = traces.read_table(tmp_path, "flows")

    assert list(got.columns) == list(traces.CONTRACTS["flows"])
    assert got["start_ps"].tolist() == [5, 7]
    assert got["receiver_end_ps"].tolist() == [9, pd.NA]
    assert set(map(str, got.dtypes)) == {"Int64"}


@given(st.lists(st.integers(-1, 2**63 - 1), max_size=20))
def test_a_column_is_what_pyarrow_makes_of_it(values):
    ends = np.array(values, dtype=np.int64)
    made = to_arrow("flows", table("flows", len(values), sender_end_ps=ends))
    assert made["sender_end_ps"].combine_chunks() == pa.array(ends, mask=ends < 0)
    assert made["flow"].combine_chunks() == pa.array(np.arange(len(values)))
    made.validate(full=True)


def test_tables_are_written_without_pandas(tmp_path):
    # It takes half a second of CPU, in the process of each run.
    code = (
        "import sys; from pyorch.runs import make; from pyorch import traces\n"
        f"traces.convert({str(write_run(tmp_path))!r})\n"
        "print(sorted({'pandas', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n" and (tmp_path / "flows.parquet").exists()


def test_the_same_run_gives_the_same_bytes(tmp_path):
    write_run(tmp_path)
    first = [path.read_bytes() for path in traces.convert(tmp_path)]

    assert first == [path.read_bytes() for path in traces.convert(tmp_path, tmp_path / "again")]


@pytest.mark.parametrize(
    ("flows", "message"),
    [
        (table("flows", flow=[3, 3]), "flows.flow: an id stands twice"),
        (table("flows", bytes=[1, -1]), "flows.bytes: row 1 is -1; the least is 0"),
        (table("flows", bytes=[1.0, 2.0]), "flows.bytes: is float64, not int64"),
        (table("flows", start_ps=[9, 9], receiver_end_ps=[8, 10], sender_end_ps=[20, 20]),
         "flow 0 ends before it starts"),
        (table("flows", receiver_end_ps=[8, 9], sender_end_ps=[9, 8]), "flow 1 ends before"),
        (table("flows", receiver_end_ps=[-1, 9], sender_end_ps=[9, 9]), "flow 0 ends before"),
        (table("flows") | {"surprise": np.zeros(2, dtype=np.int64)},
         "table flows: missing nothing; not in its contract surprise"),
        ({"flow": np.arange(2)}, "table flows: missing bytes, dst"),
    ],
)  # fmt: skip
def test_a_broken_table_is_refused(tmp_path, flows, message):
    with pytest.raises(TraceError, match=re.escape(message)):
        traces.convert(write_run(tmp_path, flows=flows))
    assert not list(tmp_path.glob("*.parquet"))


def test_columns_of_different_length_are_refused(tmp_path):
    flows = table("flows") | {"naks": np.zeros(3, dtype=np.int64)}
    with pytest.raises(TraceError, match="table flows: columns differ in length"):
        traces.convert(write_run(tmp_path, flows=flows))


def test_a_changed_file_is_refused_with_the_command_to_run_it_again(tmp_path):
    write_run(tmp_path)
    (tmp_path / "raw.npz").write_bytes(b"cut short")
    with pytest.raises(TraceError, match="not the file that manifest.json describes. Make the"):
        traces.convert(tmp_path)


MANIFESTS = [b"{}", b"[]", b"\xff", b'{"raw_sha256": 3, "tables": {}}', b'{"tables": 3}', b"null"]


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_a_damaged_manifest_is_one_sentence_with_what_to_do(tmp_path, manifest):
    (write_run(tmp_path) / "manifest.json").write_bytes(manifest)
    with pytest.raises(TraceError, match=f"^{tmp_path}/.*Make the run again") as found:
        traces.convert(tmp_path)
    assert "\n" not in str(found.value)


def test_a_manifest_that_names_no_tables_of_the_right_archive_is_one_sentence(tmp_path):
    path = write_run(tmp_path) / "manifest.json"
    path.write_text(json.dumps({"raw_sha256": json.loads(path.read_text())["raw_sha256"]}))
    with pytest.raises(TraceError, match="manifest.json: has no mapping of tables. Make the run"):
        traces.convert(tmp_path)


#: docs/definitions.md: of ports the fluid engine knows which they are, their rate and their bytes.
FLUID_PORTS = {"node", "peer", "parallel", "rate_bps", "sent_bytes"}


def test_of_a_fluid_run_what_only_packets_have_is_missing_and_nothing_else(tmp_path):
    unknown = traces.CONTRACTS["ports"].keys() - FLUID_PORTS
    ports = table("ports", **{name: [-1, -1] for name in unknown})
    path = write_run(tmp_path, ports=ports) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"engine": "fluid"}))
    traces.convert(tmp_path)
    missing = traces.read_table(tmp_path, "ports").isna().all()
    assert set(missing[missing].index) == unknown
    for name in FLUID_PORTS:
        given = table("ports", **{name: [0, -1]})
        with pytest.raises(TraceError, match=f"ports.{name}: row 1 is -1"):
            check("ports", given, "raw.npz", "fluid")


@settings(max_examples=200)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7), cut=st.booleans())
def test_an_archive_that_is_damaged_with_its_digest_is_refused_or_read(archive, place, bit, cut):
    # The digest fits, as of somebody who has edited both; what is no column is refused.
    folder, good = archive
    damaged = bytearray(good)
    damaged[int(place * len(good))] ^= 1 << bit
    write_raw(folder, bytes(damaged[: int(place * len(good))] if cut else damaged))
    try:
        traces.convert(folder)
    except TraceError as error:
        assert "\n" not in str(error) and str(error).startswith(str(folder))


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = write_run(tmp_path_factory.mktemp("run"))
    return folder, (folder / "raw.npz").read_bytes()


def write_raw(folder, content):
    (folder / "raw.npz").write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["raw_sha256"] = hashlib.sha256(content).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", ["raw.npz", "manifest.json", "flows.parquet"])
@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_folder_or_a_pipe_for_a_file_is_named(tmp_path, name, kind):
    traces.convert(write_run(tmp_path))
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir() if kind == "folder" else os.mkfifo(tmp_path / name)
    with pytest.raises(TraceError, match=f"{name}: is a (folder|device or a pipe), not a file"):
        traces.read_table(tmp_path, "flows") if "flows" in name else traces.convert(tmp_path)


def test_an_archive_of_objects_executes_nothing(tmp_path):
    class Evil:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "PWNED"),))

    write_run(tmp_path)
    buffer = io.BytesIO()
    np.savez(buffer, **{"flows.flow": np.array([Evil()], dtype=object)})
    write_raw(tmp_path, buffer.getvalue())
    with pytest.raises(TraceError, match="is damaged or no archive of arrays"):
        traces.convert(tmp_path)
    assert not (tmp_path / "PWNED").exists()


def test_a_run_without_result_is_named(tmp_path):
    with pytest.raises(
        TraceError, match="manifest.json: cannot be read .No such file.*Make the run"
    ):
        traces.convert(tmp_path)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    """Return the folder, the bytes and the values of a table of random numbers."""
    folder, rng = tmp_path_factory.mktemp("run"), np.random.default_rng(1)
    columns = {name: rng.integers(0, 10**12, 50) for name in traces.CONTRACTS["ports"]}
    traces.convert(write_run(folder, ports=columns))
    return folder, (folder / "ports.parquet").read_bytes(), traces.read_table(folder, "ports")


def read_damaged(parquet, content):
    """Return what is read from damaged bytes, None if they are refused with what to do."""
    folder, _, _ = parquet
    (folder / "ports.parquet").write_bytes(content)
    try:
        return traces.read_table(folder, "ports")
    except TraceError as error:
        said = str(error)
        assert said.startswith(f"{folder}/ports.parquet: ") and "\n" not in said
        assert said.endswith(f". Make it again: pyorch traces {folder}")
        return None


@settings(max_examples=400)
@given(st.floats(0, 1, exclude_max=True), st.integers(0, 7), st.booleans())
def test_a_flipped_bit_is_refused_or_changes_no_value(parquet, place, bit, in_footer):
    _, good, values = parquet
    footer = int.from_bytes(good[-8:-4], "little") + 8 if in_footer else len(good)
    damaged = bytearray(good)
    damaged[len(good) - 1 - int(place * footer)] ^= 1 << bit

    got = read_damaged(parquet, damaged)

    assert got is None or got.equals(values)


def test_every_flipped_bit_of_a_value_is_refused(parquet):
    # The pages of data begin behind the four bytes of the mark; these are within the first column.
    _, good, _ = parquet
    for place in range(40, 240, 7):
        damaged = bytearray(good)
        damaged[place] ^= 16
        assert read_damaged(parquet, damaged) is None, place


def test_some_columns_are_kept_and_all_are_compared(parquet):
    folder, good, values = parquet
    (folder / "ports.parquet").write_bytes(good)
    some = traces.read_table(folder, "ports", ["max_queue_bytes", "peer"])
    assert some.equals(values[["peer", "max_queue_bytes"]])
    damaged = bytearray(good)
    damaged[40] ^= 16  # in the first column, which is not kept
    (folder / "ports.parquet").write_bytes(damaged)
    with pytest.raises(TraceError):
        traces.read_table(folder, "ports", ["max_queue_bytes"])


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.9, 0.999])
def test_a_table_that_was_cut_short_is_refused(parquet, share):
    _, good, _ = parquet
    assert read_damaged(parquet, good[: int(share * len(good))]) is None


def test_a_table_of_someone_else_is_refused(parquet):
    folder, good, values = parquet
    values.to_parquet(folder / "ports.parquet", index=False)
    with pytest.raises(TraceError, match="it does not hold what was written"):
        traces.read_table(folder, "ports")


def test_a_table_that_was_not_made_says_how_to_make_it(tmp_path):
    with pytest.raises(TraceError, match="no such table. Make it with: pyorch traces"):
        traces.read_table(tmp_path, "flows")
