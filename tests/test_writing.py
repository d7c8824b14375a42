# SPDX-License-Identifier: GPL-2.0-only
"""A file is there whole or not at all; a full disk is one message and costs nothing finished."""

import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pyorch import writing
from pyorch.errors import OutputError

ROOT = Path(__file__).parents[1]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "raw.npz"
    path.write_bytes(b"old")

    def fail(file):
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    message = (
        f"{path}: cannot be written (No space left on device). Free some space and start again;"
        " what is finished is kept."
    )
    with pytest.raises(OutputError, match=re.escape(message)):
        writing.write_atomically(path, fail)

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_bug_while_writing_keeps_its_name_and_the_old_file(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")

    with pytest.raises(ZeroDivisionError):
        writing.write_atomically(path, lambda file: 1 // 0)

    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"old", [path])


WRITER = """\
import sys, time
from pyorch import writing

def slow(file):
    file.write(b"half"); file.flush(); print("on", flush=True); time.sleep(60)

if sys.argv[2] == "named":  # as on NFS
    writing._nameless = lambda folder: None
writing.write_atomically(sys.argv[1], slow)
"""


@pytest.fixture
def writers():
    """Return a function that starts to write a file; all of them are killed at the end."""
    started = []

    def start(path, kind):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, path, kind], stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        started.append(process)
        assert process.stdout.readline() == b"on\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_who_dies_while_it_writes_leaves_nothing(tmp_path, writers):
    writers(tmp_path / "x", "nameless").kill()
    assert names(tmp_path) == set()


def test_without_nameless_files_what_the_dead_have_begun_goes_when_it_is_written_again(
    tmp_path, writers
):
    dead, living = (writers(tmp_path / "x", "named") for _ in range(2))
    dead.kill()
    dead.wait()
    begun = f".x.{living.pid}.pyorch.tmp"
    assert names(tmp_path) == {f".x.{dead.pid}.pyorch.tmp", begun}
    writing.write_text(tmp_path / "x", "whole")
    assert names(tmp_path) == {"x", begun}, "what is being written stays"


#: A glob of our pattern must not take any of these, whatever is written beside them.
PRECIOUS = (
    ".precious.tmp", ".o.json.tmp", ".o.json.12.tmp", ".o.json.x.pyorch.tmp", ".pyorch.tmp",
    ".o-json.12.pyorch.tmp", ".other.12.pyorch.tmp", ".my-editor-autosave.tmp", "o.json.12.tmp",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["nameless", "named"])
def test_a_write_touches_no_file_of_others(tmp_path, monkeypatch, kind):
    if kind == "named":
        monkeypatch.setattr(writing, "_nameless", lambda folder: None)
    for name in PRECIOUS:
        (tmp_path / name).write_text("precious")
    writing.write_text(tmp_path / "o.json", "ours")
    assert names(tmp_path) == {*PRECIOUS, "o.json"}
    assert {(tmp_path / name).read_text() for name in PRECIOUS} == {"precious"}


def test_a_file_has_the_permissions_of_any_new_file_and_replaces_a_link_not_its_target(tmp_path):
    (tmp_path / "plain").touch()
    (tmp_path / "target").write_text("theirs")
    (tmp_path / "x").symlink_to("target")
    writing.write_text(tmp_path / "x", "ours")
    assert (tmp_path / "target").read_text() == "theirs"
    assert not (tmp_path / "x").is_symlink()
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=re.escape(f"{tmp_path}/file/below: cannot be written")):
        writing.make_folder(tmp_path / "file" / "below")


def test_a_result_that_cannot_fit_is_refused_before_the_run(tmp_path):
    with pytest.raises(OutputError, match="the result needs at least .* Nothing was run"):
        writing.expect_room(tmp_path, 10**18)
    writing.expect_room(tmp_path, 1)


@pytest.fixture
def on_small_disk(tmp_path):
    """Return a function that runs commands on a disk of some kB and tells what is left there.

    The disk is a tmpfs in a mount namespace of its own, so the full disk is a real one.
    """
    disk = tmp_path / "disk"
    disk.mkdir()
    inside = ["unshare", "--map-root-user", "--mount", "bash", "-c"]

    def run(size_kb, command):
        mount = f"mount -t tmpfs -o size={size_kb}k none {disk}"
        if subprocess.run([*inside, mount], capture_output=True).returncode:
            pytest.skip("no file system can be mounted here")
        script = f"{mount}\n{command}\necho $? $(ls -A {disk})"
        done = subprocess.run(
            [*inside, script], cwd=ROOT, text=True, capture_output=True,
            env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        )  # fmt: skip
        status, *left = done.stdout.splitlines()[-1].split()
        return int(status), done.stderr, set(left)

    run.disk = disk
    return run


#: 4032 flows; its raw columns take 1.15 MB, of which ten columns of flows and ports are 0.34 MB.
SCENARIO = """\
name: small
topology: {type: leaf_spine, leaves: 8, hosts_per_leaf: 8, spines: 8}
link: {rate: 100 Gb/s, delay: 500 ns}
switch: {buffer: 8 MB}
workload: {type: all_to_all, message: 10 kB}
transport: {type: ns3::RoceTransport}
stop: 20 ms
"""
RENDERED = {"spec.json", "scenario.py", "tables.npz"}
SIMULATED = {"raw.npz", "manifest.json", "provenance.json"}
FULL = r"cannot be written \(No space left on device\). Free some space and start again;"


@pytest.mark.ns3
@pytest.mark.parametrize(
    ("size_kb", "message", "left"),
    [
        (8, rf"/tables.npz: {FULL}", {"spec.json"}),
        (300, r"needs at least 0.3 MB, but the disk has 0.3 MB left. Nothing was run", RENDERED),
        (800, rf"/raw.npz: {FULL}", RENDERED),
        (1220, rf"/paths.parquet: {FULL}", RENDERED | SIMULATED | {"flows.parquet"}),
    ],
)
def test_a_full_disk_is_one_message_and_keeps_what_is_finished(
    on_small_disk, tmp_path, size_kb, message, left
):
    (tmp_path / "small.yaml").write_text(SCENARIO)

    status, said, found = on_small_disk(
        size_kb, f"pyorch run {tmp_path}/small.yaml --out {on_small_disk.disk}"
    )

    assert status == 1 and re.search(message, said), said
    assert len(said.splitlines()) == 1
    assert found == left, "no half-made file, and nothing lost"


def test_a_figure_on_a_full_disk_is_one_message(on_small_disk):
    status, said, found = on_small_disk(60, f"python plots/figure_1.py --out {on_small_disk.disk}")

    assert status == 1 and re.search(rf"figure_1: .*/figure_1.svg: {FULL}", said), said
    assert found == {"figure_1.pdf"}
