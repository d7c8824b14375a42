# SPDX-License-Identifier: GPL-2.0-only
"""Bus bandwidths of ring all-reduces that SimAI's tutorial prints, beside ours.

A step begins 2 us (its AS_SEND_LAT) after the message of the one before has come, the first at
2 us. There a message has come when its sender has the acknowledgement, so a step has the way back
in it too.
"""

import pytest

import pyorch

pytestmark = pytest.mark.ns3

MIB, GIB = 2**20, 2**30
#: MiB of the vector: GiB/s of the bus. 8 GPUs of a server at 1440 Gb/s, section "RING VS NVLS".
SERVER = {16: 141.84, 64: 160.60, 512: 166.68}
#: 32 GPUs of one rail at 400 Gb/s, Spectrum-X.
RAIL = {16: 33.095585, 64: 42.049648, 512: 45.653648}


def bus_bandwidth(mebibytes, ranks, rate, delay, header, folder, engine="fluid"):
    """Return 2 (n-1)/n of the bytes over the time [GiB/s]."""
    attributes = {"MtuBytes": 9000, "HeaderBytes": header, "RethBytes": 0, "AckInterval": 16}
    run = pyorch.run({
        "name": "simai", "engine": engine,
        "topology": {"type": "star", "hosts": ranks},
        "link": {"rate": rate, "delay": delay}, "switch": {"buffer": "none"},
        "wire": {"framing": "0 B"},
        "workload": {"type": "collective", "algorithm": "ring", "operation": "all_reduce",
                     "bytes": f"{mebibytes} MiB", "ranks": ranks, "step_delay": "2 us",
                     "start": "2 us"},
        "transport": {"type": "ns3::RoceTransport", "attributes": attributes},
        "stop": "100 ms",
    }, results=folder)  # fmt: skip
    seconds = run.flows["receiver_end_ps"].max() / 1e12
    return 2 * (ranks - 1) / ranks * mebibytes * MIB / GIB / seconds


@pytest.mark.parametrize("mebibytes", SERVER)
def test_rings_in_a_server(mebibytes, tmp_path):
    # NVLink of 25 ns: 0.05 us of the way back in 2.1 us of each of 14 steps.
    ours = bus_bandwidth(mebibytes, 8, "1440 Gb/s", "25 ns", 1, tmp_path)
    assert ours == pytest.approx(SERVER[mebibytes], rel=0.005)


@pytest.mark.parametrize("mebibytes", RAIL)
def test_rings_on_a_rail(mebibytes, tmp_path):
    # Links of 500 ns: of each of 62 steps 1 us is the way back. With links of 1 us, which is the
    # way there and back, ours are theirs; headers of 67 B are what their rates at 512 MiB lack.
    with_ack, without = (
        bus_bandwidth(mebibytes, 32, "400 Gb/s", delay, 67, tmp_path)
        for delay in ("1 us", "500 ns")
    )
    assert with_ack == pytest.approx(RAIL[mebibytes], rel=0.005)
    step_us = mebibytes * MIB / GIB / 32 / with_ack * 1e6  # 62 steps of S / 32
    assert without / with_ack == pytest.approx(step_us / (step_us - 1), rel=3e-3)


def test_packets_of_a_server_are_as_long(tmp_path):
    fluid, packets = (
        bus_bandwidth(16, 8, "1440 Gb/s", "25 ns", 1, tmp_path, engine)
        for engine in ("fluid", "packets")
    )
    assert packets == pytest.approx(fluid, rel=0.005)
