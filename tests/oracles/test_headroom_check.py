# SPDX-License-Identifier: GPL-2.0-only
"""A plan refuses buffers that a run would refuse, to the byte; the headroom is the formula."""

import pytest
from yaml import safe_dump

from pyorch.errors import SpecError
from pyorch.runs.choose import choose

pytestmark = pytest.mark.ns3

XOFF, FRAME, FRAMING, PAUSE = 50_000, 4096 + 62 + 16, 20, 64


def headroom_bytes(rate_bps, delay_ps, processing_delay_ps):
    """One frame crosses the threshold; PAUSE waits behind a frame, is sent, travels, and stops the
    other end after the frame that it has begun; what that end has sent by then is on its way."""
    wait_ps = 2 * delay_ps + processing_delay_ps
    return rate_bps * wait_ps // (8 * 10**12) + FRAME + PAUSE + 2 * FRAMING + 1 + 2 * FRAME


def plan(folder, buffer_bytes, topology, link, alpha=0, processing_delay_ps=0):
    scenario = {
        "name": "small",
        "topology": topology,
        "link": link | {
            "flow_control": {"type": "ns3::Pfc", "attributes": {"XoffBytes": XOFF, "Alpha": alpha}}
        },
        "wire": {"framing": f"{FRAMING} B"},
        "switch": {
            "buffer": f"{buffer_bytes} B",
            "processing_delay": f"{processing_delay_ps} ps",
            "queue": {"type": "ns3::DropTail"},
            "forwarding": {"type": "ns3::EcmpHash"},
        },
        "workload": {"type": "single", "source": 0, "target": 1, "message": "1 MB"},
        "transport": {"type": "ns3::RoceTransport"},
        "stop": "20 ms",
    }  # fmt: skip
    path = folder / "small.yaml"
    path.write_text(safe_dump(scenario))
    return choose(path, asks=True)


@pytest.mark.parametrize("alpha", [0, 1])
@pytest.mark.parametrize(
    ("rate_gbps", "delay_ps", "processing_delay_ps"),
    [(100, 500_000, 0), (800, 1_000_000, 0), (400, 300_000, 250_000), (1600, 5_000_000, 0)],
)
def test_a_plan_refuses_a_buffer_below_threshold_and_headroom_of_all_ports(
    tmp_path, rate_gbps, delay_ps, processing_delay_ps, alpha
):
    headroom = headroom_bytes(rate_gbps * 10**9, delay_ps, processing_delay_ps)
    needed = 3 * ((0 if alpha else XOFF) + headroom)
    star = {"type": "star", "hosts": 3}
    link = {"rate": f"{rate_gbps} Gb/s", "delay": f"{delay_ps} ps"}
    rest = {"alpha": alpha, "processing_delay_ps": processing_delay_ps}

    plan(tmp_path, needed + 3, star, link, **rest)  # a byte per port of rounding
    with pytest.raises(SpecError, match=r"needs \d+ bytes for XoffBytes and headroom of 3 ports"):
        plan(tmp_path, needed - 4, star, link, **rest)


@pytest.mark.parametrize(("uplinks", "jitter_ps"), [(1, 0), (3, 0), (3, 40_000)])
def test_the_switch_whose_links_need_most_decides(tmp_path, uplinks, jitter_ps):
    # Leaves have 4 hosts, spines 2 leaves; a leaf needs more however many spines there are.
    topology = {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 4, "spines": uplinks}
    link = {"rate": "100 Gb/s", "delay": "500 ns", "jitter": f"{jitter_ps} ps"}
    needed = (4 + uplinks) * (XOFF + headroom_bytes(100 * 10**9, 500_000 + jitter_ps, 0))

    plan(tmp_path, needed + 7, topology, link)
    with pytest.raises(SpecError, match=f"headroom of {4 + uplinks} ports"):
        plan(tmp_path, needed - 8, topology, link)
