# SPDX-License-Identifier: GPL-2.0-only
"""What PFC needs on a long haul, as docs/wan.md says: headroom, and bytes for a round trip.

Two hosts send to a third at 400 Gb/s, one of them over the long haul. Each gets half of the last
link while the border switch has data of the long haul. After RESUME new data comes a round trip
later, so XOFF less XON must last for a round trip at half the rate.
"""

import re
from pathlib import Path

import pytest
from yaml import safe_dump

import pyorch
from pyorch.errors import PyorchError

pytestmark = pytest.mark.ns3

PAGE = Path(__file__).parents[2] / "docs" / "wan.md"
SECTION = PAGE.read_text().partition("## How much buffer does PFC need")[2].partition("\n## ")[0]
RATE_BPS, XON_BYTES = 400e9, 10_000
UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
SITE = {"type": "leaf_spine", "leaves": 2, "hosts_per_leaf": 2, "spines": 2}


def run(folder, delay, xoff_bytes, buffer="1 GB", classes=True):
    """Return when the message over the long haul and the other one have arrived [s]."""
    pfc = {"type": "ns3::Pfc", "attributes": {"XoffBytes": 100_000, "XonOffsetBytes": XON_BYTES}}
    own = {"type": "ns3::Pfc", "attributes": pfc["attributes"] | {"XoffBytes": xoff_bytes}}
    scenario = {
        "name": "haul",
        "topology": {
            "type": "multi_site",
            "sites": [{"name": name, "topology": SITE} for name in ("east", "west")],
            "long_haul": [{"between": ["east", "west"], "rate": "400 Gb/s", "delay": delay}],
        },
        "link": {
            "rate": "400 Gb/s", "delay": "500 ns", "flow_control": pfc,
            **({"classes": [{"tiers": [3, 3], "flow_control": own}]} if classes else {}),
        },
        "switch": {"buffer": "64 MB", "classes": [{"tiers": [3], "buffer": buffer}]},
        "workload": [
            {"type": "single", "source": source, "target": 4, "message": "100 MB"}
            for source in (0, 5)
        ],
        "transport": {"type": "ns3::RoceTransport", "attributes": {"Rto": "100 ms"}},
        "stop": "1 s",
    }  # fmt: skip
    path = folder / "haul.yaml"
    path.write_text(safe_dump(scenario))
    made = pyorch.run(path, results=folder / "results")
    assert made.ports["dropped_headroom_frames"].sum() == 0
    return made.flows["receiver_end_ps"] / 1e12


def test_the_table_has_the_rate_times_twice_the_delay():
    rows = re.findall(r"^\| [\d]+ k?m \| (\d+) (ns|us|ms) \| ([\d.]+) MB \|$", SECTION, re.M)
    assert len(rows) == 5
    for number, unit, shown in rows:
        bytes_ = 2 * float(number) * UNITS_S[unit] * RATE_BPS / 8 + 3 * 4200
        digits = len(shown.partition(".")[2])
        assert shown in (f"{bytes_ / 1e6:.{digits}f}", f"{bytes_ / 1e6:.2g}")


def test_a_buffer_without_room_for_the_headroom_is_refused_as_the_page_says(tmp_path):
    with pytest.raises(PyorchError) as refused:
        run(tmp_path, "1 ms", 100_000, buffer="64 MB", classes=False)
    said = " ".join(SECTION.split())
    assert re.search(r"needs \d+ bytes .* lower XoffBytes", str(refused.value))[0] in said


@pytest.mark.parametrize("share", [0.02, 0.5, 1.1])
def test_the_long_haul_has_half_of_the_last_link_with_a_round_trip_above_xon(tmp_path, share):
    """`share` of the bytes that leave in a round trip, at half the rate."""
    delay_s = 100e-6
    enough = RATE_BPS / 8 / 2 * 2 * delay_s
    far, near = run(tmp_path, "100 us", XON_BYTES + round(share * enough))

    over = near / (far - delay_s)
    assert over > 0.97 if share > 1 else over < 0.9
