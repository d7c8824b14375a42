# SPDX-License-Identifier: GPL-2.0-only
"""What htsim is given by the benchmark is the permutation that our own engine runs."""

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def peers():
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("peers", FOLDER / "peers.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def test_a_peer_gets_the_same_fabric_and_flows(peers, tmp_path):
    shape = peers.permutation.Shape(leaves=4, hosts_per_leaf=2, spines=2, packets=3)
    peer = tmp_path / "htsim_roce"
    words = peers.prepare(shape, 3, peer, tmp_path)

    # Oracle: 4 leaves of 2 hosts, 800 Gb/s, 500 ns; 8 messages of 3 x 4096 bytes, each host once.
    assert words[:5] == [peer, "-topo", tmp_path / "fabric.topo", "-tm", tmp_path / "flows.cm"]
    assert words[words.index("-linkspeed") + 1] == 800_000  # Mb/s, of its hosts
    topo = (tmp_path / "fabric.topo").read_text().split()
    assert topo[topo.index("Nodes") + 1] == "8" and topo.count("800") == 2
    assert topo.count("500") == 2
    lines = (tmp_path / "flows.cm").read_text().splitlines()[2:]
    ends = [line.split()[0].split("->") for line in lines]
    assert sorted(int(src) for src, _ in ends) == sorted(int(dst) for _, dst in ends) == [*range(8)]
    assert all(int(src) // 2 != int(dst) // 2 for src, dst in ends)
    assert {line.rpartition(" ")[2] for line in lines} == {"12288"}


def test_cpu_is_that_of_the_program_alone(peers, tmp_path):
    busy = tmp_path / "busy"
    busy.write_text("#!/bin/sh\ni=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done\n")
    busy.chmod(0o755)
    assert 0 < peers.call([busy])[0] < 60

    busy.write_text("#!/bin/sh\necho no such option >&2; exit 3\n")
    with pytest.raises(SystemExit, match="busy ended with status 3: no such option"):
        peers.call([busy])


def test_work_that_is_not_alike_is_not_compared(peers):
    one = peers.Measurement(run_s=1.0, whole_s=2.0, slowest_us=10.0)

    alike = [*peers.compare("x", 10**6, [one], [peers.Measurement(8.0, 8.0, 19.9)])]
    assert alike[-2:] == [
        "x: ours takes 8.0 times less, run (median 8.0)",
        "x: ours takes 4.0 times less, whole (median 4.0)",
    ]
    other = [*peers.compare("x", 10**6, [one], [peers.Measurement(8.0, 8.0, 20.1)])]
    assert other[1:] == ["x: not compared: they have not done the same work"]


def test_a_program_that_leaves_messages_is_not_measured(peers, tmp_path):
    peer = tmp_path / "htsim_roce"
    peer.write_text("#!/bin/sh\necho Flow a finished at 12.5 total bytes 1\n")
    peer.chmod(0o755)

    assert peers.measure_peer([peer], 1).slowest_us == 12.5
    with pytest.raises(SystemExit, match="htsim_roce: 1 of 2 messages ended"):
        peers.measure_peer([peer], 2)
