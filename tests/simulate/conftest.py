# SPDX-License-Identifier: GPL-2.0-only
"""A scenario script that a test can vary, and a way to run it as a user would."""

import subprocess
import sys

import pytest

#: Two hosts below one switch, links of 800 Gb/s and 500 ns; host 0 sends to host 1.
SCRIPT = """
from pyorch.simulate import Fabric, main

def build():
    fabric = Fabric(seed={seed})
    fabric.wire(framing_bytes=20)
    fabric.switch(buffer_bytes=64_000_000, processing_delay_ps=0)
    fabric.table("nodes", {{"node": [0, 1, 2], "is_switch": [0, 0, 1], "tier": [0, 0, 1],
                            "plane": [0, 0, 0]}})
    fabric.table("links", {{"node_a": [0, 1], "node_b": [2, 2], "parallel": [0, 0],
                            "rate_bps": [800 * 10**9] * 2, "delay_ps": [500_000] * 2}})
    fabric.table("flows", {{"flow": [7], "src": [0], "dst": [1], "bytes": [{size_bytes}],
                            "start_ps": [0], "transport": [0]}})
    fabric.forwarding("ns3::EcmpHash")
    fabric.queue("{queue}")
    fabric.flow_control("ns3::Pfc")
    fabric.transport("{transport}", {attributes})
    fabric.stop_ps = {stop_ps}
    return fabric

if __name__ == "__main__":
    main(build)
"""

DEFAULTS = {
    "seed": 1,
    "size_bytes": 4096,
    "queue": "ns3::DropTail",
    "transport": "ns3::RoceTransport",
    "attributes": "{}",
    "stop_ps": 10**12,
}


@pytest.fixture
def script(tmp_path):
    """Return a function that writes a scenario script and returns its path."""

    def write(**changes):
        path = tmp_path / "scenario.py"
        path.write_text(SCRIPT.format(**DEFAULTS | changes))
        return path

    return write


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a script to its end in a process of its own."""

    def run(path, out="out"):
        return subprocess.run(
            [sys.executable, path, "--out", tmp_path / out], capture_output=True, text=True
        )

    return run
