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
    words = peers.commands(shape, 3, [peer], tmp_path)["htsim_roce"]

    # Oracle: 4 leaves of 2 hosts, 800 Gb/s, 500 ns; 8 messages of 3 x 4096 bytes, each host once.
    assert words[:5] == [peer, "-topo", tmp_path / "fabric.topo", "-tm", tmp_path / "flows.cm"]
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
    assert 0 < peers.user_cpu_s([busy]) < 60

    busy.write_text("#!/bin/sh\necho no such option >&2; exit 3\n")
    with pytest.raises(SystemExit, match="busy ended with status 3: no such option"):
        peers.user_cpu_s([busy])
