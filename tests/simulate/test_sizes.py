# SPDX-License-Identifier: GPL-2.0-only
"""What is said of a run before it begins is never more than what it then leaves."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyorch.errors import SimulationError
from pyorch.simulate import Fabric, sizes

FLOWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 20_000), st.integers(0, 1)),
    min_size=1, max_size=5,
)  # fmt: skip


@given(flows=FLOWS, mtus=st.tuples(*[st.integers(99, 9000)] * 2), snaplen=st.integers(1, 65535))
@example(flows=[(1, 2, 1001, 0)], mtus=(1000, 1000), snaplen=100)  # the last is short
def test_packets_and_captures_against_a_list_of_all_frames(flows, mtus, snaplen):
    names = ("src", "dst", "bytes", "transport")
    table = dict(zip(names, np.array(flows).T, strict=True))
    packets = sizes.data_packets(table, [{"MtuBytes": str(mtu)} for mtu in mtus])

    def payloads(size, mtu):
        return [min(mtu, size - at) for at in range(0, size, mtu)]

    each = [payloads(size, mtus[t]) for _, _, size, t in flows]
    assert packets.tolist() == [len(frames) for frames in each]

    bare = sizes.least_result_bytes(table, 2, packets, False, [])
    assert bare == 10 * 8 * (len(flows) + 4)
    kept = sum(
        16 + min(payload + 54, snaplen)  # Ethernet, IPv4, UDP and BTH; the FCS is not kept
        for (src, dst, *_), frames in zip(flows, each, strict=True)
        if 1 in (src, dst)
        for payload in frames
    )
    short = kept - (sizes.least_result_bytes(table, 2, packets, False, [(1, snaplen)]) - bare)
    # No more than there is, and less by the headers and one frame of each flow at most.
    assert 0 <= short <= 54 * packets.sum() + len(flows) * snaplen


def test_a_transport_that_does_not_say_it_has_packets_of_4096_bytes():
    table = {"bytes": np.array([1, 4096, 4097])}

    for attributes in ({}, {"MtuBytes": 0}, {"MtuBytes": "-1"}, {"MtuBytes": "4 kB"}):
        assert sizes.data_packets(table, [attributes]).tolist() == [1, 1, 2]
    assert sizes.data_packets(table, []).tolist() == [1, 1, 2]


def test_flows_without_columns_are_left_to_the_engine():
    fabric = Fabric(seed=1)
    fabric.table("flows", {"bytes": [5]})

    assert Fabric(seed=1).least_result_bytes() == fabric.least_result_bytes() == 0


@pytest.mark.ns3
def test_a_run_leaves_what_was_said_and_little_more(script, run, tmp_path):
    path = script(size_bytes=4_096_000)
    path.write_text(
        path.read_text()
        .replace("(seed=1)", "(seed=1)\n    fabric.trace(arrivals=True, snaplen_bytes=200)")
        .replace("    return fabric", "    fabric.capture(1)\n    return fabric")
    )
    assert run(path).returncode == 0

    space: dict = {"__name__": "said"}
    exec(path.read_text(), space)
    said = space["build"]().least_result_bytes()
    out = tmp_path / "out"
    rows = json.loads((out / "manifest.json").read_text())["tables"]["arrivals"]["rows"]
    raw, pcap = ((out / name).stat().st_size for name in ("raw.npz", "host_1.pcap"))
    # 1000 packets; the ACKs of the captured host are what comes on top.
    assert rows == 1000
    assert 32 * 1000 + 216 * 999 < said <= raw + pcap < said + 110 * 1000


def test_a_run_lasts_as_long_as_its_fullest_host_takes_in():
    links = {
        name: np.array(column)
        for name, column in {
            "node_a": [0, 1, 2],
            "node_b": [3, 3, 3],
            "rate_bps": [8 * 10**9] * 3,
        }.items()
    }
    flows = {"dst": np.array([0, 0, 1]), "bytes": np.array([1000, 3000, 2000]),
             "start_ps": np.array([7, 5, 9])}  # fmt: skip

    # 4000 B at 1 B/ns after the first start.
    assert sizes.least_duration_ps(flows, links, 10**12) == 4_000_005
    assert sizes.least_duration_ps(flows, links, 10**6) == 10**6  # the stop comes first


def test_samples_that_memory_cannot_hold_are_refused_and_those_it_may_not_are_named(
    tmp_path, monkeypatch
):
    # 1.36 MB hold 10 000 rows of 136 B.
    (tmp_path / "meminfo").write_text(f"MemAvailable: {1328.125:.0f} kB\n")
    monkeypatch.setattr(sizes, "MEMINFO", tmp_path / "meminfo")
    us = 10**6

    assert sizes.check_samples(us, 9, 1000 * us) == ""
    warned = sizes.check_samples(us, 20, 1000 * us)
    assert "trace.sample: 1 us is up to 20,000 rows, 2.72 MB, and 1.36 MB of memory" in warned
    assert "for example 10 us" in warned
    with pytest.raises(SimulationError, match=r"sample: 1 ps is 1,000,000 samples of each of 20 p"):
        sizes.check_samples(1, 20, us)


@pytest.mark.ns3
def test_a_sample_of_a_picosecond_is_refused_before_the_run(script, run):
    path = script(size_bytes=10**13, stop_ps=10**16)  # 10 TB at 800 Gb/s: 100 s
    path.write_text(path.read_text().replace("(seed=1)", "(seed=1)\n    fabric.trace(sample_ps=1)"))
    done = run(path)

    assert done.returncode == 1
    assert "trace.sample: 1 ps is 100,000,000,000,000 samples of each" in done.stderr
    assert done.stderr.count("\n") == 1
