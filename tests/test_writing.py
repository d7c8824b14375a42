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


def test_what_the_dead_have_half_written_goes_and_what_the_living_write_stays(tmp_path):
    writer = (
        "import sys, time; from pyorch.writing import write_atomically\n"
        "def slow(file):\n"
        "    file.write(b'half'); file.flush(); print('on', flush=True); time.sleep(60)\n"
        "write_atomically(sys.argv[1], slow)"
    )
    living, dead = (
        subprocess.Popen([sys.executable, "-c", writer, tmp_path / name], stdout=subprocess.PIPE,
                         env=os.environ | {"PYTHONPATH": str(ROOT)})
        for name in ("living", "dead")
    )  # fmt: skip
    for process in (living, dead):
        assert process.stdout.readline() == b"on\n"
    dead.kill()
    dead.wait()
    try:
        writing.write_text(tmp_path / "other", "x")  # another name: all of the folder is swept
        left = {path.name for path in tmp_path.iterdir()}
        assert left == {"other", f".living.{living.pid}.tmp"}
    finally:
        living.kill()
        living.wait()
    writing.write_text(tmp_path / "other", "y")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


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
        size_kb, f"python -m pyorch run {tmp_path}/small.yaml --out {on_small_disk.disk}"
    )

    assert status == 1 and re.search(message, said), said
    assert len(said.splitlines()) == 1
    assert found == left, "no half-made file, and nothing lost"


def test_a_figure_on_a_full_disk_is_one_message(on_small_disk):
    status, said, found = on_small_disk(60, f"python plots/figure_1.py --out {on_small_disk.disk}")

    assert status == 1 and re.search(rf"figure_1: .*/figure_1.svg: {FULL}", said), said
    assert found == {"figure_1.pdf"}
