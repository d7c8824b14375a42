# SPDX-License-Identifier: GPL-2.0-only
"""A capture is a file of the run's folder, there when it is whole and only when asked for."""

import re
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.ns3


@pytest.fixture
def capturing(script):
    """Return a function that writes a script which captures host 1."""

    def write(call="fabric.capture(1)", **changes):
        path = script(**changes)
        path.write_text(
            path.read_text().replace("    return fabric", f"    {call}\n    return fabric")
        )
        return path

    return write


def names(folder):
    return {path.name for path in folder.iterdir()}


def test_a_capture_lies_beside_the_result_and_replaces_an_older_one(capturing, run, tmp_path):
    without = run(capturing("pass"))
    assert (without.returncode, [n for n in names(tmp_path / "out") if "pcap" in n]) == (0, [])
    old = tmp_path / "out/host_1.pcap"
    old.write_text("of another run")
    left = tmp_path / "out/.host_1.pcap.tmp"
    left.write_text("of a run that was killed")

    done = run(capturing())

    assert (done.returncode, done.stderr) == (0, "")
    assert names(tmp_path / "out") == {
        "raw.npz", "manifest.json", "provenance.json", "host_1.pcap",
    }  # fmt: skip
    # One data frame of 4174 bytes comes and one answer of 66 leaves, each without its FCS.
    assert old.stat().st_size == 24 + 16 + 4170 + 16 + 62
    first = old.read_bytes()
    run(capturing())
    assert old.read_bytes() == first


def test_a_run_that_stops_early_leaves_what_happened_until_then(capturing, run, tmp_path):
    # The last bit of the only data frame is out of the switch after 583.48 ns and on the wire.
    done = run(capturing(stop_ps=1_000_000))

    assert done.returncode == 0
    assert (tmp_path / "out/host_1.pcap").stat().st_size == 24


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_leaves_no_part_of_a_capture(capturing, tmp_path, number):
    out = tmp_path / "out"
    short = "fabric.capture(1); fabric.trace(snaplen_bytes=64)"
    # A message of seconds of wall time, whose capture of 2 GB a small disk has room for.
    path = capturing(short, size_bytes=10**11, stop_ps=10**15)
    with subprocess.Popen([sys.executable, path, "--out", out], stderr=subprocess.PIPE) as process:
        while not (out / ".host_1.pcap.tmp").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(number)
        process.communicate(timeout=60)

    assert process.returncode in (130, 143)
    assert names(out) == set()


def test_a_full_disk_ends_the_run_with_its_name_and_leaves_no_result(capturing, tmp_path):
    path = capturing(size_bytes=10**8)
    out = tmp_path / "out"
    # A limit on the size of a file: what is written beyond it fails as on a full disk.
    code = (
        "import resource, runpy, sys;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6));"
        f"sys.argv = ['scenario.py', '--out', {str(out)!r}];"
        f"runpy.run_path({str(path)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    assert done.returncode == 3
    assert f"capture: {out}/host_1.pcap cannot be written: File too large. Free some" in done.stderr
    # At once: the first frame comes after 1.08 us, then 4170 + 62 + 32 bytes every 41.78 ns. A
    # megabyte takes 10.9 us, and at most 2.6 us more are in the buffer of the file.
    (us,) = re.findall(r"aborted at ([0-9.]+) us", done.stderr)
    assert 10.8 < float(us) < 13.6
    assert len(done.stderr.splitlines()) == 1
    assert names(out) == set()


def test_a_host_that_is_not_there_is_refused_before_the_run(capturing, run, tmp_path):
    done = run(capturing("fabric.capture(2)"))

    assert done.returncode == 1
    assert done.stderr.endswith("capture: there is no host 2\n")
    assert names(tmp_path / "out") == set()
