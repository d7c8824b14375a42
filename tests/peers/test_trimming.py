# SPDX-License-Identifier: GPL-2.0-only
"""NDP and EQDS against htsim, on its topologies and matrices (docs/validation.md)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import trimming

pytestmark = pytest.mark.ns3
PEERS = trimming.peers()


def case(transport, topo, matrix):
    """Return htsim's row of a case."""
    chosen = PEERS[(PEERS["transport"] == transport) & (PEERS["topo"] == topo)]
    return chosen[chosen["matrix"].str.startswith(matrix)].iloc[0]


@pytest.mark.parametrize("topo", ["ls128_100", "ls128_800"])
def test_a_message_of_ndp_alone_takes_exactly_as_long(topo):
    # PULLs at 0.99 of the line never hold it up: their turns come before the window is used up. So
    # 489 packets of 4160 B, 3 more hops of one, 8 links of 1 us and an ACK of 64 B over 4 of them.
    theirs = case("ndp", topo, "single")
    gbps = int(topo.rpartition("_")[2])
    ours = trimming.run(theirs)

    assert ours["fct_max_us"] == pytest.approx((492 * 4160 + 4 * 64) * 8 / gbps / 1e3 + 8, abs=1e-6)
    assert ours["fct_max_us"] == pytest.approx(theirs["fct_max_us"], abs=6e-4)


@pytest.mark.parametrize("transport", ["ndp", "eqds"])
@pytest.mark.parametrize("senders", [8, 32])
def test_an_incast_takes_as_long(transport, senders):
    theirs = case(transport, "ls128_100", f"incast_128_2000000_1_1.0_{senders}.")
    ours = trimming.run(theirs)

    assert ours["fct_p50_us"] == pytest.approx(theirs["fct_p50_us"], rel=5e-3)
    assert ours["fct_max_us"] == pytest.approx(theirs["fct_max_us"], rel=5e-3)
    # Which packet is trimmed is a coin's: three standard deviations of a count of that size.
    assert ours["trims"] == pytest.approx(theirs["trims"], abs=3 * theirs["trims"] ** 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("matrix", [1, 2, 3])
@pytest.mark.parametrize("topo", ["ls128_100", "ls128_800", "ft128_100", "ft128_800"])
def test_a_permutation_of_ndp_takes_as_long(topo, matrix):
    theirs = case("ndp", topo, f"perm_128_2000000_{matrix}_")
    ours = trimming.run(theirs)

    assert ours["fct_p50_us"] == pytest.approx(theirs["fct_p50_us"], rel=0.01)
    assert ours["fct_max_us"] == pytest.approx(theirs["fct_max_us"], rel=0.02)
    assert ours["trims"] == pytest.approx(theirs["trims"], rel=0.07)


@pytest.mark.slow
@pytest.mark.parametrize("matrix", [1, 2, 3])
@pytest.mark.parametrize("topo", ["ls128_100", "ls128_800", "ft128_800"])
def test_a_permutation_of_eqds_takes_as_long(topo, matrix):
    theirs = case("eqds", topo, f"perm_128_2000000_{matrix}_")
    ours = trimming.run(theirs)

    assert ours["fct_p50_us"] == pytest.approx(theirs["fct_p50_us"], rel=0.02)
    assert ours["fct_max_us"] == pytest.approx(theirs["fct_max_us"], rel=0.05)
