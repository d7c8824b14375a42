# SPDX-License-Identifier: GPL-2.0-only
"""Block codes over a lossy long haul, from the scenario: parity on the wire, and what it leaves."""

import math
from pathlib import Path

import pytest

import pyorch
from pyorch.metrics import wan_fec
from pyorch.metrics._run import RunTables
from pyorch.spec import read_spec
from tests.loaded_runs import command_line

ROOT = Path(__file__).parents[2]
SCENARIO = ROOT / "scenarios" / "wan_fec.yaml"
BLOCKS = 1024

pytestmark = pytest.mark.ns3


def measured(folder, case, parity, variant="plain"):
    words = ("trace.arrivals=true", f"transport.attributes.ParityPackets={parity}",
             f"workload.message={BLOCKS * 64 * 4096} B")  # fmt: skip
    done = command_line(
        "run", str(SCENARIO), "--case", case, "--variant", variant,
        "--out", str(folder), *(part for word in words for part in ("--set", word)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    spec = read_spec(folder / "spec.json")
    return wan_fec.measure(RunTables(spec, folder)).iloc[0]


def mean_and_spread(k, m, p):
    """Mean and standard deviation of max(X - m, 0) over all blocks, X binomial of k + m."""
    n = k + m
    chances = [math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]
    mean = sum(max(i - m, 0) * chance for i, chance in enumerate(chances))
    square = sum(max(i - m, 0) ** 2 * chance for i, chance in enumerate(chances))
    return BLOCKS * mean, math.sqrt(BLOCKS * (square - mean**2))


@pytest.mark.parametrize(("case", "ratio", "parity"), [
    ("alone_2", 1e-2, 0), ("alone_2", 1e-2, 2), ("alone_3", 1e-3, 1), ("alone_4", 1e-4, 0),
])  # fmt: skip
def test_parity_is_m_of_k_and_what_is_left_is_binomial(tmp_path, case, ratio, parity):
    """Sent again: what blocks have lost beyond m, and of that the same share once more.

    A packet is lost to its sender if it is, or its answer on the way back: 1 - (1 - p)^2. Four
    standard deviations: a false alarm once in 16 000 draws, and the seed is fixed.
    """
    row = measured(tmp_path, case, parity)

    assert row["parity_share"] == pytest.approx(parity / 64, abs=1e-12)
    unseen = 1 - (1 - ratio) ** 2
    mean, spread = mean_and_spread(64, parity, unseen)
    assert abs(row["resent_packets"] - mean / (1 - unseen)) <= 4 * spread + 1
    if parity:
        # A block fails if more than m of its packets are lost on their way there.
        n = 64 + parity
        decoded = sum(
            math.comb(n, i) * ratio**i * (1 - ratio) ** (n - i) for i in range(parity + 1)
        )
        spread = math.sqrt(BLOCKS * decoded * (1 - decoded))
        assert row["blocks"] == BLOCKS
        assert abs(row["failed_blocks"] - BLOCKS * (1 - decoded)) <= 4 * spread + 1


def test_bursts_need_interleaving(tmp_path):
    """Bursts of 8 on average, one lost packet in 100: a burst above 4 is (7/8)^4 = 59 % of them.

    Sixteen blocks in turn bear bursts of up to 64, and (7/8)^64 are 2e-4. What is left are groups
    of 16 x 68 packets with several bursts; one comes in 800 packets. At least ten times fewer.
    """
    alone = measured(tmp_path / "alone", "bursts_2", 4)
    together = measured(tmp_path / "together", "bursts_2", 4, "interleaved")

    assert alone["resent_packets"] > 400
    assert alone["resent_share"] == alone["resent_packets"] / alone["data_packets"]
    assert together["resent_packets"] < alone["resent_packets"] / 10
    assert alone["parity_share"] == together["parity_share"] == 4 / 64


@pytest.mark.parametrize(
    # By hand: two blocks of 8 + 2 packets of 33.4 us each; the hole swallows packets 7, 8 and 9,
    # the last three, or only 7. Nothing comes behind the last ones, so a timeout finds them.
    ("at", "duration", "failed", "timeouts"),
    [("5270 us", "120 us", 1, 0), ("5610 us", "10 ms", 1, 1), ("5270 us", "60 us", 0, 0)],
)
def test_a_block_fails_also_at_the_end_of_a_message(tmp_path, at, duration, failed, timeouts):
    hole = {"type": "scheduled", "directions": [[2, 3]], "at": at, "duration": duration, "loss": 1}
    code = {"BlockPackets": 8, "ParityPackets": 2, "Interleave": 1, "RateBps": 10**9}
    run = pyorch.run({
        "name": "hole",
        "topology": {"type": "dumbbell", "left": 1, "right": 1, "bottleneck_rate": "1 Gb/s",
                     "bottleneck_delay": "5 ms"},
        "link": {"rate": "1 Gb/s", "delay": "1 us"},
        "switch": {"buffer": "64 MB"},
        "workload": {"type": "single", "message": "65536 B"},
        "transport": {"type": "ns3::WanTransport", "attributes": {**code, "Rto": "40 ms"}},
        "failures": [hole],
        "trace": {"arrivals": True},
        "stop": "2 s",
    }, out=tmp_path / "run")  # fmt: skip

    row = wan_fec.measure(RunTables(run.spec, run.folder)).iloc[0]

    assert (row["blocks"], row["failed_blocks"], row["timeouts"]) == (2, failed, timeouts)
